import Foundation
import Testing

@testable import Sluice

@Suite struct ParametersTests {
    private func form(_ parameters: Parameters) throws -> String {
        let encoder = URLEncodedFormEncoder(
            sortsKeys: false,
            nilEncoding: .null,
            allowedCharacters: .unreserved.adding("[]")
        )
        return try encoder.encode(parameters)
    }

    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private let name: String? = "Ada"
    private let nobody: String? = nil

    @Test func valuesOfAllTypesKeepTheirOrder() throws {
        let parameters: Parameters = [
            "page": 1, "name": name, "tags": ["a", "b"], "exact": true, "ratio": 0.5, "nobody": nobody, "none": nil,
            "filter": ["z": 1, "a": Date(timeIntervalSinceReferenceDate: 3)] as Parameters, "map": ["k": 2],
        ]
        #expect(
            try form(parameters)
                == "page=1&name=Ada&tags[]=a&tags[]=b&exact=1&ratio=0.5&filter[z]=1&filter[a]=3&map[k]=2"
        )
        #expect(
            try json(parameters) == """
                {"exact":true,"filter":{"a":3,"z":1},"map":{"k":2},"name":"Ada","page":1,"ratio":0.5,"tags":["a","b"]}
                """
        )
        #expect(parameters.names == ["page", "name", "tags", "exact", "ratio", "nobody", "none", "filter", "map"])
    }

    @Test func nilIsOmittedOrEncodedAsNull() throws {
        var parameters: Parameters = ["a": nil, "b": nobody, "c": ["d": nil, "e": 1] as Parameters]
        #expect(try json(parameters) == #"{"c":{"e":1}}"#)
        #expect(try form(parameters) == "c[e]=1")
        parameters.nilValues = .null
        #expect(try json(parameters) == #"{"a":null,"b":null,"c":{"e":1}}"#)
        #expect(try form(parameters) == "a=null&b=null&c[e]=1")
        #expect(try URLEncodedFormEncoder().encode(parameters) == "c%5Be%5D=1")
        #expect(try json(Parameters(["a": nil], nilValues: .null)) == #"{"a":null}"#)
    }

    @Test func valuesOfUnknownTypesAreEncodedByName() throws {
        struct Point: Codable { var x = 1.5 }
        let values: [String: Any] = [
            "name": "Ada", "age": 36, "big": UInt64.max, "ratio": 0.5, "exact": true, "one": 1, "nobody": nobody as Any,
            "some": name as Any, "tags": ["a", 1, false] as [Any],
            "filter": ["z": ["k": nobody as Any], "a": 2] as [String: Any],
            "point": Point(), "url": URL(string: "https://a.test/x") as Any, "price": Decimal(string: "1.10") as Any,
            "json": JSON.array([1]), "ids": [Int?.none as Any],
        ]
        #expect(
            try json(Parameters(any: values)) == #"""
                {"age":36,"big":18446744073709551615,"exact":true,"filter":{"a":2,"z":{}},"ids":[null],"json":[1],"name":"Ada",\#
                "one":1,"point":{"x":1.5},"price":1.1,"ratio":0.5,"some":"Ada","tags":["a",1,false],"url":"https:\/\/a.test\/x"}
                """#
        )
        let parameters = try Parameters(any: ["b": nobody as Any, "a": ["c": nobody as Any]], nilValues: .null)
        #expect(parameters.names == ["a", "b"])
        #expect(try json(parameters) == #"{"a":{"c":null},"b":null}"#)
    }

    @Test func valuesOfJSONSerializationAreEncoded() throws {
        let text = #"{"a":[true,false,0,1],"b":null,"c":1.5,"d":{"e":"x"},"f":12}"#
        let values = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(try json(Parameters(any: values)) == text)
    }

    @Test(arguments: [
        "12345678901234567.89", "0.30000000000000004", "52.520008123456789", "123456789012345678901234567890",
        "18446744073709551615", "-9223372036854775808", "-9223372036854775809", "1.5", "0", "-1", "true", "null",
    ])
    func valueOfJSONSerializationIsExactAlsoInAnOptional(_ text: String) throws {
        let body = Data(#"{"a":\#(text)}"#.utf8)
        let values = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
        let expected = try JSON(parsing: body)
        for value in [values["a"] as Any, values["a"] as Any?? as Any] {
            let encoded = try json(Parameters(any: ["a": value], nilValues: .null))
            #expect(try JSON(parsing: encoded) == expected, "\(encoded)")
        }
    }

    @Test func decimalNumberIsExact() throws {
        #expect(try json(Parameters(any: ["price": NSDecimalNumber(string: "19.99")])) == #"{"price":19.99}"#)
        #expect(
            try json(Parameters(any: ["count": NSNumber(value: 19), "f": NSNumber(value: 0.5)]))
                == #"{"count":19,"f":0.5}"#
        )
    }

    @Test func valueThatCannotBeEncodedIsNamed() throws {
        struct Plain {}
        let error = #expect(throws: SluiceError.self) {
            try Parameters(any: ["user": ["friends": [1, Plain()] as [Any]] as [String: Any]])
        }
        #expect(error?.code == .encodingFailed)
        #expect(error?.description.contains("“user.friends[1]”") == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("Plain") == true)
        #expect(throws: SluiceError.self) { try Parameters(any: ["x": Double.nan as any Encodable, "y": Plain()]) }
    }

    @Test func nestedOptionalsAreNil() throws {
        let hidden: any Encodable & Sendable = String??.some(.none)
        var parameters: Parameters = ["a": hidden]
        parameters["b"] = Int?.none as any Encodable & Sendable
        parameters["c"] = Int??.some(.some(3)) as any Encodable & Sendable
        #expect(parameters["a"] == nil)
        #expect(try form(parameters) == "c=3")
    }

    @Test func namesAreUnique() throws {
        var parameters: Parameters = ["a": 1, "b": 2, "a": "three"]
        #expect(try form(parameters) == "a=three&b=2")
        parameters["a"] = 4
        parameters["c"] = 5
        #expect(try form(parameters) == "a=4&b=2&c=5")
        #expect(parameters["a"] as? Int == 4)
        #expect(parameters["z"] == nil)
        parameters.append("a", 6)
        parameters.append("d", nil)
        #expect(try form(parameters) == "b=2&c=5&a=6")
        #expect(parameters.names == ["b", "c", "a", "d"])
        parameters["b"] = nil
        #expect(parameters.names == ["b", "c", "a", "d"])
        #expect(try form(parameters) == "c=5&a=6")
        parameters.remove("b")
        parameters.remove("z")
        #expect(parameters.names == ["c", "a", "d"])
    }

    @Test func mergingTakesTheValuesOfTheArgument() throws {
        let base = Parameters(["a": 1, "b": nil, "c": 3], nilValues: .null)
        let merged = base.merging(["d": 4, "c": "three", "a": nil])
        #expect(try form(merged) == "a=null&b=null&c=three&d=4")
        #expect(try form(base) == "a=1&b=null&c=3")
        #expect(try form(merged.merging(Parameters())) == "a=null&b=null&c=three&d=4")
    }

    @Test func parametersCanBeCreatedFromCollections() throws {
        #expect(Parameters().names.isEmpty)
        #expect(try json([:] as Parameters) == "{}")
        #expect(try form([:]) == "")
        let values: [String: Parameters.Value] = ["a": 1]
        #expect(!Parameters(contentsOf: values).names.isEmpty)
        #expect(try form(Parameters(contentsOf: values)) == "a=1")
        let many = Parameters(contentsOf: (0..<100).map { (number: Int) in (key: "k\(number % 50)", value: number) })
        #expect(try form(many) == (50..<100).map { "k\($0 - 50)=\($0)" }.joined(separator: "&"))
    }

    @Test func parametersOfADictionaryAreInTheOrderOfItsNames() throws {
        let names = (0..<50).map { "k\($0 + 10)" }
        let texts = Dictionary(uniqueKeysWithValues: names.map { ($0, "v") })
        let settings: [String: any Encodable & Sendable] = texts
        let optional: [String: String?] = ["b": nil, "a": "1"]
        let expected = names.map { "\($0)=v" }.joined(separator: "&")
        #expect(try form(Parameters(texts)) == expected)
        #expect(try form(Parameters(settings)) == expected)
        #expect(try form(Parameters(optional)) == "a=1")
        #expect(try form(Parameters(optional, nilValues: .null)) == "a=1&b=null")
    }

    @Test func namedValuesMatchAModelAfterManyChanges() throws {
        var values = NamedValues<Int>()
        var model: [(String, Int)] = []
        for step in 0..<400 {
            let name = "n\((step &* 7919) % 40)"
            if step % 3 == 2 {
                values.remove(name)
                model.removeAll { $0.0 == name }
            } else {
                values.set(name, step)
                if let index = model.firstIndex(where: { $0.0 == name }) {
                    model[index].1 = step
                } else {
                    model.append((name, step))
                }
            }
            #expect(values.entries.map(\.name) == model.map(\.0))
            #expect(values.entries.map(\.value) == model.map(\.1))
            #expect(values[name] == model.first { $0.0 == name }?.1)
        }
    }

    @Test func rootKeyedNestsTheValueUnderItsKey() throws {
        struct User: Encodable, Sendable {
            var id = 1
        }
        #expect(try json(RootKeyed(key: "user", value: User())) == #"{"user":{"id":1}}"#)
        #expect(try json(RootKeyed(key: "", value: [1, 2])) == #"{"":[1,2]}"#)
        #expect(try URLEncodedFormEncoder().encode(RootKeyed(key: "user", value: User())) == "user%5Bid%5D=1")
        #expect(try URLEncodedFormEncoder().encode(RootKeyed(key: "a b", value: "c")) == "a%20b=c")
    }
}

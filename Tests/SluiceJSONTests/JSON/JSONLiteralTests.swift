import Foundation
import Sluice
import Testing

@Suite struct JSONLiteralTests {
    enum Role: String, JSONEncodable { case admin }

    struct Money: JSONEncodable {
        let amount: Int
        var jsonValue: JSON { ["amount": JSON(amount)] }
    }

    @Test func createsValuesFromLiterals() {
        let name = "Ada"
        let json: JSON = [
            "null": nil, "bool": true, "int": -5, "double": 1.5, "string": "a", "text": "Hello, \(name)!",
            "list": [1, "b", nil, [2]],
            "empty": [:],
        ]
        #expect(json.null == .null)
        #expect(json["bool"] == .bool(true))
        #expect(json["int"] == .number(JSONNumber(-5)))
        #expect(json["double"] == .number(JSONNumber(1.5) ?? JSONNumber(0)))
        #expect(json["string"] == .string("a"))
        #expect(json.text == .string("Hello, Ada!"))
        #expect(json.list == .array([1, "b", .null, .array([2])]))
        #expect(json.empty == .object([:]))
    }

    @Test func lastOfDuplicateLiteralKeysApplies() {
        let json: JSON = ["a": 1, "b": 2, "a": 3]
        #expect(json == ["a": 3, "b": 2])
    }

    @Test func createsValuesFromSwiftValues() {
        #expect(JSON(5) == 5)
        #expect(JSON("x") == "x")
        #expect(JSON(true) == true)
        #expect(JSON(1.5) == 1.5)
        #expect(JSON(Float(0.1)).description == "0.1")
        #expect(JSON(UInt64.max).description == "18446744073709551615")
        #expect(JSON(UInt8(7)) == 7)
        #expect(JSON("abc".dropFirst()) == "bc")
        #expect(JSON([1, 2, 3]) == [1, 2, 3])
        #expect(JSON([[1], []]) == [[1], []])
        #expect(JSON(["a": [1: "x"][1]]) == ["a": "x"])
        #expect(JSON(Role.admin) == "admin")
        #expect(JSON([Money(amount: 1)]) == [["amount": 1]])
        #expect(JSON(["a", 1, nil]) == ["a", 1, nil])
        #expect(JSON(nil) == .null)
    }

    @Test func createsNullFromNil() {
        let none: Int? = nil
        let some: Int? = 3
        let nested: String?? = .some(nil)
        #expect(JSON(none) == .null)
        #expect(JSON(some) == 3)
        #expect(JSON(nested) == .null)
        #expect(JSON(["a": none, "b": some]) == ["a": nil, "b": 3])
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func createsNullFromNonFiniteNumbers(value: Double) {
        #expect(JSON(value) == .null)
    }
}

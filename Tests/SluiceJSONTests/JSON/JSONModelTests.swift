import Foundation
import Sluice
import Testing

@Suite struct JSONModelTests {
    struct Address: JSONDecodable, Equatable {
        let city: String
        let zip: Int?

        init(json: JSON) throws {
            city = try json.value(at: "city")
            zip = try json.optionalValue(at: "zip")
        }
    }

    struct Person: JSONDecodable, Equatable {
        let name: String
        let address: Address
        let tags: [String]
        let nickname: String?

        init(json: JSON) throws {
            name = try json.value(at: "name")
            address = try json.value(at: "address")
            tags = try json.optionalValue(at: "meta.tags") ?? []
            nickname = try json.value(at: "nickname")
        }
    }

    struct Even: JSONDecodable {
        struct Odd: Error {}

        init(json: JSON) throws {
            guard try json.value(at: "n", as: Int.self).isMultiple(of: 2) else { throw Odd() }
        }
    }

    static let json: JSON = [
        "users": [
            ["name": "Ada", "address": ["city": "London", "zip": 1], "meta": ["tags": ["a"]], "nickname": "Countess"],
            ["name": "Grace", "address": ["city": "NYC", "zip": nil], "meta": nil],
            ["name": "Alan", "address": ["city": "Bletchley"]],
        ]
    ]

    @Test func decodesNestedModels() throws {
        let users: [Person] = try Self.json.value(at: "users")
        #expect(users.map(\.name) == ["Ada", "Grace", "Alan"])
        #expect(users.map(\.address.city) == ["London", "NYC", "Bletchley"])
        #expect(users.map(\.address.zip) == [1, nil, nil])
        #expect(users.map(\.tags) == [["a"], [], []])
        #expect(users.map(\.nickname) == ["Countess", nil, nil])
        #expect(try Self.json.value(at: "users[-1].address.city", as: String.self) == "Bletchley")
    }

    @Test(
        arguments: [
            ("users[2].address.city", 5, "At “users[2].address.city”, expected a string, found a number."),
            (
                "users[2].address.zip", "1",
                "At “users[2].address.zip”, expected a whole number that fits Int, found a string."
            ),
            ("users[1].address", "NYC", "At “users[1].address”, expected an object, found a string."),
            ("users[1].address", nil, "At “users[1].address”, expected an object, found null."),
            ("users[0].meta.tags", ["x", nil], "At “users[0].meta.tags[1]”, expected a string, found null."),
            ("users[0].meta", 1, "At “users[0].meta”, expected an object, found a number."),
            ("users[0].nickname", 1, "At “users[0].nickname”, expected a string, found a number."),
            ("users[0]", [:], "At “users[0].name”, expected String, found nothing."),
            ("users", "none", "At “users”, expected an array, found a string."),
        ] as [(JSONPath, JSON, String)]
    )
    func failureNamesWholePath(path: JSONPath, value: JSON, sentence: String) throws {
        var json = Self.json
        switch path.components.count {
        case 1: json.users = value
        case 2: json.users[index(path)] = value
        case 3: json.users[index(path)][key(path, 2)] = value
        default: json.users[index(path)][key(path, 2)][key(path, 3)] = value
        }
        let failure = #expect(throws: JSONDecodingFailure.self) { try json.value(at: "users", as: [Person].self) }
        #expect(failure?.description == sentence)
    }

    private func index(_ path: JSONPath) -> Int {
        if case .index(let index) = path.components[1] { index } else { 0 }
    }

    private func key(_ path: JSONPath, _ position: Int) -> String {
        if case .key(let key) = path.components[position] { key } else { "" }
    }

    @Test func failureNamesKeysOfDictionariesAndPaths() {
        let json: JSON = ["by.name": ["ada": ["list": [["n": 2], ["n": "x"]]]]]
        let failure = #expect(throws: JSONDecodingFailure.self) {
            try [String: [String: [String: [Even]]]](json: json)
        }
        #expect(failure?.path.description == #"["by.name"].ada.list[1].n"#)
        #expect(failure?.path.components.count == 5)
        let missing = #expect(throws: JSONDecodingFailure.self) {
            try json.value(at: #"["by.name"].ada.list[7].n"#, as: Int.self)
        }
        #expect(missing?.description == #"At “["by.name"].ada.list[7].n”, expected Int, found nothing."#)
        #expect((missing?.cause as? JSONPathFailure)?.found == .array)
    }

    @Test func errorOfModelIsCause() {
        let failure = #expect(throws: JSONDecodingFailure.self) { try [Even](json: [["n": 2], ["n": 3]]) }
        #expect(failure?.cause is Even.Odd)
        #expect(failure?.description == "At “[1]”, expected Even, found an object.")
        #expect(throws: Even.Odd.self) { try Even(json: ["n": 3]) }
    }

    @Test func missingOrNullIsNilAndWrongTypeIsError() throws {
        let json: JSON = ["a": ["n": nil, "b": 1], "list": [1]]
        for path: JSONPath in ["x", "x.y", "a.x", "a.n", "a.n.deeper", "list[1]", "list[-2]", "list.1"] {
            #expect(try json.optionalValue(at: path, as: Int.self) == nil)
            #expect(try json.value(at: path, as: Int?.self) == nil)
            #expect(throws: JSONDecodingFailure.self) { try json.value(at: path, as: Int.self) }
        }
        for path: JSONPath in ["a", "list", "a.b.c", "a[0]", "list.x", "a.b[0]"] {
            #expect(throws: JSONDecodingFailure.self) { try json.optionalValue(at: path, as: Int.self) }
        }
        #expect(throws: JSONDecodingFailure.self) { try json.value(at: "x", as: JSON.self) }
        #expect(try json.optionalValue(at: "list[0]") == 1)
    }
}

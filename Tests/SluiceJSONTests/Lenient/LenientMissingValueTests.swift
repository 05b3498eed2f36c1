import Foundation
import Testing

@testable import SluiceJSON

@Suite struct LenientMissingValueTests {
    private struct Address: Decodable, DefaultInitializable, Equatable {
        var city = "nowhere"
        var zip: Int? = 1
    }

    private struct User: Decodable, DefaultInitializable, Equatable {
        var name = "unknown"
        var age = 18
        var tags: [String] = ["new"]
        var address = Address()
        var nick: String? = "nick"
        var score: [String: Double] = ["a": 1]
        var site: URL? = nil
        var born = Date(timeIntervalSince1970: 0)
    }

    private func decode<Value: Decodable>(
        _ type: Value.Type,
        _ text: String,
        _ decoder: LenientJSONDecoder = LenientJSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: Data(text.utf8))
    }

    @Test func missingOrNullUsesDefaultOfProperty() throws {
        var expected = User()
        // An optional property is nil, regardless of its default.
        expected.nick = nil
        #expect(try decode(User.self, "{}") == expected)
        let nulls = #"{"name":null,"age":null,"tags":null,"address":null,"nick":null,"score":null,"born":null}"#
        #expect(try decode(User.self, nulls) == expected)
    }

    @Test func mergesValuesWithDefaults() throws {
        let user = try decode(User.self, #"{"age":"40","address":{"city":"Berlin"},"nick":"x"}"#)
        var expected = User()
        expected.age = 40
        expected.address = Address(city: "Berlin", zip: nil)
        expected.nick = "x"
        #expect(user == expected)
    }

    @Test func wrongValueIsErrorDespiteDefault() {
        #expect(throws: DecodingError.self) { try decode(User.self, #"{"age":"old"}"#) }
        #expect(throws: DecodingError.self) { try decode(User.self, #"{"address":[]}"#) }
    }

    @Test func everyElementGetsOwnDefaults() throws {
        struct Row: Decodable, DefaultInitializable {
            var id = UUID()
            var rank = 1
        }
        let rows = try decode([Row].self, #"[{},{"rank":2},{},{"id":"00000000-0000-0000-0000-000000000001"}]"#)
        #expect(rows.map(\.rank) == [1, 2, 1, 1])
        #expect(Set(rows.map(\.id)).count == 4)
    }

    @Test func modelWithoutDefaultsFails() {
        struct Plain: Decodable {
            var name = "unknown"
            var inner = Address()
        }
        #expect(throws: DecodingError.self) { try decode(Plain.self, "{}") }
        #expect(throws: DecodingError.self) { try decode(Plain.self, #"{"name":"a","inner":null}"#) }
        #expect(throws: Never.self) { try decode(Plain.self, #"{"name":"a","inner":{}}"#) }
    }

    @Test func classesUseDefaults() throws {
        class Animal: Decodable, DefaultInitializable {
            var legs = 4
            required init() {}
        }
        final class Dog: Animal {
            var name = "Rex"
            required init() { super.init() }
            enum Key: CodingKey { case name, legs }
            required init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                name = try container.decode(String.self, forKey: .name)
                super.init()
                legs = try container.decode(Int.self, forKey: .legs)
            }
        }
        let dog = try decode(Dog.self, "{}")
        #expect(dog.name == "Rex")
        #expect(dog.legs == 4)
    }

    @Test func propertyWrappersUseDefaults() throws {
        struct Model: Decodable, DefaultInitializable {
            @Doubled var value = 21
        }
        #expect(try decode(Model.self, "{}").value == 42)
        #expect(try decode(Model.self, #"{"value":"4"}"#).value == 8)
    }

    @Test func matchesDefaultsByConvertedKey() throws {
        struct Model: Decodable, DefaultInitializable {
            var firstName = "A"
            var lastName = "B"
        }
        let decoder = LenientJSONDecoder(keyDecodingStrategy: .convertFromSnakeCase)
        let model = try decode(Model.self, #"{"first_name":"C","last_name":null}"#, decoder)
        #expect(model.firstName == "C")
        #expect(model.lastName == "B")
    }

    @Test func defaultsOfRenamedKeysHold() throws {
        struct Company: Decodable, DefaultInitializable, Equatable {
            var id = 7
            var name = "unnamed"
            var title = "untitled"
            var isOpen = true
            var tags: [String] = ["new"]
            var parent: String? = "none"
            @Doubled var weight = 21

            // Two properties have swapped keys.
            private enum CodingKeys: String, CodingKey {
                case id = "company_id"
                case name = "title"
                case title = "name"
                case isOpen = "open"
                case tags, parent
                case weight = "mass"
            }

            static func == (lhs: Company, rhs: Company) -> Bool {
                (lhs.id, lhs.name, lhs.title, lhs.isOpen, lhs.weight) == (
                    rhs.id, rhs.name, rhs.title, rhs.isOpen, rhs.weight
                )
                    && lhs.tags == rhs.tags
            }
        }
        #expect(try decode(Company.self, "{}") == Company())
        let nulls = #"{"company_id":null,"title":null,"name":null,"open":null,"tags":null,"parent":null,"mass":null}"#
        #expect(try decode(Company.self, nulls) == Company())
        let some = try decode(Company.self, #"{"name":"Title","open":false,"mass":4}"#)
        #expect(some.title == "Title")
        #expect(some.name == "unnamed")
        #expect(!some.isOpen)
        #expect(some.weight == 8)
        let neutral = LenientJSONDecoder(fillsMissingValues: true)
        #expect(try decode(Company.self, "{}", neutral) == Company())
        #expect(try decode(Company.self, nulls, neutral) == Company())
        #expect(try decode([Company].self, "[null, {}]", neutral) == [Company(), Company()])
    }

    @Test func defaultsOfRenamedKeysHoldInNestedModels() throws {
        struct Person: Decodable, DefaultInitializable, Equatable {
            var name = "nobody"
            enum CodingKeys: String, CodingKey { case name = "full_name" }
        }
        struct Company: Decodable, DefaultInitializable, Equatable {
            var owner = Person()
            var staff: [Person] = []
            enum CodingKeys: String, CodingKey {
                case owner = "boss"
                case staff = "employees"
            }
        }
        for decoder in [LenientJSONDecoder(), LenientJSONDecoder(fillsMissingValues: true)] {
            #expect(try decode(Company.self, #"{"boss":{"full_name":null},"employees":null}"#, decoder) == Company())
            #expect(try decode(Company.self, #"{"boss":null}"#, decoder) == Company())
            #expect(try decode(Company.self, #"{"employees":[{}]}"#, decoder) == Company(staff: [Person()]))
        }
    }

    @Test func defaultsHoldForKeysOfNestedContainers() throws {
        struct Shop: Decodable, DefaultInitializable, Equatable {
            var name = "unnamed"
            var city = "nowhere"
            var lines: [String] = []

            enum Key: String, CodingKey { case name, place, more }
            enum PlaceKey: String, CodingKey { case city = "town" }

            init() {}
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                name = try container.decode(String.self, forKey: .name)
                let place = try container.nestedContainer(keyedBy: PlaceKey.self, forKey: .place)
                city = try place.decode(String.self, forKey: .city)
                var more = try container.nestedUnkeyedContainer(forKey: .more)
                while !more.isAtEnd { lines.append(try more.decode(String.self)) }
            }
        }
        for text in ["{}", #"{"place":null,"more":null}"#, #"{"place":{}}"#, #"{"place":{"town":null}}"#] {
            #expect(try decode(Shop.self, text) == Shop())
            #expect(try decode(Shop.self, text, LenientJSONDecoder(fillsMissingValues: true)) == Shop())
        }
        let shop = try decode(Shop.self, #"{"place":{"town":"Berlin"},"more":["a"]}"#)
        #expect(shop.city == "Berlin")
        #expect(shop.lines == ["a"])
        #expect(throws: DecodingError.self) { try decode(Shop.self, #"{"place":[]}"#) }
    }

    @Test func defaultsHoldInSubclassesWithASuperDecoder() throws {
        class Animal: Decodable, DefaultInitializable {
            var legs = 4
            enum CodingKeys: String, CodingKey { case legs = "feet" }
            required init() {}
            required init(from decoder: any Decoder) throws {
                legs = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .legs)
            }
        }
        final class Dog: Animal {
            var name = "Rex"
            enum Key: String, CodingKey { case name = "called" }
            required init() { super.init() }
            required init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                name = try container.decode(String.self, forKey: .name)
                try super.init(from: container.superDecoder())
            }
        }
        for text in ["{}", #"{"super":{}}"#, #"{"super":null,"called":null}"#] {
            let dog = try decode(Dog.self, text)
            #expect(dog.name == "Rex")
            #expect(dog.legs == 4)
        }
        final class Cat: Animal {
            enum Key: CodingKey { case animal }
            required init() { super.init() }
            required init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                try super.init(from: container.superDecoder(forKey: .animal))
            }
        }
        for text in ["{}", #"{"animal":{}}"#, #"{"animal":null}"#] {
            #expect(try decode(Cat.self, text).legs == 4)
        }
        #expect(try decode(Cat.self, #"{"animal":{"feet":3}}"#).legs == 3)
    }

    @Test func keysWithoutCasesHaveTheDefaultOfTheirName() throws {
        struct Key: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(_ name: String) { stringValue = name }
            init?(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        struct Model: Decodable, DefaultInitializable {
            var name = "unnamed"
            init() {}
            init(from decoder: any Decoder) throws {
                name = try decoder.container(keyedBy: Key.self).decode(String.self, forKey: Key("name"))
            }
        }
        #expect(try decode(Model.self, "{}").name == "unnamed")
    }

    @Test func neutralValuesReplaceMissingBuiltInTypes() throws {
        struct Model: Decodable, Equatable {
            var string: String, int: Int, small: UInt8, double: Double, float: Float, bool: Bool
            var decimal: Decimal, data: Data, array: [Int], dictionary: [String: Int], set: Set<String>
            var optional: Int?, address: Address
        }
        let decoder = LenientJSONDecoder(fillsMissingValues: true)
        let expected = Model(
            string: "",
            int: 0,
            small: 0,
            double: 0,
            float: 0,
            bool: false,
            decimal: 0,
            data: Data(),
            array: [],
            dictionary: [:],
            set: [],
            optional: nil,
            address: Address()
        )
        #expect(try decode(Model.self, "{}", decoder) == expected)
        let names = [
            "string", "int", "small", "double", "float", "bool", "decimal", "data", "array", "dictionary", "set",
            "optional", "address",
        ]
        let nulls = "{" + names.map { "\"\($0)\":null" }.joined(separator: ",") + "}"
        #expect(try decode(Model.self, nulls, decoder) == expected)
        #expect(throws: DecodingError.self) { try decode(Model.self, nulls) }
    }

    @Test func neutralValuesReplaceNulls() throws {
        let decoder = LenientJSONDecoder(fillsMissingValues: true)
        #expect(try decode([Int].self, "[1,null,3]", decoder) == [1, 0, 3])
        #expect(try decode([[Int]].self, "[[1],null]", decoder) == [[1], []])
        #expect(try decode([Int?].self, "[1,null]", decoder) == [1, nil])
        #expect(try decode([String: String].self, #"{"a":null}"#, decoder) == ["a": ""])
        #expect(try decode(Int.self, "null", decoder) == 0)
        #expect(try decode([Int].self, "null", decoder) == [])
        #expect(try decode(User.self, "null", decoder) == User())
    }

    @Test func typesWithoutNeutralValueFail() {
        let decoder = LenientJSONDecoder(fillsMissingValues: true)
        struct Model<Value: Decodable>: Decodable { var value: Value }
        #expect(throws: DecodingError.self) { try decode(Model<Date>.self, "{}", decoder) }
        #expect(throws: DecodingError.self) { try decode(Model<URL>.self, #"{"value":null}"#, decoder) }
        #expect(throws: DecodingError.self) { try decode(Model<Model<Int>>.self, "{}", decoder) }
        #expect(throws: DecodingError.self) { try decode(Model<Int>.self, "[]", decoder) }
    }

    @Test func defaultTakesPrecedenceOverNeutralValue() throws {
        let decoder = LenientJSONDecoder(fillsMissingValues: true)
        let user = try decode(User.self, #"{"age":null}"#, decoder)
        #expect(user.age == 18)
        #expect(user.name == "unknown")
        #expect(user.born == Date(timeIntervalSince1970: 0))
    }

    @Test func decodesMissingOptionalAsNil() throws {
        struct Model: Decodable {
            var value: Int?
            enum Key: CodingKey { case value }
            init(from decoder: any Decoder) throws {
                value = try decoder.container(keyedBy: Key.self).decode(Int?.self, forKey: .value)
            }
        }
        #expect(try decode(Model.self, "{}").value == nil)
        #expect(try decode(Model.self, #"{"value":null}"#).value == nil)
        #expect(try decode(Model.self, #"{"value":"5"}"#).value == 5)
    }
}

@propertyWrapper
private struct Doubled: Decodable {
    var number: Int
    var wrappedValue: Int { number * 2 }

    init(wrappedValue: Int) {
        number = wrappedValue
    }

    init(from decoder: any Decoder) throws {
        number = try decoder.singleValueContainer().decode(Int.self)
    }
}

import Foundation
import SluiceTesting
import Testing

@testable import SluiceJSON

/// The decoder of models has the results and errors of a `JSONDecoder`.
@Suite struct JSONModelDecoderTests {
    /// Decodes a text with both decoders. Returns true if the model decoder did not need the other.
    @discardableResult
    private static func compare<Value: Decodable & Equatable>(
        _ type: Value.Type,
        _ text: String,
        _ decoder: JSONDecoder = JSONDecoder(),
        _ location: SourceLocation = #_sourceLocation
    ) throws -> Bool {
        try compare(type, Data(text.utf8), decoder, location)
    }

    @discardableResult
    private static func compare<Value: Decodable & Equatable>(
        _ type: Value.Type,
        _ data: Data,
        _ decoder: JSONDecoder = JSONDecoder(),
        _ location: SourceLocation = #_sourceLocation
    ) throws -> Bool {
        let text = String(decoding: data, as: UTF8.self)
        let models = try #require(JSONModelDecoder(decoder))
        let expected = Result { try decoder.decode(type, from: data) }
        let direct = models.decodeDirectly(type, from: data)
        switch expected {
        case .success(let value):
            if let direct { #expect(direct == value, "\(type): \(text)", sourceLocation: location) }
            #expect(try models.decode(type, from: data) == value, "\(type): \(text)", sourceLocation: location)
        case .failure(let error):
            #expect(direct == nil, "\(type): \(text) is an error: \(error)", sourceLocation: location)
            let own = #expect(throws: (any Error).self) { try models.decode(type, from: data) }
            #expect(own.map { "\($0)" } == "\(error)", sourceLocation: location)
        }
        return direct != nil
    }

    /// Only lenient decoding applies the defaults of such a model.
    @Test(arguments: [
        "{}", #"{"id":null}"#, #"{"id":1}"#, #"{"id":1,"inner":null}"#, #"{"id":1,"inner":{}}"#,
        #"{"id":1,"inner":{"tags":["a"]}}"#,
    ])
    func defaultsOfAModelAreNotApplied(_ text: String) throws {
        struct Model: Decodable, Equatable, DefaultInitializable {
            struct Inner: Decodable, Equatable, DefaultInitializable {
                var tags = ["default"]
            }
            var id = 7
            var inner = Inner()
        }
        try Self.compare(Model.self, text)
        struct Nested: Decodable, Equatable, DefaultInitializable {
            enum Key: String, CodingKey { case inner, id }
            var id = 7
            init() {}
            init(from decoder: any Decoder) throws {
                let inner = try decoder.container(keyedBy: Key.self).nestedContainer(keyedBy: Key.self, forKey: .inner)
                id = try inner.decode(Int.self, forKey: .id)
            }
        }
        try Self.compare(Nested.self, text)
    }

    static let scalars = [
        "0", "-0", "0.0", "-0.0", "1.0", "1e3", "10.0e-1", "1.5", "255", "256", "-128", "-129", "1e18", "1e19", "7",
        "-7",
        "18446744073709551615", "18446744073709551616", "9223372036854775807", "9223372036854775808",
        "-9223372036854775808",
        "9007199254740993", "9007199254740993.0", "123456789012345678901234567890", "1e22", "1e23", "0.1",
        "0.30000000000000004", "1.7976931348623157e308", "1.7976931348623159e308", "4.9e-324", "1e-320", "2e-324",
        "1e400",
        "3.4028235e38", "3.4028236e38", "1e-45", "1e-50", "16777217", "0e3", "0E1", "-0e3", "0e-3", "8.589973e9",
        "1e127", "1e128",
        "1e-128",
        "1e-129",
        "1e-400", "0e999999999", "340282366920938463463374607431768211456",
        "0.1234567890123456789012345678901234567890123",
        "12345678901234567890123456789012345678", "123456789012345678901234567890123456789", "12.50", "100", "01", "+1",
        ".5", "1.",
        "true", "false", "null", "\"\"", "\"a\"", "\"true\"", "\"1\"", "\" 1 \"", "\"é€𝄞\"",
        "\"\\u00e9\\uD834\\uDD1E\\n\"",
        "\"\\uFEFFa\"", "\"\u{FEFF}a\"", "\"a\u{FEFF}\"", "\"\\uD834\"", "\"\\uDC00\"", "\"a\\u0000b\"", "\"NaN\"",
        "\"inf\"",
        "\"https://a.b/c?d=e\"", "\"https://a.b/ c\"", "\"::\"", "\"YWJj\"", "\"YWJj=\"", "\"YW Jj\"",
        "\"2026-11-23T10:00:00Z\"",
        "\" 2026-11-23T10:00:00Z\"", "\"2026-11-23T10:00:00.5Z\"", "\"2026-11-23\"", "[]", "{}", "[1]", "{\"a\":1}", "",
        " ", "[", "nul",
        "1 2", "\"\t\"", "\u{FEFF}1",
    ]

    @Test(arguments: scalars)
    func scalarsOfEveryTypeAreEqual(_ text: String) throws {
        try every(text, JSONDecoder())
    }

    @Test(arguments: scalars)
    func scalarsAreEqualWithStrategies(_ original: String) throws {
        // NaN equals nothing.
        let text = original.replacing("NaN", with: "-inf")
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        decoder.dataDecodingStrategy = .deferredToData
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "NaN"
        )
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        try Self.compare(Date.self, text, decoder)
        try Self.compare([Date].self, "[\(text)]", decoder)
        try Self.compare(Data.self, text, decoder)
        try Self.compare([String: Double].self, "{\"a_b\":\(text)}", decoder)
        for strategy in [JSONDecoder.DateDecodingStrategy.secondsSince1970, .millisecondsSince1970] {
            decoder.dateDecodingStrategy = strategy
            try Self.compare(Date.self, text, decoder)
        }
        decoder.dateDecodingStrategy = .custom { decoder in
            Date(timeIntervalSince1970: Double(try decoder.singleValueContainer().decode(String.self).count))
        }
        try Self.compare([Date].self, "[\(text)]", decoder)
        // A closure that accepts null is not called for it.
        decoder.dateDecodingStrategy = .custom { decoder in
            try decoder.singleValueContainer().decodeNil() ? .distantPast : .distantFuture
        }
        decoder.dataDecodingStrategy = .custom { _ in Data() }
        try Self.compare([Date].self, "[\(text), null]", decoder)
        try Self.compare([Data?].self, "[null, \(text)]", decoder)
        try Self.compare(Data.self, "null", decoder)
        try Self.compare([Double].self, #"["\u0069nf"]"#, decoder)
        try Self.compare([Double].self, "[\"i\u{301}nf\"]", decoder)
    }

    /// A number in the widest type that it fits in, as models with several kinds of numbers read it.
    private struct AnyNumber: Decodable, Equatable {
        let text: String

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            do {
                text = "\(try container.decode(Int.self))"
            } catch DecodingError.typeMismatch {
                text = "\(try container.decode(Double.self))"
            }
        }
    }

    @Test(arguments: ["9223372036854775808", "1.5", "1e300", "\"a\"", "true", "null", "-1", "1e2"])
    func numbersThatDoNotFitFailAsWithJSONDecoder(text: String) throws {
        try Self.compare([AnyNumber].self, "[\(text)]", JSONDecoder())
        try Self.compare([Decimal].self, "[\(text)]", JSONDecoder())
    }

    private func every(_ text: String, _ decoder: JSONDecoder) throws {
        func check<Value: Decodable & Equatable>(_ type: Value.Type) throws {
            try Self.compare(type, text, decoder)
            try Self.compare([Value].self, "[\(text), \(text)]", decoder)
            try Self.compare([String: Value].self, "{\"a\": \(text)}", decoder)
            try Self.compare(Optional<Value>.self, text, decoder)
            try Self.compare(Member<Value>.self, "{\"value\": \(text)}", decoder)
        }
        try check(Bool.self)
        try check(String.self)
        try check(Int.self)
        try check(Int8.self)
        try check(Int16.self)
        try check(Int32.self)
        try check(Int64.self)
        try check(Int128.self)
        try check(UInt.self)
        try check(UInt8.self)
        try check(UInt16.self)
        try check(UInt32.self)
        try check(UInt64.self)
        try check(UInt128.self)
        try check(Float.self)
        try check(Double.self)
        try check(Decimal.self)
        try check(Date.self)
        try check(Data.self)
        try check(URL.self)
        try check(Level.self)
        try check(AnyJSON.self)
    }

    private struct Member<Value: Decodable & Equatable>: Decodable, Equatable {
        var value: Value
        var other: Value?
    }

    private enum Level: String, Decodable {
        case a, b
    }

    // MARK: Containers

    /// Reads whatever it finds, and records what it is told.
    private struct Probe: Decodable, Equatable {
        private enum Key: String, CodingKey, CaseIterable { case a, b, c, snakeCase, `super` }

        var notes: [String] = []

        init(from decoder: any Decoder) throws {
            notes.append(decoder.codingPath.map { "\($0.stringValue) \($0.intValue ?? -1)" }.joined(separator: "."))
            if let keyed = try? decoder.container(keyedBy: Key.self) {
                notes.append(keyed.allKeys.map(\.rawValue).sorted().joined(separator: ","))
                for key in Key.allCases { read(keyed, key) }
            } else if var list = try? decoder.unkeyedContainer() {
                read(&list)
            } else {
                let single = try decoder.singleValueContainer()
                notes.append("\(single.decodeNil()) \((try? single.decode(String.self)) ?? "-")")
            }
        }

        private mutating func read(_ keyed: KeyedDecodingContainer<Key>, _ key: Key) {
            notes.append(
                "\(key) \(keyed.contains(key)) \((try? keyed.decodeNil(forKey: key)).map { "\($0)" } ?? "error")"
            )
            note { try keyed.decode(Int.self, forKey: key) }
            note { try keyed.decode(Int?.self, forKey: key) }
            note { try keyed.decodeIfPresent(Int.self, forKey: key) }
            note { try keyed.decodeIfPresent([Int].self, forKey: key) }
            note { try keyed.decode(Probe.self, forKey: key).notes }
            note { try keyed.decodeIfPresent(Probe.self, forKey: key)?.notes }
            note { try keyed.nestedContainer(keyedBy: Key.self, forKey: key).allKeys.count }
            note { try keyed.nestedUnkeyedContainer(forKey: key).count }
            note { try keyed.superDecoder(forKey: key).singleValueContainer().decodeNil() }
            note { try keyed.superDecoder().singleValueContainer().decodeNil() }
        }

        private mutating func read(_ list: inout any UnkeyedDecodingContainer) {
            notes.append("\(list.count ?? -1)")
            for _ in 0..<8 {
                notes.append("\(list.currentIndex) \(list.isAtEnd)")
                note { try list.decodeNil() }
                note { try list.decode(Int.self) }
                note { try list.decodeIfPresent(String.self) }
                note { try list.decode(Probe.self).notes }
                note { try list.nestedContainer(keyedBy: Key.self).allKeys.count }
                note { try list.nestedUnkeyedContainer().count }
            }
            note { try list.superDecoder().codingPath.count }
        }

        /// Records the value or the kind of the error.
        private mutating func note(_ read: () throws -> Any?) {
            do {
                notes.append("\(try read() ?? "nil")")
            } catch {
                notes.append("error")
            }
        }
    }

    @Test(arguments: [
        "{}", "[]", "null", "\"x\"", "1", #"{"a":1}"#, #"{"a":null,"b":1.0,"c":"1"}"#, #"{"a":[],"b":[1,null],"c":{}}"#,
        #"{"a":{"a":{"a":1}},"super":{"b":2}}"#, #"{"super":null,"snake_case":3}"#, #"{"a":1,"a":2,"b":3,"b":null}"#,
        #"{"\u0061":1,"snakeCase":2}"#, #"[1,2,3]"#, #"[null,null,1,"x",{"a":1},[2],3]"#, #"["x",["y"],{"b":[{}]}]"#,
        #"[[],[[]],[[[]]],{},1,2,3,4]"#, #"{"a":[1,2,{"b":[3,{"c":4}]}]}"#,
    ])
    func containersAnswerEqually(_ text: String) throws {
        for isConverted in [false, true] {
            let decoder = JSONDecoder()
            if isConverted { decoder.keyDecodingStrategy = .convertFromSnakeCase }
            try Self.compare(Probe.self, text, decoder)
            try Self.compare([Probe].self, "[\(text)]", decoder)
        }
    }

    private class Animal: Decodable {
        var name: String
        private enum Key: CodingKey { case name }
        required init(from decoder: any Decoder) throws {
            name = try decoder.container(keyedBy: Key.self).decode(String.self, forKey: .name)
        }
    }

    private final class Dog: Animal, Equatable {
        var age: Int
        private enum Key: CodingKey { case age }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            age = try container.decode(Int.self, forKey: .age)
            try super.init(from: container.superDecoder())
        }

        static func == (one: Dog, other: Dog) -> Bool { one.name == other.name && one.age == other.age }
    }

    private enum Shape: Decodable, Equatable {
        case circle(radius: Double)
        case square(Int, Int = 2)
        case none
    }

    @Test func modelsOfEveryFormAreEqual() throws {
        for text in [
            #"{"age":3,"super":{"name":"Rex"}}"#, #"{"age":3}"#, #"{"age":"3","super":{"name":"Rex"}}"#,
            #"{"super":null}"#,
        ] {
            try Self.compare(Dog.self, text)
        }
        for text in [
            #"{"circle":{"radius":1}}"#, #"{"square":{"_0":1}}"#, #"{"none":{}}"#,
            #"{"none":{},"circle":{"radius":1}}"#, "{}",
        ] {
            try Self.compare(Shape.self, text)
        }
        for text in [#"{"1":2,"3":4}"#, #"{"x":1}"#, #"["1",2]"#, "[1,2,3,4]", "[1,2,3]"] {
            try Self.compare([Int: Int].self, text)
            try Self.compare([Level: Int].self, text)
            try Self.compare(Set<Int>.self, text)
            try Self.compare(ClosedRange<Int>.self, text)
        }
    }

    // MARK: Generated texts

    @Test(arguments: 0..<100)
    func randomTextsAreEqual(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let text = RandomJSON.text(depth: 4, using: &generator)
        try Self.compare(AnyJSON.self, text)
        try Self.compare(Probe.self, text)
        var bytes = Array(text.utf8)
        for _ in 0..<20 {
            guard let index = bytes.indices.randomElement(using: &generator) else { break }
            bytes[index] = Array("\"{}[]:,0123456789eE+-.\\ ntfu".utf8).randomElement(using: &generator) ?? 0
            try Self.compare(AnyJSON.self, String(decoding: bytes, as: UTF8.self))
        }
    }

    // MARK: The decoder itself

    @Test func ordinaryModelsNeedNoJSONDecoder() throws {
        struct User: Codable, Equatable {
            var id = 583_231
            var name: String? = "The Octocat"
            var isAdmin = false
            var scores = [0.5, 12.25, 99.125]
            var tags = ["a": ["é", "\n"]]
            var created = Date(timeIntervalSinceReferenceDate: 7.5)
            var home = URL(string: "https://a.b/")
            var photo = Data([1, 2, 3])
            var price = Decimal(string: "19.99")
            var missing: Int?
        }
        let encoded = try JSONEncoder().encode([User(), User()])
        #expect(try Self.compare([User].self, String(decoding: encoded, as: UTF8.self)))
    }

    /// A `JSONDecoder` throws `typeMismatch` for a Boolean that is null, and `valueNotFound` for other values.
    @Test func errorsThatModelsCatchAreEqual() throws {
        struct Flag: Decodable, Equatable {
            enum Key: String, CodingKey { case on }
            var on = false
            init(from decoder: any Decoder) throws {
                do {
                    on = try decoder.container(keyedBy: Key.self).decode(Bool.self, forKey: .on)
                } catch DecodingError.valueNotFound {}
            }
        }
        for text in [#"{"on":null}"#, #"{"on":true}"#, #"{"on":1}"#] { try Self.compare(Flag.self, text) }
    }

    @Test func repeatedNamesWithAStrategyAreEqual() throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        for text in [#"{"a":1,"a":"x"}"#, #"{"a":1,"a":2}"#, #"{"a":"x","a":1}"#] {
            try Self.compare([String: Int].self, text, decoder)
            try Self.compare([String: Int].self, text)
        }
    }

    @Test func decodersWithOtherSyntaxAreLeftAlone() {
        final class Own: JSONDecoder, @unchecked Sendable {}
        #expect(JSONModelDecoder(Own()) == nil)
        #expect(JSONModelDecoder(LenientJSONDecoder()) == nil)
        let lenient = JSONDecoder()
        lenient.allowsJSON5 = true
        #expect(JSONModelDecoder(lenient) == nil)
        let bare = JSONDecoder()
        bare.assumesTopLevelDictionary = true
        #expect(JSONModelDecoder(bare) == nil)
    }

    @Test func textsInOtherEncodingsAreEqual() throws {
        for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32BigEndian] {
            let data = try #require(#"{"a":1}"#.data(using: encoding))
            #expect(try !Self.compare([String: Int].self, data))
        }
    }

    @Test func userInfoReachesModels() throws {
        struct Named: Decodable {
            let text: String?
            init(from decoder: any Decoder) throws {
                text = CodingUserInfoKey(rawValue: "name").flatMap { decoder.userInfo[$0] as? String }
            }
        }
        let decoder = JSONDecoder()
        decoder.userInfo[try #require(CodingUserInfoKey(rawValue: "name"))] = "Ada"
        #expect(JSONModelDecoder(decoder)?.decodeDirectly(Named.self, from: Data("{}".utf8))?.text == "Ada")
    }
}

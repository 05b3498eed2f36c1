import Foundation
import SluiceTesting
import Testing

@testable import SluiceJSON

@Suite struct LenientStrategyTests {
    private func decode<Value: Decodable>(
        _ type: Value.Type,
        _ text: String,
        _ decoder: LenientJSONDecoder
    ) throws -> Value {
        try decoder.decode(type, from: Data(text.utf8))
    }

    /// All keys of an object, as a decoder reports them.
    private struct Names: Decodable {
        var names: Set<String>
        init(from decoder: any Decoder) throws {
            names = Set(try decoder.container(keyedBy: PathKey.self).allKeys.map(\.stringValue))
        }
    }

    private func expectSameNames(_ name: String) throws {
        let data = try JSONEncoder().encode([name: 1])
        let foundation = JSONDecoder()
        foundation.keyDecodingStrategy = .convertFromSnakeCase
        let lenient = LenientJSONDecoder(keyDecodingStrategy: .convertFromSnakeCase)
        #expect(try lenient.decode(Names.self, from: data).names == foundation.decode(Names.self, from: data).names)
    }

    @Test(arguments: [
        "", "_", "__", "a", "ab", "aB", "ABC", "a_b", "one_two_three", "_one_two_", "__one__two__", "a_b2b", "a_2b",
        "a_foo-bar", "a_o'neil", "a_foo bar", "a_éa", "a_ABC", "AB_cd", "aB_cD", "İ_b", "a_ßx", "a_ǆx", "a_x.y",
        "a_9a9b",
        "ΑΣ_b", "a_ﬁx", "a_x\u{301}y", "a_\u{301}y", "_\u{301}a_b", "a_", "_a", "a__b", "user_id", "URL_string", "a_1",
    ])
    func convertsSnakeCaseLikeJSONDecoder(name: String) throws {
        try expectSameNames(name)
    }

    @Test(arguments: 0..<100)
    func convertsRandomSnakeCaseLikeJSONDecoder(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array("__aZé1-. 'ß")
        let count = Int.random(in: 0...12, using: &generator)
        try expectSameNames(String((0..<count).compactMap { _ in alphabet.randomElement(using: &generator) }))
    }

    @Test(arguments: ["true", "false"])
    func booleanIsNoDate(_ text: String) {
        for strategy in [.deferredToDate, .secondsSince1970, .millisecondsSince1970]
            as [JSONDecoder.DateDecodingStrategy]
        {
            let decoder = LenientJSONDecoder(dateDecodingStrategy: strategy)
            #expect(throws: DecodingError.self) { try decode(Date.self, text, decoder) }
        }
    }

    @Test func keepsDictionaryKeysAndConvertsThoseOfValues() throws {
        struct Model: Decodable, Equatable {
            var myValue: Int
            var myMap: [String: [Model]]?
            var myOptional: [String: Int]??
        }
        let text = #"{"my_value":1,"my_map":{"a_b":[{"my_value":"2"}]},"my_optional":{"c_d":3}}"#
        let decoder = LenientJSONDecoder(keyDecodingStrategy: .convertFromSnakeCase)
        let expected = Model(myValue: 1, myMap: ["a_b": [Model(myValue: 2)]], myOptional: ["c_d": 3])
        #expect(try decode(Model.self, text, decoder) == expected)
        #expect(try decode([String: Int].self, #"{"a_b":1}"#, decoder) == ["a_b": 1])
        #expect(try decode([String: [String: Int]].self, #"{"a_b":"{\"c_d\":1}"}"#, decoder) == ["a_b": ["c_d": 1]])
    }

    @Test func firstOfEqualConvertedKeysApplies() throws {
        struct Model: Decodable { var myKey: Int }
        let decoder = LenientJSONDecoder(keyDecodingStrategy: .convertFromSnakeCase)
        #expect(try decode(Model.self, #"{"my_key":1,"myKey":2}"#, decoder).myKey == 1)
        #expect(try decode(Model.self, #"{"myKey":2,"my_key":1}"#, decoder).myKey == 2)
    }

    @Test func passesPathToCustomKeyStrategy() throws {
        struct Model: Decodable { var a: [Inner] }
        struct Inner: Decodable { var b: Int }
        let text = #"{"items/A":[{"items/Index 0/B":7}]}"#
        let strategy = JSONDecoder.KeyDecodingStrategy.custom { path in
            let name = path.last?.stringValue ?? ""
            let isNested = path.count > 1
            return PathKey.member(isNested && name.hasSuffix("B") ? "b" : name.hasSuffix("A") ? "a" : "?\(path.count)")
        }
        #expect(try decode(Model.self, text, LenientJSONDecoder(keyDecodingStrategy: strategy)).a.first?.b == 7)
        let foundation = JSONDecoder()
        foundation.keyDecodingStrategy = strategy
        #expect(try foundation.decode(Model.self, from: Data(text.utf8)).a.first?.b == 7)
    }

    @Test(arguments: [
        (JSONDecoder.DateDecodingStrategy.deferredToDate, "\"-1.5\"", Date(timeIntervalSinceReferenceDate: -1.5)),
        (.secondsSince1970, "1700000000", Date(timeIntervalSince1970: 1_700_000_000)),
        (.secondsSince1970, "\" 1700000000.5 \"", Date(timeIntervalSince1970: 1_700_000_000.5)),
        (.millisecondsSince1970, "\"1700000000123\"", Date(timeIntervalSince1970: 1_700_000_000.123)),
        (.iso8601, "\" 2023-11-14T22:13:20Z \"", Date(timeIntervalSince1970: 1_700_000_000)),
        (.custom { _ in .distantPast }, "{\"any\":[]}", .distantPast),
        (
            .custom { try Date(timeIntervalSince1970: $0.singleValueContainer().decode(Double.self)) }, "\"7\"",
            Date(timeIntervalSince1970: 7)
        ),
    ])
    func decodesDatesByStrategy(strategy: JSONDecoder.DateDecodingStrategy, text: String, date: Date) throws {
        let decoder = LenientJSONDecoder(dateDecodingStrategy: strategy)
        #expect(try decode([Date].self, "[\(text)]", decoder) == [date])
        #expect(try decode([String: Date].self, "{\"a\":\(text)}", decoder) == ["a": date])
    }

    @Test(arguments: [
        (JSONDecoder.DateDecodingStrategy.deferredToDate, "\"today\""), (.secondsSince1970, "\"2023-11-14T22:13:20Z\""),
        (.millisecondsSince1970, "[]"), (.iso8601, "1700000000"), (.iso8601, "\"2023-11-14\""), (.iso8601, "null"),
        (.iso8601, "\"\""), (.secondsSince1970, "1e400"),
    ])
    func rejectsInvalidDates(strategy: JSONDecoder.DateDecodingStrategy, text: String) {
        let decoder = LenientJSONDecoder(dateDecodingStrategy: strategy)
        #expect(throws: DecodingError.self) { try decode([Date].self, "[\(text)]", decoder) }
    }

    @Test func decodesDatesByFormatter() throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "yyyy/MM/dd"
        let decoder = LenientJSONDecoder(dateDecodingStrategy: .formatted(formatter))
        #expect(try decode([Date].self, #"["1970/01/02"]"#, decoder) == [Date(timeIntervalSince1970: 86400)])
        #expect(throws: DecodingError.self) { try decode([Date].self, #"["x"]"#, decoder) }
    }

    @Test func decodesDataByStrategy() throws {
        let data = Data([1, 2, 255])
        #expect(try decode([Data].self, #"["AQL/"]"#, LenientJSONDecoder()) == [data])
        let deferred = LenientJSONDecoder(dataDecodingStrategy: .deferredToData)
        #expect(try decode([Data].self, #"[[1,"2",255.0]]"#, deferred) == [data])
        let custom = LenientJSONDecoder(
            dataDecodingStrategy: .custom { Data(try $0.singleValueContainer().decode(String.self).utf8) }
        )
        #expect(try decode([Data].self, "[12]", custom) == [Data("12".utf8)])
        for text in ["[\"AQ=\"]", "[1]", "[null]", "[\"?\"]"] {
            #expect(throws: DecodingError.self) { try decode([Data].self, text, LenientJSONDecoder()) }
        }
        #expect(throws: DecodingError.self) { try decode([Data].self, "[[1,300]]", deferred) }
    }

    @Test func decodesInfinityAndNaNByStrategy() throws {
        let decoder = LenientJSONDecoder(
            nonConformingFloatDecodingStrategy: .convertFromString(
                positiveInfinity: "∞",
                negativeInfinity: "-inf",
                nan: "nan"
            )
        )
        #expect(try decode([Double].self, #"["∞","-inf","1.5",2]"#, decoder) == [.infinity, -.infinity, 1.5, 2])
        #expect(try decode([Float].self, #"["nan"]"#, decoder).first?.isNaN == true)
        #expect(throws: DecodingError.self) { try decode([Double].self, #"["inf"]"#, decoder) }
        #expect(throws: DecodingError.self) { try decode([Int].self, #"["∞"]"#, decoder) }
    }

    @Test func decodesURLsAndDecimalsFromText() throws {
        let decoder = LenientJSONDecoder()
        #expect(
            try decode([URL].self, #"["https:\/\/a.b\/c?d=e"]"#, decoder) == [
                #require(URL(string: "https://a.b/c?d=e"))
            ]
        )
        #expect(throws: DecodingError.self) { try decode([URL].self, "[1]", decoder) }
        #expect(throws: DecodingError.self) { try decode([URL].self, "[\"\"]", decoder) }
        #expect(throws: DecodingError.self) { try decode([URL].self, "[{\"relative\":\"a\"}]", decoder) }
        let precise = try #require(Decimal(string: "12345678901234567890.0123456789"))
        #expect(
            try decode(
                [Decimal].self,
                #"[12345678901234567890.0123456789," 12345678901234567890.0123456789 "]"#,
                decoder
            ) == [precise, precise]
        )
        for text in ["\"\"", "\"abc\"", "1e400", "\"1x\"", "[]", "{\"exponent\":0}"] {
            #expect(throws: DecodingError.self) { try decode([Decimal].self, "[\(text)]", decoder) }
        }
    }
}

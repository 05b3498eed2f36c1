import Foundation
import Testing

@testable import SluiceJSON

/// A `JSON` inside a model is the value of the text, whatever the lenient decoder converts for other types.
@Suite struct LenientDynamicValueTests {
    private struct Event: Decodable {
        var id: Int
        var detail: JSON
        var byName: [String: JSON]
        var list: [JSON]
        var extra: JSON?
    }

    /// A model that passes its own decoder on.
    private struct Wrapper: Decodable {
        let json: JSON
        let text: String?

        init(from decoder: any Decoder) throws {
            json = try JSON(from: decoder)
            text = try? decoder.singleValueContainer().decode(String.self)
        }
    }

    private func decode<Value: Decodable>(
        _ type: Value.Type,
        _ text: String,
        _ decoder: LenientJSONDecoder = LenientJSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: Data(text.utf8))
    }

    static let values = [
        "1", "-0", "1.50", "1e400", "0.1", "12345678901234567890123", "true", "false", "null", #""1""#, #""true""#,
        #""""#, #""{\"a\":1}""#, "[]", "{}", #"[1,"1",true,"yes",null,[0],{"is_new":0}]"#,
        #"{"is_new":1,"isNew":false,"n":[{"x_y":1.0}]}"#,
    ]

    private static let decoders = [
        LenientJSONDecoder(), LenientJSONDecoder(convertsTypes: false), LenientJSONDecoder(fillsMissingValues: true),
        LenientJSONDecoder(keyDecodingStrategy: .convertFromSnakeCase),
    ]

    @Test(arguments: values)
    func keepsKindAndLiteralAtEveryPlace(_ value: String) throws {
        let json = try JSON(parsing: value)
        for decoder in Self.decoders {
            let text = #"{"id":1,"detail":\#(value),"byName":{"a_b":\#(value)},"list":[\#(value)],"extra":\#(value)}"#
            let event = try decode(Event.self, text, decoder)
            #expect(event.id == 1)
            let extra: JSON? = json.isNull ? Optional.none : json
            let found: [JSON?] = [event.detail, event.byName["a_b"], event.list.first]
            #expect(found == [json, json, json])
            #expect(found.map { $0?.description } == Array(repeating: json.description, count: 3))
            #expect(event.extra == extra)
            #expect(try decode(JSON.self, value, decoder).description == json.description)
            #expect(try decode(Wrapper.self, value, decoder).json.description == json.description)
        }
    }

    @Test(arguments: [
        ("1.50", "1.50"), ("1e400", "1e400"), ("12345678901234567890123", "12345678901234567890123"),
        (#"" 7.10 ""#, "7.10"), ("true", "1"),
    ])
    func keepsLiteralOfNumber(_ value: String, _ literal: String) throws {
        #expect(try decode([JSONNumber].self, "[\(value)]").first?.text == literal)
    }

    @Test func readsTheFirstOfSeveralMembersWithTheSameName() throws {
        #expect(try decode(JSON.self, #"{"a":1,"a":true}"#) == ["a": 1])
    }
}

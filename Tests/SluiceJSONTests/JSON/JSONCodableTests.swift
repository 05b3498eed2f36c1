import Foundation
import Sluice
import SluiceTesting
import Testing

@Suite struct JSONCodableTests {
    struct Event: Codable, Equatable {
        let id: UInt64
        let createdAt: Date
        var payload: JSON
    }

    static let edges = [
        "null", "true", "0", "-0", "1.5", "0.1", "9223372036854775807", "-9223372036854775808", "18446744073709551615",
        "12345678901234567890123", "0.12345678901234567890123", "1e300", "-1e-300", "1.10", #""12""#, "[]", "{}",
        #"{"snake_case":{"camelCase":[{"a_b":null}]},"":[true,1,"1"]}"#,
    ]

    @Test(arguments: edges)
    func roundTripsThroughJSONDecoderAndJSONEncoder(text: String) throws {
        let json = try JSON(parsing: text)
        #expect(try JSONDecoder().decode(JSON.self, from: Data(text.utf8)) == json)
        #expect(try JSON(parsing: JSONEncoder().encode(json)) == json)
        #expect(try JSONDecoder().decode([JSON].self, from: JSONEncoder().encode([json])) == [json])
    }

    @Test(arguments: 0..<100)
    func roundTripsRandomValuesThroughJSONEncoder(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let json = try JSON(parsing: RandomJSON.text(depth: 4, using: &generator))
        #expect(try JSON(parsing: JSONEncoder().encode(json)) == json)
    }

    @Test func keyStrategiesDoNotChangeKeysOfValue() throws {
        let text = #"{"id":1,"created_at":0,"payload":{"snake_case":{"other_key":1}}}"#
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let event = try decoder.decode(Event.self, from: Data(text.utf8))
        #expect(event.payload.snake_case.other_key == 1)
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let encoded = try JSON(
            encoding: Event(id: 1, createdAt: event.createdAt, payload: ["camelCase": 1]),
            by: encoder
        )
        #expect(encoded["payload"] == ["camelCase": 1])
        #expect(encoded.contains("created_at"))
    }

    @Test func convertsBetweenModelsAndValues() throws {
        let event = Event(id: .max, createdAt: Date(timeIntervalSinceReferenceDate: 0.1), payload: [1, "a", nil])
        let json = try JSON(encoding: event)
        #expect(json.id.uint64 == .max)
        #expect(json.payload == [1, "a", nil])
        #expect(try json.decoded(as: Event.self) == event)
        let list: [Event] = try JSON([json, json]).decoded()
        #expect(list == [event, event])
        #expect(try json.decoded(as: JSON.self) == json)
        #expect(try JSON(encoding: json) == json)
    }

    @Test func appliesStrategiesOfDecoder() throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        let json: JSON = ["id": 1, "createdAt": 5, "payload": nil]
        #expect(try json.decoded(as: Event.self, by: decoder).createdAt == Date(timeIntervalSince1970: 5))
        #expect(throws: DecodingError.self) { try json.payload.decoded(as: Event.self) }
    }

    @Test func rejectsNumberBeyondJSONDecoder() {
        let text = Data(#"{"values":[1,{"a":1e400}]}"#.utf8)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(JSON.self, from: text) }
        #expect(throws: Never.self) { try JSON(parsing: text) }
    }

    @Test func rejectsNumberBeyondJSONEncoder() throws {
        let json = try JSON(parsing: #"{"a":[1e400]}"#)
        let error = #expect(throws: EncodingError.self) { try JSONEncoder().encode(json) }
        guard case .invalidValue(_, let context)? = error else { return }
        #expect(context.codingPath.map(\.stringValue) == ["a", "Index 0"])
        #expect(json.encoded() == Data(#"{"a":[1e400]}"#.utf8))
    }

    @Test func roundTripsThroughPropertyList() throws {
        let json: JSON = ["a": [1, 2.5, "x", true], "b": ["c": -1]]
        let data = try PropertyListEncoder().encode(json)
        #expect(try PropertyListDecoder().decode(JSON.self, from: data) == json)
    }
}

import Foundation
import SluiceHTTP
import Testing

@testable import Sluice
@testable import SluiceCache

@Suite struct CacheValueTests {
    private let store = CacheStore(storage: ScriptedStorage())

    private enum Suit: String, Codable { case hearts, spades }

    private struct Nested: Codable, Sendable, Equatable {
        var name: String
        var dates: [Date]
        var ratio: Double?
        var json: JSON
        var byID: [Int: [String]]
    }

    private func expectRoundTrip<Value: Codable & Sendable & Equatable>(
        _ value: Value,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        try await store.set(value, for: "it")
        let back: Value? = try await store.value(for: "it")
        #expect(back == value, sourceLocation: location)
    }

    @Test func responsesOfSendersAreReadBack() async throws {
        let client = APIClient(baseURL: "https://a.test")
        let stub = Stub.json(#"{"id":1,"name":"Ada"}"#, status: .created, headers: ["ETag": "1"])
        let response = await client.get("users/1", as: User.self).stub(stub, mode: .immediate).sender().response
        try await store.set(response, for: "user")
        let stored = try #require(try await store.response(for: "user"))
        #expect(stored.head.status == .created)
        #expect(stored.request.url == "https://a.test/users/1")
        #expect(try stored.decoded(as: User.self) == User(id: 1, name: "Ada"))
        try await store.memory.set(response.received(), for: "user")
        #expect(try await store.memory.response(for: "user")?.body == response.body)
        let lost = await client.get("x", as: User.self).stub(.failure(.cannotConnect), mode: .immediate).sender()
            .response
        await #expect(throws: SluiceError.self) { try await store.set(lost, for: "lost") }
        #expect(try await store.response(for: "lost") == nil)
    }

    @Test func valuesOfAllTypesAreReadBack() async throws {
        try await expectRoundTrip(1)
        try await expectRoundTrip(UInt64.max)
        try await expectRoundTrip(Int64.min)
        try await expectRoundTrip(true)
        try await expectRoundTrip("")
        try await expectRoundTrip("“é”\u{0}\n\u{2028}👩‍👩‍👧")
        try await expectRoundTrip(Character("a").asciiValue.map { [$0] })
        try await expectRoundTrip([1, 2, 3])
        try await expectRoundTrip([String]())
        try await expectRoundTrip(["a": [1.5, -0.1], "b": []])
        try await expectRoundTrip([1: "one"])
        try await expectRoundTrip(Set(["a", "b"]))
        try await expectRoundTrip([1, nil, 3])
        try await expectRoundTrip(Suit.spades)
        try await expectRoundTrip(Data([0, 255, 10]))
        try await expectRoundTrip(Data())
        try await expectRoundTrip([Data([1]), Data()])
        try await expectRoundTrip(URL(string: "https://a.example/ä?b=c"))
        try await expectRoundTrip(UUID())
        try await expectRoundTrip(Decimal(string: "12345678901234567890.123456789"))
        let nested = Nested(
            name: "n",
            dates: [.distantPast, Date()],
            ratio: -.infinity,
            json: ["a": [1, 2.5, nil]],
            byID: [7: ["x"]]
        )
        try await expectRoundTrip(nested)
    }

    @Test(arguments: [
        0.1, -0.0, .pi, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 1e22,
        9_007_199_254_740_992,
    ])
    func numbersKeepTheirBitPattern(number: Double) async throws {
        try await store.set(number, for: "n")
        try await store.set([Float(number)], for: "f")
        let back: Double? = try await store.value(for: "n")
        #expect(back?.bitPattern == number.bitPattern)
        let floats: [Float]? = try await store.value(for: "f")
        #expect(floats?.first?.bitPattern == Float(number).bitPattern)
    }

    @Test func notANumberIsReadBackAsNaN() async throws {
        try await store.set(["a": Double.nan], for: "n")
        let back: [String: Double]? = try await store.value(for: "n")
        #expect(back?["a"]?.isNaN == true)
    }

    @Test func datesAreReadBackExactly() async throws {
        for date in [
            Date(timeIntervalSinceReferenceDate: 0.1 + 0.2), Date(), .distantFuture, Date(timeIntervalSince1970: -1e-7),
        ] {
            try await expectRoundTrip(date)
        }
    }

    @Test func jsonKeepsItsDigits() async throws {
        let json = try JSON(
            parsing: Data("[1e400,0.10,12345678901234567890123456789012345678901234567890,\"NaN\",null]".utf8)
        )
        try await store.set(json, for: "j")
        let back: JSON? = try await store.value(for: "j")
        #expect(back == json)
        #expect(back?.encoded() == json.encoded())
    }

    @Test func nilIsReadBackAsNil() async throws {
        try await store.set(nil as Int?, for: "n")
        let plain: Int? = try await store.value(for: "n")
        #expect(plain == nil)
        let kept = try await store.value(for: "n", as: Int?.self)
        #expect(kept == .some(nil))
        let absent = try await store.value(for: "none", as: Int?.self)
        #expect(absent == .none)
    }

    @Test func optionalValuesAreReadAsTheirWrappedType() async throws {
        try await store.set(5 as Int?, for: "n")
        let plain = try await store.value(for: "n", as: Int.self)
        #expect(plain == 5)
        let optional = try await store.value(for: "n", as: Int?.self)
        #expect(optional == 5)
        let twice = try await store.value(for: "n", as: Int??.self)
        #expect(twice == 5)
        try await store.set(Data([1]) as Data?, for: "d")
        let data = try await store.value(for: "d", as: Data.self)
        #expect(data == Data([1]))
    }

    @Test func dataStartsAtIndexZero() async throws {
        try await store.set(Data([9, 8, 7]).dropFirst(), for: "d")
        let data = try await store.value(for: "d", as: Data.self)
        #expect(data?[0] == 8)
    }

    @Test func errorOfAnotherTypeContainsKeyAndTypes() async throws {
        try await store.set(User(id: 1, name: "Ada"), for: "me")
        let error = await #expect(throws: SluiceError.self) { _ = try await store.value(for: "me", as: [Int].self) }
        #expect(error?.code == .decodingFailed)
        #expect(
            error?.reason
                == "The value for “me” could not be decoded as Swift.Array<Swift.Int>: the stored value is of type SluiceTests.User."
        )
        try await store.set(1, for: "n")
        let narrow = await #expect(throws: SluiceError.self) { _ = try await store.value(for: "n", as: String.self) }
        #expect(narrow?.reason == "The value for “n” could not be decoded as String: the stored value is of type Int.")
        let response = await #expect(throws: SluiceError.self) { _ = try await store.response(for: "n") }
        #expect(response?.code == .decodingFailed)
    }

    @Test func readingAResponseAsAValueFails() async throws {
        let request = HTTPRequest(scheme: "https", authority: "a.example", path: "/")
        try await store.set(
            ServerResponse(request: request, head: HTTPResponse(status: .ok), body: Data("1".utf8)),
            for: "r"
        )
        let error = await #expect(throws: SluiceError.self) { _ = try await store.value(for: "r", as: Int.self) }
        #expect(error?.code == .decodingFailed)
    }

    @Test func encodingErrorContainsThePathOfTheField() async throws {
        struct Stubborn: Codable, Sendable {
            struct Part: Codable, Sendable {
                var id = 0
                func encode(to encoder: any Encoder) throws {
                    throw EncodingError.invalidValue(id, .init(codingPath: encoder.codingPath, debugDescription: ""))
                }
            }
            var parts = [Part()]
        }
        let error = await #expect(throws: SluiceError.self) { try await store.set(Stubborn(), for: "s") }
        #expect(error?.code == .encodingFailed)
        #expect(
            error?.reason
                == "The Stubborn for “s” could not be encoded: at “parts[0]”, the encoder rejected a value of type Int."
        )
    }

    @Test func decodingErrorContainsThePathOfTheField() throws {
        let body = try ValueCoding(name: "me").encode(User(id: 1, name: "Ada"))
        let garbled = Data(String(decoding: body, as: UTF8.self).replacing("\"id\":1", with: "\"id\":\"1\"").utf8)
        let error = #expect(throws: SluiceError.self) {
            _ = try ValueCoding(name: "me").decode(User.self, from: garbled)
        }
        #expect(
            error?.reason
                == "The value for “me” could not be decoded as SluiceTests.User: at “id”, expected Int, found a string."
        )
    }

    @Test func truncatedValuesFailWithoutTrap() throws {
        let whole = try ValueCoding(name: "n").encode([1, 2, 3])
        for count in 0..<whole.count {
            for body in [whole.prefix(count), whole.dropFirst(count + 1)] {
                let error = #expect(throws: SluiceError.self) {
                    _ = try ValueCoding(name: "n").decode([Int].self, from: body)
                }
                #expect(error?.code == .decodingFailed)
            }
        }
        var shifted = Data([1, 2]) + whole
        shifted = shifted.dropFirst(2)
        #expect(try ValueCoding(name: "n").decode([Int].self, from: shifted) == [1, 2, 3])
    }

    @Test func typeNamesAreStableAcrossProcesses() {
        struct Local {}
        for type in [Local.self, Suit.self, [Suit].self, Local?.self, User.self] as [Any.Type] {
            #expect(!ValueCoding.typeName(type).contains("$"))
        }
        #expect(ValueCoding.typeName(Suit.self) == "SluiceTests.CacheValueTests.Suit")
        #expect(ValueCoding.typeName(Int??.self) == "Swift.Int")
    }
}

import Foundation
import SluiceHTTP
import Testing

@testable import Sluice
@testable import SluiceJSON

/// Combining characters in member names, which are sorted in quadratic time when names are compared.
@Suite(.timeLimit(.minutes(1))) struct JSONMarksTests {
    private struct Model: Decodable {
        var a: Int?
    }

    private static let marks = ["\u{301}", "\u{323}", "\u{5B0}", "\u{1E000}", "\u{1D165}"]

    private func text(_ name: String) -> Data { Data(#"{"a":1,"\#(name)":2}"#.utf8) }

    /// Returns the name as it is, and with each UTF-16 code unit as an escape.
    private func forms(_ name: String) -> [String] {
        [name, name.utf16.map { "\\u" + String(0x10000 + Int($0), radix: 16).dropFirst() }.joined()]
    }

    @Test(arguments: marks) func namesHaveALimit(_ mark: String) throws {
        for name in forms("e" + String(repeating: mark, count: 128) + "f" + String(repeating: mark, count: 128)) {
            #expect(try JSON(parsing: text(name)).count == 2)
            #expect(try JSONDecoder().decode(Model.self, from: text(name)).a == 1)
        }
        for name in forms("e" + String(repeating: mark, count: 129)) {
            let error = #expect(throws: JSONSyntaxError.self) { try JSON(parsing: text(name)) }
            #expect(error?.reason == "a member name has more than 128 combining characters in a row")
        }
    }

    @Test func longNamesAreRefusedAtOnce() throws {
        let data = text("e" + String(repeating: "\u{301}\u{323}", count: 200_000))
        let decoder = try #require(JSONModelDecoder(JSONDecoder()))
        for _ in 0..<3 {
            #expect(throws: DecodingError.self) { try decoder.decode(Model.self, from: data) }
            #expect(throws: DecodingError.self) { try decoder.decode([String: Int].self, from: data) }
            #expect(throws: (any Error).self) { try LenientJSONDecoder().decode(Model.self, from: data) }
            #expect(throws: JSONSyntaxError.self) { try JSON(parsing: data) }
        }
    }

    /// A `JSONDecoder` accepts such errors, at least in values that it does not read.
    @Test(arguments: [#"[1,]"#, #""\ud800""#, #""\q""#])
    func longNamesAfterAnErrorAreRefusedAtOnce(_ value: String) throws {
        let name = "e" + String(repeating: "\u{301}\u{323}", count: 200_000)
        let decoder = try #require(JSONModelDecoder(JSONDecoder()))
        for encoding in [String.Encoding.utf8, .utf16LittleEndian] {
            let data = try #require(#"{"a":1,"x":\#(value),"\#(name)":2}"#.data(using: encoding))
            #expect(throws: DecodingError.self) { try decoder.decode(Model.self, from: data) }
        }
        let few = Data(#"{"a":1,"x":\#(value),"e\#(Self.marks[0])":2}"#.utf8)
        #expect(try decoder.decode(Model.self, from: few).a == 1)
    }

    @Test func longNamesAreRefusedAtOnceByOtherDecoders() throws {
        final class Own: JSONDecoder, @unchecked Sendable {}
        let relaxed = JSONDecoder()
        relaxed.allowsJSON5 = true
        for decoder in [Own(), relaxed] {
            let shared = SharedDecoder(decoder)
            let data = text("e" + String(repeating: "\u{301}\u{323}", count: 200_000))
            #expect(throws: DecodingError.self) { try shared.decode(Model.self, from: data) }
            #expect(try shared.decode(Model.self, from: text("é")).a == 1)
        }
    }

    @Test func longNamesOfErrorBodiesAreRefusedAtOnce() throws {
        let refusal = SluiceError(.unacceptableStatus, "The server refused.")
        let body = text("e" + String(repeating: "\u{301}\u{323}", count: 200_000))
        let failure = RequestFailure(error: refusal, body: body)
        #expect(throws: DecodingError.self) { try failure.decoded(as: Model.self) }
        #expect(throws: DecodingError.self) { try APIError(failure).decoded(as: [String: Int].self) }
        #expect(TypedAPIError<Model>(failure).errorBody?.a == nil)
        let ordinary = RequestFailure(error: refusal, body: text("é"))
        #expect(try ordinary.decoded(as: Model.self).a == 1)
    }

    @Test func errorsAboutLongValuesAreMadeAtOnce() throws {
        let marks = String(repeating: "\u{301}\u{323}", count: 200_000)
        let secret = Data(#"{"a":"token=\#(marks)"}"#.utf8)
        let json = try JSON(parsing: secret)
        let failure = #expect(throws: JSONDecodingFailure.self) { try json.value(at: "a", as: Int.self) }
        let mismatch = try DecodingFailure(Int.self, body: secret, failure: #require(failure))
        #expect(mismatch.codingPath == "a")
        let description = "Cannot initialize Level from invalid String value e\(marks)"
        let context = DecodingError.Context(codingPath: [], debugDescription: description)
        let body = Data(#"{"a":"e\#(marks)"}"#.utf8)
        let unknown = DecodingFailure(Int.self, body: body, cause: DecodingError.dataCorrupted(context))
        #expect(unknown.reason.hasSuffix("…” is not a value of Level"))
        for description in ["Bad amount: e\(marks)", "e\(marks)found e\(marks)", "Cannot initialize e\(marks)"] {
            let context = DecodingError.Context(codingPath: [], debugDescription: description)
            let own = DecodingFailure(Int.self, body: body, cause: DecodingError.dataCorrupted(context))
            #expect(own.reason == "the data is not valid")
            let wrong = DecodingFailure(Int.self, body: body, cause: DecodingError.typeMismatch(Int.self, context))
            #expect(wrong.reason == "expected Int, found an object")
        }
    }

    @Test(arguments: [
        String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian, .utf32BigEndian,
    ])
    func otherEncodingsHaveTheSameLimit(_ encoding: String.Encoding) throws {
        let decoder = try #require(JSONModelDecoder(JSONDecoder()))
        func data(_ count: Int) throws -> Data {
            let name = "e" + String(repeating: "\u{301}", count: count)
            return try #require(String(decoding: text(name), as: UTF8.self).data(using: encoding))
        }
        #expect(try decoder.decode(Model.self, from: data(10)).a == 1)
        #expect(throws: DecodingError.self) { try decoder.decode(Model.self, from: data(20_000)) }
    }

    @Test func longTextsAreNoBooleans() {
        let marks = String(repeating: "\u{301}\u{323}", count: 200_000)
        for text in ["", "t", "y", "1"] { #expect(!JSON.string(text + marks).boolValue) }
    }

    @Test func valuesAndOrdinaryNamesHaveNoLimit() throws {
        let marks = String(repeating: "\u{301}", count: 1000)
        #expect(try JSON(parsing: Data(#"["e\#(marks)"]"#.utf8)).count == 1)
        let words = String(repeating: "Ünïcödé und हिन्दी ", count: 1000)
        #expect(try JSON(parsing: text(words)).count == 2)
    }
}

import Foundation
import SluiceHTTP
import Testing

@testable import Sluice

@Suite struct JSONLinesTests {
    private struct Reading: Codable, Equatable, Sendable {
        let value: Double
    }

    private func readings(_ text: String, limit: Int = 1 << 20) async throws(SluiceError) -> [Double] {
        var reader = Self.reader(of: text, as: Reading.self, limit: limit)
        var values: [Double] = []
        while let reading = try await reader.next(isolation: nil) { values.append(reading.value) }
        return values
    }

    private static func reader<Value: Decodable & Sendable>(
        of text: String,
        as type: Value.Type,
        limit: Int = 1 << 20
    ) -> ElementReader<ResponseBody.AsyncIterator, Value> {
        let parser = JSONLineParser<Value>(SharedDecoder(JSONDecoder()), limit: limit)
        return ElementReader(ResponseBody(Data(text.utf8)).makeAsyncIterator(), parser)
    }

    @Test func decodesEachLineAndSkipsEmptyOnes() async throws {
        #expect(try await readings("{\"value\":1}\n\n \t\r\n{\"value\":2.5}\r\n{\"value\":3}") == [1, 2.5, 3])
        #expect(try await readings("").isEmpty)
        #expect(try await readings("\n\n").isEmpty)
    }

    @Test func invalidLineIsErrorWithLineNumber() async {
        let error = await #expect(throws: SluiceError.self) {
            try await readings("{\"value\":1}\n\n{\"value\":\"secret\"}\n{\"value\":2}")
        }
        #expect(error?.code == .decodingFailed)
        #expect(
            error?.reason
                == "Line 3 of the response could not be decoded as Reading: at “value”, expected Double, found a string."
        )
        let broken = await #expect(throws: SluiceError.self) { try await readings("{\"value\":1}\n{\"val") }
        #expect(
            broken?.reason.hasPrefix(
                "Line 2 of the response could not be decoded as Reading: the text is not valid JSON: "
            ) == true
        )
        let long = await #expect(throws: SluiceError.self) { try await readings("{\"value\":1}", limit: 5) }
        #expect(long?.code == .elementTooLarge)
    }

    @Test func endsAfterError() async throws {
        var values = Self.reader(of: "1\nx\n2\n", as: Int.self)
        let first = try await values.next(isolation: nil)
        #expect(first == 1)
        await #expect(throws: SluiceError.self) { try await values.next(isolation: nil) }
        let last = try await values.next(isolation: nil)
        #expect(last == nil)
    }

    @Test func keepsDigitsOfNumbers() async throws {
        var numbers = Self.reader(of: "12345678901234567890123\n", as: JSON.self)
        let number = try await numbers.next(isolation: nil)
        #expect(number?.description == "12345678901234567890123")
        let end = try await numbers.next(isolation: nil)
        #expect(end == nil)
    }

    @Test func aCustomParserReadsTheChunks() async throws {
        struct Pairs: StreamParser {
            private var bytes = Data()
            mutating func append(_ chunk: Data) { bytes.append(chunk) }
            mutating func finish() {}
            var unread: Data { bytes }
            mutating func next() throws(SluiceError) -> String? {
                guard bytes.count >= 2 else { return nil }
                defer { bytes = bytes.dropFirst(2) }
                return String(decoding: bytes.prefix(2), as: UTF8.self)
            }
        }
        let text = "data: x\n\ndata: y\n\n"
        let parser: any StreamParser<String> = Pairs()
        var reader = ElementReader(ResponseBody(Data(text.utf8)).makeAsyncIterator(), parser)
        var pairs: [String] = []
        while let pair = try await reader.next(isolation: nil) { pairs.append(pair) }
        #expect(pairs.joined() == text)
    }
}

import Foundation
import Sluice
import SluiceHTTP
import Testing

@Suite struct JSONLinesTests {
    private struct Reading: Codable, Equatable, Sendable {
        let value: Double
    }

    private func readings(_ text: String, limit: Int = 1 << 20) async throws(SluiceError) -> [Double] {
        var values: [Double] = []
        let body = ResponseBody(Data(text.utf8))
        for try await reading in body.jsonLines(of: Reading.self, limit: limit) { values.append(reading.value) }
        return values
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
        #expect(error?.reason == "Line 3 of the response could not be decoded as Reading: at “value”, expected Double.")
        let broken = await #expect(throws: SluiceError.self) { try await readings("{\"value\":1}\n{\"val") }
        #expect(broken?.reason == "Line 2 of the response could not be decoded as Reading: the data is not valid.")
        let long = await #expect(throws: SluiceError.self) { try await readings("{\"value\":1}", limit: 5) }
        #expect(long?.code == .elementTooLarge)
    }

    @Test func endsAfterError() async {
        var values = ResponseBody(Data("1\nx\n2\n".utf8)).jsonLines(of: Int.self).makeAsyncIterator()
        #expect(await (try? values.next()) == 1)
        await #expect(throws: SluiceError.self) { try await values.next() }
        #expect(await (try? values.next()) == .some(nil))
    }

    @Test func keepsDigitsOfNumbers() async throws {
        var numbers: [String] = []
        for try await json in ResponseBody(Data("12345678901234567890123\n".utf8)).jsonLines(of: JSON.self) {
            numbers.append(json.description)
        }
        #expect(numbers == ["12345678901234567890123"])
    }

    @Test func bodyCanBeReadAsLinesEventsOrCustomElements() async throws {
        struct Pairs: StreamParser {
            private var bytes = Data()
            mutating func append(_ chunk: Data) { bytes.append(chunk) }
            mutating func finish() {}
            mutating func next() throws(SluiceError) -> String? {
                guard bytes.count >= 2 else { return nil }
                defer { bytes = bytes.dropFirst(2) }
                return String(decoding: bytes.prefix(2), as: UTF8.self)
            }
        }
        let body = ResponseBody(Data("data: x\n\ndata: y\n\n".utf8))
        var lines: [String] = []
        for try await line in body.lines { lines.append(line) }
        #expect(lines == ["data: x", "", "data: y", ""])
        var events: [String] = []
        for try await event in body.serverSentEvents() { events.append(event.data) }
        #expect(events == ["x", "y"])
        var pairs: [String] = []
        for try await pair in body.elements(parsedBy: { Pairs() }) { pairs.append(pair) }
        #expect(pairs.joined() == "data: x\n\ndata: y\n\n")
    }
}

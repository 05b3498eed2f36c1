import Foundation
import Sluice
import SluiceHTTP
import Testing

@Suite struct RequestLogBodyTests {
    private let lines = LoggedLines()

    /// Returns the logged body of a response, without the first two lines and the indentation.
    private func shown(_ body: Data, _ type: String?, limit: Int = 16 << 10) -> [String] {
        var log = lines.log(.full)
        log.bodyLimit = limit
        var response = LoggedLines.response(200, "", type.map { ["Content-Type": $0] } ?? ["X": "y"])
        response.body = body
        lines.notify(log, [(0, 1, .received(response.outcome))])
        let entry = lines.all.last?.split(separator: "\n", omittingEmptySubsequences: false) ?? []
        return entry.dropFirst(3).map { String($0.dropFirst(4)) }
    }

    private func shown(_ text: String, _ type: String? = nil, limit: Int = 16 << 10) -> [String] {
        shown(Data(text.utf8), type, limit: limit)
    }

    /// Returns the logged body of a request.
    private func sent(_ body: RequestBody, _ headers: HTTPHeaders = ["X": "y"]) -> [String] {
        lines.notify(lines.log(.full), [(0, 1, .sending(LoggedLines.request(.post, "/", headers, body)))])
        let entry = lines.all.last?.split(separator: "\n", omittingEmptySubsequences: false) ?? []
        return Array(entry.dropFirst(1 + headers.count)).map { String($0.dropFirst(4)) }
    }

    @Test func formatsJSONInOriginalOrder() {
        #expect(
            shown(#"{"z":1.50,"password":"s3","a":[{},[],{"b":"\u00e4\n"}]}"#) == [
                "{", "  \"z\": 1.50,", "  \"password\": \"REDACTED\",", "  \"a\": [", "    {},", "    [],", "    {",
                "      \"b\": \"\\u00e4\\n\"", "    }", "  ]", "}",
            ]
        )
    }

    @Test func keepsLinesOfOtherText() {
        #expect(shown("a\r\n\tb\n\u{1B}[2J10:15 ← 200") == ["a", "\tb", "\\u{1B}[2J10:15 ← 200"])
        #expect(shown("user=ada&password=s3", "application/x-www-form-urlencoded") == ["user=ada&password=REDACTED"])
        #expect(shown("") == [])
    }

    @Test func truncatesLongBody() {
        #expect(shown("12345678", limit: 4) == ["1234", "… (8 B in all)"])
        #expect(shown("123ä", limit: 4) == ["123", "… (5 B in all)"])
        #expect(shown("12", limit: 0) == ["", "… (2 B in all)"])
        #expect(shown("12", limit: -1) == ["", "… (2 B in all)"])
        #expect(shown("[1,2,3]", limit: 6) == ["[", "  1,", "… (7 B in all)"])
    }

    @Test func limitsFormattedSizeOfNestedJSON() {
        let text =
            String(repeating: "[", count: 500) + String(repeating: "1,", count: 100_000) + "1"
            + String(repeating: "]", count: 500)
        let shown = shown(text)
        #expect(shown.joined().utf8.count < 20_000)
    }

    @Test func notesOmittedBodies() {
        #expect(shown(Data([0, 255]), "image/png") == ["(2 B, not text)"])
        #expect(shown("<password>s3") == ["(12 B, left out: it may contain a secret)"])
        #expect(shown(String(repeating: "a", count: 2 << 20)) == ["(2.1 MB, left out: too long to look for secrets)"])
    }

    @Test func describesFilesAndStreamsWithoutReading() {
        #expect(sent(.none) == [])
        #expect(sent(.data(Data())) == [])
        #expect(sent(.data(Data("{\"token\":1}".utf8))) == ["", "{", "  \"token\": \"REDACTED\"", "}"])
        #expect(sent(.data(Data([1, 2])), ["Content-Encoding": "gzip"]) == ["", "(2 B, left out: compressed)"])
        #expect(sent(.file(URL(filePath: "/tmp/a\nb"))) == ["", "(the file /tmp/a\\nb)"])
        let chunks = AsyncStream<Data> { $0.finish() }
        #expect(sent(.stream(chunks, length: 1200)) == ["", "(a stream of 1.2 kB, readable only once)"])
        #expect(sent(.stream(chunks, isReplayable: true)) == ["", "(a stream)"])
    }
}

#if os(Linux)
import SluiceHTTP
import Testing

@testable import SluiceEngine

/// Heads of responses: status lines, field lines, informational heads and limits.
@Suite struct ResponseHeadTests {
    @Test(arguments: [
        ("HTTP/1.1 200 OK", "HTTP/1.1 200"), ("HTTP/1.0 404 Not Found", "HTTP/1.0 404"),
        ("HTTP/1.1 201 ", "HTTP/1.1 201"), ("HTTP/1.1 503", "HTTP/1.1 503"),
        ("HTTP/1.1 999 A colon: here", "HTTP/1.1 999"), ("HTTP/1.1 600 ", "HTTP/1.1 600"),
        ("HTTP/1.2 200 OK", "HTTP/1.1 200"), ("HTTP/1.9 200 OK", "HTTP/1.1 200"),
        ("HTTP/1.1 200 \t two  words\t", "HTTP/1.1 200"), ("HTTP/1.1 200 caf\u{E9}", "HTTP/1.1 200"),
        ("HTTP/1.1 200  ", "HTTP/1.1 200"),
    ])
    func statusLineIsParsed(line: String, head: String) {
        #expect(ResponseReading("\(line)\r\n\r\n").events == ["head \(head)", "end"])
    }

    @Test(arguments: [
        "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 OK", "HTTP/1.1 20", "HTTP/1.1 2x0 OK", "HTTP/1.1 -20 OK", "A: 1",
        "HTTP/1.1  200 OK", "HTTP/1.1\t200 OK", "HTTP/1.1 200\tOK", "HTTP/1.1 2000 OK", "HTTP/1.1 200OK",
        "HTTP/1.1 099 OK", "HTTP/1.1 000 OK", "HTTP/1.1 20 0", "HTTP/.1 200 OK", "HTTP/1.x 200 OK", "HTTP/1. 200 OK",
        "HTTP/1.10 200 OK", "HTTP/11 200 OK", "HTTP/2 200 ", "HTTP/2.0 200 OK", "HTTP/3 200 ", "HTTP/0.9 200 OK",
        "http/1.1 200 OK", "HTTP/1,1 200 OK", "ICY 200 OK", "HELLO WORLD", " HTTP/1.1 200 OK", "", "\r",
        "\r\nHTTP/1.1 200 OK", "\nHTTP/1.1 200 OK", "HTTP/1.1 200 O\rK", "HTTP/1.1 200 O\0K", "HTTP/1.1 200 O\u{1B}K",
        "HTTP/1.1 200 O\u{7F}K", "HTTP/1.1 200 OK\r", "<html>", "\0\0\u{12}\u{4}\0\0\0",
    ])
    func rejectsMalformedStatusLines(line: String) {
        let events = ResponseReading("\(line)\r\nContent-Length: 0\r\n\r\n").events
        #expect(events == [ResponseReading.failed(.malformedStatusLine)])
    }

    /// The error does not depend on a line ending, which might never arrive.
    @Test(arguments: ["X", "SSH-2.0-OpenSSH", "HTTP/2", "HTTP/0", "\r", "\n", "\0", "HTTP/1.1 200 O\0", "HTTP/1.1\r2"])
    func rejectsAnInvalidStartBeforeTheLineEnds(start: String) {
        #expect(ResponseReading(start, thenClose: false).events == [ResponseReading.failed(.malformedStatusLine)])
    }

    @Test(arguments: ["", "H", "HTTP/", "HTTP/1.", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r", "HTTP/1.1 2"])
    func waitsForTheRestOfAStatusLine(start: String) {
        let reading = ResponseReading(start, thenClose: false)
        #expect(reading.events.isEmpty)
        #expect(reading.parser.hasBegun == !start.isEmpty)
    }

    @Test func fieldsAreInOrderAndTrimmed() {
        let lines = [
            "A: 1", "b:2", "C:  \t x y \t ", "A: 3", "E:", "F:  ", "G: a:b", "H: é", "I: \"q\tr\" ",
            "!#$%&'*+-.^_`|~9: x",
            "J:\t1", "Set-Cookie: a=b; Path=/, c", "K: 12345678901234567890\t",
        ]
        let head = "HTTP/1.1 200 OK\r\n" + lines.joined(separator: "\r\n") + "\r\n\r\n"
        let fields =
            "A: 1 | b: 2 | C: x y | A: 3 | E:  | F:  | G: a:b | H: é | I: \"q\tr\" | !#$%&'*+-.^_`|~9: x | J: 1"
            + " | Set-Cookie: a=b; Path=/, c | K: 12345678901234567890"
        #expect(ResponseReading(head).events == ["head HTTP/1.1 200 \(fields)", "end"])
    }

    @Test(arguments: [
        "no colon", ": 1", "A b: 1", "A(: 1", "\u{E9}: 1", "A: x\ry", "A: x\r", "A: x\0y", "A\0: x", "A: \0",
        "A: \u{1}",
        "A : 1", "A\t: 1", " A: 1", "\tA: 1", "A: 1\r\n 2", "A: 1\r\n\t2", "A: 1\r\n \r\nB: 2", "A: 1\nB: 2", "A: 1\n",
        "\rX: 1", "A: 1\r\n\rX", "A: x\u{7F}", "A: x\u{1F}12345678", "A: 12345678\u{B}", "A: \u{C}", "HTTP/1.1 200 OK",
        "A\r\n: 1", "A{}: 1", "A\"B: 1", "A/B: 1", "A@B: 1", "A;B: 1", "A=B: 1",
        "Content-Length: 5\r\n 0", "Transfer-Encoding:\r\n chunked",
    ])
    func rejectsMalformedFieldLines(line: String) {
        let events = ResponseReading("HTTP/1.1 200 OK\r\n\(line)\r\n\r\n").events
        #expect(events == [ResponseReading.failed(.malformedField)])
    }

    @Test func bytesOfNamesAndValuesAreCheckedByTheStandard() {
        for byte in UInt8.min...UInt8.max {
            let start = Array("HTTP/1.1 200 OK\r\n".utf8)
            let named = ResponseReading(start + Array("X".utf8) + [byte] + Array("Y: 1\r\n\r\n".utf8))
            let isToken = byte.isTokenCharacter || byte == UInt8(ascii: ":")
            #expect((named.events.last == "end") == isToken, "The byte \(byte) in a name")
            for padding in 0..<9 {
                let pad = [UInt8](repeating: 0x61, count: padding)
                let valued = ResponseReading(start + Array("X: ".utf8) + pad + [byte] + Array("12345678\r\n\r\n".utf8))
                let isText = byte == 9 || (byte >= 32 && byte != 127)
                #expect((valued.events.last == "end") == isText, "The byte \(byte) in a value after \(padding) bytes")
            }
        }
    }

    @Test func nonASCIIBytesArePreserved() throws {
        let bytes = Array("HTTP/1.1 204 OK\r\nA: ".utf8) + [0xFF, 0x80, 0xC3] + Array("\r\n\r\n".utf8)
        var parser = ResponseParser(for: .get, headLimit: 100)
        var position = 0
        let event = bytes.withUnsafeBytes { parser.next(in: $0, from: &position) }
        guard case .head(let head) = event else {
            Issue.record("Expected a head.")
            return
        }
        let line = head.headers.line(at: 0)
        #expect(Array(head.headers.bytes[(line.offset + 3)..<line.end]) == [0xFF, 0x80, 0xC3])
    }

    @Test func informationalHeadsDoNotAffectTheFinalHead() {
        let text =
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 \r\nConnection: close\r\nContent-Length: 9\r\n\r\n"
            + "HTTP/1.1 103 Early\r\nLink: a\r\nTransfer-Encoding: gzip\r\n\r\nHTTP/1.1 201 Created\r\nA: 1\r\n"
            + "Content-Length: 2\r\n\r\nok"
        let reading = ResponseReading(text)
        #expect(
            reading.events == [
                "informational HTTP/1.1 100", "informational HTTP/1.1 102 Connection: close | Content-Length: 9",
                "informational HTTP/1.1 103 Link: a | Transfer-Encoding: gzip",
                "head HTTP/1.1 201 A: 1 | Content-Length: 2", "body ok", "end",
            ]
        )
        #expect(reading.parser.isReusable)
        #expect(reading.parser.length == .exactly(2))
    }

    @Test(arguments: [
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", ResponseSyntaxError.unexpectedUpgrade),
        ("HTTP/1.1 103 \r\nContent-Length: x\r\n\r\n", .malformedLength),
        ("HTTP/1.1 103 \r\n\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", .malformedStatusLine),
        ("HTTP/1.1 103 \r\n\r\nHTTP/2 200 OK\r\n\r\n", .malformedStatusLine),
    ])
    func rejectsInvalidInformationalHeads(text: String, flaw: ResponseSyntaxError) {
        #expect(ResponseReading(text).events.last == ResponseReading.failed(flaw))
    }

    @Test(arguments: [(100, 102, "end"), (101, 101, ResponseReading.failed(.tooManyInformational))])
    func numberOfInformationalHeadsIsLimited(count: Int, events: Int, last: String) {
        let text = String(repeating: "HTTP/1.1 103 \r\n\r\n", count: count) + "HTTP/1.1 204 \r\n\r\n"
        let reading = ResponseReading(text, limit: 1 << 20)
        #expect(reading.events.count == events)
        #expect(reading.events.last == last)
    }

    @Test(arguments: [
        "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: 1\r\n\r\n",
    ])
    func headsCanFillTheLimitExactly(text: String) {
        #expect(ResponseReading(text, limit: text.utf8.count).parser.isComplete == !text.contains("5"))
        for limit in 0..<text.utf8.count {
            let events = ResponseReading(text, limit: limit).events
            #expect(events.last == ResponseReading.failed(.headTooLarge(limit: limit)), "A limit of \(limit)")
        }
    }

    @Test func headLimitDoesNotApplyToTheBody() {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
        let reading = ResponseReading(text + String(repeating: "x", count: 100), limit: text.utf8.count)
        #expect(reading.events.last == "end")
    }

    @Test func acceptsExtremeLimits() {
        #expect(ResponseReading("HTTP/1.1 204 \r\n\r\n", limit: .max).events == ["head HTTP/1.1 204", "end"])
        let events = ResponseReading("HTTP/1.1 204 \r\n\r\n", limit: -1).events
        #expect(events == [ResponseReading.failed(.headTooLarge(limit: 0))])
    }

    @Test(arguments: [(1000, true), (1001, false)])
    func numberOfFieldsIsLimited(count: Int, fits: Bool) {
        let text = "HTTP/1.1 204 OK\r\n" + String(repeating: "a:\r\n", count: count) + "\r\n"
        let events = ResponseReading(text, limit: 1 << 20).events
        #expect(events.last == (fits ? "end" : ResponseReading.failed(.tooManyFields)))
    }

    @Test func failureIsReportedAgain() {
        var parser = ResponseParser(for: .get, headLimit: 100)
        let bytes = Array("HTTP/1.1 200 OK\r\nbad\r\n\r\nHTTP/1.1 200 OK\r\n\r\n".utf8)
        var position = 0
        for _ in 0..<3 {
            guard case .failed(let error) = bytes.withUnsafeBytes({ parser.next(in: $0, from: &position) }) else {
                Issue.record("Expected the failure again.")
                return
            }
            #expect(error.reason == ResponseSyntaxError.malformedField.error.reason)
        }
        guard case .failed = parser.finish() else {
            Issue.record("Expected the failure again.")
            return
        }
        #expect(!parser.isComplete && !parser.isReusable)
    }
}
#endif

#if os(Linux)
import SluiceHTTP
import Testing

@testable import SluiceEngine

/// The length of bodies (RFC 9112 §6), and the reuse of the connection after them (§9.3).
@Suite struct ResponseFramingTests {
    private static func head(_ status: String, _ fields: [String]) -> String {
        "\(status)\r\n" + fields.map { "\($0)\r\n" }.joined() + "\r\n"
    }

    @Test(
        arguments: [
            ([], .untilClose), (["Content-Length: 0"], .exactly(0)), (["content-length:6"], .exactly(6)),
            (["Content-Length: 6, 6", "CONTENT-LENGTH: 6"], .exactly(6)), (["Content-Length: 6,\t6 ,6"], .exactly(6)),
            (["Content-Length: 006, 6"], .exactly(6)), (["Content-Length: 9223372036854775807"], .exactly(.max)),
            (["Content-Length: 00000000000000000000000000000001"], .exactly(1)),
            (["Transfer-Encoding: chunked"], .chunked), (["transfer-encoding:\tCHUNKED "], .chunked),
            (["Content-Lengt: 6"], .untilClose), (["X-Content-Length: 6"], .untilClose),
            (["Content_Length: 6"], .untilClose), (["Transfer-Encodings: gzip"], .untilClose),
        ] as [([String], ResponseParser.Length)]
    )
    func headDeterminesTheLength(fields: [String], length: ResponseParser.Length) {
        let reading = ResponseReading(Self.head("HTTP/1.1 200 OK", fields), thenClose: false)
        #expect(reading.events.first?.hasPrefix("head ") == true)
        #expect(reading.parser.length == length)
        let left: Int64? = if case .exactly(let count) = length { count } else { nil }
        #expect(reading.parser.bytesLeft == left)
        #expect(reading.parser.isComplete == (length == .exactly(0)))
    }

    private static let malformedLengths = [
        "6:", "6 6", "+6", "-6", "", "6,", ",6", "6,,6", "99999999999999999999", "9223372036854775808", "6, 7", "0x6",
        "6.0", "6;", "\"6\"", "six", "6\r\nContent-Length: 7", "6\r\nContent-Length:", "\u{663}",
        "18446744073709551622",
    ]

    @Test(arguments: malformedLengths)
    func rejectsMalformedContentLength(value: String) {
        for status in ["200 OK", "204 No", "304 No"] {
            let text = Self.head("HTTP/1.1 \(status)", ["Content-Length: \(value)"])
            #expect(ResponseReading(text).events == [ResponseReading.failed(.malformedLength)], "\(status)")
        }
        let text = Self.head("HTTP/1.1 200 OK", ["Content-Length: \(value)"])
        #expect(ResponseReading(text, to: .head).events == [ResponseReading.failed(.malformedLength)])
    }

    @Test(arguments: [
        "gzip, chunked", "gzip,chunked", "deflate, chunked", "x-gzip, chunked", "br, chunked", "chunked, gzip",
        "chunked\r\nTransfer-Encoding: gzip", "unknown, chunked", "\"chunked\"", "gzip", "identity",
        "identity, chunked",
        "chunked,", ",chunked", "chunked, chunked", "chunked\r\nTransfer-Encoding: chunked", "xchunked", "chunkedx",
        "chunked;q=1", "", "chunked x", "x chunked", "chun ked", "gzip\r\nTransfer-Encoding: chunked",
        "\r\nTransfer-Encoding: chunked",
    ])
    func rejectsTransferCodingsOtherThanChunked(value: String) {
        for version in ["HTTP/1.1", "HTTP/1.0"] {
            let text = Self.head("\(version) 200 OK", ["Transfer-Encoding: \(value)"])
            #expect(ResponseReading(text).events == [ResponseReading.failed(.unsupportedTransferCoding)])
        }
        // In a response without a body, the field has no effect.
        let text = Self.head("HTTP/1.1 200 OK", ["Transfer-Encoding: \(value)"])
        #expect(ResponseReading(text, to: .head).events.last == "end")
    }

    @Test(arguments: [
        ("HTTP/1.0 200 OK", ["Transfer-Encoding: chunked"]),
        ("HTTP/1.1 200 OK", ["Transfer-Encoding: chunked", "Content-Length: 5"]),
        ("HTTP/1.1 200 OK", ["Content-Length: 5", "Transfer-Encoding: chunked"]),
        ("HTTP/1.0 200 OK", ["Content-Length: 5", "Transfer-Encoding: chunked"]),
    ])
    func rejectsAmbiguousLengths(status: String, fields: [String]) {
        #expect(ResponseReading(Self.head(status, fields)).events == [ResponseReading.failed(.ambiguousLength)])
    }

    @Test(arguments: [
        (HTTPMethod.head, "HTTP/1.1 200 OK"), ("GET", "HTTP/1.1 204 No"), ("GET", "HTTP/1.1 304 No"),
        ("POST", "HTTP/1.1 204 No"), ("CONNECT", "HTTP/1.1 200 OK"), ("CONNECT", "HTTP/1.1 299 OK"),
    ])
    func responseWithoutABodyEndsWithItsHead(method: HTTPMethod, status: String) {
        for fields in [[], ["Content-Length: 5"], ["Transfer-Encoding: chunked"], ["Transfer-Encoding: gzip"]] {
            let reading = ResponseReading(Self.head(status, fields) + "12345", to: method)
            #expect(reading.events.count == 2 && reading.events.last == "end")
            #expect(reading.parser.length == .none)
            #expect(reading.parser.bytesLeft == nil)
            #expect(reading.rest == 5, "The bytes after the head are not consumed.")
        }
    }

    @Test(arguments: [("HEAD", 200), ("HEAD", 404), ("GET", 204), ("GET", 205), ("GET", 304), ("CONNECT", 407)])
    func onlyHEADAnd204And304ResponsesHaveNoBody(method: String, status: Int) {
        let hasNone = method == "HEAD" || status == 204 || status == 304
        let text = Self.head("HTTP/1.1 \(status) OK", ["Content-Length: 2"])
        let reading = ResponseReading(text + "ok", to: HTTPMethod(rawValue: method))
        #expect(reading.events.contains("body ok") == !hasNone)
    }

    @Test func bodyEndsAtItsLength() {
        let text = Self.head("HTTP/1.1 200 OK", ["Content-Length: 3"]) + "abcHTTP/1.1 200 OK"
        let reading = ResponseReading(text)
        #expect(reading.events == ["head HTTP/1.1 200 Content-Length: 3", "body abc", "end"])
        #expect(reading.rest == 15)
        #expect(reading.parser.bytesLeft == 0)
    }

    @Test(
        arguments: [
            ("HTTP/1.1", ["Content-Length: 0"], true), ("HTTP/1.1", ["Content-Length: 0", "Connection: close"], false),
            ("HTTP/1.1", ["Content-Length: 0", "connection: Keep-Alive, CLOSE"], false),
            ("HTTP/1.1", ["Content-Length: 0", "Connection: x", "Connection: y,close ,z"], false),
            ("HTTP/1.1", ["Content-Length: 0", "Connection: closed, x-close"], true),
            ("HTTP/1.1", ["Content-Length: 0", "Connection:", "Connection: ,,"], true),
            ("HTTP/1.1", ["Content-Length: 0", "Connection: c lose, \"close\""], true),
            ("HTTP/1.0", ["Content-Length: 0"], false),
            ("HTTP/1.0", ["Content-Length: 0", "Connection: keep-alive"], true),
            ("HTTP/1.0", ["Content-Length: 0", "Connection: Keep-Alive, close"], false),
            ("HTTP/1.0", ["Connection: keep-alive"], false), ("HTTP/1.1", [], false),
            ("HTTP/1.2", ["Content-Length: 0"], true),
        ] as [(String, [String], Bool)]
    )
    func connectionIsReusableAsHeadersAndVersionAllow(version: String, fields: [String], isReusable: Bool) {
        let reading = ResponseReading(Self.head("\(version) 200 OK", fields))
        #expect(reading.events.last == "end")
        #expect(reading.parser.isReusable == isReusable)
    }

    @Test(
        arguments: [
            ("HEAD", "200", ["Content-Length: 5"], true), ("GET", "304", ["Content-Length: 5"], true),
            ("GET", "204", [], true), ("GET", "204", ["Content-Length: 0"], true), ("HEAD", "200", [], true),
            // Framing that is not allowed here, so the end of the response is in doubt.
            ("GET", "204", ["Content-Length: 5"], false), ("GET", "204", ["Transfer-Encoding: chunked"], false),
            ("HEAD", "200", ["Content-Length: 5", "Transfer-Encoding: chunked"], false),
            ("CONNECT", "200", [], false),
        ] as [(String, String, [String], Bool)]
    )
    func connectionIsReusableAfterAResponseWithoutABody(
        method: String,
        status: String,
        fields: [String],
        isReusable: Bool
    ) {
        let text = Self.head("HTTP/1.1 \(status) OK", fields)
        let reading = ResponseReading(text, to: HTTPMethod(rawValue: method), thenClose: false)
        #expect(reading.events.last == "end")
        #expect(reading.parser.isReusable == isReusable)
    }

    @Test func connectionIsNotReusableBeforeTheEnd() {
        let reading = ResponseReading(Self.head("HTTP/1.1 200 OK", ["Content-Length: 2"]) + "o", thenClose: false)
        #expect(!reading.parser.isReusable && !reading.parser.isComplete)
        #expect(reading.parser.bytesLeft == 1)
    }

    @Test(
        arguments: [
            ([], nil), (["Keep-Alive: timeout=5"], 4000), (["keep-alive: max=100, TIMEOUT = 75"], 74_000),
            (["Keep-Alive: timeout=2"], 1000), (["Keep-Alive: timeout=1"], 500), (["Keep-Alive: timeout=0"], 0),
            (["Keep-Alive: max=3"], nil), (["Keep-Alive: timeout"], nil), (["Keep-Alive: timeout=-1"], nil),
            (["Keep-Alive: timeout=5", "Keep-Alive: timeout=x"], 4000), (["Keep-Alive: timeouts=5"], nil),
            (["Keep-Alive: timeout=9223372036854775807"], 86_399_000), (["Keep-Value: timeout=5"], nil),
        ] as [([String], Int?)]
    )
    func idleTimeIsShorterThanThatOfTheServer(fields: [String], milliseconds: Int?) {
        let reading = ResponseReading(Self.head("HTTP/1.1 200 OK", fields + ["Content-Length: 0"]), thenClose: false)
        #expect(reading.parser.idleTime == milliseconds.map { .milliseconds($0) })
    }

    @Test(
        arguments: [
            ("", .closedBeforeResponse), ("H", .closedInHead), ("HTTP/1.1 200 OK\r\nContent-Le", .closedInHead),
            ("HTTP/1.1 200 OK\r\n", .closedInHead), ("HTTP/1.1 200 OK\r\n\r", .closedInHead),
            ("HTTP/1.1 100 Continue\r\n\r\n", .closedInHead),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", .closedInBody),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no", .closedInBody),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", .closedInBody),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3", .closedInBody),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nabc", .closedInBody),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", .closedInBody),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", .closedInBody),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: 1\r\n", .closedInBody),
        ] as [(String, ResponseSyntaxError)]
    )
    func connectionThatClosesEarlyIsAFailure(text: String, flaw: ResponseSyntaxError) {
        #expect(ResponseReading(text).events.last == ResponseReading.failed(flaw))
    }

    @Test(arguments: [
        (ResponseSyntaxError.closedBeforeResponse, SluiceError.Code.connectionLost), (.closedInHead, .connectionLost),
        (.closedInBody, .truncatedBody), (.closedWithoutNotice, .truncatedBody),
        (.malformedStatusLine, .invalidResponse),
        (.headTooLarge(limit: 1), .headersTooLarge),
        (.trailersTooLarge(limit: 1), .headersTooLarge), (.tooManyFields, .headersTooLarge),
        (.malformedChunk, .invalidResponse), (.unsupportedTransferCoding, .invalidResponse),
        (.unexpectedUpgrade, .invalidResponse),
    ])
    func syntaxErrorsHaveErrorCodes(flaw: ResponseSyntaxError, code: SluiceError.Code) {
        #expect(flaw.error.code == code)
    }

    @Test func bodyWithoutALengthEndsWithTheConnection() {
        let open = ResponseReading("HTTP/1.1 200 OK\r\n\r\nabc", thenClose: false)
        #expect(open.events == ["head HTTP/1.1 200", "body abc"])
        #expect(!open.parser.isComplete)
        let closed = ResponseReading("HTTP/1.1 200 OK\r\n\r\nabc")
        #expect(closed.events == ["head HTTP/1.1 200", "body abc", "end"])
        #expect(closed.parser.isComplete && !closed.parser.isReusable)
    }
}
#endif

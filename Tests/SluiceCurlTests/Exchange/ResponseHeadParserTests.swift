#if os(Linux)
import SluiceHTTP
import Testing

@testable import SluiceCurl

@Suite struct ResponseHeadParserTests {
    private struct Feed {
        var parser = ResponseHeadParser()
        var limit = 1000

        @discardableResult
        mutating func callAsFunction(_ line: String) -> ResponseHeadParser.Step {
            Array(line.utf8).withUnsafeBytes { parser.parse($0, limit: limit) }
        }
    }

    private static func head(_ lines: [String], ending: String = "\r\n") -> HTTPResponse? {
        var feed = Feed()
        for line in lines { feed(line + ending) }
        feed(ending)
        return feed.parser.head
    }

    @Test(
        arguments: [
            ("HTTP/1.1 200 OK", 200, .http1_1), ("HTTP/1.0 404 Not Found", 404, .http1_0),
            ("HTTP/1.1 204 ", 204, .http1_1),
            ("HTTP/1.1 503", 503, .http1_1), ("HTTP/2 200 ", 200, .http2), ("HTTP/2 304", 304, .http2),
            ("HTTP/2.0 200 OK", 200, .http2), ("HTTP/3 200 ", 200, .http3),
            ("HTTP/1.1 999 What: a colon", 999, .http1_1),
            ("HTTP/1.1  200 OK", 200, .http1_1), ("HTTP/1.1 101 Switching Protocols", 101, .http1_1),
        ] as [(String, Int, HTTPVersion)]
    )
    func theStatusLineGivesStatusAndVersion(line: String, status: Int, version: HTTPVersion) throws {
        let head = try #require(Self.head([line]))
        #expect(head.status.rawValue == status)
        #expect(head.version == version)
        #expect(head.headers.isEmpty)
    }

    @Test(arguments: [
        "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 OK", "HTTP/1.1 20", "HTTP/1.1 2x0 OK", "HTTP/1.1 -20 OK", "A: 1",
    ])
    func aHeadWithoutAStatusIsNone(line: String) {
        #expect(Self.head([line]) == nil)
    }

    @Test(arguments: ["\r\n", "\n"])
    func fieldsComeInOrderTrimmedOfWhiteSpaceAround(ending: String) {
        let lines = ["HTTP/1.1 200 OK", "A: 1", "b:2", "C:  \t x y \t ", "A: 3", "E:", "F:  ", "G: a:b", "H: é"]
        let headers = Self.head(lines, ending: ending)?.headers
        #expect(headers?.map(\.name.rawValue) == ["A", "b", "C", "A", "E", "F", "G", "H"])
        #expect(headers?.map(\.value) == ["1", "2", "x y", "3", "", "", "a:b", "é"])
    }

    @Test(arguments: [
        (["A: 1", " 2"], ["A: 1 2"]), (["A: 1", "\t  b: c  ", " d"], ["A: 1 b: c d"]), (["A:", " 1"], ["A: 1"]),
        (["A: 1", " \t", "B: 2"], ["A: 1", "B: 2"]), ([" 1: x", "A: 1"], ["A: 1"]), (["A : 1"], ["A: 1"]),
        (["Content-Length: 6, 6", "content-length: 6"], ["Content-Length: 6, 6", "content-length: 6"]),
    ])
    func oddLinesAreReadAsTheStandardSays(lines: [String], fields: [String]) {
        let headers = Self.head(["HTTP/1.1 200 OK"] + lines)?.headers
        #expect(headers?.map { "\($0.name): \($0.value)" } == fields)
    }

    @Test(arguments: [
        "no colon", ": 1", "A b: 1", "A(: 1", "\u{E9}: 1", "A: x\ry", "A: x\r", "A: x\0y", "A\0: x",
        "Content-Length: 6:", "Content-Length: 6 6", "Content-Length: +6", "Content-Length:", "Content-Length: 6,",
        "Content-Length: 99999999999999999999", "Content-Length: 6, 7", "Content-Length: 0x6",
        "HTTP/1.1 2000 OK", "HTTP/1.1 200OK", "HTTP/1.1 099 OK", "HTTP/.1 200 OK", "HTTP/1.1", "HTTP/1.x 200 OK",
    ])
    func whatIsNoHTTPIsMalformed(line: String) {
        var feed = Feed()
        feed("HTTP/1.1 200 OK\r\n")
        #expect(feed(line + "\r\n") == .malformed)
    }

    @Test func lengthsThatDifferAreMalformed() {
        var feed = Feed()
        for line in ["HTTP/1.1 103 Early\r\n", "Content-Length: 1\r\n", "\r\n", "HTTP/1.1 200 OK\r\n"] { feed(line) }
        #expect(feed("Content-Length: 6\r\n") == .incomplete, "an informational head has lengths of its own")
        #expect(feed("Content-Length: 7\r\n") == .malformed)
    }

    @Test func informationalHeadsArePassedOverWithTheirFields() {
        var feed = Feed()
        for code in [100, 102, 103] {
            #expect(feed("HTTP/1.1 \(code) Go on\r\n") == .incomplete)
            #expect(feed("Link: early\r\n") == .incomplete)
            #expect(feed("\r\n") == .incomplete)
            #expect(feed.parser.head == nil)
        }
        #expect(feed("HTTP/1.1 201 Created\r\n") == .incomplete)
        #expect(feed("A: 1\r\n") == .incomplete)
        #expect(feed("\r\n") == .complete)
        #expect(feed.parser.head?.status == 201)
        #expect(feed.parser.head?.headers == ["A": "1"])
    }

    @Test func trailersChangeNothing() {
        var feed = Feed()
        for line in ["HTTP/1.1 200 OK\r\n", "A: 1\r\n"] { feed(line) }
        #expect(feed("\r\n") == .complete)
        for line in ["A: 2\r\n", " folded\r\n", "HTTP/1.1 500 No\r\n", "\r\n", String(repeating: "x", count: 200)] {
            #expect(feed(line) == .complete)
        }
        // They count for the head's limit, lest a server goes on with them for ever.
        #expect(feed(String(repeating: "x", count: 2000)) == .tooLarge)
        #expect(feed.parser.head?.status == 200)
        #expect(feed.parser.head?.headers == ["A": "1"])
    }

    @Test(arguments: [(0, true), (1, false)])
    func aHeadMayFillTheLimitAndNoMore(excess: Int, fits: Bool) {
        let lines = ["HTTP/1.1 103 Early\r\n", "\r\n", "HTTP/1.1 200 OK\r\n", "A: 1\r\n", "\r\n"]
        var feed = Feed()
        feed.limit = lines.joined().utf8.count - excess
        #expect(lines.map { feed($0) }.last == (fits ? .complete : .tooLarge))
        #expect((feed.parser.head != nil) == fits)
    }

    @Test func aHeadOverTheLimitStaysSo() {
        var feed = Feed()
        feed.limit = 20
        feed("HTTP/1.1 200 OK\r\n")
        #expect(feed("Long: xxxxxxxxxxx\r\n") == .tooLarge)
        #expect(feed("\r\n") == .tooLarge)
    }
}
#endif

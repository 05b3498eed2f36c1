#if os(Linux)
import SluiceHTTP
import Testing

@testable import SluiceEngine
@testable import SluiceTesting

/// Heads of requests on the wire.
@Suite struct RequestWriterTests {
    private static func head(
        _ method: HTTPMethod = .get,
        _ url: (scheme: String, authority: String, path: String) = ("http", "a.test", "/"),
        headers: HTTPHeaders = ["Accept": "x"],
        framing: RequestWriter.Framing = .none,
        codings: StaticString? = nil,
        omitsExpect: Bool = false,
        target: RequestWriter.Target = .origin,
        adding added: HTTPHeaders = [:]
    ) -> String {
        let request = HTTPRequest(
            method: method,
            scheme: url.scheme,
            authority: url.authority,
            path: url.path,
            headers: headers
        )
        var buffer = Array("before|".utf8)
        RequestWriter.appendHead(
            of: request,
            target: target,
            framing: framing,
            codings: codings,
            omitsExpect: omitsExpect,
            adding: added,
            to: &buffer
        )
        let text = String(decoding: buffer, as: UTF8.self)
        #expect(text.hasPrefix("before|"))
        return String(text.dropFirst(7))
    }

    /// The fields of a recorded request are those of its head, in order, with any bytes in their values.
    @Test func recordedFieldsAreThoseOfTheHead() {
        var random = SeededGenerator(seed: 4)
        let names = ["Host", "X-A", "x-a", "Accept", "Accept-Encoding", "Cookie", "Expect"]
        let bytes: [UInt8] = Array(0...255).filter { ![0, 9, 10, 13, 32].contains($0) }
        for _ in 0..<500 {
            var headers = HTTPHeaders()
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                let count = Int.random(in: 0...6, using: &random)
                let value = (0..<count).map { _ in bytes.randomElement(using: &random) ?? 65 }
                headers.append(
                    HTTPHeaderName(names.randomElement(using: &random) ?? "X"),
                    value: FieldValue(bytes: value)
                )
            }
            let request = HTTPRequest(
                method: .post,
                scheme: "http",
                authority: "a.test",
                path: "/a?b",
                headers: headers
            )
            var head: [UInt8] = []
            RequestWriter.appendHead(
                of: request,
                framing: [.none, .length(5), .chunked].randomElement(using: &random) ?? .none,
                codings: Bool.random(using: &random) ? "gzip" : nil,
                omitsExpect: Bool.random(using: &random),
                adding: Bool.random(using: &random) ? ["Authorization": "Basic eDp5"] : [:],
                to: &head
            )
            // Written again with nothing to add, the fields are the same lines.
            let lines = head.split(separator: 10).dropFirst().dropLast().map { Array($0.dropLast().trimmed) }
            let fields = RequestWriter.fields(ofHead: head[...])
            let again = fields.map { field -> [UInt8] in
                let value = field.bytes.map { Array($0) } ?? Array(field.value.utf8)
                return Array("\(field.name):".utf8) + (value.isEmpty ? [] : [32] + value)
            }
            #expect(again == lines)
        }
    }

    @Test func writesACompleteHead() {
        let text = Self.head(
            .get,
            ("https", "api.example.com:8443", "/a%20b?c=d&e"),
            headers: ["User-Agent": "mine/1", "X-A": "1", "x-a": "2", "Cookie": "a=b"],
            codings: "gzip, br"
        )
        #expect(
            text == """
                GET /a%20b?c=d&e HTTP/1.1\r
                Host: api.example.com:8443\r
                User-Agent: mine/1\r
                X-A: 1\r
                x-a: 2\r
                Cookie: a=b\r
                Accept: */*\r
                Accept-Encoding: gzip, br\r
                \r

                """
        )
    }

    @Test(arguments: [
        ("http", "a.test", "a.test"), ("http", "a.test:80", "a.test"), ("http", "a.test:443", "a.test:443"),
        ("https", "a.test:443", "a.test"), ("https", "a.test:80", "a.test:80"), ("http", "a.test:8080", "a.test:8080"),
        ("http", "a.test:080", "a.test"), ("http", "127.0.0.1:80", "127.0.0.1"), ("http", "[::1]", "[::1]"),
        ("http", "[::1]:80", "[::1]"), ("https", "[::80]", "[::80]"), ("http", "[::80]", "[::80]"),
        ("http", "[::1]:8080", "[::1]:8080"), ("http", "[fe80::1%25eth0]", "[fe80::1]"),
        ("http", "[fe80::1%25eth0]:81", "[fe80::1]:81"), ("https", "[fe80::1%25eth0]:443", "[fe80::1]"),
        ("http", "A.Test", "A.Test"), ("http", "a.test:65616", "a.test:65616"), ("http", "", ""),
    ])
    func hostOmitsTheDefaultPort(scheme: String, authority: String, host: String) {
        let text = Self.head(.get, (scheme, authority, "/"))
        #expect(text == "GET / HTTP/1.1\r\nHost: \(host)\r\nAccept: x\r\n\r\n")
    }

    @Test(
        arguments: [
            (["Accept": "a", "Host": "b", "X": "c"], "Accept: a|Host: b|X: c"),
            (["host": "b", "Accept": "a", "HOST": "c"], "host: b|Accept: a"),
            (["Host": "", "accept": ""], "Host:|accept:"),
            (["X": "1"], "Host: a.test|X: 1|Accept: */*"),
            (
                ["X-Empty": "", "X-Blank": " \t", "X-After": "1", "accept": "a"],
                "Host: a.test|X-Empty:|X-Blank:|X-After: 1|accept: a"
            ),
            (
                ["Content-Length": "5", "content-length": "6", "TRANSFER-ENCODING": "gzip", "Accept": "a"],
                "Host: a.test|Accept: a"
            ),
            (
                ["Content-Lengths": "5", "Accepts": "6", "Hosts": "7", "Accept": "a"],
                "Host: a.test|Content-Lengths: 5|Accepts: 6|Hosts: 7|Accept: a"
            ),
            (
                ["Expect": "100-continue", "Connection": "close", "TE": "trailers", "Accept": "a"],
                "Host: a.test|Expect: 100-continue|Connection: close|TE: trailers|Accept: a"
            ),
        ] as [(HTTPHeaders, String)]
    )
    func fieldsAreWrittenUnchangedExceptFraming(headers: HTTPHeaders, lines: String) {
        let fields = lines.split(separator: "|").map { "\($0)\r\n" }.joined()
        #expect(Self.head(headers: headers) == "GET / HTTP/1.1\r\n\(fields)\r\n")
    }

    @Test func omitsExpectOnRequest() {
        let headers: HTTPHeaders = ["EXPECT": "100-continue", "Accept": "a", "Expects": "x"]
        #expect(
            Self.head(headers: headers, omitsExpect: true)
                == "GET / HTTP/1.1\r\nHost: a.test\r\nAccept: a\r\nExpects: x\r\n\r\n"
        )
    }

    @Test(
        arguments: [
            (("http", "a.test:80", "/b?c=d"), "http://a.test/b?c=d", "a.test"),
            (("http", "A.test:81", "/"), "http://A.test:81/", "A.test:81"),
            (("http", "[fe80::1%25eth0]:8080", "/"), "http://[fe80::1]:8080/", "[fe80::1]:8080"),
        ] as [((String, String, String), String, String)]
    )
    func requestToAProxyHasTheAbsoluteURL(url: (String, String, String), target: String, host: String) {
        let text = Self.head("OPTIONS", url, target: .absolute(proxyAuthorization: nil))
        #expect(text == "OPTIONS \(target) HTTP/1.1\r\nHost: \(host)\r\nAccept: x\r\n\r\n")
    }

    @Test(
        arguments: [
            (.origin, "X: 1|Accept: a"),
            (.absolute(proxyAuthorization: nil), "proxy-authorization: Own|X: 1|Accept: a"),
            (.absolute(proxyAuthorization: "Basic YQ=="), "Proxy-Authorization: Basic YQ==|X: 1|Accept: a"),
        ] as [(RequestWriter.Target, String)]
    )
    func proxyCredentialsAreSentToTheProxyOnly(target: RequestWriter.Target, lines: String) {
        let headers: HTTPHeaders = ["proxy-authorization": "Own", "X": "1", "Accept": "a"]
        let fields = lines.split(separator: "|").map { "\($0)\r\n" }.joined()
        let line = target == .origin ? "/" : "http://a.test/"
        #expect(
            Self.head(headers: headers, target: target) == "GET \(line) HTTP/1.1\r\nHost: a.test\r\n\(fields)\r\n"
        )
    }

    @Test func addedFieldsFollowThoseOfTheRequest() {
        let text = Self.head(
            headers: ["X": "1", "Accept": "a"],
            framing: .length(2),
            adding: ["Authorization": "Basic YTpi", "X": "2"]
        )
        let fields = "Host: a.test\r\nX: 1\r\nAccept: a\r\nAuthorization: Basic YTpi\r\nX: 2\r\n"
        #expect(text == "GET / HTTP/1.1\r\n\(fields)Content-Length: 2\r\n\r\n")
    }

    @Test func acceptEncodingOfTheRequestIsKept() {
        let own: HTTPHeaders = ["accept-encoding": "identity", "Accept": "a"]
        let lines = "GET / HTTP/1.1\r\nHost: a.test\r\naccept-encoding: identity\r\nAccept: a\r\n\r\n"
        #expect(Self.head(headers: own, codings: "gzip") == lines)
        #expect(Self.head(headers: own, codings: nil) == lines)
    }

    @Test(
        arguments: [
            ("GET", .none, ""), ("HEAD", .none, ""), ("DELETE", .none, ""), ("OPTIONS", .none, ""), ("post", .none, ""),
            ("POST", .none, "Content-Length: 0\r\n"), ("PUT", .none, "Content-Length: 0\r\n"),
            ("PATCH", .none, "Content-Length: 0\r\n"), ("GET", .length(0), "Content-Length: 0\r\n"),
            ("GET", .length(10), "Content-Length: 10\r\n"),
            ("POST", .length(.max), "Content-Length: 9223372036854775807\r\n"),
            ("PUT", .chunked, "Transfer-Encoding: chunked\r\n"),
        ] as [(HTTPMethod, RequestWriter.Framing, String)]
    )
    func writesTheFramingField(method: HTTPMethod, framing: RequestWriter.Framing, line: String) {
        let headers: HTTPHeaders = ["Accept": "x", "Content-Length": "77"]
        let text = Self.head(method, headers: headers, framing: framing)
        #expect(text == "\(method) / HTTP/1.1\r\nHost: a.test\r\nAccept: x\r\n\(line)\r\n")
    }

    @Test(arguments: [
        (1, "1\r\n"), (15, "f\r\n"), (16, "10\r\n"), (65_536, "10000\r\n"), (Int.max, "7fffffffffffffff\r\n"), (0, ""),
        (-1, ""),
    ])
    func chunkBeginsWithItsSize(count: Int, line: String) {
        var buffer: [UInt8] = [120]
        RequestWriter.appendChunkHead(count, to: &buffer)
        #expect(String(decoding: buffer, as: UTF8.self) == "x" + line)
    }

    @Test func loopbackServerParsesTheWrittenHead() throws {
        let headers: HTTPHeaders = ["X-B": "1", "X-Empty": "", "x-b": "3", "X-C": "a, b; c=\"d\""]
        let text = Self.head("PURGE", ("http", "a.test:81", "/x?y=%20"), headers: headers, framing: .length(3))
        let head = try #require(RequestHead(Array(text.utf8)[...]))
        #expect(head.method == "PURGE")
        #expect(head.target == "/x?y=%20")
        #expect(
            ResponseReading.text(of: head.headers)
                == "Host: a.test:81 | X-B: 1 | X-Empty:  | x-b: 3 | X-C: a, b; c=\"d\" | Accept: */* | Content-Length: 3"
        )
    }
}
#endif

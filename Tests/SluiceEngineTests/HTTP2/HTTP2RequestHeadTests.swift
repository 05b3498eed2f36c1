#if os(Linux)
import CNghttp2
import SluiceHTTP
import Testing

@testable import SluiceEngine

@Suite struct HTTP2RequestHeadTests {
    private func fields(
        _ method: HTTPMethod = .get,
        path: String = "/",
        headers: HTTPHeaders = [:],
        length: Int64? = 0,
        codings: StaticString? = nil,
        omitsExpect: Bool = true
    ) -> [HTTP2Field] {
        read(method, path: path, headers: headers, length: length, codings: codings, omitsExpect: omitsExpect).map(
            \.field
        )
    }

    private func read(
        _ method: HTTPMethod = .get,
        path: String = "/",
        headers: HTTPHeaders = [:],
        length: Int64? = 0,
        codings: StaticString? = nil,
        omitsExpect: Bool = true
    ) -> [(field: HTTP2Field, isSecret: Bool)] {
        let request = HTTPRequest(
            method: method,
            scheme: "https",
            authority: "example.org",
            path: path,
            headers: headers
        )
        var head = HTTP2RequestHead(of: request, length: length, codings: codings, omitsExpect: omitsExpect)
        let recorded = head.headers.map { HTTP2Field("\($0.name)".lowercased(), $0.value) }
        let sent = head.withFields { pairs, count in
            (0..<count).compactMap { index -> (field: HTTP2Field, isSecret: Bool)? in
                guard let pair = pairs?[index] else { return nil }
                let name = String(decoding: UnsafeBufferPointer(start: pair.name, count: pair.namelen), as: UTF8.self)
                let value = String(
                    decoding: UnsafeBufferPointer(start: pair.value, count: pair.valuelen),
                    as: UTF8.self
                )
                return (HTTP2Field(name, value), pair.flags & UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) != 0)
            }
        }
        // A recording has the same fields, with the authority as the host.
        let expected = sent.map(\.field).compactMap { field -> HTTP2Field? in
            if field.name == ":authority" { return HTTP2Field("host", field.value) }
            return field.name.hasPrefix(":") ? nil : field
        }
        #expect(recorded == expected)
        return sent
    }

    @Test func pseudoHeaderFieldsComeFirst() {
        #expect(
            fields(.put, path: "/a?b", headers: ["Accept": "a/b", "X-One": "1"]) == [
                ":method: PUT", ":scheme: https", ":authority: example.org", ":path: /a?b", "accept: a/b", "x-one: 1",
                "content-length: 0",
            ]
        )
    }

    @Test func hostFieldBecomesTheAuthority() {
        let fields = fields(headers: ["Host": "other.example:8080"])
        #expect(fields.contains(":authority: other.example:8080"))
        #expect(!fields.contains { $0.name == "host" })
        let first = self.fields(headers: ["Host": "a.example", "Host": "b.example"])
        #expect(first.contains(":authority: a.example"))
    }

    @Test(
        arguments: [
            "Connection: keep-alive", "Keep-Alive: 5", "Proxy-Connection: close", "Transfer-Encoding: chunked",
            "Upgrade: h2c", "HTTP2-Settings: AAMAAABk", "Content-Length: 7", "TE: gzip", "TE: trailers, gzip",
        ] as [HTTP2Field]
    )
    func connectionSpecificFieldsAreOmitted(_ field: HTTP2Field) {
        var headers: HTTPHeaders = ["X-Kept": "1"]
        headers.append(HTTPHeaderName(field.name), field.value)
        #expect(fields(headers: headers).dropFirst(4) == ["x-kept: 1", "accept: */*"])
    }

    @Test func fieldsNamedByConnectionAreOmitted() {
        let headers: HTTPHeaders = ["Connection": "X-One, close ,x-TWO", "X-One": "1", "X-Two": "2", "X-Three": "3"]
        #expect(fields(headers: headers).dropFirst(4) == ["x-three: 3", "accept: */*"])
    }

    @Test func teTrailersIsSent() {
        #expect(fields(headers: ["TE": "Trailers"]).contains("te: Trailers"))
    }

    @Test(
        arguments: [
            (.get, 0, nil), (.head, 0, nil), (.delete, 0, nil), (.post, 0, "0"), (.put, 0, "0"), (.patch, 0, "0"),
            (.get, 5, "5"), (.post, 5, "5"), (.post, nil, nil), (.put, Int64.max, "9223372036854775807"),
        ] as [(HTTPMethod, Int64?, String?)]
    )
    func contentLengthIsSentAsDefined(_ method: HTTPMethod, _ length: Int64?, _ expected: String?) {
        #expect(fields(method, length: length).first { $0.name == "content-length" }?.value == expected)
    }

    @Test func acceptEncodingIsAddedUnlessSet() {
        #expect(fields(codings: "gzip, br").contains("accept-encoding: gzip, br"))
        #expect(!fields().contains { $0.name == "accept-encoding" })
        let own = fields(headers: ["Accept-Encoding": "identity"], codings: "gzip, br")
        #expect(own.filter { $0.name == "accept-encoding" } == ["accept-encoding: identity"])
    }

    @Test func omitsExpectOnRequest() {
        #expect(fields(headers: ["Expect": "100-continue"], omitsExpect: false).contains("expect: 100-continue"))
        #expect(!fields(headers: ["Expect": "100-continue"], omitsExpect: true).contains { $0.name == "expect" })
    }

    /// RFC 7541 §7.1.3.
    @Test func secretsAreNotIndexed() {
        let read = read(headers: [
            "Authorization": "Bearer 1", "Proxy-Authorization": "Basic 1", "Cookie": "a=short", "X-One": "1",
        ])
        let secrets = read.filter(\.isSecret).map(\.field.name)
        #expect(secrets == ["authorization", "cookie"])
        // The field is for a proxy, which is not the recipient of an HTTP/2 request.
        #expect(!read.contains { $0.field.name == "proxy-authorization" })
        let long = self.read(headers: ["Cookie": "a=a value that nobody can guess"])
        #expect(long.filter(\.isSecret).isEmpty)
    }

    @Test func fieldsOfOneNameStaySeparateAndOrdered() {
        var headers = HTTPHeaders()
        headers.append("X-One", "1")
        headers.append("X-Two", "2")
        headers.append("x-one", "")
        #expect(
            fields(headers: headers).dropFirst(4) == ["x-one: 1", "x-two: 2", HTTP2Field("x-one", ""), "accept: */*"]
        )
    }
}
#endif

import Testing

@testable import Sluice

/// The headers of redirected requests: step 13 of “HTTP-redirect fetch” in the Fetch Standard, and RFC 9110 §15.4.
@Suite struct RedirectHeaderTests {
    private static let kept: [HTTPHeaderName] = ["Accept", "Accept-Language", "If-None-Match", "X-Other"]
    private static let bound: [HTTPHeaderName] = [
        "Authorization", "Cookie", "Proxy-Authorization", "Host", "Origin", "Referer", "X-API-Key",
    ]

    private static func request(_ url: String = "https://a.b/x") throws -> HTTPRequest {
        var request = try APIClient(baseURL: "") { $0.headers = [:] }.data.request(url).httpRequest()
        for name in kept + bound { request.headers.append(name, "v") }
        return request
    }

    private static func next(_ location: String, from request: HTTPRequest) throws -> HTTPRequest {
        let head = HTTPResponse(status: 302, headers: [.location: location])
        let policy = RedirectPolicy(allowsDowngrade: true)
        return try #require(
            try policy.next(after: head, to: request, visited: [], secretHeaders: ["x-api-key"])
        )
    }

    @Test(
        arguments: [
            "/z", "?q", "//a.b/z", "https://a.b/z", "HTTPS://A.B/z", "https://a.b:443/z",
        ]
    )
    func keepsAllHeadersWithinOrigin(_ location: String) throws {
        let next = try Self.next(location, from: try Self.request())
        #expect(next.headers.map(\.name) == Self.kept + Self.bound)
    }

    /// An origin is scheme, host and port (RFC 6454 §5). A parent domain or subdomain is another origin.
    @Test(
        arguments: [
            "https://c.d/z", "//c.d", "https://a.b:8443/", "http://a.b/", "https://www.a.b/", "https://b/",
            "https://a.b./", "https://a.b.evil.example/", "http://a.b:443/",
        ]
    )
    func dropsBoundHeadersAtOtherOrigin(_ location: String) throws {
        let next = try Self.next(location, from: try Self.request())
        #expect(next.headers.map(\.name) == Self.kept)
    }

    @Test func droppedHeadersDoNotReturn() throws {
        let away = try Self.next("https://c.d/", from: try Self.request())
        let back = try Self.next("https://a.b/z", from: away)
        #expect(back.origin == (try Self.request().origin))
        #expect(back.headers.map(\.name) == Self.kept)
    }

    @Test(arguments: ["https://ada:pw@a.b/", "//ada@a.b/", "https://@a.b/", "https://:@a.b/"])
    func rejectsLocationWithUserName(_ location: String) throws {
        let error = #expect(throws: SluiceError.self) {
            try Self.next(location, from: try Self.request())
        }
        #expect(error?.code == .redirectRefused)
        #expect(error?.description.contains("ada") == false)
    }
}

import Testing

@testable import Sluice

@Suite struct RedirectPolicyTests {
    private static func request(_ method: HTTPMethod = .get, _ url: String = "https://a.b/x/y?q=1") throws
        -> HTTPRequest
    {
        try APIClient(baseURL: "").data.request(url).method(method).httpRequest()
    }

    private static func head(_ status: Int, _ location: String?) -> HTTPResponse {
        var head = HTTPResponse(status: HTTPStatus(rawValue: status))
        head.headers[.location] = location
        return head
    }

    @Test(
        arguments: [
            ("/z", "https://a.b/z"), ("z", "https://a.b/x/z"), ("../z", "https://a.b/z"),
            ("?r=2", "https://a.b/x/y?r=2"),
            ("//c.d/z", "https://c.d/z"), ("https://c.d", "https://c.d/"), ("https://c.d/z/#part", "https://c.d/z/"),
            ("HTTPS://c.d/z", "https://c.d/z"), ("/a b/ü", "https://a.b/a%20b/%C3%BC"), ("/a%20b", "https://a.b/a%20b"),
            ("https://c.d:8443/z?a=b&c", "https://c.d:8443/z?a=b&c"), ("https://c.d/z?r=/", "https://c.d/z?r=/"),
            ("", "https://a.b/x/y?q=1"), ("?", "https://a.b/x/y?"), (".", "https://a.b/x/"), ("/z#?/", "https://a.b/z"),
            ("../../../z", "https://a.b/z"), ("/x/%2E%2e/z", "https://a.b/z"), ("z//", "https://a.b/x/z//"),
            ("./a:b", "https://a.b/x/a:b"), ("?r=../z", "https://a.b/x/y?r=../z"),
            ("z|<\"", "https://a.b/x/z%7C%3C%22"),
            ("//c.d:/z", "https://c.d/z"), ("https://[::1]:", "https://[::1]/"),
            ("//[::1]:8443?r", "https://[::1]:8443/?r"), ("/\u{301}", "https://a.b/%CC%81"),
        ]
    )
    func resolvesLocationAgainstRequest(_ location: String, _ url: String) throws {
        let next = try RedirectPolicy().next(after: Self.head(302, location), to: Self.request(), visited: [])
        #expect(next?.url == url)
    }

    @Test(arguments: [(200, "/z"), (300, "/z"), (304, "/z"), (305, "/z"), (306, "/z"), (302, nil)])
    func otherResponsesAreNotRedirects(_ status: Int, _ location: String?) throws {
        #expect(try RedirectPolicy().next(after: Self.head(status, location), to: Self.request(), visited: []) == nil)
    }

    @Test(arguments: [
        "ftp://a.b", "file:///etc/passwd", "javascript:alert(1)", "https://", "https://user:pw@a.b/", "http://a.b/",
        "//", "///z", "https:z", "https:/z", "https:/..//c.d", "//c.d:port/", "//ü.d/", "//c%2Ed/", "//[::1", "//::1/",
        "//:/", "//::/", "https://a.b\\@c.d/", "data:,z", "//c.d\0/",
    ])
    func rejectsForbiddenLocation(_ location: String) throws {
        let error = #expect(throws: SluiceError.self) {
            try RedirectPolicy().next(after: Self.head(302, location), to: Self.request(), visited: [])
        }
        #expect(error?.code == .redirectRefused)
        #expect(error?.step == .recovery)
        #expect(error?.response?.status == .found)
    }

    @Test func followsDowngradeIfAllowed() throws {
        let policy = RedirectPolicy(allowsDowngrade: true)
        let next = try policy.next(after: Self.head(302, "http://a.b/"), to: Self.request(), visited: [])
        #expect(next?.url == "http://a.b/")
    }
}

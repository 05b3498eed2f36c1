import SluiceHTTP
import Testing

@Suite struct HTTPRequestTests {
    private static func request(_ scheme: String, _ authority: String, _ path: String) -> HTTPRequest {
        HTTPRequest(scheme: scheme, authority: authority, path: path)
    }

    @Test func defaultsAreGETWithoutHeadersAndBody() {
        let request = Self.request("https", "a.test", "/")
        #expect(request.method == .get)
        #expect(request.headers.isEmpty)
        #expect(request.body.isNone)
    }

    @Test(arguments: [
        ("/", "https://a.test:8443/"), ("/a/b?c=d&e", "https://a.test:8443/a/b?c=d&e"),
        ("/a%2Fb??", "https://a.test:8443/a%2Fb??"),
    ])
    func urlIncludesTheQuery(path: String, url: String) {
        #expect(Self.request("https", "a.test:8443", path).url == url)
    }

    @Test(arguments: [
        ("a.test", "/p?token=secret", "https://a.test/p"),
        ("a.test", "/p?a?secret", "https://a.test/p"),
        ("a.test", "/?secret", "https://a.test/"),
        ("a.test", "/p%3Fq", "https://a.test/p%3Fq"),
        ("a.test", "/p?\u{301}secret", "https://a.test/p"),
        ("a.test", "/p#secret", "https://a.test/p"),
        ("a.test", "/p#secret?q", "https://a.test/p"),
        ("user:secret@a.test:81", "/p?q", "https://a.test:81/p"),
        ("secret@b@a.test", "/p", "https://a.test/p"),
        ("a.test", "/@p", "https://a.test/@p"),
    ])
    func redactedURLContainsNoSecrets(authority: String, path: String, redacted: String) {
        #expect(Self.request("https", authority, path).redactedURL == redacted)
    }

    @Test(
        arguments: [
            ("/", "lang", "en", "/?lang=en"), ("/a?", "lang", "en", "/a?lang=en"),
            ("/a?b=c", "lang", "en", "/a?b=c&lang=en"), ("/a?b=c&", "lang", "en", "/a?b=c&lang=en"),
            ("/a?b", "b", "2", "/a?b&b=2"), ("/", "q", "a b&c=d/é?", "/?q=a%20b%26c%3Dd%2F%C3%A9%3F"),
            ("/", "a[]", "", "/?a%5B%5D="), ("/a%3Fb", "x", "1", "/a%3Fb?x=1"), ("/a?b=c", "x", nil, "/a?b=c"),
            ("/", "x", nil, "/"), ("/?q", "\u{301}x", "\u{301}", "/?q&%CC%81x=%CC%81"),
        ] as [(String, String, String?, String)]
    )
    func addedQueryItemsAreEncodedAndSeparated(path: String, name: String, value: String?, expected: String) {
        var request = Self.request("https", "a.test", path)
        request.addQuery(name, value)
        #expect(request.path == expected)
    }
}

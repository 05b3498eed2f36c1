import SluiceHTTP
import Testing

@Suite struct HTTPOriginTests {
    @Test(arguments: [
        ("http", "a.test", "http://a.test"), ("http", "a.test:80", "http://a.test"),
        ("https", "a.test:443", "https://a.test"), ("https", "a.test:80", "https://a.test:80"),
        ("http", "a.test:443", "http://a.test:443"), ("http", "a.test:8080", "http://a.test:8080"),
        ("https", "a.test:1443", "https://a.test:1443"), ("http", "A.Test:80", "http://a.test"),
        ("http", "[::1]", "http://[::1]"), ("http", "[::1]:80", "http://[::1]"),
        ("http", "[FE80::80]", "http://[fe80::80]"), ("https", "[::443]:443", "https://[::443]"),
        ("http", "[FE80::1%25brLAN]:80", "http://[fe80::1%25brLAN]"),
        ("HTTPS", "a.test:443", "https://a.test"), ("Http", "a.test:80", "http://a.test"),
    ])
    func letterCaseAndDefaultPortAreNormalized(scheme: String, authority: String, origin: String) {
        #expect("\(HTTPOrigin(scheme: scheme, authority: authority))" == origin)
        #expect("\(HTTPRequest(scheme: scheme, authority: authority, path: "/p?q").origin)" == origin)
    }

    @Test(arguments: [
        ("http", "a.test", "https", "a.test"), ("http", "a.test", "http", "b.test"),
        ("http", "a.test", "http", "a.test:81"), ("http", "a.test", "http", "sub.a.test"),
    ])
    func originsDifferBySchemeHostOrPort(scheme: String, authority: String, otherScheme: String, otherAuthority: String)
    {
        let one = HTTPOrigin(scheme: scheme, authority: authority)
        let other = HTTPOrigin(scheme: otherScheme, authority: otherAuthority)
        #expect(one != other)
    }

    @Test func equalOriginsAreTheSameDictionaryKey() {
        let table = [HTTPOrigin(scheme: "https", authority: "A.test:443"): 1]
        #expect(table[HTTPOrigin(scheme: "https", authority: "a.TEST")] == 1)
    }
}

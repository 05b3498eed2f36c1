import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceCache

/// The names under which responses are stored, the requests that share a fetch, and the names that a change invalidates.
@Suite struct CacheNameTests {
    @Test(arguments: [
        ("https", "a.b", "/x?y=1", "https://a.b/x?y=1"),
        ("HTTPS", "A.B", "/X", "https://a.b/X"),
        ("https", "a.b:443", "/", "https://a.b/"),
        ("http", "a.b:80", "/", "http://a.b/"),
        ("http", "a.b:443", "/", "http://a.b:443/"),
        ("https", "a.b:", "/", "https://a.b/"),
        ("https", "[::1]:8443", "/", "https://[::1]:8443/"),
        ("https", "a.b", "", "https://a.b/"),
        ("https", "a.b", "?q", "https://a.b/?q"),
        ("https", "a.b", "/x#part", "https://a.b/x"),
        ("https", "a.b", "/%7Euser/%c3%a9%2F", "https://a.b/~user/%C3%A9%2F"),
        ("https", "a.b", "/%61%2e%zz%4", "https://a.b/a.%zz%4"),
        ("https", "a.b", "/?", "https://a.b/?"),
        ("https", "a.b", "/a//b/./c", "https://a.b/a//b/./c"),
        ("http", "a.b:0080", "/", "http://a.b/"),
        ("https", "a.b:08443", "/", "https://a.b:8443/"),
        ("https", "a.b:80", "/", "https://a.b:80/"),
        ("https", "a.b/x", "/y", "https://a.b%2Fx/y"),
        ("https", "a.b#c", "/", "https://a.b%23c/"),
        ("https", "[fe80::1%25e0]:443", "/", "https://[fe80::1%2525e0]/"),
    ])
    func urlIsNormalizedToAName(scheme: String, authority: String, path: String, name: String) {
        // RFC 9110 §4.2.3, RFC 3986 §6.2
        let request = HTTPRequest(scheme: scheme, authority: authority, path: path)
        #expect(CacheRules.name(of: request) == name)
        var head = request
        head.method = .head
        #expect(CacheRules.name(of: head) == name)
    }

    @Test(arguments: [
        // RFC 9110 §7.2: the connection determines the name, and another host is added to it.
        ("Host: a.b", ""), ("Host: A.B:443", ""), ("Host: a.b:", ""), ("Host: a.b:80", "#a.b:80"),
        ("Host: bank.example", "#bank.example"), ("Host: BANK.example:443", "#bank.example"), ("Host:", "#"),
        ("Host: a.b/x", "#a.b%2Fx"), ("Host: a#b", "#a%23b"), ("Host: a.b\nHost: a.b", "#a.b#a.b"),
    ])
    func hostFieldNeverReplacesTheServer(lines: String, suffix: String) {
        let request = CacheFixture.request(HTTPHeaders(lines: lines))
        #expect(CacheRules.name(of: request) == "https://a.b/a\(suffix)")
        let change = CacheFixture.request(HTTPHeaders(lines: lines), method: .post)
        let head = HTTPResponse(status: 201, headers: [.location: "/b"])
        let names = ["https://a.b/a\(suffix)", "https://a.b/b\(suffix)"]
        #expect(CacheRules.invalidations(after: head, to: change) == names)
    }

    @Test func onlyEqualServersHostsAndPathsShareAName() {
        var random = SeededGenerator(seed: 7230)
        let pieces = ["a", "b.c", "A", ":", "80", "443", "/", "#", "?", "%", "@", "[::1]", "x"]
        func text(_ count: ClosedRange<Int>) -> String {
            (0..<Int.random(in: count, using: &random)).compactMap { _ in pieces.randomElement(using: &random) }
                .joined()
        }
        var parts: [String: [String]] = [:]
        for _ in 0..<5000 {
            let scheme = ["http", "https"].randomElement(using: &random) ?? "http"
            let (authority, path) = (text(1...3), "/" + text(0...2))
            let host = Bool.random(using: &random) ? text(1...2) : nil
            var request = HTTPRequest(scheme: scheme, authority: authority, path: path)
            if let host { request.headers[.host] = host }
            // The parts in a form that differs only in what has no meaning.
            let ports = scheme == "http" ? [":80", ":"] : [":443", ":"]
            func plain(_ text: String) -> String {
                let text = text.lowercased()
                return ports.first(where: text.hasSuffix).map { String(text.dropLast($0.count)) } ?? text
            }
            let sentPath = String(path.prefix { $0 != "#" })
            let sentHost = host.map(plain) ?? plain(authority)
            let found = [scheme, plain(authority), sentHost, sentPath]
            let name = CacheRules.name(of: request)
            #expect(parts[name, default: found] == found, "\(name)")
            parts[name] = found
        }
        #expect(parts.count > 1000)
    }

    @Test(arguments: [
        ("X: y", true), ("Range: bytes=0-1", false), ("If-None-Match: \"a\"", false), ("If-Match: \"a\"", false),
        ("If-Modified-Since: {0}", false), ("If-Unmodified-Since: {0}", false), ("If-Range: \"a\"", false),
        ("Cache-Control: no-store", false), ("Cache-Control: no-cache", false), ("Cache-Control: max-age=5", false),
        ("Cache-Control: min-fresh=5", false), ("Pragma: no-cache", false), ("Cache-Control: max-stale=5", true),
        ("Cache-Control: only-if-cached", true), ("cache-control: NO-STORE", false),
    ])
    func onlyUnrestrictedRequestsShareAFetch(lines: String, isShared: Bool) {
        #expect(CacheRules.mayShare(CacheFixture.request(HTTPHeaders(lines: lines))) == isShared)
    }

    @Test func onlyGETWithoutBodySharesAFetch() {
        #expect(!CacheRules.mayShare(CacheFixture.request(method: .head)))
        #expect(!CacheRules.mayShare(CacheFixture.request(method: .post)))
        #expect(!CacheRules.mayShare(CacheFixture.request(body: .data(Data([1])))))
    }

    struct Change: Sendable {
        var method: HTTPMethod = .post
        var status: HTTPStatus = 200
        var lines = "X: y"
        let names: [String]
    }

    @Test(arguments: [
        // §4.4: successful requests with unsafe and unknown methods.
        Change(names: ["https://a.b/a"]),
        Change(method: .put, status: 201, names: ["https://a.b/a"]),
        Change(method: .delete, status: 204, names: ["https://a.b/a"]),
        Change(method: .patch, status: 302, names: ["https://a.b/a"]),
        Change(method: "PURGE", names: ["https://a.b/a"]),
        Change(method: "get", names: ["https://a.b/a"]),
        Change(status: 400, names: []),
        Change(status: 500, names: []),
        Change(status: 100, names: []),
        Change(method: .get, names: []),
        Change(method: .head, names: []),
        Change(method: .options, names: []),
        Change(method: .trace, names: []),
        // Other URLs, only of the same origin.
        Change(status: 201, lines: "Location: /b", names: ["https://a.b/a", "https://a.b/b"]),
        Change(lines: "Location: b?c=d#e", names: ["https://a.b/a", "https://a.b/b?c=d"]),
        Change(lines: "Content-Location: https://A.b:443/%62", names: ["https://a.b/a", "https://a.b/b"]),
        Change(
            lines: "Location: /b\nContent-Location: /c",
            names: ["https://a.b/a", "https://a.b/b", "https://a.b/c"]
        ),
        Change(lines: "Location: https://a.b/a", names: ["https://a.b/a"]),
        Change(lines: "Location: ../x/./y", names: ["https://a.b/a", "https://a.b/x/y"]),
        Change(lines: "Location: /ü b", names: ["https://a.b/a", "https://a.b/%C3%BC%20b"]),
        Change(lines: "Location: https://c.d/b", names: ["https://a.b/a"]),
        Change(lines: "Location: http://a.b/b", names: ["https://a.b/a"]),
        Change(lines: "Location: https://a.b:8443/b", names: ["https://a.b/a"]),
        Change(lines: "Location: //c.d/b", names: ["https://a.b/a"]),
        Change(lines: "Location: mailto:x@a.b", names: ["https://a.b/a"]),
        Change(lines: "Location: https://a.b", names: ["https://a.b/a", "https://a.b/"]),
        Change(lines: "Location:", names: ["https://a.b/a"]),
    ])
    func unsafeRequestsInvalidateNamesOfTheSameOrigin(_ row: Change) {
        let head = HTTPResponse(status: row.status, headers: HTTPHeaders(lines: row.lines))
        let request = CacheFixture.request(method: row.method)
        #expect(CacheRules.invalidations(after: head, to: request) == row.names)
    }

    @Test func successfulPOSTRemovesStoredGETResponses() throws {
        let cache = CacheSimulation()
        let head = CacheFixture.head([.cacheControl: "max-age=60"])
        _ = cache.send(at: 0) { _ in (head, "old") }
        _ = cache.send(CacheFixture.request(path: "/b"), at: 0) { _ in (head, "other") }
        let post = CacheFixture.request(method: .post)
        let failed = try #require(cache.send(post, at: 1) { _ in (CacheFixture.head([:], status: 500), "") })
        #expect(failed.status == "Sluice; fwd=method; fwd-status=500")
        #expect(cache.kept().count == 1)
        _ = cache.send(post, at: 1) { _ in (CacheFixture.head([.location: "/b"], status: 201), "") }
        #expect(cache.kept().isEmpty)
        #expect(cache.kept(CacheFixture.request(path: "/b")).isEmpty)
    }
}

import Sluice
import SluiceTesting
import XCTest

#if os(Linux)
/// The cookies of requests to a host. A `Host` field gives the server any name.
final class CookieRuleTests: XCTestCase {
    private func server() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on("/set") { .text("", headers: ["Set-Cookie": $0.headers["X-Set"] ?? ""]) }
        server.on("/*", .echo)
        return server
    }

    private func set(_ cookie: String, at host: String? = nil, _ client: APIClient) async throws {
        var request = client.empty.get("set").header("X-Set", cookie)
        if let host { request = request.header("Host", host) }
        _ = try await request.sender().value
    }

    private func sent(_ client: APIClient, to host: String? = nil, _ path: String = "echo") async throws -> String? {
        var request: APIRequest<LoopbackEcho, APIError> = client.codable.get(path)
        if let host { request = request.header("Host", host) }
        return try await request.sender().value.values(for: .cookie).first
    }

    func testCookieIsSentToItsPathAndBelow() async throws {
        let server = try server()
        let client = APIClient(baseURL: server.url) { $0.cookies = CookieJar() }
        try await set("a=1; Path=/x", client)
        for (path, cookies) in [("x", "a=1"), ("x/y", "a=1"), ("xy", nil), ("echo", nil)] as [(String, String?)] {
            let got = try await sent(client, path)
            XCTAssertEqual(got, cookies, path)
        }
    }

    func testCookieIsSentToItsHostOnlyUnlessItHasADomain() async throws {
        let server = try server()
        let client = APIClient(baseURL: server.url) { $0.cookies = CookieJar() }
        try await set("own=1; Path=/", at: "a.shop.example", client)
        try await set("wide=1; Domain=shop.example; Path=/", at: "a.shop.example", client)
        try await set("foreign=1; Domain=other.example; Path=/", at: "a.shop.example", client)
        try await set("below=1; Domain=b.a.shop.example; Path=/", at: "a.shop.example", client)
        for (host, cookies) in [
            ("a.shop.example", ["own=1", "wide=1"]), ("b.shop.example", ["wide=1"]), ("shop.example", ["wide=1"]),
            ("b.a.shop.example", ["wide=1"]), ("notshop.example", []), ("other.example", []),
        ] {
            let got = try await sent(client, to: host)
            XCTAssertEqual(Set(got?.components(separatedBy: "; ") ?? []), Set(cookies), host)
        }
    }

    func testCookiesForPublicSuffixesAreRefused() async throws {
        let server = try server()
        let jar = CookieJar()
        let client = APIClient(baseURL: server.url) { $0.cookies = jar }
        for (host, domain) in [
            ("a.co.uk", "co.uk"), ("a.b.co.uk", "co.uk"), ("a.github.io", "github.io"), ("a.example", "example"),
        ] {
            try await set("bad=1; Domain=\(domain); Path=/", at: host, client)
        }
        let none = await jar.cookies
        XCTAssertEqual(none, [])
        try await set("good=1; Domain=b.co.uk; Path=/", at: "a.b.co.uk", client)
        let kept = await jar.cookies
        XCTAssertEqual(kept.map(\.domain), ["b.co.uk"])
    }

    func testSecureCookieIsNotSentOverHTTP() async throws {
        let server = try server()
        let jar = CookieJar()
        let client = APIClient(baseURL: server.url) { $0.cookies = jar }
        // Browsers allow secure cookies over http for loopback hosts, but not for other names that resolve to them.
        let host = "a.shop.example"
        try await jar.set(Cookie(name: "s", value: "1", domain: host, isSecure: true))
        try await jar.set(Cookie(name: "p", value: "1", domain: host))
        // A server cannot set a secure cookie over http either.
        try await set("t=1; Secure", at: host, client)
        let got = try await sent(client, to: host)
        XCTAssertEqual(got, "p=1")
        let kept = await jar.cookies
        XCTAssertEqual(kept.map(\.name), ["p", "s"])
    }

    func testExpiredSetCookieRemovesTheCookie() async throws {
        let server = try server()
        let client = APIClient(baseURL: server.url) { $0.cookies = CookieJar() }
        for end in ["Max-Age=0", "Max-Age=-1", "Expires=Thu, 01 Jan 1970 00:00:00 GMT"] {
            try await set("a=1; Path=/", client)
            let before = try await sent(client)
            XCTAssertEqual(before, "a=1")
            try await set("a=; Path=/; \(end)", client)
            let after = try await sent(client)
            XCTAssertNil(after, end)
        }
    }

    func testChangesOfTheJarApplyToLaterRequests() async throws {
        let server = try server()
        let jar = CookieJar()
        let client = APIClient(baseURL: server.url) { $0.cookies = jar }
        try await set("a=1; Path=/; HttpOnly", client)
        try await jar.set(Cookie(name: "b", value: "2", domain: "127.0.0.1"))
        let both = try await sent(client)
        XCTAssertEqual(both.map { Set($0.components(separatedBy: "; ")) }, ["a=1", "b=2"])
        let kept = await jar.cookies
        XCTAssertEqual(kept.map(\.value), ["1", "2"])
        XCTAssertEqual(kept.map(\.isHTTPOnly), [true, false])
        try await jar.set(Cookie(name: "a", value: "9", domain: "127.0.0.1"))
        await jar.removeAll { $0.name == "b" }
        let one = try await sent(client)
        XCTAssertEqual(one, "a=9")
        await jar.removeAll()
        let none = try await sent(client)
        XCTAssertNil(none)
        let rest = await jar.cookies
        XCTAssertEqual(rest, [])
    }
}
#endif

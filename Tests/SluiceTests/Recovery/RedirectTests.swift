import Sluice
import SluiceTesting
import Synchronization
import XCTest

final class RedirectTests: XCTestCase {
    func testFollowsRedirectAndReportsFinalURL() async throws {
        let server = try LoopbackServer()
        server.on("/old", .redirect(to: "/new?x=1"))
        server.on("/new", .echo)
        let request: APIRequest<LoopbackEcho, APIError> = APIClient(baseURL: server.url).codable.request("old")
        let response = await request.sender().response
        XCTAssertEqual(try response.result.get().target, "/new?x=1")
        XCTAssertEqual(response.request?.url, "\(server.url)/new?x=1")
    }

    func testPolicyOfNoneReturnsRedirect() async throws {
        let server = try LoopbackServer()
        server.on("/old", .redirect(to: "/new"))
        let client = APIClient(baseURL: server.url) { $0.redirects = .none }
        let error = await client.data.request("old").sender().result.failure
        XCTAssertEqual(error?.status, .found)
        XCTAssertEqual(error?.response?.headers[.location], "/new")
    }

    func testLoopIsError() async throws {
        let server = try LoopbackServer()
        server.on("/a", .redirect(to: "/b"))
        server.on("/b", .redirect(to: "/a"))
        let client = APIClient(baseURL: server.url)
        let error = await client.data.request("a").sender().result.failure
        XCTAssertEqual(error?.code, .redirectLoop)
        XCTAssertEqual(error?.error.step, .recovery)
        XCTAssertEqual(server.requestCount, 2)
        server.on("/c", .text("fine"))
        let data = try await client.data.request("c").sender().value
        XCTAssertEqual(data, Data("fine".utf8))
    }

    func testTooManyRedirectsAreError() async throws {
        let server = try LoopbackServer()
        server.on("/*") { request in
            .redirect(to: "/\((Int(request.path.dropFirst()) ?? 0) + 1)")
        }
        let client = APIClient(baseURL: server.url) { $0.redirects.limit = 3 }
        let error = await client.data.request("0").sender().result.failure
        XCTAssertEqual(error?.code, .tooManyRedirects)
        XCTAssertEqual(server.requestCount, 4)
    }

    func testDropsCredentialsAtOtherOrigin() async throws {
        let home = try LoopbackServer()
        let away = try LoopbackServer()
        home.on("/near", .redirect(to: "/echo"))
        home.on("/echo", .echo)
        home.on("/far", .redirect(to: "\(away.url)/echo"))
        away.on("/echo", .echo)
        let client = APIClient(baseURL: home.url) {
            $0.headers = ["Authorization": "Bearer t", "Cookie": "c=1", "X-Other": "o"]
        }
        let near: LoopbackEcho = try await client.codable.request("near").sender().value
        XCTAssertEqual(near.values(for: .authorization), ["Bearer t"])
        let far: LoopbackEcho = try await client.codable.request("far").sender().value
        XCTAssertEqual(far.values(for: .authorization), [])
        XCTAssertEqual(far.values(for: .cookie), [])
        XCTAssertEqual(far.values(for: "x-other"), ["o"])
        XCTAssertEqual(far.values(for: .host), [away.authority])
    }

    func testResendsBodyOnlyIfAllowed() async throws {
        let server = try LoopbackServer()
        server.on("/307", .redirect(to: "/echo", status: .temporaryRedirect))
        server.on("/303", .redirect(to: "/echo", status: .seeOther))
        server.on("/echo", .echo)
        let client = APIClient(baseURL: server.url)
        let kept: LoopbackEcho = try await client.codable.request("307").put().json([1]).sender().value
        XCTAssertEqual(kept.method, "PUT")
        XCTAssertEqual(kept.text, "[1]")
        let dropped: LoopbackEcho = try await client.codable.request("303").put().json([1]).sender().value
        XCTAssertEqual(dropped.method, "GET")
        XCTAssertEqual(dropped.text, "")
        XCTAssertEqual(dropped.values(for: .contentType), [])
        let once = AsyncStream<Data> { continuation in
            continuation.yield(Data("once".utf8))
            continuation.finish()
        }
        let error = await client.data.request("307").put().body(.stream(once)).sender().result.failure
        XCTAssertEqual(error?.code, .bodyNotReplayable)
    }

    func testTotalTimeoutCoversAllRedirects() async throws {
        let server = try LoopbackServer()
        server.on("/*") { request in
            let next = LoopbackResponse.redirect(to: "/\((Int(request.path.dropFirst()) ?? 0) + 1)")
            return .delayed(by: .milliseconds(40), next)
        }
        let client = APIClient(baseURL: server.url) { $0.redirects.limit = 1000 }
        for limit in risingLimits where server.requests(to: "/1").isEmpty {
            let error = await client.data.request("0").timeout(total: limit).sender().result.failure
            XCTAssertEqual(error?.code, .timedOut)
        }
        XCTAssertFalse(server.requests(to: "/1").isEmpty)
    }

    func testReturnWithNewCookieIsNotLoop() async throws {
        let server = try LoopbackServer()
        server.on("/private") { request in
            request.headers.values(for: .cookie).contains("s=1") ? .text("welcome") : .redirect(to: "/sign-in")
        }
        server.on(
            "/sign-in",
            .status(.found, headers: ["Location": "/private", "Set-Cookie": "s=1; Path=/"])
        )
        let client = APIClient(baseURL: server.url) { $0.cookies = CookieJar() }
        let text = try await client.string.get("private").sender().value
        XCTAssertEqual(text, "welcome")
        let error = await client.string.get("private").cookies(false).sender().result.failure
        XCTAssertEqual(error?.code, .redirectLoop)
    }

    func testDropsSecretHeadersAndTokensAtOtherOrigin() async throws {
        let home = try LoopbackServer()
        let away = try LoopbackServer()
        home.on("/far", .redirect(to: "\(away.url)/echo"))
        home.on("/near", .redirect(to: "/echo"))
        for server in [home, away] { server.on("/echo", .echo) }
        let client = APIClient(baseURL: home.url) {
            $0.headers = ["X-Session": "s", "X-Other": "o"]
            $0.secretHeaders = ["x-session"]
            $0.requestInterceptors = [CustomToken("k", header: "X-Key")]
        }
        for (path, isKept) in [("near", true), ("far", false)] {
            let request: APIRequest<LoopbackEcho, APIError> = client.codable.get(path)
                .intercept(CustomToken("own", header: "X-Own"))
            let echo = try await request.sender().value
            for name: HTTPHeaderName in ["X-Session", "X-Key", "X-Own"] {
                XCTAssertEqual(!echo.values(for: name).isEmpty, isKept, "\(name) \(path)")
            }
            XCTAssertEqual(echo.values(for: "X-Other"), ["o"])
        }
    }

    func testRequestOverridesPolicyOfClient() async throws {
        let server = try LoopbackServer()
        server.on("/old", .redirect(to: "/new"))
        server.on("/new", .text("new"))
        let client = APIClient(baseURL: server.url)
        let response = await client.data.get("old").redirects(.none).sender().response
        XCTAssertEqual(response.status, .found)
        let text = try await client.string.get("old").sender().value
        XCTAssertEqual(text, "new")
        let strict = APIClient(baseURL: server.url) { $0.redirects = .none }
        let followed = try await strict.string.get("old").redirects(RedirectPolicy()).sender().value
        XCTAssertEqual(followed, "new")
    }

    func testDecisionReplacesOrStopsRedirect() async throws {
        let server = try LoopbackServer()
        server.on("/old", .redirect(to: "/new"))
        server.on("/new", .echo)
        server.on("/other", .echo)
        let client = APIClient(baseURL: server.url) {
            $0.redirects.decide = { proposal in
                var next = proposal.next
                next.path = "/other?was=\(proposal.next.path)"
                return .send(next)
            }
        }
        let echo: LoopbackEcho = try await client.codable.get("old").sender().value
        XCTAssertEqual(echo.target, "/other?was=/new")
        let stopping = client.data.get("old").redirects(RedirectPolicy { _ in .stop })
        let response = await stopping.sender().response
        XCTAssertEqual(response.head?.headers[.location], "/new")
    }

    func testDecidesOncePerRedirect() async throws {
        let server = try LoopbackServer()
        server.on("/a", .redirect(to: "/b"))
        server.on("/b", .redirect(to: "/c"))
        server.on("/c", .text("end"))
        for isCached in [false, true] {
            let counts = Mutex<[Int]>([])
            let client = APIClient(baseURL: server.url) {
                if isCached { $0.cache = CacheStore(storage: nil) }
                $0.redirects.decide = { proposal in
                    counts.withLock { $0.append(proposal.count) }
                    return .follow
                }
            }
            let text = try await client.string.get("a").sender().value
            XCTAssertEqual(text, "end")
            XCTAssertEqual(counts.withLock { $0 }, [1, 2])
        }
    }

    func testFollowsRedirectWithHangingOrDamagedBody() async throws {
        let server = try LoopbackServer()
        let permanent: HTTPHeaders = [.location: "/end", "Cache-Control": "max-age=60"]
        server.on("/silent", .headersThenHang(status: .movedPermanently, headers: permanent))
        server.on(
            "/damaged",
            .raw(
                "HTTP/1.1 301 Moved Permanently\r\nLocation: /end\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\nno gzip..",
                thenClose: false
            )
        )
        server.on("/end", .text("end"))
        for isCached in [false, true] {
            let client = APIClient(baseURL: server.url) {
                if isCached { $0.cache = CacheStore(storage: nil) }
            }
            for path in ["silent", "damaged"] {
                let text = try await client.string.get(path).sender().value
                XCTAssertEqual(text, "end", path)
            }
        }
    }

    func testDecodesBodyOnlyOfRedirectsThatMayBeReturned() async throws {
        let server = try LoopbackServer()
        let damaged = "Content-Encoding: gzip\r\nContent-Length: 9\r\n\r\nno gzip.."
        server.on("/old", .raw("HTTP/1.1 301 Moved Permanently\r\nLocation: /end\r\n\(damaged)", thenClose: false))
        server.on("/choice", .raw("HTTP/1.1 301 Moved Permanently\r\n\(damaged)", thenClose: false))
        server.on("/end", .text("end"))
        let client = APIClient(baseURL: server.url)
        let observer = RedirectObserver()
        let observed = APIClient(baseURL: server.url) { $0.observers = [observer] }
        let text = try await observed.string.get("old").sender().value
        XCTAssertEqual(text, "end")
        await eventually { !observer.bodies.read.isEmpty }
        XCTAssertEqual(observer.bodies.read, [Data()])
        // The connection is kept, because no decoder has failed.
        XCTAssertEqual(server.connections, 1)
        for request in [
            client.data.get("choice"), client.data.get("old").redirects(.none),
            client.data.get("old").redirects(RedirectPolicy { _ in .stop }),
        ] {
            let response = await request.sender().response
            XCTAssertEqual(response.failure?.code, .invalidResponse)
        }
    }

    func testCachesRedirectWithItsWholeBody() async throws {
        let server = try LoopbackServer()
        let head =
            "HTTP/1.1 301 Moved Permanently\r\nLocation: /end\r\nCache-Control: max-age=60\r\nContent-Length: 5\r\n\r\n"
        server.on("/old", .script(.write(head), .pause(.milliseconds(20)), .write("moved")))
        server.on("/end", .text("end"))
        let client = APIClient(baseURL: server.url) { $0.cache = CacheStore(storage: nil) }
        let text = try await client.string.get("old").sender().value
        XCTAssertEqual(text, "end")
        let kept = await client.string.get("old").redirects(.none).sender().response
        XCTAssertEqual(kept.status, .movedPermanently)
        XCTAssertEqual(kept.body, Data("moved".utf8))
        XCTAssertEqual(server.requests.filter { $0.path == "/old" }.count, 1)
    }
}

private final class RedirectObserver: RequestObserver {
    let bodies = Shared([Data]())

    func observe(_ event: RequestEvent, of request: ObservedRequest) {
        guard case .redirected(let response, _) = event else { return }
        bodies.change { $0.append(response.body) }
    }
}

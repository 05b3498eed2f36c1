import Sluice
import SluiceTesting
import XCTest

/// Records the IDs and the routes of requests.
private final class IDObserver: RequestObserver {
    private let requests = Shared<[(id: RequestID, route: String)]>([])
    var read: [(id: RequestID, route: String)] { requests.read }

    func observe(_ event: RequestEvent, of request: ObservedRequest) {
        requests.change { $0.append((request.id, request.route)) }
    }
}

/// HTTP caching over real sockets (RFC 9111).
final class HTTPCacheTests: XCTestCase {
    private let server = try? LoopbackServer()
    private let store = CacheStore(storage: nil)
    private let clock = TestClock()

    override func tearDown() { server?.stop() }

    private func client(_ configure: (inout APIClient.Configuration) -> Void = { _ in }) throws -> APIClient {
        let server = try XCTUnwrap(server)
        return APIClient(baseURL: server.url) {
            $0.cache = store
            $0.clock = clock
            configure(&$0)
        }
    }

    private func serve(_ text: String, _ cacheControl: String, _ headers: HTTPHeaders = [:]) {
        var headers = headers
        headers["Cache-Control"] = cacheControl
        server?.on("/page", .text(text, headers: headers))
    }

    private func read(_ client: APIClient, _ headers: HTTPHeaders = [:]) async throws -> APIResponse<String, APIError> {
        var request = client.string.get("page")
        for field in headers { request = request.header(field.name, field.value) }
        return await request.sender().response
    }

    func testFreshResponseIsReusedWithoutARequest() async throws {
        let client = try client()
        serve("one", "max-age=60")
        let first = try await read(client)
        XCTAssertEqual(first.source, .server)
        XCTAssertEqual(first.head?.headers["Cache-Status"], "Sluice; fwd=uri-miss; fwd-status=200; stored")
        serve("two", "max-age=60")
        clock.advance(by: .seconds(59))
        let second = try await read(client)
        XCTAssertEqual(try second.result.get(), "one")
        XCTAssertEqual(second.source, .cache(CachedResponseInfo(age: .seconds(59))))
        XCTAssertEqual(second.head?.headers["Age"], "59")
        XCTAssertEqual(second.head?.headers["Cache-Status"], "Sluice; hit; ttl=1")
        clock.advance(by: .seconds(2))
        let third = try await read(client)
        XCTAssertEqual(try third.result.get(), "two")
        XCTAssertEqual(server?.requests.count, 2)
    }

    func testStaleResponseIsFreshenedBy304() async throws {
        let client = try client()
        serve("one", "max-age=60", ["ETag": "\"v1\"", "X-Count": "1"])
        _ = try await read(client)
        server?.on("/page") { request in
            guard request.headers["If-None-Match"] == "\"v1\"" else { return .status(.badRequest) }
            return .status(.notModified, headers: ["Cache-Control": "max-age=120", "ETag": "\"v1\"", "X-Count": "2"])
        }
        clock.advance(by: .seconds(61))
        let second = try await read(client)
        XCTAssertEqual(try second.result.get(), "one")
        XCTAssertEqual(second.status, .ok)
        XCTAssertEqual(second.head?.headers["X-Count"], "2")
        XCTAssertEqual(second.source, .cache(CachedResponseInfo(age: .zero, isRevalidated: true)))
        clock.advance(by: .seconds(119))
        let third = try await read(client)
        XCTAssertEqual(third.source, .cache(CachedResponseInfo(age: .seconds(119))))
        XCTAssertEqual(server?.requests.count, 2)
    }

    /// The answer to the first of two requests is delayed until the resource has changed.
    func testLate304DoesNotReplaceALaterResponse() async throws {
        let (client, signal) = (try client(), LoopbackSignal())
        let fields: HTTPHeaders = ["Cache-Control": "max-age=1000", "ETag": "\"a\""]
        server?.on(
            "/page",
            .text("a", headers: ["Cache-Control": "max-age=10", "ETag": "\"a\""]),
            .after(signal, .status(.notModified, headers: fields)),
            .text("b", headers: ["Cache-Control": "max-age=1000", "ETag": "\"b\""])
        )
        _ = try await read(client)
        clock.advance(by: .seconds(20))
        let late = client.string.get("page").sender()
        async let lateText = late.value
        await server?.waitForRequests(2)
        clock.advance(by: .seconds(1))
        let changed = try await read(client, ["Cache-Control": "no-cache"])
        XCTAssertEqual(try changed.result.get(), "b")
        signal.fire()
        let text = try await lateText
        XCTAssertEqual(text, "a")
        let next = try await read(client)
        XCTAssertEqual(try next.result.get(), "b")
        XCTAssertEqual(server?.requests.count, 3)
    }

    /// The later response removes the stored one, and is not stored itself.
    func testLate304DoesNotBringAResponseBack() async throws {
        let fields: HTTPHeaders = ["Cache-Control": "max-age=1000", "ETag": "\"a\""]
        for (index, status) in [HTTPStatus.notFound, .ok].enumerated() {
            let (client, signal) = (try client(), LoopbackSignal())
            server?.on(
                "/page",
                .text("a", headers: ["Cache-Control": "max-age=10", "ETag": "\"a\""]),
                .after(signal, .status(.notModified, headers: fields)),
                .text("gone", status: status, headers: ["Cache-Control": "no-store"]),
                .text("b")
            )
            _ = try await read(client)
            clock.advance(by: .seconds(20))
            let late = client.string.get("page").sender()
            async let lateText = late.value
            await server?.waitForRequests(4 * index + 2)
            let removed = try await read(client, ["Cache-Control": "no-cache"])
            XCTAssertEqual(removed.head?.status, status)
            signal.fire()
            let text = try await lateText
            XCTAssertEqual(text, "a")
            let next = try await read(client)
            XCTAssertEqual(try next.result.get(), "b")
            XCTAssertEqual(server?.requests.count, 4 * index + 4)
        }
    }

    func testVarySelectsTheStoredResponse() async throws {
        let client = try client()
        server?.on("/page") { request in
            let language = request.headers["Accept-Language"] ?? "none"
            return .text(language, headers: ["Cache-Control": "max-age=60", "Vary": "Accept-Language"])
        }
        for _ in 0..<2 {
            for language in ["en", "is", "en, is"] {
                let response = try await read(client, ["Accept-Language": language])
                XCTAssertEqual(try response.result.get(), language)
            }
        }
        XCTAssertEqual(server?.requests.count, 3)
    }

    func testUnsafeRequestInvalidatesTheStoredResponse() async throws {
        let client = try client()
        serve("one", "max-age=60")
        _ = try await read(client)
        server?.on(.post, "/page", .status(.noContent))
        _ = try await client.data.post("page").data(Data("two".utf8)).sender().value
        serve("two", "max-age=60")
        let response = try await read(client)
        XCTAssertEqual(try response.result.get(), "two")
    }

    func testFailedUnsafeRequestDoesNotInvalidate() async throws {
        let client = try client()
        serve("one", "max-age=60")
        _ = try await read(client)
        server?.on(.post, "/page", .status(.conflict))
        _ = await client.data.post("page").data(Data("two".utf8)).sender().result
        let response = try await read(client)
        XCTAssertTrue(response.source.isCache)
    }

    func testStaleWhileRevalidateRevalidatesInBackground() async throws {
        let client = try client()
        serve("one", "max-age=60, stale-while-revalidate=30")
        _ = try await read(client)
        serve("two", "max-age=60, stale-while-revalidate=30")
        clock.advance(by: .seconds(70))
        let stale = try await read(client)
        XCTAssertEqual(try stale.result.get(), "one")
        XCTAssertEqual(stale.source, .cache(CachedResponseInfo(age: .seconds(70), isFresh: false)))
        await server?.waitForRequests(2)
        await eventually { (try? await client.string.get("page").sender().value) == "two" }
        XCTAssertEqual(server?.requests.count, 2)
    }

    func testObserversSeeTheBackgroundRevalidationAsARequestOfItsOwn() async throws {
        let observer = NotingObserver()
        let ids = IDObserver()
        let client = try client { $0.observers = [observer, ids] }
        let cacheControl = "max-age=60, stale-while-revalidate=600"
        serve("one", cacheControl, ["ETag": "\"1\""])
        _ = try await read(client)
        server?.on(
            "/page",
            .status(.notModified, headers: ["ETag": "\"1\"", "Cache-Control": cacheControl]),
            .text("two", headers: ["Cache-Control": cacheControl]),
            .status(.serviceUnavailable)
        )
        for (status, outcome) in [("200", "200"), ("200", "200"), ("503", "unacceptableStatus")] {
            await client.observersCaughtUp()
            let seen = observer.events.count
            clock.advance(by: .seconds(70))
            let stale = try await read(client)
            XCTAssertTrue(stale.source.isCache)
            await eventually { observer.events.count == seen + 7 }
            let events = observer.events.dropFirst(seen)
            // The two requests run side by side.
            XCTAssertEqual(
                events.sorted(),
                [
                    "0 began /page", "0 began /page", "0 finished 200", "0 finished \(outcome)", "1 cached 200",
                    "1 received \(status)", "1 sending /page",
                ].sorted()
            )
        }
        await client.observersCaughtUp()
        XCTAssertEqual(Set(ids.read.map(\.id)).count, 7)
        XCTAssertEqual(Set(ids.read.map(\.route)).count, 1)
    }

    func testBackgroundRevalidationAsksTheGates() async throws {
        final class Counting: ImmediateGate {
            let outcomes = Shared<[String]>([])

            func admit(_ request: RequestContext) async throws(SluiceError) -> Permit { permit }
            func admitImmediately(_ request: RequestContext) -> Permit? { permit }

            private var permit: Permit {
                Permit { [outcomes] outcome in
                    outcomes.change { $0.append(outcome.status.map { "\($0.rawValue)" } ?? "cache") }
                    return .settled
                }
            }
        }
        let counting = Counting()
        let client = try client { $0.gates = [counting] }
        serve("one", "max-age=60, stale-while-revalidate=600")
        _ = try await read(client)
        XCTAssertEqual(counting.outcomes.read, ["200"])
        clock.advance(by: .seconds(70))
        server?.on("/page", .status(.serviceUnavailable))
        let stale = try await read(client)
        XCTAssertTrue(stale.source.isCache)
        await eventually { counting.outcomes.read.count == 3 }
        XCTAssertEqual(counting.outcomes.read.sorted(), ["200", "503", "cache"])
    }

    func testTokenThatABackgroundRevalidationFindsRefusedIsRenewed() async throws {
        let oauth = OAuth2(.refreshToken("r", id: "i"), tokenURL: "\(server?.url ?? "")/token")
        try await oauth.signIn(with: OAuth2.Token(accessToken: "1", refreshToken: "r"))
        let client = try client { $0.gates = [oauth] }
        serve("one", "max-age=60, stale-while-revalidate=600")
        server?.on("/token", .json(#"{"access_token":"2","token_type":"Bearer"}"#))
        _ = try await read(client)
        clock.advance(by: .seconds(70))
        server?.on("/page") { request in
            request.headers["Authorization"] == "Bearer 2" ? .text("two") : .status(.unauthorized)
        }
        let stale = try await read(client)
        XCTAssertEqual(try stale.result.get(), "one")
        // The next request renews the token, once the gate knows that it was refused.
        await eventually { await client.string.get("page").sender().response.body == Data("two".utf8) }
        XCTAssertEqual(server?.requests(to: "/token").count, 1)
    }

    func testStaleIfErrorServesTheStaleResponse() async throws {
        let client = try client { $0.caching.http = HTTPCaching(staleIfError: .seconds(600)) }
        serve("one", "max-age=60")
        _ = try await read(client)
        clock.advance(by: .seconds(61))
        server?.on("/page", .status(.serviceUnavailable))
        let failing = try await read(client)
        XCTAssertEqual(try failing.result.get(), "one")
        XCTAssertEqual(failing.source, .cache(CachedResponseInfo(age: .seconds(61), isFresh: false)))
        server?.stop()
        let dead = try await read(client)
        XCTAssertEqual(try dead.result.get(), "one")
        clock.advance(by: .seconds(600))
        let late = try await read(client)
        XCTAssertEqual(late.failure?.code, .cannotConnect)
    }

    func testOnlyIfCachedMissReturns504() async throws {
        let client = try client()
        let response = await client.string.get("page").cachePolicy(.onlyIfCached).sender().response
        XCTAssertEqual(response.status, .gatewayTimeout)
        XCTAssertEqual(server?.requests.count, 0)
    }

    func testRangeIsServedFromACompleteResponse() async throws {
        let client = try client()
        serve("0123456789", "max-age=60", ["ETag": "\"v1\""])
        _ = try await read(client)
        let part = try await read(client, ["Range": "bytes=2-4"])
        XCTAssertEqual(try part.result.get(), "234")
        XCTAssertEqual(part.status, .partialContent)
        XCTAssertEqual(part.head?.headers["Content-Range"], "bytes 2-4/10")
        XCTAssertEqual(server?.requests.count, 1)
    }

    func testPartialResponsesAreCombined() async throws {
        let client = try client()
        let page = Data((0..<1000).map { UInt8($0 % 251) })
        server?.on("/file", .resource(LoopbackResource(page, eTag: "\"v1\"", headers: ["Cache-Control": "max-age=60"])))
        for (range, status) in [("bytes=0-399", "uri-miss"), ("bytes=400-999", "partial")] {
            let part = await client.data.get("file").header("Range", range).sender().response
            XCTAssertEqual(part.head?.headers["Cache-Status"], "Sluice; fwd=\(status); fwd-status=206; stored")
        }
        let whole = await client.data.get("file").sender().response
        XCTAssertEqual(try whole.result.get(), page)
        XCTAssertEqual(whole.status, .ok)
        XCTAssertTrue(whole.source.isCache)
        XCTAssertEqual(server?.requests.count, 2)
    }

    func testStreamDoesNotCompleteAStoredBeginning() async throws {
        let client = try client()
        let page = Data((0..<1000).map { UInt8($0 % 251) })
        server?.on("/file", .resource(LoopbackResource(page, eTag: "\"v1\"", headers: ["Cache-Control": "max-age=60"])))
        _ = try await client.data.get("file").header("Range", "bytes=0-399").sender().value
        // A combined body is held in memory, which a stream promises not to do.
        var streamed = Data()
        for try await chunk in client.stream("file").bytes { streamed += chunk }
        XCTAssertEqual(streamed, page)
        XCTAssertEqual(server?.requests.map { $0.headers["Range"] }, ["bytes=0-399", nil])
    }

    func testDownloadAfterARedirectOfAPOSTIsNotStored() async throws {
        let client = try client()
        server?.on(.post, "/exports", .status(.seeOther, headers: ["Location": "/export"]))
        server?.on("/export", .text("1", headers: ["Cache-Control": "max-age=60"]), .text("2"))
        for text in ["1", "2"] {
            let file = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: file) }
            _ = try await client.data.post("exports").download(to: .file(file)).sender().value
            XCTAssertEqual(try String(contentsOf: file, encoding: .utf8), text)
        }
    }

    func testUnsafeDownloadsAndEventsInvalidateStoredResponses() async throws {
        let client = try client()
        let headers: HTTPHeaders = ["Cache-Control": "max-age=3600"]
        server?.on(.get, "/report", .text("1", headers: headers), .text("2", headers: headers), .text("3"))
        server?.on(
            .post,
            "/report",
            .text("done"),
            .text("data: done\n\n", headers: ["Content-Type": "text/event-stream"])
        )
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var texts = [try await client.string.get("report").sender().value]
        _ = try await client.data.post("report").download(to: .file(folder)).sender().value
        texts.append(try await client.string.get("report").sender().value)
        for try await _ in client.data.post("report").stream().serverSentEvents(reconnection: .none) {}
        texts.append(try await client.string.get("report").sender().value)
        XCTAssertEqual(texts, ["1", "2", "3"])
    }

    func testRedirectIsStored() async throws {
        let client = try client()
        serve("one", "max-age=60")
        server?.on("/old", .status(.movedPermanently, headers: ["Location": "/page", "Cache-Control": "max-age=60"]))
        for _ in 0..<2 {
            let text = try await client.string.get("old").sender().value
            XCTAssertEqual(text, "one")
        }
        XCTAssertEqual(server?.requests.map(\.path), ["/old", "/page"])
    }

    func testHEADIsServedFromAStoredGETResponse() async throws {
        let client = try client()
        serve("one", "max-age=60")
        _ = try await read(client)
        let head = await client.data.head("page").sender().response
        XCTAssertEqual(head.status, .ok)
        XCTAssertEqual(head.body, Data())
        XCTAssertTrue(head.source.isCache)
    }

    func testStreamIsStoredWhileItIsRead() async throws {
        let client = try client()
        server?.on(
            "/lines",
            .chunked(["a\n", "b\n", "c"].map { Data($0.utf8) }, headers: ["Cache-Control": "max-age=60"])
        )
        for _ in 0..<2 {
            var lines: [String] = []
            for try await line in client.stream("lines").lines() { lines.append(line) }
            XCTAssertEqual(lines, ["a", "b", "c"])
        }
        XCTAssertEqual(server?.requests.count, 1)
        let text = try await client.string.get("lines").sender().value
        XCTAssertEqual(text, "a\nb\nc")
    }

    func testStreamTooLargeToBeStoredSupersedesTheStoredResponse() async throws {
        let small = CacheStore(storage: nil) { $0.memory.entryBytes = 2000 }
        let client = try client { $0.cache = small }
        let signal = LoopbackSignal()
        let headers: HTTPHeaders = ["Cache-Control": "max-age=60"]
        // The server pauses after the first chunk with its framing.
        let large = LoopbackResponse.chunked([Data(count: 1000), Data(count: 3000)], headers: headers)
        server?.on(
            "/page",
            .text("one", headers: headers),
            large.paused(after: 1007, until: signal),
            .text("three", headers: headers)
        )
        for expected in ["one", "one"] {
            let response = try await read(client)
            XCTAssertEqual(try response.result.get(), expected)
        }
        var count = 0
        for try await chunk in client.data.get("page").header("Cache-Control", "no-cache").stream().bytes {
            signal.fire()
            count += chunk.count
        }
        XCTAssertEqual(count, 4000)
        let next = try await read(client)
        XCTAssertEqual(try next.result.get(), "three")
        XCTAssertEqual(server?.requests.count, 3)
    }

    func testAbandonedStreamIsNotStored() async throws {
        let client = try client()
        let never = LoopbackSignal()
        let chunks = ["a\n", "b\n", "c"].map { Data($0.utf8) }
        // The first chunk with its framing, and nothing after it.
        let page = LoopbackResponse.chunked(chunks, headers: ["Cache-Control": "max-age=60"])
        server?.on("/lines", page.paused(after: 7, until: never), page)
        for try await line in client.stream("lines").lines() {
            XCTAssertEqual(line, "a")
            break
        }
        _ = try await client.string.get("lines").sender().value
        XCTAssertEqual(server?.requests.count, 2)
    }

    func testTruncatedBodyIsNotStored() async throws {
        let client = try client()
        server?.on("/page", .text("one", headers: ["Cache-Control": "max-age=60"]).interrupted(after: 2))
        let broken = try await read(client)
        XCTAssertEqual(broken.failure?.code, .truncatedBody)
        serve("one", "max-age=60")
        let whole = try await read(client)
        XCTAssertEqual(whole.source, .server)
    }

    func testNoStoreResponseIsNotStored() async throws {
        let client = try client()
        serve("one", "no-store")
        _ = try await read(client)
        _ = try await read(client)
        XCTAssertEqual(server?.requests.count, 2)
        let size = try await store.size
        XCTAssertEqual(size.memory.count, 0)
    }

    func testRequestCanDisableHTTPCaching() async throws {
        let client = try client()
        serve("one", "max-age=60")
        _ = try await read(client)
        serve("two", "max-age=60")
        for count in 2...3 {
            let text = try await client.string.get("page").httpCaching(nil).sender().value
            XCTAssertEqual(text, "two")
            XCTAssertEqual(server?.requests.count, count)
        }
        // The stored response has not been replaced.
        let stored = try await read(client)
        XCTAssertEqual(try stored.result.get(), "one")
        XCTAssertEqual(server?.requests.count, 3)
    }
}

import Foundation
import Sluice
import SluiceTesting
import XCTest

/// Plugins as users write them: they see the target, the request's own values, and the model or the typed error.
final class PluginTests: XCTestCase {
    enum Shop: Target {
        case user(Int)
        case order(Int)

        var baseURL: String { "http://shop.test" }
        var path: String {
            switch self {
            case .user(let id): "users/\(id)"
            case .order(let id): "orders/\(id)"
            }
        }
        var userInfo: [String: any Sendable] {
            if case .order = self { ["screen": "cart"] } else { [:] }
        }
    }

    /// Notes the requests of one target, as an analytics plugin does.
    private struct Analytics: Plugin {
        let notes = Shared<[String]>([])

        func prepare(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
            guard let target = context.endpoint as? Shop else { return request }
            var request = request
            request.headers["X-Target"] = "\(target)"
            return request
        }
        func willSend(_ request: HTTPRequest, context: RequestContext) {
            if case Shop.user(let id) = context.endpoint { note("user \(id) is sent") }
            if let screen = context.userInfo["screen"] as? String { note("sent from the \(screen)") }
        }
        func didFinish(_ result: Result<any Sendable, any Error>, context: RequestContext) {
            switch result {
            case .success(let user as User):
                note("\(user.name) of \(context.endpoint as? Shop == nil ? "a path" : "Shop")")
            case .success(let file as DownloadedFile): note("file of \(file.length) bytes")
            case .success(let other): note("\(other)")
            case .failure(let error as ShopError): note("\(error.isCancellation ? "cancelled" : error.message)")
            case .failure(let error): note("\(error)")
            }
        }

        private func note(_ text: String) { notes.change { $0.append(text) } }
    }

    private let analytics = Analytics()

    private func client(
        _ server: LoopbackServer,
        _ configure: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> APIClient {
        addTeardownBlock { server.stop() }
        return APIClient(baseURL: server.url) {
            $0.plugins = [analytics]
            $0.endpointMapping = { endpoint, draft in endpoint is Shop ? draft.host(server.authority) : draft }
            configure(&$0)
        }
    }

    func testPluginSeesTheTargetAndTheModel() async throws {
        let server = try LoopbackServer()
        server.on("/users/7", .json(#"{"id":7,"name":"Ada"}"#))
        let client = client(server)
        let user: User = try await client.request(Shop.user(7)).sender().value
        XCTAssertEqual(user.name, "Ada")
        XCTAssertEqual(analytics.notes.read, ["user 7 is sent", "Ada of Shop"])
        XCTAssertEqual(server.requests.first?.headers["X-Target"], "user(7)")
        let other: User = try await client.get("users/7").sender().value
        XCTAssertEqual(other, user)
        XCTAssertEqual(analytics.notes.read.last, "Ada of a path")
        XCTAssertNil(server.requests.last?.headers["X-Target"])
    }

    func testPluginSeesTheUserInfoOfTargetsAndRequests() async throws {
        let server = try LoopbackServer()
        server.on("/*", .text("ok"))
        let client = client(server)
        _ = try await client.string.request(Shop.order(1)).sender().value
        _ = try await client.string.request(Shop.order(1)).userInfo("screen", "history").sender().value
        _ = try await client.string.request(Shop.order(1)).userInfo("screen", nil).sender().value
        _ = try await client.string.get("motto").userInfo("screen", "start").sender().value
        XCTAssertEqual(
            analytics.notes.read,
            ["sent from the cart", "ok", "sent from the history", "ok", "ok", "sent from the start", "ok"]
        )
        XCTAssertFalse(server.requests.contains { $0.target.contains("screen") || $0.headers.contains("screen") })
    }

    func testPluginSeesTheTypedErrorOnceAfterAllAttempts() async throws {
        let server = try LoopbackServer()
        server.on("/users/*", .json(#"{"message":"Closed."}"#, status: .serviceUnavailable))
        let client = client(server) {
            $0.retry = RetryPolicy(maximumAttempts: 3, backoff: .constant(.zero))
        }
        let request: APIRequest<User, ShopError> = client.codable.request(Shop.user(1))
        let sender = request.sender()
        async let first = sender.result
        async let second = sender.result
        let messages = await [first.failure?.message, second.failure?.message]
        XCTAssertEqual(messages, ["Closed.", "Closed."])
        XCTAssertEqual(analytics.notes.read, Array(repeating: "user 1 is sent", count: 3) + ["Closed."])
    }

    func testPluginSeesTheErrorOfAModelThatCannotBeDecoded() async throws {
        let server = try LoopbackServer()
        server.on("/me", .json(#"{"id":"seven"}"#))
        let failure = await client(server).get("me", as: User.self).sender().result.failure
        XCTAssertEqual(failure?.code, .decodingFailed)
        XCTAssertEqual(analytics.notes.read.count, 1)
        XCTAssertEqual(analytics.notes.read.first, failure?.description)
    }

    func testPluginSeesACancellationAsTheRequestsError() async throws {
        let server = try LoopbackServer()
        server.on("/hang", .hang)
        let request: APIRequest<User, ShopError> = client(server).codable.get("hang")
        let sender = request.sender()
        let task = Task { await sender.result }
        await server.waitForRequests(1)
        sender.cancel()
        let failure = await task.value.failure
        XCTAssertEqual(failure?.isCancellation, true)
        await eventually { [analytics] in !analytics.notes.read.isEmpty }
        XCTAssertEqual(analytics.notes.read, ["cancelled"])
    }

    func testPluginSeesARequestWhoseDeadlineHasPassed() async throws {
        for isShared in [false, true] {
            let server = try LoopbackServer()
            let client = client(server) { $0.sharing = isShared ? .safeMethods : .none }
            let count = analytics.notes.read.count
            let request: APIRequest<User, ShopError> = client.codable.get("users/1").deadline(Deadline.after(.zero))
            let failure = await request.sender().response.failure
            XCTAssertEqual(failure?.code, .timedOut)
            await eventually { [analytics] in analytics.notes.read.count == count + 1 }
        }
    }

    /// A storage whose reads wait.
    private struct SlowStorage: CacheStorage {
        let isRead = AsyncSignal()
        let isReady = AsyncSignal()

        func entries(for key: CacheKey, at now: Date) async throws(SluiceError) -> [CacheEntry] {
            isRead.open()
            await isReady.wait()
            return []
        }
        func size() async throws(SluiceError) -> CacheSize { CacheSize() }
        func evict(to limits: CacheLimits, at now: Date) async throws(SluiceError) -> Int { 0 }
        func apply(_ changes: [CacheChange]) async throws(SluiceError) {}
        func writer(for entry: CacheEntry) async throws(SluiceError) -> any CacheWriter {
            throw SluiceError(.cacheFailed, "The storage takes no bodies.")
        }
    }

    func testPluginSeesACancellationWhileStorageIsRead() async throws {
        let server = try LoopbackServer()
        let storage = SlowStorage()
        let client = client(server) { $0.cache = CacheStore(storage: storage) }
        let request: APIRequest<User, ShopError> = client.codable.get("users/1").dataSource(.cacheElseServer)
        let sender = request.sender()
        let task = Task { await sender.result }
        await storage.isRead.wait()
        sender.cancel()
        let failure = await task.value.failure
        XCTAssertEqual(failure?.isCancellation, true)
        storage.isReady.open()
        await eventually { [analytics] in !analytics.notes.read.isEmpty }
        XCTAssertEqual(analytics.notes.read, ["cancelled"])
        XCTAssertEqual(server.requestCount, 0)
    }

    func testPluginSeesDownloads() async throws {
        let server = try LoopbackServer()
        server.on("/file", .text("12345"))
        let client = client(server)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        addTeardownBlock { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("file")
        _ = try await client.download("file", to: .file(file)).sender().value
        let missing: DownloadAPIRequest<DownloadedFile, ShopError> = client.download(
            "none",
            to: .file(folder.appendingPathComponent("none"))
        )
        let failure = await missing.sender().result.failure
        XCTAssertEqual(analytics.notes.read, ["file of 5 bytes", failure?.message])
    }

    func testPluginSeesTheModelOfAStoredResponse() async throws {
        let server = try LoopbackServer()
        server.on("/users/7", .json(#"{"id":7,"name":"Ada"}"#))
        let client = client(server) { $0.cache = CacheStore(storage: nil) }
        let request: APIRequest<User, APIError> = client.codable.request(Shop.user(7)).dataSource(.cacheElseServer)
        _ = try await request.sender().value
        _ = try await request.sender().value
        XCTAssertEqual(server.requestCount, 1)
        XCTAssertEqual(analytics.notes.read, ["user 7 is sent", "Ada of Shop", "Ada of Shop"])
    }

    func testPluginOfOneRequestSeesItsModel() async throws {
        let server = try LoopbackServer()
        server.on("/motto", .text("Let it flow."))
        addTeardownBlock { server.stop() }
        let client = APIClient(baseURL: server.url)
        _ = try await client.string.get("motto").plugin(analytics).sender().value
        _ = try await client.string.get("motto").sender().value
        XCTAssertEqual(analytics.notes.read, ["Let it flow."])
    }

    func testObserversSeeTheTargetAndTheUserInfo() async throws {
        final class Targets: RequestObserver {
            let seen = Shared<[String]>([])
            var interests: RequestEvent.Kinds { .began }
            func observe(_ event: RequestEvent, of request: ObservedRequest) {
                seen.change { $0.append("\(request.endpoint as? Shop, default: "none") \(request.userInfo.count)") }
            }
        }
        let server = try LoopbackServer()
        server.on("/*", .text("ok"))
        let targets = Targets()
        let client = client(server) { $0.observers = [targets] }
        _ = try await client.string.request(Shop.order(1)).sender().value
        _ = try await client.string.get("motto").sender().value
        await client.observersCaughtUp()
        XCTAssertEqual(targets.seen.read, ["order(1) 1", "none 0"])
    }

    func testContextForTestsHasAnEndpoint() {
        let request = HTTPRequest(scheme: "http", authority: "shop.test", path: "/")
        let context = RequestContext(request: request, endpoint: Shop.user(3), userInfo: ["screen": "start"])
        XCTAssertEqual("\(context.endpoint as? Shop, default: "none")", "user(3)")
        analytics.willSend(request, context: context)
        analytics.didFinish(.success(User(id: 3, name: "Grace")), context: context)
        XCTAssertEqual(analytics.notes.read, ["user 3 is sent", "sent from the start", "Grace of Shop"])
    }
}

import Foundation
import Sluice
import SluiceTesting
import XCTest

#if os(Linux)
import SluiceEngine
#endif

/// The article on the pipeline as a whole.
final class PipelineGuideTests: XCTestCase {
    struct Echo: Transport {
        func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
            guard request.method == .get else {
                throw SluiceError(.unsupported, "Echo supports only GET.", request: request)
            }
            return TransportResponse(head: HTTPResponse(status: .ok), body: ResponseBody(Data(request.path.utf8)))
        }
    }

    func testClientAndRequestOptions() async throws {
        let server = try LoopbackServer()
        server.on("/health", .text("well"))
        server.on("/orders/17", .text("sent"))
        let shop = APIClient(baseURL: server.url) {
            $0.gates = [ConcurrencyLimit(64, perHost: 6)]
            $0.requestInterceptors = [UserAgent(product: "acme", version: "1.0")]
            $0.cache = CacheStore(storage: nil)
            $0.retry = .standard
            $0.observers = [RequestLog()]
        }
        let patient = APIClient(baseURL: server.url) {
            $0 = shop.configuration
            $0.timeouts.total = .seconds(300)
        }
        let health = shop.string.get("health")
            .withoutGates()
            .cachePolicy(.noStore)
            .redirects(.none)
            .retry(.none)
            .validate(.none)
        let order = shop.string.get("orders/17").tags("checkout").route("orders/{id}")
        let texts = try await [health.sender().value, order.sender().value]
        XCTAssertEqual(texts, ["well", "sent"])
        XCTAssertEqual(patient.configuration.gates.count, 1)
    }

    func testLimitsAndCookies() async throws {
        let server = try LoopbackServer()
        server.on("/health", .text("well"))
        server.on("/login", .status(.noContent, headers: ["Set-Cookie": "id=1"]))
        let careful = APIClient(baseURL: server.url) {
            $0.timeouts = Timeouts(connect: .seconds(3), idle: .seconds(20), total: .seconds(30))
            $0.limits.body = 1 << 20
        }
        let quick = careful.string.get("health").timeout(total: .seconds(2))
        _ = try await quick.sender().value
        let session = APIClient(baseURL: server.url) { $0.cookies = CookieJar() }
        let anonymous = session.string.get("health").cookies(false)
        _ = try await session.empty.post("login").sender().value
        _ = try await session.string.get("health").sender().value
        _ = try await anonymous.sender().value
        XCTAssertEqual(server.requests(to: "/health").map { $0.headers["Cookie"] }, [nil, "id=1", nil])
    }

    func testDeadlines() async throws {
        let server = try LoopbackServer()
        server.on("/health", .text("well"))
        server.on("/orders/17", .text("sent"))
        let shop = APIClient(baseURL: server.url)
        let both = try await Deadline.withDeadline(.seconds(5)) {
            async let health = shop.string.get("health").sender().value
            async let order = shop.string.get("orders/17").sender().value
            return try await [health, order]
        }
        XCTAssertEqual(both, ["well", "sent"])
    }

    #if os(Linux)
    func testMaximumWaitingTransfers() async throws {
        let server = try LoopbackServer()
        server.on("/health", .text("well"))
        var engine = SocketTransport.Configuration()
        engine.maximumWaitingTransfers = 1000
        let transport = SocketTransport(configuration: engine)
        let bounded = APIClient(baseURL: server.url) { $0.transport = transport }
        let health = try await bounded.string.get("health").sender().value
        XCTAssertEqual(health, "well")
    }
    #endif

    func testCookieJarWithFile() async throws {
        let server = try LoopbackServer()
        server.on("/login", .status(.noContent, headers: ["Set-Cookie": "id=1; Max-Age=3600"]))
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-guide-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "cookies.txt").path
        let jar = CookieJar(file: path) { error in print("The cookies cannot be saved: \(error)") }
        let lasting = APIClient(baseURL: server.url) { $0.cookies = jar }
        _ = try await lasting.empty.post("login").sender().value
        try await jar.save()
        try await jar.set(Cookie(name: "theme", value: "dark", domain: "shop.example"))
        await jar.removeAll { $0.expires == nil }
        for cookie in await jar.cookies { print(cookie) }
        let names = await CookieJar(file: path).cookies.map(\.name)
        XCTAssertEqual(names, ["id"])
    }

    func testCustomTransport() async throws {
        let echoing = APIClient(baseURL: "https://shop.example") { $0.transport = Echo() }
        let path = try await echoing.string.get("health").sender().value
        XCTAssertEqual(path, "/health")
        let code = await echoing.data.post("health").sender().response.failure?.code
        XCTAssertEqual(code, .unsupported)
    }
}

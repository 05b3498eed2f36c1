import Sluice
import SluiceTesting
import XCTest

/// The article on services.
final class ServicesGuideTests: XCTestCase {
    struct Upstream: WebService {
        let client: APIClient

        init(url: String, metrics: RequestMetrics) {
            client = APIClient(baseURL: url) {
                $0.requestInterceptors = [UserAgent(product: "orders", version: "1.4"), TraceParent()]
                $0.gates = [ConcurrencyLimit(64, maximumWaiting: 256), CircuitBreaker()]
                $0.timeouts.connect = .seconds(2)
                $0.timeouts.total = .seconds(10)
                $0.retry = .standard
                $0.cache = CacheStore(storage: nil)
                $0.observers = [metrics, RequestLog()]
            }
        }

        func user(_ id: Int) -> APIRequest<User, APIError> {
            server.get("users/\(id)")
        }
    }

    func status(for error: APIError) -> Int {
        switch error.code {
        case .timedOut: 504
        case .rateLimited, .queueFull, .circuitOpen: 503
        case .unacceptableStatus where error.status == .notFound: 404
        default: 502
        }
    }

    func testUpstreamWithinADeadline() async throws {
        let server = try LoopbackServer()
        server.on("/users/17", .json(#"{"id":17,"name":"Ada"}"#))
        server.on("/users/1", .json(#"{"id":1,"name":"Grace"}"#))
        let metrics = RequestMetrics()
        let upstream = Upstream(url: server.url, metrics: metrics)
        let (user, manager) = try await Deadline.withDeadline(.milliseconds(800)) {
            async let user = upstream.user(17).sender().value
            async let manager = upstream.user(1).sender().value
            return try await (user, manager)
        }
        XCTAssertEqual([user.name, manager.name], ["Ada", "Grace"])
        await upstream.client.observersCaughtUp()
        XCTAssertEqual(metrics.snapshot()["GET users/{}"]?.requests, 2)
    }

    func testStartAndEnd() async throws {
        let server = try LoopbackServer()
        server.on("/users/17", .json(#"{"id":17,"name":"Ada"}"#))
        let upstream = Upstream(url: server.url, metrics: RequestMetrics())
        do {
            let open = try await upstream.client.connect(count: 4)
            print("\(open) connections to the upstream")
        } catch {
            print("The upstream cannot be reached:", error)
        }
        _ = try await upstream.user(17).sender().value
        let isComplete = await upstream.client.drain(within: .seconds(25))
        XCTAssertTrue(isComplete)
        do {
            _ = try await upstream.user(18).sender().value
            XCTFail("The client has been drained.")
        } catch {
            XCTAssertEqual(error.code, .drained)
        }
    }

    func testSharedSettings() {
        let metrics = RequestMetrics()
        let configure: @Sendable (inout APIClient.Configuration) -> Void = {
            $0.timeouts.total = .seconds(10)
            $0.retry = .standard
            $0.observers = [metrics]
        }
        let stock = APIClient(baseURL: "https://stock.internal", configure: configure)
        let mail = APIClient(baseURL: "https://mail.internal") {
            configure(&$0)
            $0.timeouts.total = .seconds(60)
        }
        XCTAssertEqual([stock, mail].map(\.configuration.timeouts.total), [.seconds(10), .seconds(60)])
        XCTAssertEqual([stock, mail].map(\.configuration.retry.maximumAttempts), [3, 3])
    }

    func testStatusForTheCaller() async throws {
        let server = try LoopbackServer()
        server.on("/users/2", .status(.notFound))
        server.on("/users/3", .text("<html>"))
        let upstream = Upstream(url: server.url, metrics: RequestMetrics())
        for (id, expected) in [(2, 404), (3, 502)] {
            do {
                _ = try await upstream.user(id).sender().value
                XCTFail("The request must fail.")
            } catch {
                XCTAssertEqual(status(for: error), expected)
            }
        }
    }
}

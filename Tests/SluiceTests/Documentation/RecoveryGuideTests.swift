import Sluice
import SluiceTesting
import XCTest

/// The article on retries and hedges.
final class RecoveryGuideTests: XCTestCase {
    func testRetriesAndHedges() async throws {
        let server = try LoopbackServer()
        let busy = LoopbackResponse.status(.serviceUnavailable, headers: ["Retry-After": "0"])
        server.on("/report", busy, busy, busy, busy, busy, .text("ok"))
        server.on("/orders", busy, .text("ok"))
        server.on("/prices", .hang, .text("ok"))
        let shop = APIClient(baseURL: server.url) {
            $0.retry = .standard
        }
        let patient = shop.string.get("report").retry(
            RetryPolicy(maximumAttempts: 5, backoff: Backoff(base: .seconds(1)), attemptTimeout: .seconds(10))
        )
        let order = shop.data.post("orders").json(["item": 17]).idempotent()
        let gentle = RetryPolicy(backoff: Backoff(base: .seconds(1), factor: 3, limit: .seconds(20)))
        let regular = RetryPolicy(maximumAttempts: 4, backoff: .constant(.seconds(2)))
        let narrow = RetryPolicy(statuses: [.tooManyRequests, .serviceUnavailable], codes: [.connectionLost])
        let complete = RetryPolicy(
            maximumAttempts: 5,
            maximumElapsedTime: .seconds(90),
            backoff: Backoff(base: .seconds(1), factor: 2, limit: .seconds(20), hasJitter: true),
            maximumRetryAfter: .seconds(60),
            statuses: [.tooManyRequests, .badGateway, .serviceUnavailable],
            codes: [.connectionLost, .timedOut],
            attemptTimeout: .seconds(10)
        )
        XCTAssertEqual([gentle, regular, narrow, complete].map(\.maximumAttempts), [3, 4, 3, 5])
        XCTAssertFalse(regular.backoff.hasJitter)
        let single = shop.string.get("report").retry(.none)
        let status = await single.sender().response.status
        XCTAssertEqual(status, .serviceUnavailable)
        XCTAssertEqual(server.requests(to: "/report").count, 1)
        XCTAssertEqual(narrow.statuses.count, 2)
        let quick = shop.string.get("prices").hedged(.after(.milliseconds(300)))
        _ = try await patient.sender().value
        _ = try await order.sender().value
        _ = try await quick.sender().value
        XCTAssertEqual(server.requests(to: "/report").count, 6)
        XCTAssertEqual(server.requests(to: "/orders").count, 2)
        XCTAssertEqual(server.requests(to: "/prices").count, 2)
    }

    private actor Session {
        func token(isRefused: Bool) async throws -> String { isRefused ? "t2" : "t1" }
    }

    func testDecisionsOfAClosure() async throws {
        let server = try LoopbackServer()
        server.on("/conflict", .status(.conflict), .text("ok"))
        server.on("/conflicts", .status(.conflict))
        server.on("/slow", .hang)
        let policy = RetryPolicy(maximumAttempts: 4, backoff: .constant(.milliseconds(50))) { proposal in
            switch proposal.outcome {
            case .success(let response):
                proposal.isRetried || (response.head.status == .conflict && proposal.attempt == 1)
            case .failure(let error): proposal.isRetried && error.code != .timedOut
            }
        }
        let client = APIClient(baseURL: server.url) { $0.retry = policy }
        let text = try await client.string.get("conflict").sender().value
        XCTAssertEqual(text, "ok")
        let status = await client.string.get("conflicts").sender().result.failure?.status
        XCTAssertEqual(status, .conflict)
        XCTAssertEqual(server.requests(to: "/conflicts").count, 2)
    }

    func testTokenOfASecondAttempt() async throws {
        let server = try LoopbackServer()
        server.on("/orders") { request in
            request.headers[.authorization] == "Bearer t2" ? .text("ok") : .status(.unauthorized)
        }
        let session = Session()
        let renewing = APIClient(baseURL: server.url) {
            $0.requestInterceptors = [SuppliedToken { try await session.token(isRefused: $0.attempt > 1) }]
            $0.retry = RetryPolicy(maximumAttempts: 2, backoff: .constant(.zero), statuses: [.unauthorized], codes: [])
        }
        let text = try await renewing.string.get("orders").sender().value
        XCTAssertEqual(text, "ok")
        XCTAssertEqual(server.requestCount, 2)
    }

    func testRetryWithTestClock() async throws {
        let server = try LoopbackServer()
        server.on("/report", .status(.serviceUnavailable), .text("ok"))
        let clock = TestClock()
        let client = APIClient(baseURL: server.url) {
            $0.retry = .standard
            $0.clock = clock
        }
        let report = Task { try await client.string.get("report").sender().value }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        let text = try await report.value
        XCTAssertEqual(text, "ok")
    }
}

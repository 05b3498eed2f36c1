import Foundation
import Sluice
import SluiceTesting
import XCTest

final class RequestMetricsClientTests: XCTestCase {
    func testCountsRequestsOfClient() async throws {
        let server = try LoopbackServer()
        server.on("/old", .redirect(to: "/users/7"))
        server.on("/users/*", .text("Ada"))
        server.on("/busy", .status(.serviceUnavailable), .text("free"))
        let metrics = RequestMetrics(countsInFlight: true, measuresGates: true)
        let shop = APIClient(baseURL: server.url) {
            $0.observers = [metrics]
            $0.retry = RetryPolicy(backoff: .constant(.milliseconds(1)))
        }
        for number in 1...3 { _ = try await shop.string.get("users/\(number)").sender().value }
        for path in ["old", "busy", "missing"] { _ = await shop.string.get(path).route(path).sender().result }
        await shop.observersCaughtUp()
        let snapshot = metrics.snapshot()
        XCTAssertEqual(snapshot.routes.map(\.name), ["GET busy", "GET missing", "GET old", "GET users/{}"])
        XCTAssertEqual(snapshot["GET users/{}"]?.requests, 3)
        XCTAssertEqual(snapshot["GET users/{}"]?.bytesReceived, 9)
        XCTAssertEqual(snapshot["GET busy"]?.attempts, 2)
        XCTAssertEqual(snapshot["GET busy"]?.retries, 1)
        XCTAssertEqual(snapshot["GET old"]?.redirects, 1)
        XCTAssertEqual(snapshot["GET missing"]?.failures, ["unacceptableStatus": 1])
        XCTAssertEqual(snapshot["GET missing"]?.statuses.clientError, 1)
        XCTAssertEqual(snapshot.inFlight, 0)
        XCTAssertEqual(snapshot.total.latency.count, 6)
        XCTAssertGreaterThan(snapshot.total.phases.wait.minimum ?? .zero, .zero)
    }
}

import Foundation
import Sluice
import SluiceTelemetry
import SluiceTesting
import XCTest

/// The article on telemetry.
final class TelemetryGuideTests: XCTestCase {
    func testTelemetry() async throws {
        let server = try LoopbackServer()
        server.on("/users/42", .text("Ada"))
        let telemetry = OpenTelemetry { $0.serviceName = "shop" }
        let shop = APIClient(baseURL: server.url) {
            $0.observers = [telemetry]
            $0.requestInterceptors = [telemetry]
        }
        let users = try await shop.string.get("users/42").route("users/{id}").sender().value
        XCTAssertEqual(users, "Ada")
        XCTAssertNotNil(server.requests.first?.headers["traceparent"])
        let isComplete = await telemetry.shutdown(within: .seconds(5))
        let statistics = telemetry.statistics
        print(statistics.exportedSpans, statistics.droppedSpans, statistics.refusedSpans, statistics.lastProblem ?? "")
        // A collector may listen on this host, or none.
        XCTAssertEqual(isComplete, statistics.waitingSpans == 0 && statistics.droppedSpans == 0)
    }

    func testEnvironment() {
        let configuration = TelemetryConfiguration(environment: ProcessInfo.processInfo.environment)
        for warning in configuration.warnings { print(warning) }
        let exported = OpenTelemetry(configuration)
        XCTAssertEqual(exported.statistics.exportedSpans, 0)
    }

    func testPrometheus() async throws {
        let server = try LoopbackServer()
        server.on("/users/42", .text("Ada"))
        let prometheus = PrometheusMetrics()
        let shop = APIClient(baseURL: server.url) { $0.observers = [prometheus] }
        _ = try await shop.string.get("users/42").sender().value
        let scraped = try LoopbackServer()
        scraped.on("/metrics") { request in
            let page = prometheus.page(accept: request.headers["Accept"])
            return .data(page.body, contentType: page.contentType)
        }
        let text = try await APIClient(baseURL: scraped.url).string.get("metrics").sender().value
        XCTAssertTrue(text.contains("sluice_request_duration_seconds_count"), text)
    }

    func testNativeHistograms() {
        let native = PrometheusMetrics(isNative: true)
        XCTAssertTrue(native.page().contentType.hasPrefix("text/plain"))
    }
}

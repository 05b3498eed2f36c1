import Foundation
import Sluice
import SluiceTesting
import XCTest

/// The article on metrics and recordings.
final class MetricsGuideTests: XCTestCase {
    /// A gate that admits every request, but not at once.
    struct Turnstile: Gate {
        func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
            await Task.yield()
            return Permit()
        }
    }

    func testMetricsByRoute() async throws {
        let server = try LoopbackServer()
        server.on("/users/*", .text("Ada"))
        let metrics = RequestMetrics()
        let shop = APIClient(baseURL: server.url) { $0.observers = [metrics] }
        for number in 1...3 { _ = try await shop.string.get("users/\(number)").sender().value }
        await shop.observersCaughtUp()
        let snapshot = metrics.snapshot()
        let users = snapshot["GET users/{}"]
        let slowest = users?.latency.percentile(99.9)
        XCTAssertEqual(users?.requests, 3)
        XCTAssertEqual(slowest, users?.latency.maximum)
        let detailed = RequestMetrics(countsInFlight: true, measuresGates: true)
        XCTAssertEqual(detailed.snapshot().inFlight, 0)
        let limited = APIClient(baseURL: server.url) {
            $0.observers = [detailed]
            $0.gates = [Turnstile()]
        }
        _ = try await limited.string.get("users/1").sender().value
        await limited.observersCaughtUp()
        let gates = detailed.snapshot()["GET users/{}"]?.phases.gates
        let longestWait = gates?.percentile(99) ?? .zero
        XCTAssertEqual(gates?.count, 1)
        XCTAssertEqual(longestWait, gates?.maximum)
    }

    func testHARRecording() async throws {
        let server = try LoopbackServer()
        server.on("/a", .text("a"))
        let file = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString).har")
        defer { try? FileManager.default.removeItem(at: file) }
        let recorder = HARRecorder(maximumEntries: 500, maximumBodyBytes: 4096)
        let shop = APIClient(baseURL: server.url) { $0.observers = [recorder] }
        _ = try await shop.string.get("a").sender().value
        await shop.observersCaughtUp()
        try await recorder.write(to: file)
        let har = try HAR(parsing: Data(contentsOf: file))
        let slow = har.entries.filter { $0.timings.wait > 500 }
        XCTAssertEqual(har.entries.count, 1)
        XCTAssertTrue(slow.isEmpty)
    }
}

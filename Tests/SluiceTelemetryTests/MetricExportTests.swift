import Sluice
import SluiceHTTP
import SluiceTelemetry
import SluiceTesting
import Testing

/// The exports of durations, of which one runs at a time.
struct MetricExportTests {
    private static let limit = Duration.seconds(77)

    private let collector: Collector
    private let clock: TestClock
    private let telemetry: OpenTelemetry
    private let client: APIClient
    private let signal = LoopbackSignal()

    init() throws {
        let clock = TestClock()
        collector = try Collector()
        collector.server.on("/a", .text("a"))
        let telemetry = collector.telemetry {
            $0.traces = nil
            $0.metrics?.timeout = .seconds(600)
            $0.temporality = .delta
            $0.clock = clock
        }
        client = APIClient(baseURL: collector.server.url) { $0.observers = [telemetry] }
        self.clock = clock
        self.telemetry = telemetry
    }

    /// Sends a request, and waits until the collector has received its duration, which it answers after the signal.
    private func beginExport(_ answer: LoopbackResponse) async throws {
        collector.server.on("/v1/metrics", .after(signal, answer), .json("{}"))
        _ = try await client.string.get("a").sender().value
        await clock.waitForSleepers(1)
        clock.advance(by: telemetry.configuration.metricInterval)
        try await waitUntil("the export has begun") { !collector.server.requests(to: "/v1/metrics").isEmpty }
    }

    /// Lets the collector answer after the operation has begun, and returns its result.
    private func result(_ operation: @escaping @Sendable () async -> Bool) async throws -> Bool {
        let isOver = Locked(false)
        let task = Task {
            let result = await operation()
            isOver.withLock { $0 = true }
            return result
        }
        try await waitUntil("the operation waits") {
            isOver.withLock { $0 } || clock.pendingSleeps.contains(Self.limit)
        }
        signal.fire()
        return await task.value
    }

    @Test func shutdownWaitsForTheExportThatRuns() async throws {
        try await beginExport(.json("{}"))
        let isComplete = try await result { await telemetry.shutdown(within: Self.limit) }
        #expect(isComplete)
        #expect(telemetry.statistics.exportedPoints == 1)
        #expect(telemetry.statistics.failedExports == 0)
    }

    @Test func flushExportsWhatFollowsTheExportThatRuns() async throws {
        try await beginExport(.json("{}"))
        _ = try await client.string.get("a").sender().value
        let isFlushed = try await result { await telemetry.flush(within: Self.limit) }
        #expect(isFlushed)
        let points = try collector.points()
        #expect(points.map { $0["count"].stringValue } == ["1", "1"])
        #expect(points.last?["startTimeUnixNano"] == points.first?["timeUnixNano"])
        #expect(telemetry.statistics.exportedPoints == 2)
    }

    @Test func exportAtAnIntervalWaitsForRetryAfter() async throws {
        try await beginExport(.status(.serviceUnavailable, headers: ["Retry-After": "100"]))
        signal.fire()
        try await waitUntil("the exporter obeys the collector") { clock.pendingSleeps == [.seconds(100)] }
        clock.advance(by: .seconds(100))
        try await waitUntil("the durations are exported again") { telemetry.statistics.exportedPoints == 1 }
        #expect(telemetry.statistics.failedExports == 1)
    }

    @Test func exportAtAnIntervalWaitsForRetryAfterOfAFlush() async throws {
        try await beginExport(.json("{}"))
        collector.server.on("/v1/metrics", .status(.serviceUnavailable, headers: ["Retry-After": "200"]), .json("{}"))
        signal.fire()
        try await waitUntil("the first export has ended") { clock.pendingSleeps == [.seconds(60)] }
        _ = try await client.string.get("a").sender().value
        let flush = Task { await telemetry.flush(within: Self.limit) }
        try await waitUntil("the flush waits for the collector") { clock.pendingSleeps.contains(.seconds(200)) }
        flush.cancel()
        #expect(await flush.value == false)
        clock.advance(by: .seconds(60))
        try await waitUntil("the exporter obeys the collector") { clock.pendingSleeps == [.seconds(140)] }
    }

    /// Otherwise a later export would begin before one that the collector has.
    @Test func whatACollectorDidNotTakeIsInTheNextExport() async throws {
        try await beginExport(.status(.serviceUnavailable))
        _ = try await client.string.get("a").sender().value
        let isFlushed = try await result { await telemetry.flush(within: Self.limit) }
        #expect(isFlushed)
        let points = try collector.points()
        #expect(points.map { $0["count"].stringValue } == ["1", "2"])
        #expect(points.last?["startTimeUnixNano"] == points.first?["startTimeUnixNano"])
        #expect(telemetry.statistics.exportedPoints == 1)
    }
}

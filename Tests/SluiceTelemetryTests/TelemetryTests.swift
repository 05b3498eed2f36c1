import Foundation
import Sluice
import SluiceTelemetry
import SluiceTesting
import Testing

/// The spans and durations of requests, as a collector on this host receives them.
struct TelemetryTests {
    /// A gate that admits every request, but not at once.
    private struct Turnstile: Gate {
        func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
            await Task.yield()
            return Permit()
        }
    }

    private let collector: Collector
    private var server: LoopbackServer { collector.server }

    init() throws {
        collector = try Collector()
        server.on("/a", .text("a", headers: ["Cache-Control": "max-age=60"]))
        server.on("/moved", .redirect(to: "/a"))
        server.on("/never", .hang)
        server.on("/stuck", .hang)
    }

    private func events(_ span: JSON) -> [String] { span["events"].arrayValue.map { $0["name"].stringValue } }

    @Test func theStepsOfARequestAreEvents() async throws {
        let telemetry = collector.telemetry()
        let client = APIClient(baseURL: server.url) {
            $0.observers = [telemetry]
            $0.requestInterceptors = [telemetry]
            $0.gates = [Turnstile()]
            $0.cache = CacheStore(storage: nil)
        }
        _ = try await client.string.get("moved").sender().value
        _ = try await client.string.get("a").sender().value
        #expect(await telemetry.shutdown())
        let spans = try collector.spans()
        let requests = spans.filter { $0["kind"].int == 1 }
        let attempts = spans.filter { $0["kind"].int == 3 }
        #expect(requests.count == 2)
        #expect(requests.allSatisfy { events($0).starts(with: ["gate.waiting", "gate.admitted"]) })
        #expect(requests.count { events($0).contains("cache.hit") } == 1)
        // A request that the cache answers is not sent.
        #expect(attempts.map(events) == [["redirect"]])
    }

    @Test func eachServerOfARedirectedRequestHasItsOwnDuration() async throws {
        let other = try LoopbackServer()
        other.on("/busy", .status(.serviceUnavailable))
        server.on("/away", .redirect(to: "\(other.url)/busy"))
        let telemetry = collector.telemetry()
        let client = APIClient(baseURL: server.url) { $0.observers = [telemetry] }
        _ = await client.string.get("away").route("{place}").sender().result
        #expect(await telemetry.shutdown())
        let points = try collector.points()
        let attributes = points.map(Collector.attributes).sorted { ($0["error.type"] ?? "") < ($1["error.type"] ?? "") }
        #expect(points.map { $0["count"].stringValue } == ["1", "1"])
        #expect(attributes.map { $0["server.port"] } == ["\(server.port)", "\(other.port)"])
        #expect(attributes.map { $0["http.response.status_code"] } == ["302", "503"])
        #expect(attributes.map { $0["error.type"] } == [nil, "503"])
        #expect(attributes.map { $0["url.template"] } == ["{place}", nil])
        #expect(try collector.spans().count == 2)
    }

    @Test func anAttemptHasTheStatusThatTheServerSent() async throws {
        server.on(
            "/page",
            .text("one", headers: ["Cache-Control": "no-cache", "ETag": "\"1\""]),
            .status(.notModified, headers: ["ETag": "\"1\""])
        )
        let telemetry = collector.telemetry()
        let client = APIClient(baseURL: server.url) {
            $0.observers = [telemetry]
            $0.cache = CacheStore(storage: nil)
        }
        for _ in 0..<2 { #expect(try await client.string.get("page").sender().value == "one") }
        #expect(await telemetry.shutdown())
        func statuses(_ owners: [JSON]) -> [String?] {
            owners.map { Collector.attributes($0)["http.response.status_code"] }
        }
        let spans = try collector.spans()
        #expect(statuses(spans.filter { $0["kind"].int == 1 }) == ["200", "200"])
        #expect(statuses(spans.filter { $0["kind"].int == 3 }) == ["200", "304"])
        #expect(Set(statuses(try collector.points())) == ["200", "304"])
    }

    @Test func errorsAndRedirectsShowNoSecrets() async throws {
        server.on("/account", .redirect(to: "/accounts;iban=DE8937"))
        let telemetry = collector.telemetry { $0.redaction.parameterNames.insert("iban") }
        let client = APIClient(baseURL: server.url) { $0.observers = [telemetry] }
        _ = await client.string.get("account").sender().result
        #expect(await telemetry.shutdown())
        let spans = try collector.spans()
        #expect(spans.map(events).contains(["redirect"]))
        #expect(spans.map(events).contains(["exception"]))
        let exports = server.requests(to: "/v1/traces").map { String(decoding: $0.body, as: UTF8.self) }.joined()
        #expect(exports.contains("/accounts;iban=REDACTED"))
        #expect(!exports.contains("DE8937"))
    }

    @Test func timeOutsAndCancellationAreErrors() async throws {
        let telemetry = collector.telemetry()
        let client = APIClient(baseURL: server.url) { $0.observers = [telemetry] }
        _ = await client.string.get("never").timeout(.seconds(3)).sender().result
        let sender = client.string.get("stuck").sender()
        async let result = sender.result
        while !server.requests.contains(where: { $0.path == "/stuck" }) { await Task.yield() }
        sender.cancel()
        _ = await result
        #expect(await telemetry.shutdown())
        let types = try collector.spans().map { Collector.attributes($0)["error.type"] }
        #expect(types.count { $0 == "timedOut" } == 2)
        #expect(types.count { $0 == "cancelled" } == 2)
    }

    /// The span ends when the deadline is over.
    @Test func deadlinesOfCallersDoNotApplyToExports() async throws {
        let telemetry = collector.telemetry()
        let client = APIClient(baseURL: server.url) { $0.observers = [telemetry] }
        let result = await Deadline.withDeadline(.seconds(3)) {
            await client.string.get("never").sender().result
        }
        #expect((try? result.get()) == nil)
        let isFlushed = await Deadline.$current.withValue(.after(.zero)) { await telemetry.flush(within: .seconds(60)) }
        #expect(isFlushed)
        #expect(try collector.spans().count == 2)
        #expect(server.requests.contains { $0.path == "/v1/metrics" })
        #expect(await telemetry.shutdown())
    }

    @Test func flushDoesNotWaitForLaterSpans() async throws {
        let signals = [LoopbackSignal(), LoopbackSignal()]
        server.on("/v1/traces", .after(signals[0], .json("{}")), .after(signals[1], .json("{}")))
        let telemetry = collector.telemetry {
            $0.metrics = nil
            $0.batchDelay = .seconds(600)
        }
        let client = APIClient(baseURL: server.url) { $0.observers = [telemetry] }
        _ = try await client.string.get("a").sender().value
        try await waitUntil("the spans wait") { telemetry.statistics.waitingSpans == 2 }
        let flushing = Task { await telemetry.flush(within: .seconds(60)) }
        try await waitUntil("the flush exports") { server.requests(to: "/v1/traces").count == 1 }
        _ = try await client.string.get("a").sender().value
        try await waitUntil("the later spans wait") { telemetry.statistics.waitingSpans == 2 }
        signals[0].fire()
        #expect(await flushing.value)
        #expect(telemetry.statistics.exportedSpans == 2)
        signals[1].fire()
        #expect(await telemetry.shutdown())
        #expect(telemetry.statistics.exportedSpans == 4)
    }

    @Test func flushEndsThePauseAfterAFailedExport() async throws {
        server.on("/v1/traces", .status(.serviceUnavailable, headers: ["Retry-After": "600"]), .json("{}"))
        let telemetry = collector.telemetry { $0.batchDelay = .zero }
        let client = APIClient(baseURL: server.url) { $0.observers = [telemetry] }
        _ = try await client.string.get("a").sender().value
        try await waitUntil("an export has failed") { telemetry.statistics.failedExports == 1 }
        #expect(await telemetry.flush(within: .seconds(60)))
        #expect(telemetry.statistics.exportedSpans == 2)
    }

    /// The collector answers one attempt with the time after which it wants the next, or none.
    @Test(arguments: [nil, 3] as [Int?])
    func aBatchThatFailsTenTimesInARowIsDropped(_ requested: Int?) async throws {
        let answered = Locked(0)
        server.on("/v1/traces") { _ in
            let attempt = answered.withLock { count in
                count += 1
                return count
            }
            if attempt > 10 { return .json("{}") }
            return .status(.serviceUnavailable, headers: attempt == requested ? ["Retry-After": "30"] : [:])
        }
        let clock = TestClock()
        let telemetry = collector.telemetry {
            $0.metrics = nil
            $0.traces?.timeout = .seconds(600)
            $0.clock = clock
        }
        let client = APIClient(baseURL: server.url) { $0.observers = [telemetry] }
        _ = try await client.string.get("a").sender().value
        try await waitUntil("the spans gather") {
            telemetry.statistics.waitingSpans == 2 && clock.pendingSleeps == [telemetry.configuration.batchDelay]
        }
        clock.advance(by: telemetry.configuration.batchDelay)
        for attempt in 1...10 {
            try await waitUntil("the export pauses") {
                telemetry.statistics.failedExports == attempt && clock.pendingSleeps.contains { $0 <= .seconds(60) }
            }
            // These spans are no part of the batch that fails.
            if attempt == 1 { _ = try await client.string.get("a").sender().value }
            if attempt == 9 { #expect(telemetry.statistics.droppedSpans == 0) }
            clock.advance(by: .seconds(60))
        }
        #expect(await telemetry.flush(within: .seconds(600)))
        #expect(telemetry.statistics.droppedSpans == (requested == nil ? 2 : 0))
        #expect(telemetry.statistics.exportedSpans == (requested == nil ? 2 : 4))
        #expect(telemetry.statistics.failedExports == 10)
    }

    #if os(Linux)
    /// As many as the transport that clients share sends to a host at a time.
    @Test func requestsThatHangDoNotHoldUpExports() async throws {
        let telemetry = collector.telemetry()
        let count = SocketTransport.Configuration().maximumTransfersPerHost
        let client = APIClient(baseURL: server.url)
        let tasks = (0..<count).map { _ in Task { await client.string.get("stuck").sender().result } }
        try await waitUntil("all requests hang") { server.requests(to: "/stuck").count == count }
        let other = APIClient(baseURL: server.url) {
            $0.observers = [telemetry]
            $0.transport = SocketTransport()
        }
        _ = try await other.string.get("a").sender().value
        #expect(await telemetry.flush())
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.value }
        #expect(await telemetry.shutdown())
    }
    #endif

    @Test(arguments: ["/v1/traces", "/v1/metrics"])
    func flushTellsThatACollectorRefuses(_ path: String) async throws {
        server.on(path, .status(.unauthorized), .json("{}"))
        let telemetry = collector.telemetry()
        let client = APIClient(baseURL: server.url) { $0.observers = [telemetry] }
        _ = try await client.string.get("a").sender().value
        #expect(await telemetry.flush() == false)
        #expect(telemetry.statistics.refusedSpans + telemetry.statistics.refusedPoints > 0)
        #expect(await telemetry.shutdown())
    }

    @Test func theServerSeesTheDecisionOfTheSampler() async throws {
        let telemetry = collector.telemetry { $0.sampler = .alwaysOff }
        let client = APIClient(baseURL: server.url) {
            $0.observers = [telemetry]
            $0.requestInterceptors = [telemetry]
        }
        _ = try await client.string.get("a").sender().value
        let header = try #require(server.requests.first { $0.path == "/a" }?.headers["traceparent"])
        #expect(TraceContext(traceparent: header)?.isSampled == false)
        #expect(await telemetry.shutdown())
        #expect(try collector.spans().isEmpty)
        #expect(server.requests.contains { $0.path == "/v1/metrics" })
    }

    /// Others may record the trace of the caller.
    @Test(arguments: [false, true])
    func withoutAnExportTheServerSeesTheDecisionOfTheCaller(_ isSampled: Bool) async throws {
        let telemetry = collector.telemetry { $0.traces = nil }
        let client = APIClient(baseURL: server.url) {
            $0.observers = [telemetry]
            $0.requestInterceptors = [telemetry]
        }
        let caller = try #require(
            TraceContext(traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0\(isSampled ? 1 : 0)")
        )
        try await TraceContext.$current.withValue(caller) { _ = try await client.string.get("a").sender().value }
        let header = try #require(server.requests.first { $0.path == "/a" }?.headers["traceparent"])
        #expect(TraceContext(traceparent: header)?.isSampled == isSampled)
        #expect(await telemetry.shutdown())
        #expect(try collector.spans().isEmpty)
    }

    @Test func aHeaderOfTheCallerIsTheParent() async throws {
        let telemetry = collector.telemetry()
        let client = APIClient(baseURL: server.url) {
            $0.observers = [telemetry]
            $0.requestInterceptors = [telemetry]
        }
        let header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        _ = try await client.string.get("a").header("traceparent", header).header("tracestate", "a=b").sender().value
        #expect(await telemetry.shutdown())
        let spans = try collector.spans()
        #expect(spans.count == 2)
        #expect(spans.allSatisfy { $0["traceId"].stringValue == "0af7651916cd43dd8448eb211c80319c" })
        #expect(spans.map { $0["traceState"].stringValue } == ["a=b", "a=b"])
        #expect(spans.count { $0["parentSpanId"].stringValue == "b7ad6b7169203331" } == 1)
        #expect(!spans.contains { $0["spanId"].stringValue == "b7ad6b7169203331" })
    }

    @Test(arguments: [false, true])
    func aRevalidationInTheBackgroundHasExportedParents(_ hasOtherInterceptor: Bool) async throws {
        server.on("/page", .text("one", headers: ["Cache-Control": "max-age=60, stale-while-revalidate=600"]))
        let clock = TestClock()
        let telemetry = collector.telemetry()
        let client = APIClient(baseURL: server.url) {
            $0.observers = [telemetry]
            $0.requestInterceptors = hasOtherInterceptor ? [TraceParent()] : [telemetry]
            $0.cache = CacheStore(storage: nil)
            $0.clock = clock
        }
        _ = try await client.string.get("page").sender().value
        clock.advance(by: .seconds(70))
        _ = try await client.string.get("page").sender().value
        try await waitUntil("the revalidation has ended") { telemetry.statistics.openRequests == 0 }
        #expect(await telemetry.shutdown())
        let sent = server.requests(to: "/page").compactMap { $0.headers["traceparent"] }
        let spans = try collector.spans()
        let ids = Set(spans.map { $0["spanId"].stringValue })
        #expect(spans.count == 5 && ids.count == 5)
        #expect(spans.map { $0["parentSpanId"].stringValue }.allSatisfy { $0.isEmpty || ids.contains($0) })
        let attempts = spans.filter { $0["kind"].int == 3 }
        let headers = attempts.map { "00-\($0["traceId"].stringValue)-\($0["spanId"].stringValue)-01" }
        #expect(sent.count == 2 && Set(sent) == Set(headers))
    }

    @Test func aCollectorThatIsAwayCostsSpansAlone() async throws {
        let telemetry = collector.telemetry {
            $0.traces?.url = "http://127.0.0.1:1/v1/traces"
            $0.metrics = nil
            $0.maximumSpans = 4
        }
        let client = APIClient(baseURL: server.url) { $0.observers = [telemetry] }
        for _ in 0..<5 { #expect(try await client.string.get("a").sender().value == "a") }
        let flushing = Task { await telemetry.flush(within: .seconds(600)) }
        try await waitUntil("an export has failed") { telemetry.statistics.failedExports > 0 }
        #expect(await telemetry.shutdown(within: .milliseconds(10)) == false)
        flushing.cancel()
        let statistics = telemetry.statistics
        #expect(statistics.exportedSpans == 0)
        #expect(statistics.droppedSpans == 10)
        #expect(statistics.failedExports >= 1)
        #expect(statistics.lastProblem != nil)
    }
}

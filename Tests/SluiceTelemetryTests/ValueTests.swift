import Foundation
import Sluice
import SluiceHTTP
import Testing

@testable import SluiceTelemetry

/// The values that decide what is exported and when.
struct ValueTests {
    private static func span(_ path: String = "/") throws -> SpanRecord {
        let traceID = try #require(TraceContext.TraceID(high: 1, low: 2))
        let spanID = try #require(TraceContext.SpanID(3))
        let trace = RequestTrace(
            traceID: traceID,
            spanID: spanID,
            parent: nil,
            isSampled: true,
            hasCallersHeader: false
        )
        let target = SentTarget(HTTPRequest(scheme: "https", authority: "a.example", path: path))
        return SpanRecord(
            trace: trace,
            spanID: spanID,
            parentID: nil,
            attempt: 1,
            method: .get,
            template: nil,
            target: target,
            start: 1,
            end: 2
        )
    }

    @Test(
        arguments: [
            (TelemetrySampler.alwaysOn, nil, true), (.alwaysOff, nil, false), (.alwaysOff, true, false),
            (.alwaysOn, false, true),
            (.parentBased(), nil, true), (.parentBased(), false, false), (.parentBased(.alwaysOff), true, true),
            (.parentBased(.alwaysOff), nil, false), (.traceIDRatio(2), nil, true), (.traceIDRatio(-1), nil, false),
            (.traceIDRatio(.nan), nil, false),
        ] as [(TelemetrySampler, Bool?, Bool)]
    )
    func samplersDecide(_ sampler: TelemetrySampler, _ parent: Bool?, _ isSampled: Bool) throws {
        let traceID = try #require(TraceContext.TraceID(high: 1, low: 2))
        let spanID = try #require(TraceContext.SpanID(3))
        let context = parent.map { TraceContext(traceID: traceID, parentID: spanID, isSampled: $0) }
        #expect(sampler.samples(traceID, parent: context) == isSampled)
    }

    /// The decisions of the SDKs for Go and Python, which look at the last eight bytes of the ID.
    @Test(
        arguments: [
            (0.5, 0, true), (0.5, 0x7FFF_FFFF_FFFF_FFFF, true), (0.5, 0x8000_0000_0000_0000, false), (0.5, .max, false),
            (0.25, 0x3FFF_FFFF_FFFF_FFFF, true), (0.25, 0x4000_0000_0000_0000, false),
            (0.25, 0x8000_0000_0000_0001, false), (0.75, 0xBFFF_FFFF_FFFF_FFFF, true),
            (0.75, 0xC000_0000_0000_0000, false),
        ] as [(Double, UInt64, Bool)]
    )
    func ratiosAgreeWithOtherLanguages(_ ratio: Double, _ low: UInt64, _ isSampled: Bool) throws {
        let traceID = try #require(TraceContext.TraceID(high: 1, low: low))
        #expect(TelemetrySampler.traceIDRatio(ratio).samples(traceID, parent: nil) == isSampled)
    }

    @Test func aRatioSamplesThatShareOfTraces() {
        var generator = SystemRandomNumberGenerator()
        let traces = (0..<10_000).compactMap { _ in TraceContext.TraceID(high: 0, low: generator.next()) }
        let share = traces.count { TelemetrySampler.traceIDRatio(0.3).samples($0, parent: nil) }
        #expect((2600...3400).contains(share))
        // A trace of a smaller share is in a larger one too.
        #expect(
            traces.filter { TelemetrySampler.traceIDRatio(0.1).samples($0, parent: nil) }
                .allSatisfy { TelemetrySampler.traceIDRatio(0.3).samples($0, parent: nil) }
        )
    }

    @Test func aQueueIsLimitedInNumber() throws {
        var queue = SpanQueue(maximumCount: 5, maximumBytes: 1 << 20, batchCount: 2, batchBytes: 1 << 20)
        for number in 0..<7 { queue.append(try Self.span("/\(number)")) }
        #expect(queue.count == 5)
        #expect(queue.dropped == 2)
        let taken = queue.take()
        let batch = try #require(taken)
        #expect(batch.spans.map(\.target?.path) == ["/0", "/1"])
        queue.append(try Self.span("/7"))
        queue.append(try Self.span("/8"))
        // The newest makes room for those that come back.
        queue.restore(batch)
        #expect(queue.count == 5)
        #expect(queue.dropped == 4)
        var paths: [String] = []
        while let next = queue.take() { paths += next.spans.compactMap(\.target?.path) }
        #expect(paths == ["/0", "/1", "/2", "/3", "/4"])
        #expect(queue.bytes == 0)
    }

    @Test func aQueueIsLimitedInBytes() throws {
        let large = try Self.span("/" + String(repeating: "x", count: 5000))
        var queue = SpanQueue(
            maximumCount: 100,
            maximumBytes: 3 * large.size,
            batchCount: 100,
            batchBytes: large.size / 2
        )
        for _ in 0..<4 { queue.append(large) }
        #expect(queue.count == 3)
        #expect(queue.dropped == 1)
        #expect(queue.hasBatch)
        #expect(queue.take()?.spans.count == 1)
        #expect(queue.bytes == 2 * large.size)
    }

    @Test func pausesGrowUpToAMinute() {
        var backoff = ExportBackoff()
        #expect((0..<8).map { _ in backoff.pause(nil, random: .max).rounded } == [1, 2, 4, 8, 16, 32, 60, 60])
        #expect(backoff.pause(.seconds(90), random: 0) == .seconds(90))
        #expect(backoff.pause(.seconds(86_400), random: 0) == .seconds(600))
        #expect(backoff.pause(.zero, random: 0) > .zero)
        backoff.reset()
        #expect(backoff.pause(nil, random: 0) == .milliseconds(500))
    }

    @Test(
        arguments: [
            (200, .accepted(rejected: 0, message: "")),
            (429, .busy(after: .seconds(7), reason: "The collector answered with the status 429.")),
            (503, .busy(after: .seconds(7), reason: "The collector answered with the status 503.")),
            (500, .refused(reason: "The collector answered with the status 500.")),
            (301, .refused(reason: "The collector answered with the status 301.")),
        ] as [(Int, ExportOutcome)]
    )
    func statusesDecide(_ status: Int, _ expected: ExportOutcome) {
        let request = HTTPRequest(scheme: "http", authority: "c", path: "/")
        let head = HTTPResponse(status: HTTPStatus(status), headers: ["Retry-After": "7"])
        let response = ServerResponse(request: request, head: head, body: Data())
        #expect(ExportOutcome(.success(response), .protobuf, now: Date()) == expected)
    }

    @Test func failuresDecide() {
        func outcome(_ code: SluiceError.Code) -> ExportOutcome {
            ExportOutcome(.failure(SluiceError(code, "no")), .protobuf, now: Date())
        }
        #expect(outcome(.cannotConnect) == .busy(after: nil, reason: "no"))
        #expect(outcome(.timedOut) == .busy(after: nil, reason: "no"))
        #expect(outcome(.invalidURL) == .refused(reason: "no"))
        #expect(outcome(.cancelled) == .cancelled)
        // A proxy may answer with a large page of its own.
        func page(_ status: HTTPStatus) -> ExportOutcome {
            let request = HTTPRequest(scheme: "http", authority: "collector", path: "/v1/traces")
            let error = SluiceError(.bodyTooLarge, "no").with(request: request, response: HTTPResponse(status: status))
            return ExportOutcome(.failure(error), .protobuf, now: Date())
        }
        #expect(page(503) == .busy(after: nil, reason: "The collector answered with the status 503."))
        #expect(page(404) == .refused(reason: "The collector answered with the status 404."))
        #expect(page(200) == .accepted(rejected: 0, message: ""))
    }

    @Test func seriesAreLimited() throws {
        var ledger = DurationLedger(bounds: [1, 2], limit: 3, isDelta: false, start: 5)
        #expect(ledger.collect(at: 6) == nil)
        for host in ["a", "b", "c", "d", "a"] { ledger.record(1, [Attribute("server.address", host)]) }
        ledger.record(1.5, [Attribute("server.address", "a")])
        ledger.record(3, [Attribute("server.address", "a")])
        let collected = ledger.collect(at: 9)
        let collection = try #require(collected)
        #expect(collection.series.count == 3)
        #expect(ledger.overflowed == 2)
        #expect(collection.series[DurationLedger.overflow]?.count == 2)
        let counts = try #require(collection.series[[Attribute("server.address", "a")]])
        // A value at a bound counts below it.
        #expect(counts.counts == [2, 1, 1])
        #expect(counts.minimum == 1)
        #expect(counts.maximum == 3)
        #expect(counts.sum == 6.5)
        #expect(ledger.collect(at: 12)?.start == 5)
    }

    @Test(arguments: [false, true])
    func seriesBeginAnewAfterTheClockWasSetBack(_ isDelta: Bool) throws {
        var ledger = DurationLedger(bounds: [1], limit: 10, isDelta: isDelta, start: 7_200_000_000_000)
        // A step of a minute is tolerated, as if the clock had stopped. After a larger one, its time counts.
        let expected: [(seconds: UInt64, start: UInt64, end: UInt64)] = [
            (7140, 7200, 7200), (3600, 3600, 3600), (3660, 3600, 3660), (3720, isDelta ? 3660 : 3600, 3720),
        ]
        for (count, step) in expected.enumerated() {
            ledger.record(0.5, [])
            let collected = ledger.collect(at: step.seconds * 1_000_000_000)
            let collection = try #require(collected)
            #expect(collection.start == step.start * 1_000_000_000)
            #expect(collection.end == step.end * 1_000_000_000)
            // The counts go on, so that nothing is lost and nothing counts twice.
            #expect(collection.series[[]]?.count == (isDelta ? 1 : UInt64(count) + 1))
        }
    }

    @Test func aDeltaThatWasNotExportedIsNotLost() throws {
        var ledger = DurationLedger(bounds: [1], limit: 10, isDelta: true, start: 5)
        ledger.record(0.5, [])
        let collected = ledger.collect(at: 9)
        let first = try #require(collected)
        #expect(ledger.series.isEmpty)
        ledger.record(2, [])
        ledger.restore(first)
        let others = ledger.collect(at: 12)
        let second = try #require(others)
        #expect(second.start == 5)
        #expect(second.series[[]]?.counts == [1, 1])
        ledger.record(2, [])
        #expect(ledger.collect(at: 20)?.start == 12)
    }

    @Test(
        arguments: [
            (
                "GET", .response(.ok, .http2, peer: nil),
                ["http.response.status_code": .int(200), "network.protocol.version": .string("2")]
            ),
            ("GET", .response(.notFound, .http1_1, peer: nil), ["error.type": .string("404")]),
            (
                "BREW", .failure(.timedOut, nil, ""),
                [
                    "error.type": .string("timedOut"), "http.request.method": .string("_OTHER"),
                    "http.request.method_original": .string("BREW"),
                ]
            ),
            ("GET", .failure(.cancelled, nil, ""), ["error.type": .string("cancelled")]),
            (
                "GET", .failure(.unacceptableStatus, .badGateway, ""),
                ["error.type": .string("502"), "http.response.status_code": .int(502)]
            ),
            ("GET", .failure(.decodingFailed, .ok, ""), ["error.type": .string("decodingFailed")]),
        ] as [(HTTPMethod, SpanOutcome, [String: Attribute.Value])]
    )
    func conventionsHold(_ method: HTTPMethod, _ outcome: SpanOutcome, _ expected: [String: Attribute.Value]) throws {
        var span = try Self.span("/a?token=x")
        span.target = SentTarget(
            HTTPRequest(method: method, scheme: "https", authority: "u:p@[::1]:8443", path: "/a?token=x")
        )
        span.outcome = outcome
        let attributes = Dictionary(HTTPConventions().attributes(span).map { ($0.key, $0.value) }) { $1 }
        for (key, value) in expected { #expect(attributes[key] == value) }
        #expect(attributes["server.address"] == .string("::1"))
        #expect(attributes["server.port"] == .int(8443))
        guard case .string(let url)? = attributes["url.full"] else {
            Issue.record("There is no URL.")
            return
        }
        #expect(!url.contains("u:p") && !url.contains("token=x"))
        #expect(expected["error.type"] == nil ? attributes["error.type"] == nil : true)
    }
}

extension Duration {
    fileprivate var rounded: Int { Int((self / .seconds(1)).rounded()) }
}

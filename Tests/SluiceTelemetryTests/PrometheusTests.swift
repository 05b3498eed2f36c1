import Foundation
import Sluice
import SluiceTesting
import Testing

@testable import SluiceTelemetry

@Suite struct PrometheusTests {
    private let server: LoopbackServer

    init() throws {
        server = try LoopbackServer()
        server.on("/users/*", .text("ok"))
        server.on("/missing", .status(.notFound))
        server.on("/broken", .status(.internalServerError))
        server.on("/old", .redirect(to: "/users/1"))
    }

    private func client(_ metrics: PrometheusMetrics) -> APIClient {
        APIClient(baseURL: server.url) { $0.observers = [metrics] }
    }

    private func text(_ page: PrometheusMetrics.Page) -> String { String(decoding: page.body, as: UTF8.self) }

    private var host: String { String(server.url.dropFirst("http://".count)) }

    // MARK: - Pages

    @Test func aPageHasAHistogramForEachKindOfRequest() async throws {
        let metrics = PrometheusMetrics(buckets: [.seconds(100), .zero, .nanoseconds(1), .seconds(100)])
        let client = client(metrics)
        _ = try await client.string.get("users/1").sender().value
        _ = try await client.string.get("users/2").sender().value
        _ = await client.string.post("missing").sender().result
        let page = text(metrics.page())
        let labels = #"method="GET",host="\#(host)",route="users/{}",status="2xx",protocol="1.1""#
        #expect(page.contains("# TYPE sluice_request_duration_seconds histogram\n"))
        #expect(page.contains("sluice_request_duration_seconds_bucket{\(labels),le=\"1e-09\"} 0\n"))
        #expect(page.contains("sluice_request_duration_seconds_bucket{\(labels),le=\"100.0\"} 2\n"))
        #expect(page.contains("sluice_request_duration_seconds_bucket{\(labels),le=\"+Inf\"} 2\n"))
        #expect(page.contains("sluice_request_duration_seconds_count{\(labels)} 2\n"))
        #expect(page.contains(#"status="4xx""#))
        #expect(page.contains(#"code="unacceptableStatus"} 1"#))
        #expect(page.contains("# TYPE sluice_received_bytes_total counter\n"))
        #expect(page.contains(#"sluice_phase_duration_seconds_count{host="\#(host)",phase="wait"} 2"#))
        #expect(page.contains("sluice_overflowed_requests_total 0\n"))
        #expect(!page.contains("# EOF"))
    }

    @Test func requestsWithoutAResponseHaveALabelOfTheirOwn() async throws {
        let metrics = PrometheusMetrics()
        let away = APIClient(baseURL: "http://127.0.0.1:1") { $0.observers = [metrics] }
        _ = await away.string.get("a").sender().result
        _ = await away.string.get("https://ada:secret@\u{7F}.example").route("unsent").sender().result
        let page = text(metrics.page())
        #expect(page.contains(#"host="127.0.0.1:1",route="a",status="error",protocol="""#))
        #expect(page.contains(#"host="",route="unsent",status="error",protocol="""#))
        #expect(page.contains(#"code="cannotConnect"} 1"#))
        #expect(!page.contains("secret"))
        #expect(page.contains(#"sluice_requests_in_flight{host="127.0.0.1:1"} 0"#))
    }

    @Test func retriesAndRedirectsAreCounted() async throws {
        let metrics = PrometheusMetrics()
        let client = APIClient(baseURL: server.url) {
            $0.observers = [metrics]
            $0.retry = RetryPolicy(maximumAttempts: 3, backoff: .constant(.zero))
        }
        _ = await client.string.get("broken").sender().result
        _ = try await client.string.get("old").sender().value
        let page = text(metrics.page())
        #expect(page.contains(#"sluice_retries_total{method="GET",host="\#(host)",route="broken"} 2"#))
        #expect(page.contains(#"sluice_redirects_total{method="GET",host="\#(host)",route="old"} 1"#))
    }

    @Test func seriesBeyondTheLimitShareOne() async throws {
        let metrics = PrometheusMetrics(maximumSeries: 3)
        let stubs = StubTransport()
        stubs.on(.any, .text("ok"))
        let client = APIClient(baseURL: "https://shop.example") {
            $0.transport = stubs
            $0.observers = [metrics]
        }
        for number in 0..<50 { _ = try await client.string.get("a").route("r\(number)").sender().value }
        let page = text(metrics.page())
        let counts = page.split(separator: "\n").filter { $0.hasPrefix("sluice_request_duration_seconds_count") }
        #expect(counts.count == 4)
        #expect(counts.contains { $0.contains(#"route="other""#) && $0.hasSuffix(" 47") })
        #expect(page.contains("sluice_overflowed_requests_total 47\n"))
    }

    #if os(Linux)
    @Test func phasesOfHostsBeyondTheLimitAreThoseOfOneHost() async throws {
        let metrics = PrometheusMetrics(maximumSeries: 12)
        let client = APIClient(baseURL: server.url) {
            $0.observers = [metrics]
            $0.connection.hostAddresses = ["*": [IPAddress(127, 0, 0, 1)]]
        }
        for name in ["a", "b", "c", "d"] {
            _ = try await client.string.get("http://\(name).test:\(server.port)/users/1").sender().value
        }
        let counts = text(metrics.page()).split(separator: "\n").filter {
            $0.hasPrefix("sluice_phase_duration_seconds_count") && $0.contains(#"phase="wait""#)
        }
        #expect(counts.count == 3)
        #expect(counts.contains { $0.contains(#"host="other""#) && $0.hasSuffix(" 2") })
    }
    #endif

    @Test func requestsInFlightAreAGauge() async throws {
        let metrics = PrometheusMetrics()
        let stubs = StubTransport()
        let (arrived, release) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        stubs.on(.any) { _ in
            arrived.continuation.yield()
            for await _ in release.stream { break }
            return .text("ok")
        }
        let ends = Ends()
        let client = APIClient(baseURL: "https://shop.example") {
            $0.transport = stubs
            $0.observers = [metrics, ends]
        }
        let sender = client.string.get("a").sender()
        async let result = sender.result
        for await _ in arrived.stream { break }
        #expect(text(metrics.page()).contains(#"sluice_requests_in_flight{host="shop.example"} 1"#))
        sender.cancel()
        _ = await result
        // The result of a cancelled request does not wait for its end.
        for await _ in ends.stream { break }
        let page = text(metrics.page())
        #expect(page.contains(#"sluice_requests_in_flight{host="shop.example"} 0"#))
        #expect(page.contains(#"route="a",status="cancelled",protocol="""#))
    }

    @Test(arguments: [
        (1, 0), (1.0000001, 1), (2, 8), (0.5, -8), (1.0905077326652577, 1), (1.09050773266526, 2), (1.9999, 8), (3, 13),
        (0.001, -79), (1000, 80),
    ])
    func aValueIsBelowTheBoundOfItsBucket(_ value: Double, _ bucket: Int) {
        #expect(NativeHistogram.bucket(of: value) == bucket)
    }

    @Test func runsOfBucketsAreEncodedByTheirDifferences() {
        var histogram = NativeHistogram()
        for value in [0, -1, 1e-9, 1, 1, 1, 1.05, 4, 1e9] { histogram.record(value) }
        #expect(histogram.zeroCount == 3)
        let (spans, deltas) = histogram.encoded
        #expect(
            spans == [
                .init(offset: 0, length: 2), .init(offset: 14, length: 1), .init(offset: 111, length: 1),
            ]
        )
        #expect(deltas == [3, -2, 0, 0])
        #expect(NativeHistogram().encoded.spans.isEmpty)
    }

    // MARK: - Counterparts

    @Test(.enabled(if: Receiver.canRun, "SLUICE_PYTHON names no Python with prometheus_client; .ci/install makes one"))
    func theParsersOfPrometheusReadThePages() async throws {
        let receiver = try Receiver()
        let metrics = PrometheusMetrics()
        let client = client(metrics)
        let route = "a \"quoted\" \\ route\nof two lines"
        _ = try await client.string.get("users/1").route(route).sender().value
        _ = await client.string.post("broken").sender().result
        for (accept, path) in [("application/openmetrics-text", "openmetrics"), ("text/plain", "prometheus")] {
            let families = try await receiver.families(text(metrics.page(accept: accept)), as: path)
            let durations = try #require(
                families.first { $0["name"].stringValue == "sluice_request_duration_seconds" }
            )
            #expect(durations["type"].stringValue == "histogram")
            #expect(durations["samples"].arrayValue.count == 2 * 17)
            #expect(durations["samples"].arrayValue.contains { $0[1]["route"].stringValue == route })
            #expect(families.contains { $0["name"].stringValue == "sluice_failures" })
            #expect(families.count == 10)
        }
    }

    @Test(.enabled(if: PrometheusServer.canRun, "prometheus is not installed"), arguments: [false, true])
    func prometheusAddsTheInstancesUp(isNative: Bool) async throws {
        let instances = [PrometheusMetrics(isNative: isNative), PrometheusMetrics(isNative: isNative)]
        let scrapes = AsyncStream<Int>.makeStream()
        var pages: [LoopbackServer] = []
        for (number, metrics) in instances.enumerated() {
            for _ in 0..<5 { _ = try await client(metrics).string.get("users/1").sender().value }
            let page = try LoopbackServer()
            page.on("/metrics") { request in
                let page = metrics.page(accept: request.headers["Accept"])
                scrapes.continuation.yield(number)
                return .data(page.body, contentType: page.contentType)
            }
            pages.append(page)
        }
        let prometheus = try PrometheusServer(targets: pages.map { String($0.url.dropFirst("http://".count)) })
        // A third scrape of a page begins after the first two were stored.
        var counts = [0, 0]
        for await number in scrapes.stream {
            counts[number] += 1
            if counts.min() == 3 { break }
        }
        let name = "sluice_request_duration_seconds"
        let sum = isNative ? "histogram_count(sum(\(name)))" : "sum(\(name)_count)"
        let median = "histogram_quantile(0.5, sum\(isNative ? "" : " by (le)") (\(name)\(isNative ? "" : "_bucket")))"
        #expect(try await value(of: sum, prometheus) == 10)
        let seconds = try #require(try await value(of: median, prometheus))
        #expect(seconds > 0 && seconds < 10)
        withExtendedLifetime(pages) {}
    }

    /// Returns the value of a query at a time when Prometheus has the samples of both pages.
    private func value(of query: String, _ prometheus: PrometheusServer) async throws -> Double? {
        // A scrape that takes longer than its interval fails. Then the samples of the page are missing until the next one.
        let request = APIClient(baseURL: prometheus.url).json.get("api/v1/query")
            .query(["query": "\(query) and sum(up) == 2"])
        var value: Double?
        try await waitUntil("the last scrape of both pages succeeded", within: .seconds(60)) {
            let answer = try await request.sender().value
            value = Double(answer["data"]["result"][0]["value"][1].stringValue)
            return value != nil
        }
        return value
    }
}

/// Reports the ends of requests.
private struct Ends: RequestObserver {
    private let ends = AsyncStream<Void>.makeStream()

    var stream: AsyncStream<Void> { ends.stream }

    var interests: RequestEvent.Kinds { .finished }

    func observe(_ event: RequestEvent, of request: ObservedRequest) { ends.continuation.yield() }
}

import Foundation
import Sluice
import SluiceTelemetry
import SluiceTesting
import Testing

/// Exports to a collector that decodes them by the published schema.
@Suite(
    .enabled(
        if: Receiver.canRun,
        "SLUICE_PYTHON is not the path of a Python with opentelemetry-proto; .ci/run creates one"
    )
)
struct ReceiverTests {
    @Test(arguments: OTLPFormat.allCases, [false, true])
    func spansAndDurationsArrive(_ format: OTLPFormat, _ isCompressed: Bool) async throws {
        let receiver = try Receiver()
        let telemetry = OpenTelemetry(
            receiver.configuration {
                $0.resource = ["deployment.environment.name": "test"]
                $0.traces?.format = format
                $0.metrics?.format = format
                $0.traces?.isCompressed = isCompressed
                $0.traces?.headers = ["X-Key": "1234"]
            }
        )
        let client = Self.client(receiver, telemetry)
        let parent = TraceContext(
            traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            tracestate: "a=b"
        )
        let seen = try await TraceContext.$current.withValue(parent) {
            try await client.json.post("api/users/17?token=secret").route("users/{id}").sender().value
        }
        #expect(await telemetry.shutdown())

        let exports = try await receiver.received()
        #expect(exports.count == 2)
        for export in exports {
            #expect(export["error"].isNull)
            #expect(export["unknown"].arrayValue.isEmpty)
            #expect(export["isCanonical"].boolValue)
            #expect(export["format"].stringValue == "\(format)")
            // Neither is an export traced.
            #expect(export["headers"]["traceparent"].isNull)
        }
        let traces = try #require(exports.first { $0["signal"].stringValue == "traces" })
        #expect(traces["headers"]["x-key"].stringValue == "1234")
        #expect((traces["encoding"].string == "gzip") == isCompressed)
        let resource = traces["message"]["resourceSpans"][0]
        let attributes = Self.attributes(resource["resource"])
        #expect(attributes["service.name"] == "shop")
        #expect(attributes["deployment.environment.name"] == "test")
        let spans = Self.spans(traces)
        #expect(spans.count == 2)
        let request = try #require(spans.first { $0["kind"].stringValue == "SPAN_KIND_INTERNAL" })
        let attempt = try #require(spans.first { $0["kind"].stringValue == "SPAN_KIND_CLIENT" })
        #expect(request["traceId"].stringValue == "0af7651916cd43dd8448eb211c80319c")
        #expect(request["parentSpanId"].stringValue == "b7ad6b7169203331")
        #expect(request["traceState"].stringValue == "a=b")
        #expect(attempt["parentSpanId"].stringValue == request["spanId"].stringValue)
        // The server has seen the ID of the attempt.
        #expect(seen.stringValue == "00-\(attempt["traceId"].stringValue)-\(attempt["spanId"].stringValue)-01")
        for span in spans {
            let attributes = Self.attributes(span)
            #expect(span["name"].stringValue == "POST users/{id}")
            #expect(attributes["http.request.method"] == "POST")
            #expect(attributes["server.address"] == "127.0.0.1")
            #expect(attributes["server.port"] == receiver.url.split(separator: ":").last.map(String.init))
            #expect(attributes["http.response.status_code"] == "200")
            #expect(attributes["network.protocol.version"] == "1.1")
            #expect(attributes["url.full"]?.contains("/api/users/17?token=REDACTED") == true)
            #expect(attributes["error.type"] == nil)
            #expect(span["status"].isNull)
            let length = (span["endTimeUnixNano"].uint64 ?? UInt64(span["endTimeUnixNano"].stringValue) ?? 0)
            #expect(length > 1_700_000_000_000_000_000)
        }
        let metrics = try #require(exports.first { $0["signal"].stringValue == "metrics" })
        let metric = metrics["message"]["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0]
        #expect(metric["name"].stringValue == "http.client.request.duration")
        #expect(metric["unit"].stringValue == "s")
        #expect(metric["histogram"]["aggregationTemporality"].stringValue == "AGGREGATION_TEMPORALITY_CUMULATIVE")
        let point = metric["histogram"]["dataPoints"][0]
        #expect(point["explicitBounds"].arrayValue.count == 14)
        let counts = point["bucketCounts"].arrayValue.compactMap { Int($0.stringValue) }
        #expect(counts.reduce(0, +) == 1)
        #expect(Self.attributes(point)["url.template"] == "users/{id}")
        #expect(Self.attributes(point)["http.response.status_code"] == "200")
        #expect(telemetry.statistics.exportedSpans == 2)
        #expect(telemetry.statistics.exportedPoints == 1)
        #expect(telemetry.statistics.droppedSpans == 0)
        #expect(telemetry.statistics.openRequests == 0)
    }

    @Test func errorsAndRetriesArrive() async throws {
        let receiver = try Receiver()
        let telemetry = OpenTelemetry(receiver.configuration())
        let client = APIClient(baseURL: receiver.url) {
            $0.observers = [telemetry]
            $0.requestInterceptors = [TraceParent()]
            $0.retry = RetryPolicy(maximumAttempts: 2, backoff: .constant(.milliseconds(1)))
        }
        _ = await client.json.post("api/broken").idempotent().sender().result
        _ = await client.json.post("http://127.0.0.1:1/").retry(.none).sender().result
        #expect(await telemetry.shutdown())
        let spans = try await receiver.received().flatMap(Self.spans)
        let attempts = spans.filter {
            Self.attributes($0)["error.type"] == "500" && $0["kind"].stringValue == "SPAN_KIND_CLIENT"
        }
        let resends: [String] = attempts.map { Self.attributes($0)["http.request.resend_count"] ?? "none" }
        #expect(Set(resends) == ["none", "1"] && resends.count == 2)
        #expect(attempts.allSatisfy { $0["status"]["code"].stringValue == "STATUS_CODE_ERROR" })
        let whole = try #require(spans.first { Self.events($0).contains("retry") })
        #expect(Self.attributes(whole)["error.type"] == "500")
        #expect(attempts.allSatisfy { $0["traceId"].stringValue == whole["traceId"].stringValue })
        let unreachable = spans.filter { Self.attributes($0)["error.type"] == "cannotConnect" }
        #expect(unreachable.count == 2)
        #expect(unreachable.allSatisfy { Self.events($0) == ["exception"] })
    }

    @Test func aBusyCollectorGetsAllSpansLater() async throws {
        let receiver = try Receiver()
        let telemetry = OpenTelemetry(receiver.configuration("busy"))
        _ = try await Self.client(receiver, telemetry).json.post("api").sender().value
        #expect(await telemetry.flush(within: .seconds(30)))
        #expect(telemetry.statistics.exportedSpans == 2)
        #expect(telemetry.statistics.exportedPoints == 1)
        #expect(telemetry.statistics.failedExports == 4)
        #expect(telemetry.statistics.droppedSpans == 0)
    }

    @Test func aPartOfAnExportIsRejected() async throws {
        let receiver = try Receiver()
        let telemetry = OpenTelemetry(receiver.configuration("partial"))
        _ = try await Self.client(receiver, telemetry).json.post("api").sender().value
        #expect(await telemetry.flush() == false)
        #expect(telemetry.statistics.exportedSpans == 1)
        #expect(telemetry.statistics.refusedSpans == 1)
        #expect(telemetry.statistics.refusedPoints == 1)
        #expect(telemetry.statistics.lastProblem == "too old")
    }

    @Test func nonsenseIsAnAnswer() async throws {
        let receiver = try Receiver()
        let telemetry = OpenTelemetry(receiver.configuration("nonsense"))
        _ = try await Self.client(receiver, telemetry).json.post("api").sender().value
        #expect(await telemetry.flush())
        #expect(telemetry.statistics.exportedSpans == 2)
        #expect(telemetry.statistics.lastProblem?.contains("not a message of OTLP") == true)
    }

    @Test func aSlowCollectorHoldsNoProgramUp() async throws {
        let receiver = try Receiver()
        let telemetry = OpenTelemetry(receiver.configuration("slow"))
        _ = try await Self.client(receiver, telemetry).json.post("api").sender().value
        let start = ContinuousClock.now
        #expect(await telemetry.shutdown(within: .milliseconds(200)) == false)
        #expect(start.duration(to: .now) < .seconds(20))
    }

    private static func client(_ receiver: Receiver, _ telemetry: OpenTelemetry) -> APIClient {
        APIClient(baseURL: receiver.url) {
            $0.observers = [telemetry]
            $0.requestInterceptors = [telemetry]
        }
    }

    private static func spans(_ export: JSON) -> [JSON] {
        export["message"]["resourceSpans"].arrayValue.flatMap { $0["scopeSpans"].arrayValue }.flatMap {
            $0["spans"].arrayValue
        }
    }

    private static func events(_ span: JSON) -> [String] { span["events"].arrayValue.map { $0["name"].stringValue } }

    private static func attributes(_ owner: JSON) -> [String: String] {
        Dictionary(
            owner["attributes"].arrayValue.map {
                ($0["key"].stringValue, $0["value"].dictionaryValue.values.first?.stringValue ?? "")
            }
        ) { $1 }
    }
}

import Logging
import Metrics
import Sluice
import SluiceTesting
import Telemetry
import Testing
import Tracing

/// The code of README.md.
@Suite struct GuideTests {
    enum Tenant {
        @TaskLocal static var current: String?
    }

    @Test func theClientOfTheArticleIsObservedByAllThree() async throws {
        let log = RecordingLogHandler.Log()
        let (metrics, tracer) = (RecordingMetrics(), RecordingTracer())
        let tenant = Logger.MetadataProvider { ["tenant": "\(Tenant.current ?? "none")"] }
        LoggingSystem.bootstrap(
            { _, provider in RecordingLogHandler(log, metadataProvider: provider) },
            metadataProvider: tenant
        )
        MetricsSystem.bootstrap(metrics)
        InstrumentationSystem.bootstrap(tracer)
        try await withLoopbackServer { server in
            server.on("/users/42", .text("Ada"))
            let tracing = TracingInterceptor()
            let shop = APIClient(baseURL: server.url) {
                $0.observers = [LogObserver(Logger(label: "shop")), MetricsObserver()]
                $0.requestInterceptors = [tracing]
                $0.responseInterceptors = [tracing]
            }
            let name = try await Tenant.$current.withValue("acme") {
                let name = try await withSpan("greet") { _ in
                    try await shop.string.get("users/42").route("users/{id}").sender().value
                }
                return name
            }
            await shop.observersCaughtUp()
            #expect(name == "Ada")
            #expect(server.requests.first?.headers.contains("traceparent") == true)
        }
        #expect(log.entries.filter { $0["route"] == "users/{id}" }.map(\.message) == ["The request succeeded"])
        #expect(log.entries.last?["tenant"] == "acme")
        #expect(metrics.total("http_client_requests_total{method=GET,host=127.0.0.1,status=2xx}") == 1)
        #expect(tracer.spans.map(\.operationName) == ["greet", "GET users/{id}"])
        #expect(tracer.spans.last?.parent == tracer.spans.first?.identity)
    }
}

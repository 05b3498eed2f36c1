import Sluice
import SluiceTesting
import Telemetry
import Testing

@Suite struct MetricsObserverTests {
    private let metrics = RecordingMetrics()

    @Test func requestsAreCountedByMethodHostAndStatusClass() async throws {
        try await withLoopbackServer { server in
            server.on("/users", .text("Ada"))
            server.on("/missing", .status(.notFound))
            let client = APIClient(baseURL: server.url) { $0.observers = [MetricsObserver(factory: metrics)] }
            for _ in 0..<3 { _ = try await client.string.get("users").sender().value }
            _ = await client.string.get("missing").sender().response
            await client.observersCaughtUp()
        }
        let accepted = "{method=GET,host=127.0.0.1,status=2xx}"
        #expect(metrics.total("http_client_requests_total\(accepted)") == 3)
        #expect(metrics.total("http_client_requests_total{method=GET,host=127.0.0.1,status=4xx}") == 1)
        let durations = metrics.values("http_client_request_duration_seconds\(accepted)")
        #expect(durations.count == 3 && durations.allSatisfy { $0 > 0 })
    }

    @Test func furtherAttemptsAreCounted() async throws {
        try await withLoopbackServer { server in
            server.on("/users", .status(.serviceUnavailable), .text("Ada"))
            let client = APIClient(baseURL: server.url) {
                $0.observers = [MetricsObserver(factory: metrics)]
                $0.retry = RetryPolicy(maximumAttempts: 2, backoff: Backoff(base: .zero, limit: .zero))
            }
            _ = try await client.string.get("users").sender().value
            await client.observersCaughtUp()
        }
        #expect(metrics.total("http_client_retries_total{method=GET,host=127.0.0.1,status=5xx}") == 1)
        #expect(metrics.total("http_client_requests_total{method=GET,host=127.0.0.1,status=2xx}") == 1)
    }

    @Test(arguments: [
        (HTTPMethod.get, HTTPStatus.ok, "GET", "2xx"), (.post, .created, "POST", "2xx"),
        (.delete, .notModified, "DELETE", "3xx"), ("BREW", .notFound, "other", "4xx"),
        (.put, .serviceUnavailable, "PUT", "5xx"), (.patch, 999, "PATCH", "none"),
    ])
    func methodsAndStatusesHaveFewValues(_ method: HTTPMethod, _ status: HTTPStatus, _ first: String, _ second: String)
    {
        observe("a.example", method, status, with: MetricsObserver(factory: metrics))
        #expect(metrics.names.contains("http_client_requests_total{method=\(first),host=a.example,status=\(second)}"))
    }

    @Test(arguments: [(false, "cache"), (true, "2xx")])
    func aConfirmedResponseIsNotOfTheCacheAlone(_ isRevalidated: Bool, _ status: String) {
        let source = ResponseSource.cache(CachedResponseInfo(age: .zero, isRevalidated: isRevalidated))
        observe("a.example", .get, .ok, from: source, with: MetricsObserver(factory: metrics))
        #expect(metrics.names.contains("http_client_requests_total{method=GET,host=a.example,status=\(status)}"))
    }

    @Test func hostsBeyondTheLimitShareASeries() {
        let observer = MetricsObserver(factory: metrics, maximumHosts: 2)
        for host in ["a.example", "b.example", "c.example", "d.example", "a.example"] {
            observe(host, .get, .ok, with: observer)
        }
        #expect(metrics.total("http_client_requests_total{method=GET,host=a.example,status=2xx}") == 2)
        #expect(metrics.total("http_client_requests_total{method=GET,host=other,status=2xx}") == 2)
        #expect(metrics.names.filter { $0.contains("requests_total") }.count == 3)
    }

    @Test func aRequestThatCannotBeBuiltHasNoHost() async {
        let client = APIClient(baseURL: "ftp://a.example") { $0.observers = [MetricsObserver(factory: metrics)] }
        _ = await client.string.get("users").sender().response
        await client.observersCaughtUp()
        #expect(metrics.names.filter { $0.contains("requests_total") }.allSatisfy { $0.contains("status=none") })
        #expect(metrics.names.count == 2)
    }

    private func observe(
        _ host: String,
        _ method: HTTPMethod,
        _ status: HTTPStatus,
        from source: ResponseSource = .server,
        with observer: MetricsObserver
    ) {
        let request = HTTPRequest(method: method, scheme: "https", authority: host, path: "/")
        let head = HTTPResponse(status: status)
        let response = ServerResponse(request: request, head: head, body: .init(), source: source)
        observer.observe(
            .finished(.success(response)),
            of: ObservedRequest(id: RequestID(rawValue: 1), method: method, elapsed: .milliseconds(20))
        )
    }
}

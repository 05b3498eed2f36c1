import Sluice
import SluiceTesting
import Telemetry
import Testing
import Tracing

@Suite struct TracingInterceptorTests {
    private let tracer = RecordingTracer()

    private func client(
        _ server: LoopbackServer,
        configure: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> APIClient {
        let tracing = TracingInterceptor(tracer: tracer)
        return APIClient(baseURL: server.url) {
            $0.requestInterceptors = [tracing]
            $0.responseInterceptors = [tracing]
            $0.retry = RetryPolicy(maximumAttempts: 2, backoff: Backoff(base: .zero, limit: .zero))
            configure(&$0)
        }
    }

    private func text(_ span: RecordingSpan, _ name: String) -> String? {
        guard case .string(let text)? = span.attributes.get(name) else { return nil }
        return text
    }

    private func number(_ span: RecordingSpan, _ name: String) -> Int64? {
        guard case .int64(let number)? = span.attributes.get(name) else { return nil }
        return number
    }

    @Test func aSpanFollowsTheConventions() async throws {
        try await withLoopbackServer { server in
            server.on("/users/42", .text("Ada"))
            _ = try await client(server).string.get("users/42").query("token", "s3cret").sender().value
            let span = try #require(tracer.spans.first)
            #expect(tracer.spans.count == 1)
            #expect(span.operationName == "GET users/{}" && span.kind == .client)
            #expect(text(span, "http.request.method") == "GET")
            #expect(text(span, "url.full") == "\(server.url)/users/42?token=REDACTED")
            #expect(text(span, "url.template") == "users/{}")
            #expect(text(span, "server.address") == "127.0.0.1")
            #expect(number(span, "server.port") == Int64(server.port))
            #expect(number(span, "http.response.status_code") == 200)
            #expect(text(span, "network.protocol.version") == "1.1")
            #expect(text(span, "error.type") == nil && span.status == nil)
            #expect(span.ends == 1 && span.parent == nil)
        }
    }

    @Test func theCallersContextIsTheParentAndTheServerGetsTheSpan() async throws {
        try await withLoopbackServer { server in
            server.on("/users", .status(.serviceUnavailable), .text("Ada"))
            let client = client(server)
            let parent = try await tracer.withSpan("checkout") { span in
                _ = try await client.string.get("users").sender().value
                return span.identity
            }
            let attempts = Array(tracer.spans.dropFirst())
            #expect(attempts.map(\.parent) == [parent, parent])
            #expect(attempts.map(\.ends) == [1, 1])
            #expect(attempts.map { number($0, "http.request.resend_count") } == [nil, 1])
            #expect(attempts.map { text($0, "error.type") } == ["503", nil])
            #expect(attempts.map(\.status) == [.error, nil])
            let sent = server.requests(to: "/users").compactMap { $0.headers["traceparent"] }
            #expect(sent == attempts.map { "00-\(parent.traceID)-\($0.identity.spanID)-01" })
        }
    }

    @Test func aFailureIsAnErrorOfTheSpan() async throws {
        try await withLoopbackServer { server in
            server.on("/users", .drop)
            _ = await client(server) { $0.retry = .none }.string.get("users").sender().response
            let span = try #require(tracer.spans.first)
            #expect(text(span, "error.type") == "connectionLost")
            #expect(span.status == .error && span.errors.count == 1 && span.ends == 1)
        }
    }

    @Test func aCancelledRequestEndsItsSpan() async throws {
        try await withLoopbackServer { server in
            server.on("/slow", .hang)
            let sender = client(server).string.get("slow").sender()
            sender.start { _ in }
            await server.waitForRequests(1)
            sender.cancel()
            _ = await sender.response
            try await waitUntil("the span ends") { tracer.spans.first?.ends == 1 }
            #expect(tracer.spans.first?.status == .error)
        }
    }

    @Test func anUnknownMethodHasItsOwnAttribute() async throws {
        try await withLoopbackServer { server in
            server.on("BREW", "/pot", .text("tea"))
            _ = try await client(server).string.request("pot").method("BREW").sender().value
            let span = try #require(tracer.spans.first)
            #expect(span.operationName == "HTTP pot")
            #expect(text(span, "http.request.method") == "_OTHER")
            #expect(text(span, "http.request.method_original") == "BREW")
        }
    }

    @Test func theErrorOfAnotherInterceptorEndsTheSpan() async throws {
        struct Refusal: RequestAdapter {
            func adapt(_ request: inout HTTPRequest, context: RequestContext) throws {
                throw SluiceError(.interceptorFailed, "No.")
            }
        }
        try await withLoopbackServer { server in
            _ = await client(server) { $0.requestInterceptors.append(Refusal()) }.string.get("users").sender().response
            let span = try #require(tracer.spans.first)
            #expect(text(span, "error.type") == "interceptorFailed" && span.ends == 1)
        }
    }

    @Test func bothAttemptsOfAHedgedRequestEndTheirSpans() async throws {
        try await withLoopbackServer { server in
            server.on("/users", .hang, .text("Ada"))
            let client = client(server) { $0.hedging = .after(.milliseconds(1)) }
            _ = try await client.string.get("users").sender().value
            try await waitUntil("the spans end") { tracer.spans.map(\.ends) == [1, 1] }
            // The request of the second attempt may reach the server first.
            #expect(tracer.spans.count { $0.status == .error } == 1)
            #expect(tracer.spans.count { number($0, "http.response.status_code") == 200 } == 1)
        }
    }

    @Test func aSpanWithoutOutcomeEndsWithItsRequest() async throws {
        try await withLoopbackServer { server in
            server.on("/users", .text("Ada"))
            let client = client(server) { $0.responseInterceptors = [] }
            _ = try await client.string.get("users").sender().value
            try await waitUntil("the span ends") { tracer.spans.first?.ends == 1 }
            let span = try #require(tracer.spans.first)
            #expect(text(span, "error.type") == "_OTHER" && span.status == .error)
        }
    }

    @Test func aStoredResponseIsMarked() async throws {
        try await withLoopbackServer { server in
            server.on("/users", .text("Ada", headers: ["Cache-Control": "max-age=60"]))
            let client = client(server) {
                $0.cache = CacheStore(storage: nil)
                $0.caching.http = HTTPCaching()
            }
            for _ in 0..<2 { _ = try await client.string.get("users").sender().value }
            #expect(tracer.spans.map { text($0, "sluice.response.source") } == [nil, "cache"])
            #expect(server.requestCount == 1)
        }
    }
}

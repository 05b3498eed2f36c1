import Sluice
import Synchronization
import Tracing

/// Opens a client span for each attempt of a request, and propagates it to the server.
///
/// ```swift
/// let tracing = TracingInterceptor()
/// let client = APIClient(baseURL: url) {
///     $0.requestInterceptors = [tracing]
///     $0.responseInterceptors = [tracing]
/// }
/// ```
///
/// The parent is the `ServiceContext` of the task that sends the request. The tracer writes its header fields, such as `traceparent`.
/// Names and attributes are those of the semantic conventions of OpenTelemetry for HTTP clients.
///
/// A span ends with the outcome of its attempt, that of a streamed response with its head. Make the interceptor the last of the request
/// interceptors, so that the span has the URL that is sent, and the first of the response interceptors. A span that receives no outcome
/// ends with the request.
public struct TracingInterceptor: RequestAdapter, OutcomeAdapter {
    /// The open spans of a request, by the number of the attempt.
    private final class OpenSpans: Sendable {
        let parent: ServiceContext
        private let spans = Mutex<[Int: any Tracing.Span]>([:])

        init(parent: ServiceContext) {
            self.parent = parent
        }

        deinit {
            // The request is over.
            for (_, span) in spans.withLock({ $0 }) {
                span.updateAttributes { $0["error.type"] = "_OTHER" }
                span.setStatus(SpanStatus(code: .error, message: "The attempt ended without an outcome."))
                span.end()
            }
        }

        func insert(_ span: any Tracing.Span, _ attempt: Int) {
            spans.withLock { $0[attempt] = span }
        }

        func remove(_ attempt: Int) -> (any Tracing.Span)? {
            spans.withLock { $0.removeValue(forKey: attempt) }
        }
    }

    private struct HeaderInjector: Injector {
        func inject(_ value: String, forKey key: String, into headers: inout HTTPHeaders) {
            headers[HTTPHeaderName(key)] = value
        }
    }

    private static let methods: Set<HTTPMethod> = [.get, .head, .post, .put, .delete, .patch, .options, .trace]

    private let tracer: (any Tracer)?
    private let redaction: Redaction

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - tracer: The tracer; nil, the default, for that of the `InstrumentationSystem`.
    ///   - redaction: The secrets to remove from URLs.
    public init(tracer: (any Tracer)? = nil, redaction: Redaction = .standard) {
        self.tracer = tracer
        self.redaction = redaction
    }

    /// Opens the span of an attempt, and adds the header fields of the tracer.
    ///
    /// - Parameters:
    ///   - request: The request to change.
    ///   - context: The context, which has the spans of all attempts.
    public func adapt(_ request: inout HTTPRequest, context: RequestContext) {
        // A later attempt may run in another task, without the task-local values of the first.
        let open = openSpans(context)
        let tracer: any Tracer = tracer ?? InstrumentationSystem.tracer
        let method = Self.methods.contains(request.method) ? request.method.rawValue : nil
        let span: any Tracing.Span = tracer.startSpan(
            "\(method ?? "HTTP") \(context.route)",
            context: open.parent,
            ofKind: .client
        )
        let (origin, url, original) = (request.origin, redaction.url(request.url), request.method.rawValue)
        span.updateAttributes {
            $0["http.request.method"] = method ?? "_OTHER"
            if method == nil { $0["http.request.method_original"] = original }
            $0["server.address"] = origin.host
            $0["server.port"] = origin.port
            $0["url.full"] = url
            $0["url.template"] = context.route
            if context.attempt > 1 { $0["http.request.resend_count"] = context.attempt - 1 }
        }
        tracer.inject(span.context, into: &request.headers, using: HeaderInjector())
        open.insert(span, context.attempt)
    }

    /// Ends the span of an attempt.
    ///
    /// - Parameters:
    ///   - outcome: The outcome, which stays the same.
    ///   - context: The context, which has the spans of all attempts.
    public func adapt(_ outcome: inout TransportOutcome, context: RequestContext) {
        guard let span = openSpans(context).remove(context.attempt) else { return }
        let result = outcome
        span.updateAttributes { attributes in
            if let status = result.status { attributes["http.response.status_code"] = status.rawValue }
            switch result {
            case .success(let response):
                attributes["network.protocol.version"] = "\(response.head.version)".replacing("HTTP/", with: "")
                if response.source.isCache { attributes["sluice.response.source"] = "cache" }
                if response.status.rawValue >= 400 { attributes["error.type"] = "\(response.status)" }
            case .failure(let error): attributes["error.type"] = "\(error.code)"
            }
        }
        switch result {
        case .success(let response) where response.status.rawValue >= 400: span.setStatus(SpanStatus(code: .error))
        case .success: break
        case .failure(let error):
            span.recordError(error)
            span.setStatus(SpanStatus(code: .error, message: error.description))
        }
        span.end()
    }

    private func openSpans(_ context: RequestContext) -> OpenSpans {
        context.value(forKey: "telemetry.spans") { OpenSpans(parent: ServiceContext.current ?? .topLevel) }
    }
}

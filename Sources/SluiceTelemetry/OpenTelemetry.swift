import Sluice
import SluiceFoundation
import SluiceHTTP

/// Exports the spans and the durations of requests to a collector of OpenTelemetry, by OTLP over HTTP.
///
/// ```swift
/// let telemetry = OpenTelemetry { $0.serviceName = "shop" }
/// let client = APIClient(baseURL: "https://api.example.com") {
///     $0.observers = [telemetry]
///     $0.requestInterceptors = [telemetry]
/// }
/// …
/// await telemetry.shutdown()
/// ```
///
/// Each request has a span, below the one of ``TraceContext/current``, and each attempt that is sent has a client's span below that. As an
/// interceptor, the telemetry adds `traceparent`, so that the server continues the trace. One value may serve several clients.
///
/// Requests never wait for an export. Spans beyond the limits of the configuration are dropped and counted in ``statistics``.
public final class OpenTelemetry: RequestObserver, RequestAdapter, ImmediateObserver {
    /// The configuration that the telemetry was created with.
    public let configuration: TelemetryConfiguration
    private let conventions: HTTPConventions
    private let open: Locked<OpenRequests>
    private let spans: SpanExporter?
    private let durations: MetricExporter?

    /// Creates telemetry with a configuration. Nothing is sent before the first request.
    public init(_ configuration: TelemetryConfiguration = TelemetryConfiguration()) {
        self.configuration = configuration
        conventions = configuration.conventions
        open = Locked(OpenRequests(eventLimit: configuration.maximumEvents))
        let messages = ExportMessages(configuration)
        let transport = configuration.transport ?? OTLPSender.ownTransport
        spans = configuration.traces.map { collector in
            SpanExporter(
                configuration.queue,
                OTLPSender(collector, transport, configuration.clock),
                delay: configuration.batchDelay,
                clock: configuration.clock
            ) { collector.format.encoded(messages.traces($0)) }
        }
        durations = configuration.metrics.map { collector in
            MetricExporter(
                configuration.ledger,
                OTLPSender(collector, transport, configuration.clock),
                every: configuration.metricInterval,
                clock: configuration.clock
            ) { collector.format.encoded(messages.metrics($0)) }
        }
    }

    /// Creates telemetry.
    ///
    /// - Parameter configure: Called with the default configuration, to change it.
    public convenience init(configure: (inout TelemetryConfiguration) -> Void) {
        var configuration = TelemetryConfiguration()
        configure(&configuration)
        self.init(configuration)
    }

    deinit {
        spans?.release()
    }

    /// The numbers of spans and metric points that were exported, dropped or refused.
    public var statistics: TelemetryStatistics {
        var statistics = spans?.statistics ?? TelemetryStatistics()
        statistics.openRequests = open.withLock { $0.count }
        guard let points = durations?.statistics else { return statistics }
        statistics.exportedPoints = points.exportedPoints
        statistics.refusedPoints = points.refusedPoints
        statistics.overflowedDurations = points.overflowedDurations
        statistics.failedExports += points.failedExports
        statistics.lastProblem = statistics.lastProblem ?? points.lastProblem
        return statistics
    }

    /// Exports the waiting spans and durations, and waits for the answers of the collectors.
    ///
    /// - Parameter limit: The longest wait. Data that has not been exported by then stays for a later export.
    /// - Returns: True if the collectors have accepted all data in time.
    @discardableResult
    public func flush(within limit: Duration = .seconds(10)) async -> Bool {
        let lost = statistics.lost
        do throws(SluiceError) {
            let isComplete = try await TimedWork.outcome(within: limit, on: configuration.clock) {
                [spans, durations] () async throws(SluiceError) in
                async let spans: Void? = spans?.flush()
                let isComplete = await durations?.flush() ?? true
                _ = await spans
                return isComplete
            }
            return isComplete && statistics.lost == lost
        } catch {
            return false
        }
    }

    /// Exports the waiting spans and durations, and stops the export. Call it when the program ends, after the last request. Later spans
    /// and durations are dropped.
    ///
    /// - Parameter limit: The longest wait. Data that has not been exported by then is dropped.
    /// - Returns: True if the collectors have accepted all data in time.
    @discardableResult
    public func shutdown(within limit: Duration = .seconds(10)) async -> Bool {
        durations?.close()
        let isComplete = await flush(within: limit)
        await spans?.end()
        await durations?.end()
        return isComplete
    }

    // MARK: - Steps of a request

    /// The events that spans need; without a collector, none.
    public var interests: RequestEvent.Kinds {
        if spans == nil && durations == nil { return [] }
        return [.began, .waits, .sending, .redirected, .received, .cached, .retrying, .finished]
    }

    /// Records an event, on the thread of the request.
    public func observe(_ event: RequestEvent, of request: ObservedRequest) {
        let completed: OpenRequests.Completed
        switch event {
        case .began(let sent):
            let header = sent.headers["traceparent"].flatMap {
                TraceContext(traceparent: $0, tracestate: sent.headers["tracestate"])
            }
            let trace = request.cause.map { revalidationTrace(of: $0, header) } ?? newTrace(header)
            open.withLock { $0.begin(sent, request, trace) }
            return
        case .finished(let outcome): completed = open.withLock { $0.finish(outcome, request) { newTrace(nil) } }
        default: completed = open.withLock { $0.record(event, request, newSpanID) }
        }
        spans?.append(completed.spans)
        guard let durations else { return }
        for exchange in completed.exchanges {
            var attributes = [conventions.method(exchange.target.method)] + conventions.server(exchange.target)
            attributes += conventions.result(exchange.outcome)
            if let template = exchange.template { attributes.append(Attribute("url.template", template)) }
            durations.record(exchange.duration, attributes)
        }
    }

    /// Adds `traceparent` and `tracestate`, unless the request has them. Each attempt has an ID of its own in the trace of the request.
    ///
    /// - Parameters:
    ///   - request: The request to change.
    ///   - context: The context.
    public func adapt(_ request: inout HTTPRequest, context: RequestContext) {
        if !configuration.propagates || request.headers.contains("traceparent") { return }
        // A request of a client without this observer has a trace all the same.
        let trace =
            open.withLock { $0.trace(of: context.id) }
            ?? context.value(forKey: "sluice.telemetry.trace") { newTrace(nil) }
        let attempt = TraceContext(
            traceID: trace.traceID,
            parentID: newSpanID(),
            isSampled: trace.isSampled,
            traceState: trace.parent?.traceState
        )
        request.headers.append("traceparent", attempt.traceparent)
        if let state = attempt.traceState, !request.headers.contains("tracestate") {
            request.headers.append("tracestate", state)
        }
    }

    /// Decides about the trace of a request: the caller's, or a new one.
    private func newTrace(_ header: TraceContext?) -> RequestTrace {
        let parent = header ?? TraceContext.current
        let random = IDGenerator.shared.next
        let traceID = parent?.trace ?? TraceContext.TraceID(nonZero: random(), random())
        return RequestTrace(
            traceID: traceID,
            spanID: newSpanID(),
            parent: parent,
            // Without an export of spans, others may still record the caller's trace.
            isSampled: spans == nil
                ? parent?.isSampled == true : configuration.sampler.samples(traceID, parent: parent),
            hasCallersHeader: header != nil
        )
    }

    /// Returns the trace of a request that the cache sends in the background, whose header is not the caller's as a rule.
    private func revalidationTrace(of cause: RequestID, _ header: TraceContext?) -> RequestTrace {
        let spanID = newSpanID()
        return open.withLock { $0.trace(causedBy: cause, header, spanID) } ?? newTrace(nil)
    }

    @Sendable private func newSpanID() -> TraceContext.SpanID {
        TraceContext.SpanID(nonZero: IDGenerator.shared.next())
    }
}

import SluiceHTTP

/// Adds `traceparent` and `tracestate` (W3C Trace Context, level 1), by which tracing systems put together what belongs together.
///
/// ```swift
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.requestInterceptors = [TraceParent()]
/// }
/// ```
///
/// Each attempt is a piece of work of its own with a new ID, in the same trace: that of ``TraceContext/current``, or one of the
/// request's own. A request that has a `traceparent` keeps it.
public struct TraceParent: RequestAdapter {
    /// Told of every attempt, for a tracing system to record it by its ID.
    public typealias Recording = @Sendable (_ attempt: TraceContext, _ parent: TraceContext?, RequestContext) -> Void

    private let samplesNewTraces: Bool
    private let random: @Sendable () -> UInt64
    private let seed: SendingSeed
    private let record: Recording?

    /// Makes an adapter.
    ///
    /// - Parameters:
    ///   - samplesNewTraces: Whether a trace that begins with a request asks to be recorded; true by default. One that is carried on
    ///     keeps to what its parent says.
    ///   - random: Gives the IDs of attempts; the system's random numbers by default.
    ///   - record: Is told of each attempt before it is sent; must not block.
    public init(
        samplesNewTraces: Bool = true,
        random: @escaping @Sendable () -> UInt64 = { .random(in: 1 ... .max) },
        record: Recording? = nil
    ) {
        self.samplesNewTraces = samplesNewTraces
        self.random = random
        self.record = record
        seed = SendingSeed()
    }

    /// Adds the headers.
    ///
    /// - Parameters:
    ///   - request: The request as it will be sent.
    ///   - context: The sending, which a new trace belongs to.
    public func adapt(_ request: inout HTTPRequest, context: RequestContext) {
        if request.headers.contains("traceparent") { return }
        let parent = TraceContext.current
        guard let traceID = parent?.traceID ?? newTraceID(of: context),
            // A generator may give the one number that is no ID.
            let spanID = TraceContext.SpanID(random()) ?? TraceContext.SpanID(1)
        else { return }
        let attempt = TraceContext(
            traceID: traceID,
            parentID: spanID,
            isSampled: parent?.isSampled ?? samplesNewTraces,
            validState: parent?.traceState
        )
        request.headers.append("traceparent", attempt.traceparent)
        if let state = attempt.traceState, !request.headers.contains("tracestate") {
            request.headers.append("tracestate", state)
        }
        record?(attempt, parent, context)
    }

    private func newTraceID(of context: RequestContext) -> TraceContext.TraceID? {
        let (high, low) = seed.numbers(of: context.id)
        return TraceContext.TraceID(high: high, low: low)
    }
}

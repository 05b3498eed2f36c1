import SluiceHTTP

/// Adds `traceparent` and `tracestate` (W3C Trace Context, level 1), by which tracing systems put together what belongs together.
///
/// ```swift
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.requestInterceptors = [TraceParent()]
/// }
/// ```
///
/// Each attempt is a piece of work of its own with a new ID, in the same trace: that of ``TraceContext/current`` where the request
/// was first sent, or one that begins with it. A request that has a `traceparent` keeps it.
public struct TraceParent: RequestAdapter {
    /// Told of every attempt, for a tracing system to record it by its ID.
    public typealias Recording = @Sendable (_ attempt: TraceContext, _ parent: TraceContext?, RequestContext) -> Void

    /// What the attempts of one sending share.
    private final class Trace: Sendable {
        let id: TraceContext.TraceID
        let parent: TraceContext?

        init(id: TraceContext.TraceID, parent: TraceContext?) {
            self.id = id
            self.parent = parent
        }
    }

    private let samplesNewTraces: Bool
    private let random: @Sendable () -> UInt64
    private let record: Recording?

    /// Makes an adapter.
    ///
    /// - Parameters:
    ///   - samplesNewTraces: Whether a trace that begins with a request asks to be recorded; true by default. One that is carried on
    ///     keeps to what its parent says.
    ///   - record: Is told of each attempt before it is sent; must not block.
    ///   - random: Gives the IDs of traces and attempts, 64 bits at each call; by default numbers that cannot be told from random ones
    ///     but by those who mean to, which IDs need not be proof against.
    public init(
        samplesNewTraces: Bool = true,
        record: Recording? = nil,
        random: (@Sendable () -> UInt64)? = nil
    ) {
        self.samplesNewTraces = samplesNewTraces
        self.random = random ?? IDNumbers.shared.next
        self.record = record
    }

    /// Adds the headers.
    ///
    /// - Parameters:
    ///   - request: The request as it will be sent.
    ///   - context: The sending, which a new trace belongs to.
    public func adapt(_ request: inout HTTPRequest, context: RequestContext) {
        if request.headers.contains("traceparent") { return }
        // A later attempt may begin where the task that first sent the request, and its values, are gone.
        let trace = context.remembered("Sluice.TraceParent") {
            Trace(id: TraceContext.current?.traceID ?? newTraceID(), parent: TraceContext.current)
        }
        let attempt = TraceContext(
            traceID: trace.id,
            parentID: newSpanID(),
            isSampled: trace.parent?.isSampled ?? samplesNewTraces,
            validState: trace.parent?.traceState
        )
        request.headers.append("traceparent", attempt.traceparent)
        if let state = attempt.traceState, !request.headers.contains("tracestate") {
            request.headers.append("tracestate", state)
        }
        record?(attempt, trace.parent, context)
    }

    private func newTraceID() -> TraceContext.TraceID {
        TraceContext.TraceID(nonZero: random(), random())
    }

    private func newSpanID() -> TraceContext.SpanID {
        TraceContext.SpanID(nonZero: random())
    }
}

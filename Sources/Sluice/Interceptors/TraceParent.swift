import SluiceHTTP
import Synchronization

/// Adds `traceparent` and `tracestate` (W3C Trace Context, level 1), by which tracing systems correlate requests.
///
/// ```swift
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.requestInterceptors = [TraceParent()]
/// }
/// ```
///
/// Each attempt is an operation with a new ID in the same trace. The trace is that of ``TraceContext/current`` when the
/// request was first sent, or a new one. A request that has a `traceparent` keeps it.
public struct TraceParent: RequestAdapter {
    /// Called for every attempt, so that a tracing system can record it by its ID.
    public typealias Recording = @Sendable (_ attempt: TraceContext, _ parent: TraceContext?, RequestContext) -> Void

    private let samplesNewTraces: Bool
    private let random: @Sendable () -> UInt64
    private let record: Recording?

    /// Creates an adapter.
    ///
    /// - Parameters:
    ///   - samplesNewTraces: True to request recording of new traces; true by default. A continued trace keeps the flag
    ///     of its parent.
    ///   - record: Called for each attempt before it is sent. Must not block.
    ///   - random: Returns 64 bits for IDs of traces and attempts. The default generator is fast and not
    ///     cryptographically secure, which IDs do not need.
    public init(
        samplesNewTraces: Bool = true,
        record: Recording? = nil,
        random: (@Sendable () -> UInt64)? = nil
    ) {
        self.samplesNewTraces = samplesNewTraces
        self.random = random ?? IDGenerator.shared.next
        self.record = record
    }

    /// Adds the headers.
    ///
    /// - Parameters:
    ///   - request: The request to change.
    ///   - context: The context, which keeps a new trace for all attempts.
    public func adapt(_ request: inout HTTPRequest, context: RequestContext) {
        if request.headers.contains("traceparent") { return }
        // A later attempt may run in another task, without the task-local values of the first.
        let trace = context.call.trace {
            let parent = TraceContext.current
            let id = parent?.traceID ?? newTraceID()
            return CallTrace(high: id.high, low: id.low, parent: parent)
        }
        let parent = trace.parent as? TraceContext
        let attempt = TraceContext(
            traceID: TraceContext.TraceID(nonZero: trace.high, trace.low),
            parentID: newSpanID(),
            isSampled: parent?.isSampled ?? samplesNewTraces,
            validState: parent?.traceState
        )
        request.headers.append("traceparent", length: TraceContext.traceparentLength, attempt.write)
        if let state = attempt.traceState, !request.headers.contains("tracestate") {
            request.headers.append("tracestate", state)
        }
        record?(attempt, parent, context)
    }

    private func newTraceID() -> TraceContext.TraceID {
        TraceContext.TraceID(nonZero: random(), random())
    }

    private func newSpanID() -> TraceContext.SpanID {
        TraceContext.SpanID(nonZero: random())
    }
}

/// A fast generator of pseudorandom numbers for IDs: a few nanoseconds per number, without a system call.
///
/// SplitMix64: a counter with an odd step, which does not repeat within 2^64 calls, and an invertible function that
/// mixes its bits. The counter starts at a random number from the system.
package final class IDGenerator: Sendable {
    /// The generator of the process.
    package static let shared = IDGenerator()

    private let counter = Atomic<UInt64>(.random(in: .min ... .max))

    private init() {}

    /// Returns the next number.
    @Sendable package func next() -> UInt64 {
        var bits = counter.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}

import Synchronization
import Tracing

/// A tracer that keeps its spans in memory, and propagates them as `traceparent` (W3C Trace Context).
final class RecordingTracer: Tracer {
    /// The IDs of a span, in a `ServiceContext`.
    struct Identity: Sendable, Equatable {
        let traceID: String
        let spanID: String
    }

    private enum IdentityKey: ServiceContextKey {
        typealias Value = Identity
    }

    private let stored = Mutex<[RecordingSpan]>([])

    /// All spans, in the order in which they began.
    var spans: [RecordingSpan] { stored.withLock { $0 } }

    /// Returns the IDs of the span that a context belongs to.
    static func identity(in context: ServiceContext) -> Identity? { context[IdentityKey.self] }

    func startSpan<Instant: TracerInstant>(
        _ operationName: String,
        context: @autoclosure () -> ServiceContext,
        ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant,
        function: String,
        file fileID: String,
        line: UInt
    ) -> RecordingSpan {
        var context = context()
        let parent = context[IdentityKey.self]
        return stored.withLock { spans in
            let number = String(spans.count + 1, radix: 16)
            let identity = Identity(
                traceID: parent?.traceID ?? Self.padded(number, to: 32),
                spanID: Self.padded(number, to: 16)
            )
            context[IdentityKey.self] = identity
            let span = RecordingSpan(operationName, kind, context, identity, parent)
            spans.append(span)
            return span
        }
    }

    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext,
        into carrier: inout Carrier,
        using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let identity = context[IdentityKey.self] else { return }
        injector.inject("00-\(identity.traceID)-\(identity.spanID)-01", forKey: "traceparent", into: &carrier)
    }

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier,
        into context: inout ServiceContext,
        using extractor: Extract
    ) where Extract.Carrier == Carrier {}

    func forceFlush() {}

    private static func padded(_ digits: String, to length: Int) -> String {
        String(repeating: "0", count: length - digits.count) + digits
    }
}

/// A span in memory.
final class RecordingSpan: Tracing.Span {
    private struct State {
        var operationName: String
        var attributes = SpanAttributes()
        var status: SpanStatus?
        var errors: [String] = []
        var events: [SpanEvent] = []
        var links: [SpanLink] = []
        var ends = 0
    }

    let kind: SpanKind
    let context: ServiceContext
    let identity: RecordingTracer.Identity
    let parent: RecordingTracer.Identity?
    private let state: Mutex<State>

    init(
        _ operationName: String,
        _ kind: SpanKind,
        _ context: ServiceContext,
        _ identity: RecordingTracer.Identity,
        _ parent: RecordingTracer.Identity?
    ) {
        self.kind = kind
        self.context = context
        self.identity = identity
        self.parent = parent
        state = Mutex(State(operationName: operationName))
    }

    var operationName: String {
        get { state.withLock { $0.operationName } }
        set { state.withLock { $0.operationName = newValue } }
    }
    var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set { state.withLock { $0.attributes = newValue } }
    }
    var isRecording: Bool { state.withLock { $0.ends == 0 } }
    var status: SpanStatus.Code? { state.withLock { $0.status?.code } }
    var errors: [String] { state.withLock { $0.errors } }
    /// The number of times that the span was ended.
    var ends: Int { state.withLock { $0.ends } }

    func setStatus(_ status: SpanStatus) { state.withLock { $0.status = status } }
    func addEvent(_ event: SpanEvent) { state.withLock { $0.events.append(event) } }
    func addLink(_ link: SpanLink) { state.withLock { $0.links.append(link) } }

    func recordError<Instant: TracerInstant>(
        _ error: any Error,
        attributes: SpanAttributes,
        at instant: @autoclosure () -> Instant
    ) {
        state.withLock { $0.errors.append("\(error)") }
    }

    func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        state.withLock { $0.ends += 1 }
    }
}

import Sluice
import SluiceFoundation
import SluiceHTTP

/// The requests that have begun and not ended, and the spans and durations that their events complete.
struct OpenRequests {
    /// The results of an event.
    struct Completed {
        var spans: [SpanRecord] = []
        var exchanges: [(target: SentTarget, template: String?, duration: Duration, outcome: SpanOutcome)] = []
    }

    /// A request on the wire and the response to it, which may redirect.
    fileprivate struct Exchange {
        let target: SentTarget
        /// The route of the request; nil after a redirect, to which it does not apply.
        let template: String?
        let began: ContinuousClock.Instant
    }

    fileprivate struct Attempt {
        var span: SpanRecord
        /// The exchange that runs; nil between a redirect and the request that follows it.
        var exchange: Exchange?
    }

    fileprivate struct Entry {
        var span: SpanRecord
        var trace: RequestTrace
        var attempts: [Int: Attempt] = [:]
    }

    private let eventLimit: Int
    private var entries: [RequestID: Entry] = [:]

    init(eventLimit: Int) {
        self.eventLimit = max(0, eventLimit)
    }

    /// The number of requests that have begun and not ended.
    var count: Int { entries.count }

    /// Returns the trace of a request; nil if it has not begun, or has ended.
    func trace(of id: RequestID) -> RequestTrace? { entries[id]?.trace }

    /// Returns the trace of a request that the cache sends because of another one; nil if that one has ended.
    ///
    /// - Parameters:
    ///   - cause: The other request, whose span is the parent.
    ///   - header: The header of the other request's attempt, with which the new one is sent; nil without one.
    ///   - spanID: The ID of the new request's span.
    /// - Returns: The trace.
    func trace(causedBy cause: RequestID, _ header: TraceContext?, _ spanID: TraceContext.SpanID) -> RequestTrace? {
        guard let entry = entries[cause] else { return nil }
        let trace = entry.trace
        // Another interceptor began the trace of the header, in which the other request has no span.
        let foreign = trace.hasCallersHeader || header?.trace == trace.traceID ? nil : header?.trace
        // A redirect led to the cache, and the request before it was sent with the header.
        let isSent = entry.attempts.values.contains { $0.span.spanID == header?.span }
        let parent = TraceContext(
            traceID: trace.traceID,
            parentID: trace.spanID,
            isSampled: trace.isSampled,
            traceState: trace.parent?.traceState
        )
        return RequestTrace(
            traceID: foreign ?? trace.traceID,
            spanID: spanID,
            parent: foreign == nil ? parent : nil,
            isSampled: trace.isSampled,
            hasCallersHeader: trace.hasCallersHeader || isSent
        )
    }

    /// Records that a request began.
    mutating func begin(_ sent: HTTPRequest, _ request: ObservedRequest, _ trace: RequestTrace) {
        entries[request.id] = entry(request, trace, SentTarget(sent))
    }

    /// Records the end of a request, of its attempts too.
    ///
    /// - Parameters:
    ///   - outcome: The outcome.
    ///   - request: The request.
    ///   - makeTrace: Creates the trace of a request that could not be built, which had no beginning.
    /// - Returns: The spans.
    mutating func finish(
        _ outcome: TransportOutcome,
        _ request: ObservedRequest,
        _ makeTrace: () -> RequestTrace
    ) -> Completed {
        var entry = entries.removeValue(forKey: request.id) ?? entry(request, makeTrace(), nil)
        var completed = Completed()
        // An attempt without an outcome was left behind: by the end of the request, or by a hedged attempt that was faster.
        let end: SpanOutcome =
            if case .failure(let error) = outcome { SpanOutcome(.failure(error)) } else {
                SpanOutcome(.failure(.leftBehind))
            }
        for number in entry.attempts.keys.sorted() { entry.end(number, end, request, &completed) }
        entry.span.end = request.nanoseconds
        entry.span.outcome = SpanOutcome(outcome, isWhole: true)
        if entry.trace.isSampled { completed.spans.append(entry.span) }
        return completed
    }

    /// Records any other event.
    mutating func record(
        _ event: RequestEvent,
        _ request: ObservedRequest,
        _ makeSpanID: () -> TraceContext.SpanID
    ) -> Completed {
        var completed = Completed()
        guard var entry = entries[request.id] else { return completed }
        // Removed while it changes, so that it is not copied.
        entries[request.id] = nil
        defer { entries[request.id] = entry }
        let time = request.nanoseconds
        func add(_ name: String, _ attributes: [Attribute]) {
            guard entry.trace.isSampled else { return }
            let number = request.attempt > 0 ? [Attribute("sluice.attempt", request.attempt)] : []
            entry.span.add(SpanEvent(time: time, name: name, attributes: attributes + number), limit: eventLimit)
        }
        switch event {
        case .waiting(let gate): add("gate.waiting", [Attribute("sluice.gate", gate)])
        case .admitted(let gate): add("gate.admitted", [Attribute("sluice.gate", gate)])
        case .refused(let gate, let error):
            add("gate.refused", [Attribute("sluice.gate", gate), Attribute("error.type", error.code.description)])
        case .sending(let sent): entry.send(sent, request, makeSpanID)
        case .redirected(let response, let next):
            entry.attempts[request.attempt]?.endExchange(SpanOutcome(.success(response)), request, &completed)
            guard entry.trace.isSampled else { break }
            let attributes = [
                Attribute("http.response.status_code", Int(response.status.rawValue)),
                Attribute("url.full", next.redactedURL),
            ]
            entry.attempts[request.attempt]?.span.add(
                SpanEvent(time: time, name: "redirect", attributes: attributes),
                limit: eventLimit
            )
        case .received(let outcome): entry.end(request.attempt, SpanOutcome(outcome), request, &completed)
        case .cached(let response):
            // An attempt whose response was revalidated ends with it.
            entry.end(request.attempt, SpanOutcome(.success(response)), request, &completed)
            add("cache.hit", [Attribute("http.response.status_code", Int(response.status.rawValue))])
        case .retrying(after: let delay, let outcome):
            entry.end(request.attempt, SpanOutcome(outcome), request, &completed)
            add("retry", [Attribute("sluice.delay", .double(delay / .seconds(1)))])
        case .hedging: add("hedge", [])
        case .began, .informational, .finished: break
        }
        return completed
    }

    private func entry(_ request: ObservedRequest, _ trace: RequestTrace, _ target: SentTarget?) -> Entry {
        let start = request.nanoseconds(at: request.began)
        let span = SpanRecord(
            trace: trace,
            spanID: trace.spanID,
            parentID: trace.parent?.span,
            attempt: nil,
            method: request.method,
            template: request.declaredRoute,
            target: target,
            start: start,
            end: start
        )
        return Entry(span: span, trace: trace)
    }
}

extension OpenRequests.Entry {
    /// Begins an attempt, or the next exchange of one that a server has redirected.
    fileprivate mutating func send(
        _ sent: HTTPRequest,
        _ request: ObservedRequest,
        _ makeSpanID: () -> TraceContext.SpanID
    ) {
        let target = SentTarget(sent)
        if let attempt = attempts[request.attempt] {
            // A request that the cache repeats without conditions belongs to the exchange that runs.
            if attempt.exchange != nil { return }
            attempts[request.attempt]?.exchange = .init(target: target, template: nil, began: request.instant)
            return
        }
        let header =
            trace.hasCallersHeader ? nil : sent.headers["traceparent"].flatMap { TraceContext(traceparent: $0) }
        // Another interceptor began the trace, and the server knows it by that ID.
        if let header, trace.parent == nil, header.trace != trace.traceID {
            trace.traceID = header.trace
            span.trace = trace
        }
        let time = request.nanoseconds
        let attempt = SpanRecord(
            trace: trace,
            spanID: header?.span ?? makeSpanID(),
            parentID: trace.spanID,
            attempt: request.attempt,
            method: request.method,
            template: request.declaredRoute,
            target: target,
            start: time,
            end: time
        )
        let exchange = OpenRequests.Exchange(target: target, template: attempt.template, began: request.instant)
        attempts[request.attempt] = OpenRequests.Attempt(span: attempt, exchange: exchange)
    }

    fileprivate mutating func end(
        _ number: Int,
        _ outcome: SpanOutcome,
        _ request: ObservedRequest,
        _ completed: inout OpenRequests.Completed
    ) {
        guard var attempt = attempts.removeValue(forKey: number) else { return }
        attempt.endExchange(outcome, request, &completed)
        attempt.span.end = request.nanoseconds
        attempt.span.outcome = outcome
        if trace.isSampled { completed.spans.append(attempt.span) }
    }
}

extension OpenRequests.Attempt {
    /// Ends the exchange that runs; has no effect if none does.
    fileprivate mutating func endExchange(
        _ outcome: SpanOutcome,
        _ request: ObservedRequest,
        _ completed: inout OpenRequests.Completed
    ) {
        guard let ended = exchange.take() else { return }
        let duration = ended.began.duration(to: request.instant)
        completed.exchanges.append((ended.target, ended.template, duration, outcome))
    }
}

extension SluiceError {
    fileprivate static var leftBehind: SluiceError {
        SluiceError(.cancelled, "Another attempt of the request was faster.", step: .recovery)
    }
}

extension ObservedRequest {
    /// The time of the event in nanoseconds since 1970.
    fileprivate var nanoseconds: UInt64 { nanoseconds(at: instant) }

    /// The time of an instant. Only the beginning has a date, so that the clock of the system does not bend durations.
    fileprivate func nanoseconds(at instant: ContinuousClock.Instant) -> UInt64 {
        let seconds = beganDate.timeIntervalSince1970
        guard seconds > 0, seconds < 1e10 else { return 0 }
        return UInt64(seconds * 1e9) + UInt64(max(0, min(began.duration(to: instant) / .nanoseconds(1), 1e18)))
    }
}

// MARK: - Telemetry sampler

/// Decides if the spans of a request are exported.
public struct TelemetrySampler: Sendable, Hashable {
    private enum Root: Sendable, Hashable {
        case always
        case never
        /// The share of traces whose last 64 bits, without the lowest one, are below a bound, as the SDKs for Go and Python decide, so
        /// that all agree about a trace.
        case below(UInt64)
    }

    private let root: Root
    private let followsParent: Bool

    /// All requests.
    public static let alwaysOn = TelemetrySampler(root: .always, followsParent: false)
    /// No request.
    public static let alwaysOff = TelemetrySampler(root: .never, followsParent: false)

    /// A share of the traces, chosen by their IDs.
    ///
    /// - Parameter ratio: From 0, none, to 1, all. Values outside are clamped.
    /// - Returns: A sampler.
    public static func traceIDRatio(_ ratio: Double) -> TelemetrySampler {
        if ratio >= 1 { return .alwaysOn }
        guard ratio > 0 else { return .alwaysOff }
        return TelemetrySampler(root: .below(UInt64(ratio * 0x1p63)), followsParent: false)
    }

    /// The decision of the trace that a request continues; for a request that begins a trace, that of another sampler.
    public static func parentBased(_ root: TelemetrySampler = .alwaysOn) -> TelemetrySampler {
        TelemetrySampler(root: root.root, followsParent: true)
    }

    /// Returns true if the spans of a request are exported.
    func samples(_ trace: TraceContext.TraceID, parent: TraceContext?) -> Bool {
        if followsParent, let parent { return parent.isSampled }
        switch root {
        case .always: return true
        case .never: return false
        case .below(let bound): return trace.low >> 1 < bound
        }
    }
}

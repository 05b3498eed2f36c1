import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What all attempts of one sending of a request share.
final class Sending: Sendable {
    private struct State {
        var attempts = 0
        var replayed: Set<Int> = []
        /// There is one, as a rule, if there are any.
        var remembered: (key: String, value: any Sendable)?
        var others: [String: any Sendable] = [:]
        /// What has just been found to be kept, and under what.
        var found: (key: CacheKey, entries: [CacheEntry])?
        var isFinished = false
        var stages = SendingStages()
        /// Why it is sent again, or has been.
        var lastFailure: SluiceError?

        func value(_ key: String) -> (any Sendable)? {
            if let remembered, remembered.key == key { return remembered.value }
            return others[key]
        }

        mutating func remember(_ value: any Sendable, _ key: String) {
            if remembered == nil || remembered?.key == key { remembered = (key, value) } else { others[key] = value }
        }
    }

    let client: APIClient
    let draft: RequestDraft
    let request: HTTPRequest
    let transfer: TransferContext
    let transport: any Transport
    let steps: Steps
    /// The HTTP cache; nil where it has no part in this.
    let cache: ExchangeCache?
    /// What takes the response's body; nil where it is collected in memory.
    let sink: (any ResponseSink)?
    let id = RequestID.next()
    let began: ContinuousClock.Instant
    /// The end of the total time, which covers gates, redirects and all attempts.
    let deadline: ContinuousClock.Instant?
    /// From the gates whose work it is sent by.
    let exemptions: [Exemption]
    private let subject: ObservedRequest.Subject?
    private let state = Locked(State())

    init(
        _ request: HTTPRequest,
        _ draft: RequestDraft,
        _ transfer: TransferContext,
        _ steps: Steps,
        by client: APIClient,
        on transport: any Transport,
        cache: ExchangeCache? = nil,
        into sink: (any ResponseSink)? = nil
    ) {
        self.sink = sink
        self.cache = cache
        self.transport = transport
        self.client = client
        self.draft = draft
        self.request = request
        self.transfer = transfer
        self.steps = steps
        let pipeline = client.pipeline
        began = pipeline.time.now
        deadline = transfer.timeouts.total.map { pipeline.time.now + $0 }
        exemptions = steps.gates.isEmpty ? [] : Exemption.current
        subject =
            steps.observers.isEmpty
            ? nil
            : ObservedRequest.Subject(
                id: id,
                draft: draft,
                began: began,
                beganDate: pipeline.time.date,
                secretHeaders: steps.secretHeaders
            )
        tell(.began, 0) { .began(request) }
    }

    deinit {
        // Nobody has waited for its end.
        finish(.failure(.cancelled))
    }

    /// The request's own policy, or the client's.
    var retry: RetryPolicy { draft.options.retry ?? client.pipeline.configuration.retry }
    /// The request's own policy, or the client's.
    var hedging: HedgingPolicy { draft.options.hedging ?? client.pipeline.configuration.hedging }

    /// Whether there is anything to decide about another attempt.
    var mayBeRetried: Bool { draft.options.retry?.isActive ?? client.pipeline.retries }

    /// Whether it may be sent more than once: by its method, or its own word.
    var isIdempotent: Bool { draft.options.isIdempotent ?? request.method.isIdempotent }

    /// Whether a second attempt may be sent next to the first.
    var isHedged: Bool {
        (draft.options.hedging?.maximumExtra ?? client.pipeline.hedges) > 0 && request.method.isSafe
            && request.body.isReplayable && sink == nil
    }

    /// Whether its first attempt may do without a task.
    var mayBeImmediate: Bool { steps.immediateGates != nil && !isHedged }

    /// Whether its total time is up.
    var isOverdue: Bool { deadline.map { client.pipeline.time.now >= $0 } ?? false }

    /// Where it is, if its time is limited.
    var stage: SendingStage { state.withLock { $0.stages.current } }

    func enter(_ stage: SendingStage) {
        // Nobody will ask otherwise.
        if deadline != nil { state.withLock { $0.stages.enter(stage) } }
    }

    func leave(gate: String) {
        if deadline != nil { state.withLock { $0.stages.leave(gate: gate) } }
    }

    /// What the attempt before had failed with, where there was one and the request's time is limited.
    var lastFailure: SluiceError? { state.withLock { $0.lastFailure } }

    /// Notes with what an attempt has failed that is followed by another.
    func note(failed outcome: TransportOutcome) {
        guard deadline != nil, let failure = outcome.apparentFailure else { return }
        enter(.pause)
        state.withLock { $0.lastFailure = failure }
    }

    /// How many attempts there have been.
    var attempts: Int { state.withLock { $0.attempts } }

    /// The context of the next attempt.
    func nextAttempt() -> RequestContext {
        let number = state.withLock { state in
            state.attempts += 1
            return state.attempts
        }
        guard number > 1 || mayBeRetried else {
            return RequestContext(attempt: number, within: transfer.timeouts.total, of: self)
        }
        let left = deadline.map { max(.zero, client.pipeline.time.now.duration(to: $0)) }
        // What goes on and on has its attempt behind it with the head.
        let limit = sink == nil ? retry.attemptTimeout : nil
        return RequestContext(attempt: number, within: [left, limit].compactMap(\.self).min(), of: self)
    }

    /// Whether it passes this gate without asking.
    func skips(_ gate: String) -> Bool {
        draft.options.steps.skipsAllGates || draft.options.steps.skippedGates.contains(gate)
            || exemptions.contains { $0.covers(gate, of: client.pipeline) }
    }

    /// Whether a gate that wants it sent again has not wanted that before, and its body can be.
    func mayReplay(for gate: Int) -> Bool {
        request.body.isReplayable && state.withLock { $0.replayed.insert(gate).inserted }
    }

    /// Notes what has been found to be kept, for the attempt that goes on with it.
    func note(found entries: [CacheEntry], for key: CacheKey) {
        state.withLock { $0.found = (key, entries) }
    }

    /// What has been found, once.
    func takeFound(for key: CacheKey) -> [CacheEntry]? {
        state.withLock { state in
            guard let found = state.found.take(), found.key == key else { return nil }
            return found.entries
        }
    }

    /// A value that is made once a sending.
    func remembered<Value: Sendable>(_ key: String, _ make: () -> Value) -> Value {
        if let value = state.withLock({ $0.value(key) as? Value }) { return value }
        // Not under the lock: it may ask for another value.
        let made = make()
        return state.withLock { state in
            if let value = state.value(key) as? Value { return value }
            state.remember(made, key)
            return made
        }
    }

    /// Tells those observers of an event who want its kind, until the last one.
    func tell(_ kind: RequestEvent.Kinds, _ attempt: Int, _ event: () -> RequestEvent) {
        guard let subject, steps.observers.contains(where: { $0.interests.contains(kind) }) else { return }
        let instant = client.pipeline.time.now
        let note = ObserverMailbox.Note(event(), ObservedRequest(subject, attempt: attempt, instant: instant))
        // Under the lock, lest an event overtakes another, or the last one.
        state.withLock { state in
            if state.isFinished { return }
            if kind == .finished { state.isFinished = true }
            for observer in steps.observers where observer.interests.contains(kind) {
                observer.post(note)
            }
        }
    }

    /// Tells observers of the informational responses of an attempt; nil where none wants them.
    func informationalNote(_ attempt: Int) -> (@Sendable (HTTPResponse) -> Void)? {
        guard steps.observesInformational else { return nil }
        return { [self] head in tell(.informational, attempt) { .informational(head) } }
    }

    func finish(_ outcome: @autoclosure () -> TransportOutcome) {
        tell(.finished, 0) { .finished(outcome()) }
    }
}

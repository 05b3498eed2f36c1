import Dispatch
import SluiceFoundation
import SluiceHTTP

/// Receives the events of every request, for a log, metrics or an inspector.
///
/// ```swift
/// struct Announcer: RequestObserver {
///     func observe(_ event: RequestEvent, of request: ObservedRequest) {
///         if case .finished(.failure(let error)) = event { print(request.route, error) }
///     }
/// }
/// ```
///
/// Events wait in a queue of the observer and are delivered one at a time, in order, off the pipeline's threads. A slow
/// observer does not delay requests. Beyond 16 MiB of waiting bodies, further events wait without theirs, and
/// ``ObservedRequest/omittedBodyBytes`` is the number of bytes that an event lacks. Beyond 65,536 waiting events, or 64 MiB
/// without bodies, the newest are dropped, and their number is reported. The observers of single requests share these
/// limits: ``ModifiableRequest/observer(_:)``.
///
/// Observers of Sluice that only count, such as ``RequestMetrics``, are called on the pipeline's threads instead, because
/// that takes less time than the queue.
///
/// While the observer is called, the task-local values are those of the task that started the request, so a line that it logs
/// has the caller's metadata. The values of Sluice itself, such as ``Deadline/current``, are not set.
public protocol RequestObserver: Sendable, _ObserverInterests {
    /// The events that the observer receives; all by default. Events that no observer receives cost nothing.
    var interests: RequestEvent.Kinds { get }

    /// True, the default, to be called with the task-local values of the task that started the request. False saves a few microseconds
    /// a request.
    var usesTaskLocals: Bool { get }

    /// Called for each event.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - request: The request, the attempt and the time of the event.
    func observe(_ event: RequestEvent, of request: ObservedRequest)

    /// Called with the number of events that were dropped because the observer was too slow. Does nothing by default.
    func didDrop(_ count: Int)
}

extension RequestObserver {
    /// True: the observer is called with the caller's task-local values.
    public var usesTaskLocals: Bool { true }

    /// Does nothing.
    public func didDrop(_ count: Int) {}
}

/// The queue of events for an observer.
final class ObserverMailbox: Sendable {
    /// An event for all observers that queue it. A class, so that passing it on copies a pointer.
    final class Message: Sendable {
        let event: RequestEvent
        let request: ObservedRequest

        init(_ event: RequestEvent, _ request: ObservedRequest) {
            self.event = event
            self.request = request
        }

        /// Returns the message without the bodies of its event.
        func withoutBodies(_ cost: ObserverBacklog.Cost) -> Message {
            Message(event.withoutBodies, request.omitting(cost))
        }
    }

    /// A message that waits for this observer.
    private struct Waiting {
        let message: Message
        let cost: ObserverBacklog.Cost
    }

    private struct State {
        var waiting: [Waiting] = []
        /// The size of the events that wait or are being delivered.
        var backlog = ObserverBacklog()
        var dropped = 0
        var isDelivering = false
        /// True if a delivery will follow after the delay.
        var isScheduled = false
    }

    /// The delay after the first event, in which others gather. Waking a thread for each event would cost more than the
    /// event.
    static let delay = DispatchTimeInterval.milliseconds(5)

    let interests: RequestEvent.Kinds
    /// True if the observer receives requests as the transport sent them.
    let recordsRequests: Bool
    private let observer: any RequestObserver
    /// The observer, if it is called directly instead of through the queue.
    private let immediate: (any ImmediateObserver)?
    /// The observer, if it consumes some events at once.
    private let selective: (any SelectiveObserver)?
    private let state = Locked(State())
    /// The size of the events of several mailboxes together; nil if this one has limits of its own.
    private let shared: Locked<ObserverBacklog>?
    private let queue = DispatchQueue(label: "sluice.observer")

    /// The size of the events that wait for observers of single requests. Each request may have another observer, so
    /// limits for each would not bound their sum.
    static let ofRequests = Locked(ObserverBacklog())

    init(_ observer: any RequestObserver, sharing shared: Locked<ObserverBacklog>? = nil) {
        self.observer = observer
        self.shared = shared
        immediate = observer as? any ImmediateObserver
        selective = observer as? any SelectiveObserver
        interests = observer.interests
        recordsRequests = observer is any RecordingObserver
        ProcessExit.register()
    }

    /// Returns a task that calls the observer with the current task-local values; nil if it does not use them.
    func callersTask() -> CallersTask? {
        immediate == nil && observer.usesTaskLocals ? CallersTask(observer) : nil
    }

    /// Delivers an event, or queues it.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - request: Its request.
    ///   - posted: The message that all observers share. Nil before the first one that queues it, as many events are not queued.
    func post(_ event: RequestEvent, _ request: ObservedRequest, _ posted: inout Message?) {
        if let immediate { return immediate.observe(event, of: request) }
        if let selective, selective.consume(event, of: request) { return }
        let message = posted ?? Message(event, request)
        posted = message
        let cost = event.cost
        let begins = state.withLock { state in
            switch shared.map({ $0.withLock { $0.add(cost) } }) ?? state.backlog.add(cost) {
            case .whole: state.waiting.append(Waiting(message: message, cost: cost))
            case .withoutBodies:
                state.waiting.append(Waiting(message: message.withoutBodies(cost), cost: cost.withoutBodies))
            case .dropped:
                // Reported even if no other event follows.
                state.dropped += 1
            }
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        guard begins else { return }
        ProcessExit.beginWork()
        deliverSoon()
    }

    /// Waits until the observer has received all events posted before.
    func deliverAll() async {
        await queue.result { [self] in deliver() }
    }

    private func deliverSoon() {
        let isFirst = state.withLock { state in
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        guard isFirst else { return }
        queue.asyncAfter(deadline: .now() + Self.delay) { [self] in
            state.withLock { $0.isScheduled = false }
            deliver()
        }
    }

    /// Delivers the waiting events. Events posted meanwhile wait for the next delivery.
    private func deliver() {
        var (messages, dropped) = state.withLock { state in
            defer {
                state.waiting = []
                state.dropped = 0
            }
            return (state.waiting, state.dropped)
        }
        // Each message is released as soon as it has been delivered.
        messages.reverse()
        while let next = messages.popLast() {
            let message = next.message
            if let task = message.request.subject.tasks.first(where: { $0.observer === self })?.task {
                task.deliver(message)
            } else {
                observer.observe(message.event, of: message.request)
            }
            if let shared {
                shared.withLock { $0.remove(next.cost) }
            } else {
                state.withLock { $0.backlog.remove(next.cost) }
            }
        }
        if dropped > 0 { observer.didDrop(dropped) }
        let (continues, ends) = state.withLock { state in
            let wasDelivering = state.isDelivering
            state.isDelivering = !state.waiting.isEmpty || state.dropped > 0
            return (state.isDelivering, wasDelivering && !state.isDelivering)
        }
        if continues { deliverSoon() }
        if ends { ProcessExit.endWork() }
    }
}

/// An observer that receives requests as the transport sent them.
protocol RecordingObserver: RequestObserver {}

/// An observer that consumes some events at once and has the others queued.
protocol SelectiveObserver: RequestObserver {
    /// Consumes an event, and returns true, or returns false for an event that is to be queued. Called once for each event, on the pipeline's own
    /// threads, several at a time.
    func consume(_ event: RequestEvent, of request: ObservedRequest) -> Bool
}

/// An observer so fast that queueing its events would cost more. It is called on the pipeline's own threads, several at
/// a time, under the lock of the ``Call``.
package protocol ImmediateObserver: RequestObserver {}

// MARK: - Callers task

/// Calls an observer with the task-local values of the task that started a request.
///
/// Swift copies task-local values only into a new task. So the start of the request creates one, which waits for messages. Its executor runs it on the thread that
/// has a message for it, and it waits again before that call returns.
final class CallersTask: Sendable {
    /// An executor that runs a job where the job becomes ready.
    private final class InlineExecutor: TaskExecutor {
        static let shared = InlineExecutor()

        func enqueue(_ job: consuming ExecutorJob) {
            UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    private typealias Continuation = UnsafeContinuation<ObserverMailbox.Message?, Never>

    private struct State {
        var waiting: Continuation?
        var hasEnded = false
    }

    /// The state that the task shares with its owner. The task must not keep the owner, whose end ends it.
    private final class Slot: Sendable {
        let state = Locked(State())

        /// Waits for the next message; nil at the end.
        func next() async -> ObserverMailbox.Message? {
            await withUnsafeContinuation { continuation in
                let hasEnded = state.withLock { state in
                    if !state.hasEnded { state.waiting = continuation }
                    return state.hasEnded
                }
                if hasEnded { continuation.resume(returning: nil) }
            }
        }
    }

    private let slot = Slot()

    /// Creates a task with the task-local values of the current one.
    init(_ observer: any RequestObserver) {
        Task(executorPreference: InlineExecutor.shared) { [slot] in
            // Requests that the observer sends are its own: the caller's deadline does not apply, and they bypass no gate.
            await Deadline.$current.withValue(nil) {
                await GateBypass.$current.withValue([]) {
                    await SharedTransfers.$current.withValue([]) {
                        while let message = await slot.next() { observer.observe(message.event, of: message.request) }
                    }
                }
            }
        }
    }

    deinit {
        let waiting = slot.state.withLock { state in
            state.hasEnded = true
            return state.waiting.take()
        }
        waiting?.resume(returning: nil)
    }

    /// Calls the observer. Calls must not overlap.
    ///
    /// - Parameter message: The event and its request.
    func deliver(_ message: ObserverMailbox.Message) {
        slot.state.withLock { $0.waiting.take() }?.resume(returning: message)
    }
}

// MARK: - Observer backlog

/// The size of the events that wait for an observer, and its limits.
///
/// Bodies are omitted first: an event whose bodies exceed their limit waits without them. An event is dropped only if
/// there are too many, or if the rest of them is too large.
struct ObserverBacklog {
    /// The estimated memory of an event in bytes.
    struct Cost: Sendable, Hashable {
        /// The bytes of request bodies and of response bodies in memory.
        var requestBodies = 0
        var responseBodies = 0
        /// The bytes of everything else.
        var other = 0

        var bodies: Int { requestBodies + responseBodies }

        /// The same without bodies.
        var withoutBodies: Cost { Cost(other: other) }
    }

    /// The handling of a new event.
    enum Admission: Sendable, Hashable {
        case whole
        case withoutBodies
        case dropped
    }

    /// The maximum number of waiting events.
    static let countLimit = 65_536
    /// The maximum number of bytes of their bodies.
    static let bodyLimit = 16 << 20
    /// The maximum number of bytes of everything else.
    static let otherLimit = 64 << 20

    private(set) var count = 0
    private(set) var bodies = 0
    private(set) var other = 0

    /// Decides about a new event, and counts it unless it is dropped.
    mutating func add(_ cost: Cost) -> Admission {
        guard count < Self.countLimit, cost.other <= Self.otherLimit - other else { return .dropped }
        count += 1
        other += cost.other
        guard cost.bodies <= Self.bodyLimit - bodies else { return .withoutBodies }
        bodies += cost.bodies
        return .whole
    }

    /// Removes an event that the observer has received.
    mutating func remove(_ cost: Cost) {
        count -= 1
        bodies -= cost.bodies
        other -= cost.other
    }
}

// MARK: - The size of an event

extension RequestEvent {
    /// The estimated memory of the event.
    var cost: ObserverBacklog.Cost {
        // The event itself, and its share of the properties that all events of a request have.
        var cost = ObserverBacklog.Cost(other: 512)
        switch self {
        case .began(let request), .sending(let request): cost.add(request)
        case .waiting, .admitted, .hedging: break
        case .refused(_, let error): cost.add(error)
        case .redirected(let response, let next):
            cost.add(response)
            cost.add(next)
        case .informational(let head): cost.other += head.headers.byteCount
        case .received(let outcome), .retrying(_, let outcome), .finished(let outcome): cost.add(outcome)
        case .cached(let response): cost.add(response)
        }
        return cost
    }

    /// The event with empty bodies in place of those in memory.
    var withoutBodies: RequestEvent {
        switch self {
        case .began(let request): .began(request.withoutBody)
        case .sending(let request): .sending(request.withoutBody)
        case .waiting, .admitted, .hedging, .informational: self
        case .refused(let gate, let error): .refused(gate: gate, error.withoutBody)
        case .redirected(let response, let next): .redirected(response.withoutBodies, to: next.withoutBody)
        case .received(let outcome): .received(outcome.withoutBodies)
        case .retrying(let delay, let outcome): .retrying(after: delay, outcome.withoutBodies)
        case .finished(let outcome): .finished(outcome.withoutBodies)
        case .cached(let response): .cached(response.withoutBodies)
        }
    }
}

extension ObserverBacklog.Cost {
    fileprivate mutating func add(_ request: HTTPRequest) {
        other += request.headers.byteCount + request.authority.utf8.count + request.path.utf8.count
        if case .data(let data) = request.body.source { requestBodies += data.count }
    }

    fileprivate mutating func add(_ response: ServerResponse) {
        add(response.request)
        other += response.head.headers.byteCount + response.trailers.byteCount
        responseBodies += response.body.count
    }

    fileprivate mutating func add(_ error: SluiceError) {
        other += error.reason.utf8.count
        if let request = error.request { add(request) }
        if let response = error.response { other += response.headers.byteCount }
        if let response = error.replacedResponse { responseBodies += response.body.count }
        if let failure = error.underlyingError as? DecodingFailure { responseBodies += failure.bodySize }
    }

    fileprivate mutating func add(_ outcome: TransportOutcome) {
        switch outcome {
        case .success(let response): add(response)
        case .failure(let error): add(error)
        }
    }
}

extension HTTPRequest {
    /// The request without the bytes of its body. The length of the body is kept.
    fileprivate var withoutBody: HTTPRequest {
        guard case .data = body.source else { return self }
        var request = self
        request.body = RequestBody(
            source: .none,
            contentType: body.contentType,
            length: body.length,
            isReplayable: body.isReplayable
        )
        return request
    }
}

extension ServerResponse {
    fileprivate var withoutBodies: ServerResponse {
        var response = self
        response.request = request.withoutBody
        response.body = Data()
        response.storedModel = nil
        response.failure = failure?.withoutBody
        return response
    }
}

extension SluiceError {
    fileprivate var withoutBody: SluiceError {
        SluiceError(
            code,
            reason,
            step: step,
            request: request?.withoutBody,
            response: response,
            underlyingError: (underlyingError as? DecodingFailure)?.withoutBody ?? underlyingError
        )
    }
}

extension TransportOutcome {
    fileprivate var withoutBodies: TransportOutcome {
        map(\.withoutBodies).mapError(\.withoutBody)
    }
}

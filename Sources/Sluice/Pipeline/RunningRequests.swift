import SluiceHTTP
import Synchronization

/// A request that can be cancelled from outside.
protocol CancellableRequest: Sendable {
    /// Stops the request. Its callers get a cancellation error.
    func cancel()
}

extension SingleFlight: CancellableRequest {}

/// The requests of a client that have begun and not ended.
///
/// ```
/// accepting ──drain──▶ draining ──last request ends──▶ empty
///                          └──────deadline────▶ cancelled
/// ```
final class RunningRequests: Sendable {
    struct Ticket: Sendable {
        fileprivate let slot: Int
        fileprivate let generation: UInt32

        fileprivate init(slot: Int, generation: UInt32) {
            self.slot = slot
            self.generation = generation
        }

        /// Creates a ticket from its number; nil for 0, which no ticket has.
        init?(number: UInt64) {
            if number == 0 { return nil }
            self.init(slot: Int(number >> 32) - 1, generation: UInt32(truncatingIfNeeded: number))
        }

        /// The ticket as a number, for an atomic.
        var number: UInt64 { UInt64(slot + 1) << 32 | UInt64(generation) }
    }

    private struct Slot {
        /// Distinguishes the requests that use the slot one after the other.
        var generation: UInt32 = 0
        var request: (any CancellableRequest)?
    }

    private struct State {
        var slots: [Slot] = []
        var freeSlots: [Int] = []
        var isDraining = false
        var cancellations = 0
        var waiters: [Waiter<Void>] = []

        var isEmpty: Bool { freeSlots.count == slots.count }
    }

    private let state = Locked(State())

    /// Adds a request. Returns nil if the client accepts no further requests.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - isNeeded: True for work that requests need which have been accepted.
    /// - Returns: The ticket.
    func enter(_ request: any CancellableRequest, isNeeded: Bool = false) -> Ticket? {
        state.withLock { state in
            if state.isDraining, !isNeeded { return nil }
            guard let slot = state.freeSlots.popLast() else {
                state.slots.append(Slot(request: request))
                return Ticket(slot: state.slots.count - 1, generation: 0)
            }
            state.slots[slot].request = request
            return Ticket(slot: slot, generation: state.slots[slot].generation)
        }
    }

    /// Starts a task that is among the requests until it ends.
    ///
    /// - Parameters:
    ///   - isNeeded: True for work that requests need which have been accepted.
    ///   - isShared: True for work that other clients may need as well. ``cancelAll()`` does not cancel it.
    ///   - work: The work of the task.
    /// - Returns: The task; nil if the client accepts no further requests.
    func start(
        isNeeded: Bool = false,
        isShared: Bool = false,
        _ work: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never>? {
        let background = BackgroundRequest(isShared: isShared)
        return enter(background, isNeeded: isNeeded).map { ticket in
            background.start {
                await work()
                self.leave(ticket)
            }
        }
    }

    /// Removes a request that has ended. Has no effect if it has been removed.
    func leave(_ ticket: Ticket) {
        let (request, waiters) = state.withLock { state -> ((any CancellableRequest)?, [Waiter<Void>]) in
            guard state.slots[ticket.slot].generation == ticket.generation else { return (nil, []) }
            let request = state.slots[ticket.slot].request.take()
            state.slots[ticket.slot].generation &+= 1
            state.freeSlots.append(ticket.slot)
            guard state.isDraining, state.isEmpty else { return (request, []) }
            defer { state.waiters = [] }
            return (request, state.waiters)
        }
        for waiter in waiters { waiter.resume() }
        // Released outside the lock, because this may release the last reference to user code.
        withExtendedLifetime(request) {}
    }

    /// The number of calls of ``cancelAll()``.
    var cancellations: Int { state.withLock { $0.cancellations } }

    /// True if the client accepts no further requests.
    var isClosed: Bool { state.withLock { $0.isDraining } }

    /// Accepts no further requests.
    func close() {
        state.withLock { $0.isDraining = true }
    }

    /// Waits until all requests have ended.
    ///
    /// - Parameters:
    ///   - limit: The maximum time.
    ///   - clock: The clock that measures it.
    /// - Returns: False if requests are still running, because the time is up or the calling task was cancelled.
    func waitUntilEmpty(within limit: Duration, on clock: any SluiceClock) async -> Bool {
        if state.withLock({ $0.isEmpty }) { return true }
        _ = try? await TimedWork.outcome(within: limit, on: clock) { [self] () async throws(SluiceError) in
            await wait()
        }
        return state.withLock { $0.isEmpty }
    }

    private func wait() async {
        await state.wait(cancelled: ()) { waiter in
            let isOver = state.withLock { state in
                if state.isEmpty || Task.isCancelled { return true }
                state.waiters.append(waiter)
                return false
            }
            if isOver { waiter.resume() }
        } leave: { [state] id in
            state.withLock { state in
                guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
                return state.waiters.remove(at: index)
            }
        }
    }

    /// Cancels all requests, except work that other clients may need.
    func cancelAll() {
        let requests = state.withLock { state in
            state.cancellations += 1
            return state.slots.compactMap(\.request)
        }
        for request in requests { request.cancel() }
    }
}

/// A request for which no caller waits.
private final class BackgroundRequest: CancellableRequest {
    private let task = Locked<Task<Void, Never>?>(nil)
    private let isCancelled = Atomic(false)
    private let isShared: Bool

    init(isShared: Bool) {
        self.isShared = isShared
    }

    func start(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        let task = Task { await work() }
        self.task.withLock { $0 = task }
        if isCancelled.load(ordering: .sequentiallyConsistent) { task.cancel() }
        return task
    }

    func cancel() {
        if isShared { return }
        isCancelled.store(true, ordering: .sequentiallyConsistent)
        task.withLock { $0 }?.cancel()
    }
}

/// A stream among the running requests of its client, from before it is sent until its body ends.
final class RunningStream: CancellableRequest {
    private struct Sent: Sendable {
        let outcome: CallOutcome
        /// True if the work has ended, and its reader leaves for it.
        let hasEnded: Bool
    }

    private enum Stage {
        case beginning
        /// The work that obtains the head of the response.
        case sending(SingleFlight<Sent>)
        case reading(ResponseBody)
        case cancelled
        case over
    }

    private let requests: RunningRequests
    private let stage = Locked(Stage.beginning)
    /// The parts that hold the ticket: the reader, and the work that may go on after it.
    private let users = Locked(1)
    private let ticket = Locked<RunningRequests.Ticket?>(nil)

    /// Creates a stream of a client. Returns nil if the client accepts no further requests.
    init?(in requests: RunningRequests) {
        self.requests = requests
        guard let ticket = requests.enter(self) else { return nil }
        self.ticket.withLock { $0 = ticket }
    }

    /// True if the stream was cancelled from outside.
    var isCancelled: Bool {
        stage.withLock { stage in
            if case .cancelled = stage { true } else { false }
        }
    }

    /// Obtains the head of the response. A cancelled stream does not wait for steps that ignore the cancellation.
    ///
    /// - Parameters:
    ///   - work: The work.
    ///   - drop: Drops the response of work that has ended after the stream was cancelled.
    /// - Returns: The outcome of the work, or a cancellation.
    func send(
        _ work: @escaping @Sendable () async -> CallOutcome,
        dropping drop: @escaping @Sendable () -> Void
    ) async -> CallOutcome {
        let flight = SingleFlight(cancelled: Sent(outcome: .cancelled, hasEnded: false))
        let isCancelled = stage.withLock { stage in
            if case .cancelled = stage { return true }
            stage = .sending(flight)
            return false
        }
        if isCancelled { flight.cancel() }
        let sent = await flight.value { flight in
            users.withLock { $0 += 1 }
            let task = Task {
                let outcome = await work()
                if flight.complete(Sent(outcome: outcome, hasEnded: true)) { return }
                drop()
                outcome.call?.finish(unread: outcome.outcome)
                leave()
            }
            return { task.cancel() }
        }
        if sent?.hasEnded == true { leave() }
        return sent?.outcome ?? .cancelled
    }

    /// Records the body that the caller reads.
    func read(_ body: ResponseBody) {
        let isCancelled = stage.withLock { stage in
            if case .cancelled = stage { return true }
            stage = .reading(body)
            return false
        }
        if isCancelled { body.cancel() }
    }

    func cancel() {
        let last = stage.withLock { stage in
            if case .over = stage { return stage }
            defer { stage = .cancelled }
            return stage
        }
        switch last {
        case .sending(let flight): flight.cancel()
        case .reading(let body): body.cancel()
        case .beginning, .cancelled, .over: break
        }
    }

    /// Records the end of the stream. Has no effect after the first call.
    func end() {
        let last = stage.exchange(.over)
        // Released outside the lock, because releasing a body calls the transport.
        withExtendedLifetime(last) {}
        if case .over = last { return }
        leave()
    }

    private func leave() {
        let isLast = users.withLock { users in
            users -= 1
            return users == 0
        }
        if isLast, let ticket = ticket.withLock({ $0.take() }) { requests.leave(ticket) }
    }
}

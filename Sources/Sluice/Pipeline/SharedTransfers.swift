import SluiceHTTP

/// The transfers of a client that equal requests can join.
final class SharedTransfers: Sendable {
    /// Starts a transfer on the calling thread and returns an action that stops it. The transfer reports its progress
    /// to the meter and calls the completion once with its outcome.
    typealias Begin =
        @Sendable (TransferMeter, @escaping CallerContext, @escaping @Sendable (CallOutcome) -> Void)
        -> SingleFlight<CallOutcome>.Stop

    private struct Transfer: Sendable {
        let number: Int
        let flight: SingleFlight<CallOutcome>
        let meter: TransferMeter
    }

    private struct State {
        var transfers: [SharedTransferKey: Transfer] = [:]
        var lastNumber = 0
    }

    /// The transfers that the current task works for. A request sent by this task must not join them, because it would
    /// wait for itself.
    @TaskLocal static var current: SharedTransfers?

    private let state = Locked(State())

    /// Joins the transfer in progress, or starts one. Needs no task.
    ///
    /// - Parameters:
    ///   - key: The key that equal requests share.
    ///   - meter: Follows the progress of the transfer, even if another caller started it.
    ///   - clock: The clock that measures speeds.
    ///   - caller: Runs parts of the transfer on behalf of this caller.
    ///   - completion: Called once with the outcome, on any thread; with a cancellation if the caller leaves.
    ///   - begin: Starts the transfer.
    /// - Returns: An action by which the caller leaves. The transfer stops when the last caller leaves.
    func join(
        _ key: SharedTransferKey,
        _ meter: TransferMeter?,
        clock: any SluiceClock,
        caller: @escaping CallerContext,
        completion: @escaping @Sendable (CallOutcome) -> Void,
        _ begin: @escaping Begin
    ) -> SingleFlight<CallOutcome>.Stop {
        while true {
            let transfer = transfer(key, clock, begin)
            // Before joining, because the transfer may end at once.
            meter?.follow(transfer.meter)
            if let leave = transfer.flight.join(caller: caller, { completion($0 ?? .cancelled) }) { return leave }
            // All callers left the transfer after it was looked up.
            remove(key, transfer.number)
        }
    }

    private func transfer(_ key: SharedTransferKey, _ clock: any SluiceClock, _ begin: @escaping Begin) -> Transfer {
        state.withLock { state in
            if let known = state.transfers[key] { return known }
            state.lastNumber += 1
            let number = state.lastNumber
            let meter = TransferMeter(clock: clock)
            let flight = SingleFlight(cancelled: CallOutcome.cancelled) { [self] flight in
                let finish: @Sendable (CallOutcome) -> Void = { [self] callOutcome in
                    // Requests from now on need a new response.
                    remove(key, number)
                    meter.end(after: callOutcome.outcome)
                    let shared = CallOutcome(callOutcome.outcome, callOutcome.call, isShared: true)
                    if flight.complete(shared) { return }
                    callOutcome.call?.finish(unread: callOutcome.outcome)
                    callOutcome.call?.notifyPlugins(Result<Void, SluiceError>.failure(.cancelled))
                }
                let caller = flight.caller
                let stop = shared { begin(meter, { [self] job in caller { [self] in shared(job) } }, finish) }
                return { [self] in
                    remove(key, number)
                    stop()
                }
            }
            let transfer = Transfer(number: number, flight: flight, meter: meter)
            state.transfers[key] = transfer
            return transfer
        }
    }

    /// Runs a part of a shared transfer without the deadline of the caller that started it. Each caller waits until its
    /// own deadline.
    private func shared<Value>(_ work: () -> Value) -> Value {
        Deadline.$current.withValue(nil) { Self.$current.withValue(self, operation: work) }
    }

    private func remove(_ key: SharedTransferKey, _ number: Int) {
        state.withLock { state in
            if state.transfers[key]?.number == number { state.transfers[key] = nil }
        }
    }

    /// The number of callers that wait for transfers that can be joined.
    var waiting: Int {
        state.withLock { $0.transfers.values.reduce(0) { $0 + $1.flight.waiting } }
    }

    /// Prevents later requests from joining the transfers in progress, because data may have changed.
    func removeAll() {
        state.withLock { state in
            if !state.transfers.isEmpty { state.transfers.removeAll() }
        }
    }
}

/// Waits for a shared transfer until a deadline. The transfer continues for callers that have more time.
final class BoundedWait: Sendable {
    private struct State {
        var completion: (@Sendable (CallOutcome) -> Void)?
        var timer: Task<Void, Never>?
    }

    /// True while a caller leaves because its deadline has passed.
    @TaskLocal static var isDeadlineOver = false

    private let leave = DeferredStop()
    private let state: Locked<State>

    /// Creates a wait.
    ///
    /// - Parameter completion: Called once, with the outcome of the transfer, or with a time-out.
    init(_ completion: @escaping @Sendable (CallOutcome) -> Void) {
        state = Locked(State(completion: completion))
    }

    /// Starts the wait.
    ///
    /// - Parameters:
    ///   - limit: The time to wait, above zero.
    ///   - clock: The clock that measures it.
    ///   - request: The request of the waiting caller.
    ///   - join: Joins the transfer, and returns an action that leaves it.
    /// - Returns: An action by which the caller leaves early.
    func begin(
        within limit: Duration,
        on clock: any SluiceClock,
        for request: HTTPRequest,
        _ join: (@escaping @Sendable (CallOutcome) -> Void) -> SingleFlight<CallOutcome>.Stop
    ) -> SingleFlight<CallOutcome>.Stop {
        let timer = Task { [self] in
            do { try await clock.sleep(for: limit) } catch { return }
            guard finish(with: .deadlinePassed(request)) else { return }
            Self.$isDeadlineOver.withValue(true) { leave.stop() }
        }
        state.withLock { $0.timer = timer }
        leave.set(join { [self] in finish(with: $0) })
        return { [self] in leave.stop() }
    }

    @discardableResult
    private func finish(with callOutcome: CallOutcome) -> Bool {
        let before = state.withLock { state in
            defer { state = State() }
            return state
        }
        before.timer?.cancel()
        before.completion?(callOutcome)
        return before.completion != nil
    }
}

extension CallOutcome {
    fileprivate static func deadlinePassed(_ request: HTTPRequest) -> CallOutcome {
        let error = SluiceError(
            .timedOut,
            "The request's deadline passed before the response that it shares with an equal request was received.",
            request: request
        )
        return CallOutcome(.failure(error))
    }
}

import SluiceHTTP

/// The transfers of a client that equal requests may join.
final class SharedTransfers: Sendable {
    /// Begins a transfer on the calling thread; it tells its progress and calls once with what comes of it. Gives back what stops it.
    typealias Begin =
        @Sendable (TransferMeter, @escaping CallerContext, @escaping @Sendable (Landing) -> Void)
        -> Flight<Landing>.Stop

    private struct Transfer: Sendable {
        let number: Int
        let flight: Flight<Landing>
        let meter: TransferMeter
    }

    private struct State {
        var transfers: [SharedTransferKey: Transfer] = [:]
        var lastNumber = 0
    }

    /// Those of the transfer that the current task works on: what it sends would wait for itself if it joined.
    @TaskLocal static var current: SharedTransfers?

    private let state = Locked(State())

    /// Joins the transfer that is under way, or begins one. Nobody needs a task for that.
    ///
    /// - Parameters:
    ///   - key: What makes requests equal.
    ///   - meter: Follows the progress of the transfer, whoever has begun it.
    ///   - time: What speeds are measured by.
    ///   - caller: Runs parts of the transfer, if they fall to this caller.
    ///   - completion: Called once with what comes of it, on any thread; with a cancellation where the caller leaves.
    ///   - begin: Begins the transfer.
    /// - Returns: What makes the caller leave; the last one who does stops the transfer.
    func join(
        _ key: SharedTransferKey,
        _ meter: TransferMeter?,
        time: any TimeSource,
        caller: @escaping CallerContext,
        completion: @escaping @Sendable (Landing) -> Void,
        _ begin: @escaping Begin
    ) -> Flight<Landing>.Stop {
        while true {
            let transfer = transfer(key, time, begin)
            // Before it can be over.
            meter?.follow(transfer.meter)
            if let leave = transfer.flight.join(caller: caller, { completion($0 ?? .cancelled) }) { return leave }
            // All have left it while it was looked up.
            forget(key, transfer.number)
        }
    }

    private func transfer(_ key: SharedTransferKey, _ time: any TimeSource, _ begin: @escaping Begin) -> Transfer {
        state.withLock { state in
            if let known = state.transfers[key] { return known }
            state.lastNumber += 1
            let number = state.lastNumber
            let meter = TransferMeter(time: time)
            let flight = Flight(cancelled: Landing.cancelled) { [self] land, caller in
                let finish: @Sendable (Landing) -> Void = { [self] landing in
                    // Who comes from now on wants to know how things are now.
                    forget(key, number)
                    meter.end(after: landing.outcome)
                    let shared = Landing(landing.outcome, landing.sending, isShared: true)
                    if !land(shared) { landing.sending?.finish(.failure(.cancelled)) }
                }
                let stop = shared { begin(meter, { [self] job in caller { [self] in shared(job) } }, finish) }
                return { [self] in
                    forget(key, number)
                    stop()
                }
            }
            let transfer = Transfer(number: number, flight: flight, meter: meter)
            state.transfers[key] = transfer
            return transfer
        }
    }

    /// Does a part of a shared transfer. The deadline of one caller is not that of the others; each waits by its own.
    private func shared<Value>(_ work: () -> Value) -> Value {
        Deadline.$current.withValue(nil) { Self.$current.withValue(self, operation: work) }
    }

    private func forget(_ key: SharedTransferKey, _ number: Int) {
        state.withLock { state in
            if state.transfers[key]?.number == number { state.transfers[key] = nil }
        }
    }

    /// How many callers wait for the transfers that can be joined.
    var waiting: Int {
        state.withLock { $0.transfers.values.reduce(0) { $0 + $1.flight.waiting } }
    }

    /// Notes that something may have been changed: nobody joins any longer what was sent before.
    func outdate() {
        state.withLock { state in
            if !state.transfers.isEmpty { state.transfers.removeAll() }
        }
    }
}

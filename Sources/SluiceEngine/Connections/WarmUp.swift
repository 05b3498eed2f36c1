#if os(Linux)
import SluiceHTTP

extension PoolState {
    /// The progress towards a number of open connections.
    package struct Reservation: Equatable {
        package let group: GroupID
        /// The number of dials that the caller must start with ``dialStarted(_:in:until:at:)``.
        package let dials: Int
        /// The number of dials in progress, including these.
        package let connecting: Int
        /// The number of open connections.
        package let open: Int
        /// True if there are enough open connections.
        package let isComplete: Bool
    }

    /// Reserves dials without requests, so that a number of connections to an origin is open.
    ///
    /// - Parameters:
    ///   - count: The number of connections. The limits of the origin apply.
    ///   - allowed: The maximum number of dials to reserve.
    ///   - origin: The origin.
    ///   - plan: The connection policy.
    /// - Returns: The reserved dials, and the state of the group.
    package mutating func reserve(
        _ count: Int,
        dialing allowed: Int,
        to origin: HTTPOrigin,
        by plan: ConnectionPlan
    ) -> Reservation {
        let id = group(origin, plan)
        guard let group = groups[id] else {
            return Reservation(group: id, dials: 0, connecting: 0, open: 0, isComplete: false)
        }
        let count = min(count, limitPerHost, group.maximumConnections)
        let dials = min(group.dials(for: count), max(0, allowed))
        groups[id]?.dials += dials
        groups[id]?.users += dials
        defer { removeIfUnused(id) }
        return Reservation(
            group: id,
            dials: dials,
            connecting: group.dials + dials,
            open: group.open.count,
            isComplete: group.sharing == .multiplexed ? !group.shared.isEmpty : group.open.count >= count
        )
    }

    /// Records a started dial that no request needs yet.
    ///
    /// - Parameters:
    ///   - dial: The dial, which has been reserved.
    ///   - group: The group.
    ///   - deadline: The time at which the dial ends without a connection.
    ///   - now: The current time.
    package mutating func dialStarted(
        _ dial: Dial,
        in group: GroupID,
        until deadline: MonotonicTime,
        at now: MonotonicTime
    ) {
        let id = ObjectIdentifier(dial)
        dials[id] = Dialing(dial: dial, group: group, since: now, owner: nil, deadline: deadline)
        detachOwner(of: dial, until: deadline)
    }
}

/// A caller that waits for open connections.
final class WarmUp: Sendable {
    private struct State {
        /// The dials that this warm-up has started and that have not ended.
        var dials: Set<ObjectIdentifier> = []
        var failure: SluiceError?
        /// The number of dials of the pool that have ended, with or without success.
        var ends = 0
        var waiter: Waiter<Void>?
    }

    private let state = Locked(State())

    /// The number of dials of the pool that have ended.
    var ends: Int { state.withLock { $0.ends } }
    /// The first failure of a dial of this warm-up.
    var failure: SluiceError? { state.withLock { $0.failure } }
    /// True if a dial of this warm-up is in progress.
    var isDialing: Bool { state.withLock { !$0.dials.isEmpty } }

    func started(_ dial: Dial) {
        state.withLock { _ = $0.dials.insert(ObjectIdentifier(dial)) }
    }

    /// Records the end of a dial of the pool. Wakes the caller.
    func ended(_ dial: Dial, with failure: SluiceError?) {
        let waiter = state.withLock { state in
            state.ends += 1
            if state.dials.remove(ObjectIdentifier(dial)) != nil { state.failure = state.failure ?? failure }
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Waits until more than `ends` dials have ended, or the task is cancelled.
    func wait(after ends: Int) async {
        await state.wait(cancelled: ()) { waiter in
            let isOver = state.withLock { state in
                if state.ends > ends || Task.isCancelled { return true }
                state.waiter = waiter
                return false
            }
            if isOver { waiter.resume() }
        } leave: { [state] _ in
            state.withLock { $0.waiter.take() }
        }
    }
}

extension ConnectionPool {
    /// Opens connections that no request needs yet.
    ///
    /// Connections that are already open, and those that other callers are opening, count. One connection of HTTP/2 suffices.
    ///
    /// - Parameters:
    ///   - count: The number of connections that are to be open.
    ///   - destination: The server and the way to it.
    ///   - timeout: The maximum time to connect; nil for none.
    /// - Returns: The number of open connections, which is lower if some could not be opened.
    /// - Throws: The failure if none is open, or a cancellation.
    func connect(
        _ count: Int,
        to destination: Dial.Destination,
        within timeout: Duration?
    ) async throws(SluiceError) -> Int {
        let warmUp = WarmUp()
        add(warmUp)
        defer { remove(warmUp) }
        // A server may close connections as soon as they are open, so the number of dials is limited.
        var allowed = count
        while true {
            let ends = warmUp.ends
            let failure = warmUp.failure
            let reservation = reserve(count, dialing: failure == nil ? allowed : 0, to: destination)
            allowed -= reservation.dials
            for _ in 0..<reservation.dials {
                startDial(to: destination, in: reservation.group, within: timeout, for: warmUp)
            }
            let isOver = reservation.isComplete || reservation.connecting == 0 || failure != nil && !warmUp.isDialing
            if isOver {
                if reservation.open == 0 {
                    throw failure ?? SluiceError(.connectionLost, "The server closed each connection at once.")
                }
                return reservation.open
            }
            await warmUp.wait(after: ends)
            if Task.isCancelled { throw .cancelled }
        }
    }
}
#endif

#if os(Linux)
import SluiceHTTP

/// The connections of one client, and the requests that wait for them: carries out what ``PoolState`` decides.
package final class ConnectionPool: LoopHandler {
    typealias State = PoolState<Call, PooledConnection, Dial>

    let configuration: SocketTransport.Configuration
    let engine: Engine
    /// The protection spaces that the client's requests have found.
    let protectionSpaces = Locked(ProtectionSpaces())
    private let state: Locked<State>
    /// The loop that watches the deadlines of requests without a connection.
    private let loop: EventLoop
    private let alarm = Locked(Alarm())

    private struct Alarm: Sendable {
        var registration: LoopThread.Registration?
        /// The time for which the timer is set.
        var time = MonotonicTime.distantFuture
        var isClosed = false
    }

    init(_ configuration: SocketTransport.Configuration, _ engine: Engine) {
        self.configuration = configuration
        self.engine = engine
        state = Locked(
            State(
                limit: configuration.maximumTransfers,
                limitPerHost: configuration.maximumTransfersPerHost,
                maximumWaiting: configuration.maximumWaitingTransfers
            )
        )
        loop = engine.chooseLoop()
        engine.descriptors.add(self)
    }

    // MARK: Requests

    /// Sends a request as soon as there is a connection for it.
    func begin(_ call: Call) {
        let now = call.queued
        let (group, acquisition) = state.withLockUnchecked { state in
            state.acquire(
                call,
                to: call.origin,
                by: call.plan,
                priority: call.context.priority,
                total: call.deadline,
                connectTimeout: call.context.timeouts.connect,
                at: now
            )
        }
        switch acquisition {
        case .connection(let connection):
            if !connection.begin(call, on: nil) { beginAgain(call, in: group, refusing: connection, on: nil) }
        case .dial:
            watchDeadlines()
            dial(for: call, in: group)
        case .waiting: watchDeadlines()
        case .refused: call.fail(.queueFull)
        }
    }

    /// Finds another connection for a request whose own one was dead before anything was sent.
    private func beginAgain(
        _ call: Call,
        in group: State.GroupID,
        fresh: Bool = false,
        leaving connection: PooledConnection? = nil,
        refusing other: PooledConnection? = nil,
        on thread: LoopThread?
    ) {
        var (leaving, refusing) = (connection, other)
        while true {
            let acquisition = state.withLockUnchecked { state in
                state.reacquire(
                    call,
                    in: group,
                    fresh: fresh,
                    leaving: leaving,
                    refusing: refusing,
                    total: call.deadline,
                    connectTimeout: call.context.timeouts.connect,
                    at: .now
                )
            }
            switch acquisition {
            case .connection(let connection):
                if connection.begin(call, on: thread) { return }
                (leaving, refusing) = (nil, connection)
            case .dial:
                watchDeadlines()
                return dial(for: call, in: group)
            case .waiting, .refused: return watchDeadlines()
            }
        }
    }

    /// Sends a request again whose connection died unanswered, by a new one.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - connection: The shared connection that it leaves, where it was one: another stream of it may do.
    ///   - group: Its group.
    ///   - thread: The thread of a loop, if the caller is on one.
    func resend(
        _ call: Call,
        leaving connection: PooledConnection? = nil,
        in group: State.GroupID,
        on thread: LoopThread?
    ) {
        if call.beginAgain() {
            beginAgain(call, in: group, fresh: connection == nil, leaving: connection, on: thread)
        } else if case .http2(let connection)? = connection {
            releaseStreams(1, of: connection, on: thread)
        } else {
            release(nil, of: group, on: thread)
        }
    }

    /// Takes a cancelled request out of those that have no connection.
    func withdraw(_ call: Call) {
        let actions = state.withLockUnchecked { $0.remove(call, at: .now) }
        perform(actions ?? [], on: nil)
    }

    // MARK: Connections

    /// Takes back a request's slot, and its connection if that can be used again.
    func release(_ connection: PooledConnection?, of group: State.GroupID, on thread: LoopThread?) {
        let actions = state.withLockUnchecked { $0.release(connection, of: group, at: thread?.now ?? .now) }
        if !actions.isEmpty { perform(actions, on: thread) }
    }

    /// Takes back the slots of requests that a shared connection has carried.
    func releaseStreams(_ count: Int, of connection: HTTP2Connection, on thread: LoopThread?) {
        for _ in 0..<count {
            let actions = state.withLockUnchecked { state in
                state.releaseStream(of: .http2(connection), in: connection.group, at: thread?.now ?? .now)
            }
            if !actions.isEmpty { perform(actions, on: thread) }
        }
    }

    /// Notes the number of requests that a shared connection may carry at a time.
    func setCapacity(_ capacity: Int, of connection: HTTP2Connection, on thread: LoopThread?) {
        let actions = state.withLockUnchecked { state in
            state.setCapacity(capacity, of: .http2(connection), in: connection.group)
        }
        perform(actions, on: thread)
    }

    /// Gives a connection no further requests: it has closed, or is about to.
    func remove(_ connection: PooledConnection, on thread: LoopThread?) {
        let actions = state.withLockUnchecked { $0.removeConnection(connection, of: connection.group) }
        perform(actions, on: thread)
    }

    func dialed(_ dial: Dial, _ connection: PooledConnection, on thread: LoopThread) {
        let (isWanted, actions) = state.withLockUnchecked { state in
            var capacity: Int?
            if case .http2 = connection {
                capacity = min(HTTP2Session.initialStreams, state.knownCapacity(of: connection.group) ?? .max)
            }
            return state.dialSucceeded(dial, connection, capacity: capacity, at: thread.now)
        }
        if !isWanted { return connection.closeIdle() }
        perform(actions, on: thread)
    }

    func dialFailed(_ dial: Dial, with error: SluiceError, on thread: LoopThread) {
        let actions = state.withLockUnchecked { $0.dialFailed(dial, with: error, at: thread.now) }
        perform(actions, on: thread)
    }

    private func dial(for call: Call, in group: State.GroupID) {
        let dial = Dial(for: call, in: group, on: engine.chooseLoop())
        let isWanted = state.withLockUnchecked { $0.dialStarted(dial, for: call, in: group) }
        if isWanted { dial.start() }
    }

    // MARK: Idle connections

    /// The moment since which the least recently used connection has been idle; the distant future where none is.
    var oldestIdle: MonotonicTime { state.withLockUnchecked { $0.oldestIdle } ?? .distantFuture }

    /// Closes the connection that has been idle for the longest time; returns false where none is.
    func closeOldestIdle() -> Bool {
        guard let connection = state.withLockUnchecked({ $0.popOldestIdle() }) else { return false }
        connection.closeIdle()
        return true
    }

    /// Closes every idle connection, and keeps none any more: the client is gone.
    func close() {
        engine.descriptors.remove(ObjectIdentifier(self))
        let idle = state.withLockUnchecked { state in
            state.keepsIdle = false
            return state.removeAllIdle()
        }
        for connection in idle { connection.closeIdle() }
        loop.post { [self] thread in
            alarm.withLock { $0.isClosed = true }
            leaveLoop(on: thread)
        }
    }

    /// Lets go of the loop once the client is gone and no request has a deadline any more.
    private func leaveLoop(on thread: LoopThread) {
        guard state.withLockUnchecked({ $0.nextDeadline }) == .distantFuture else { return }
        let registration = alarm.withLock { $0.isClosed ? $0.registration.take() : nil }
        if let registration { thread.unregister(registration) }
    }

    /// The numbers of requests that have a slot, and of those that wait for one.
    var load: (active: Int, queued: Int) { state.withLockUnchecked { ($0.active, $0.waiting) } }

    // MARK: Actions

    private func perform(_ actions: [State.Action], on thread: LoopThread?) {
        for action in actions {
            switch action {
            case .start(let call, let connection):
                if !connection.begin(call, on: thread) {
                    beginAgain(call, in: connection.group, refusing: connection, on: thread)
                }
            case .dial(let call, let group):
                watchDeadlines()
                dial(for: call, in: group)
            case .cancel(let dial): dial.cancel()
            case .discard(let connection): connection.closeIdle()
            case .fail(let call, .failed(let error)): call.fail(error)
            case .fail(let call, .timedOut): call.fail(call.timeoutError(at: .distantFuture))
            case .fail(let call, .connectTimedOut(let dial)):
                let proxy = call.plan.proxy.map { " by \($0.displayName)" } ?? ""
                call.fail(.connectTimedOut(to: call.serverName + proxy, after: dial?.lastFailure))
            }
        }
    }

    // MARK: Deadlines

    /// Sets the timer if a request has to be failed before it fires.
    private func watchDeadlines() {
        let next = state.withLockUnchecked { $0.nextDeadline }
        let isEarlier = alarm.withLock { alarm in
            guard next < alarm.time else { return false }
            alarm.time = next
            return true
        }
        guard isEarlier else { return }
        loop.post { [self] thread in
            let registration = alarm.withLock { alarm in
                if alarm.registration == nil { alarm.registration = thread.register(self) }
                return alarm.registration
            }
            if let registration { thread.setTimer(registration, at: next) }
        }
    }

    package func ready(_ events: UInt32, on thread: LoopThread) {}

    package func deadlinePassed(on thread: LoopThread) {
        alarm.withLock { $0.time = .distantFuture }
        let actions = state.withLockUnchecked { $0.expire(at: thread.now) }
        perform(actions, on: thread)
        watchDeadlines()
        leaveLoop(on: thread)
    }
}

extension SluiceError {
    fileprivate static func connectTimedOut(to server: String, after failure: SystemError?) -> SluiceError {
        let cause = failure.map { "; the last failure was: \($0.words)" } ?? ""
        return SluiceError(
            .connectTimedOut,
            "No connection to \(server) came about in the time allowed\(cause).",
            underlyingError: failure
        )
    }

    fileprivate static let queueFull = SluiceError(
        .queueFull,
        "As many requests wait for the engine as may; send fewer at once or raise maximumWaitingTransfers."
    )
}
#endif

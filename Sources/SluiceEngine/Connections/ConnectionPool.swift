#if os(Linux)
import SluiceHTTP
import Synchronization

/// The connections of one client, and the requests that wait for them. Performs the actions that ``PoolState`` returns.
package final class ConnectionPool: LoopHandler {
    typealias State = PoolState<Call, PooledConnection, Dial>

    let configuration: SocketTransport.Configuration
    let engine: Engine
    /// The protection spaces known to the client.
    let protectionSpaces = Locked(ProtectionSpaces())
    let windowBudget = WindowBudget()
    private let state: Locked<State>
    /// The loop for the deadlines of requests without a connection.
    private let loop: EventLoop
    private let deadlineTimer = Locked(DeadlineTimer())
    /// The time for which the timer is set or about to be set, in nanoseconds.
    private let timerDeadline = Atomic(MonotonicTime.distantFuture.nanoseconds)
    private let starts: Locked<StartQueue<(call: Call, connection: PooledConnection)>>
    /// The callers that wait for dials to end.
    private let warmUps = Locked<[WarmUp]>([])
    private let resolver: Resolver

    private struct DeadlineTimer: Sendable {
        var registration: LoopThread.Registration?
        var isClosed = false
    }

    init(
        _ configuration: SocketTransport.Configuration,
        _ engine: Engine,
        resolver: Resolver = .shared
    ) {
        self.resolver = resolver
        self.configuration = configuration
        self.engine = engine
        state = Locked(
            State(
                limit: configuration.maximumTransfers,
                limitPerHost: configuration.maximumTransfersPerHost,
                maximumWaiting: configuration.maximumWaitingTransfers,
                connectionLimits: configuration.maximumConnectionsByHost
            )
        )
        loop = engine.chooseLoop()
        starts = Locked(StartQueue(loops: engine.loops.count))
        engine.descriptors.add(self)
    }

    /// Runs `body` under the lock. The plans of the groups that it removes end after that.
    private func withState<Value>(_ body: (inout State) -> Value) -> Value {
        let (value, plans) = state.withLockUnchecked { (body(&$0), $0.takeRemovedPlans()) }
        withExtendedLifetime(plans) {}
        return value
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
            if !connection.begin(call, on: nil) { reacquire(call, in: group, refusing: connection, on: nil) }
        case .dial:
            watchDeadlines()
            dial(for: call, in: group)
            removeIfCancelled(call)
        case .waiting:
            watchDeadlines()
            removeIfCancelled(call)
            if let (other, connection) = starts.withLockUnchecked({ $0.popFirst() }) {
                start(other, on: connection, nil)
            }
        case .refused: call.fail(.queueFull)
        }
    }

    /// Removes a request that was cancelled before the pool knew it.
    private func removeIfCancelled(_ call: Call) {
        if call.isCancelled { removeWaiting(call) }
    }

    /// Finds another connection for a request whose connection was dead before anything was sent.
    private func reacquire(
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
                dial(for: call, in: group)
                return removeIfCancelled(call)
            case .waiting, .refused:
                watchDeadlines()
                return removeIfCancelled(call)
            }
        }
    }

    /// Sends a request again on another connection, because its connection died without a response.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - connection: The shared connection of the request, if there is one. Another stream of it may be used.
    ///   - group: The group of the request.
    ///   - thread: The thread of a loop, if the caller runs on one.
    func resend(
        _ call: Call,
        leaving connection: PooledConnection? = nil,
        in group: State.GroupID,
        on thread: LoopThread?
    ) {
        if call.returnToWaiting() {
            reacquire(call, in: group, fresh: connection == nil, leaving: connection, on: thread)
        } else if case .http2(let connection)? = connection {
            releaseStreams(1, of: connection, on: thread)
        } else {
            release(nil, of: group, on: thread)
        }
    }

    /// Removes a cancelled request that has no connection.
    ///
    /// The loop starts other requests in its place, because a cancellation may hold the lock of a task's status, for which the holder of a
    /// connection's lock waits when it resumes that task.
    func removeWaiting(_ call: Call) {
        // The plans end on the loop, too, because their end may run code of the user.
        let (actions, next, plans) = state.withLockUnchecked { state in
            (state.remove(call, at: .now) ?? [], state.nextDeadline, state.takeRemovedPlans())
        }
        if !actions.isEmpty || !plans.isEmpty {
            loop.post { [self] thread in
                withExtendedLifetime(plans) {}
                perform(actions, on: thread)
            }
        }
        if next.nanoseconds < timerDeadline.load(ordering: .relaxed) { watchDeadlines() }
    }

    // MARK: Connections

    /// Releases the slot of a request, and its connection if that is reusable.
    func release(_ connection: PooledConnection?, of group: State.GroupID, on thread: LoopThread?) {
        change(on: thread) { $0.release(connection, of: group, at: thread?.now ?? .now) }
        if let connection, connection.isRetired {
            remove(connection, on: thread)
            connection.closeIdle()
        }
    }

    /// Releases the slots of requests on a shared connection.
    func releaseStreams(_ count: Int, of connection: HTTP2Connection, on thread: LoopThread?) {
        for _ in 0..<count {
            change(on: thread) { state in
                state.releaseStream(of: .http2(connection), in: connection.group, at: thread?.now ?? .now)
            }
        }
    }

    /// Sets the maximum number of concurrent requests on a shared connection. It is zero for a suspect one, whose server does not respond.
    func setCapacity(of connection: HTTP2Connection, _ effects: HTTP2Effects, on thread: LoopThread?) {
        guard let capacity = effects.capacity else { return }
        change(on: thread) {
            $0.setCapacity(
                capacity,
                of: .http2(connection),
                in: connection.group,
                isSuspect: effects.isSuspect,
                isLearned: effects.isLearned,
                at: .now
            )
        }
    }

    /// Removes a connection that has closed or is about to, so that it takes no further requests.
    func remove(_ connection: PooledConnection, on thread: LoopThread?) {
        change(on: thread) { $0.removeConnection(connection, of: connection.group, at: .now) }
    }

    /// Records the end of a connection, so that snapshots no longer contain it.
    func closed(_ connection: PooledConnection, on thread: LoopThread?) {
        change(on: thread) { $0.connectionClosed(connection, of: connection.group, at: thread?.now ?? .now) }
    }

    /// The requests and connections of each origin.
    var snapshot: ConnectionSnapshot {
        let now = MonotonicTime.now
        return state.withLockUnchecked { state in
            state.snapshot { connection, idleSince, requests in
                ConnectionSnapshot.Connection(
                    version: connection.version,
                    remoteAddress: connection.remoteAddress,
                    age: now.since(connection.dialed),
                    idleTime: idleSince.map { max(.zero, now.since($0)) },
                    requests: requests
                )
            }
        }
    }

    private func dial(for call: Call, in group: State.GroupID) {
        let destination = Dial.Destination(
            plan: call.plan,
            origin: call.origin,
            authority: call.request.authority,
            serverName: call.serverName,
            route: call.route
        )
        let dial = makeDial(to: destination, in: group)
        let isWanted = withState { $0.dialStarted(dial, for: call, in: group) }
        if isWanted { dial.start() } else { ended(dial) }
    }

    private func makeDial(to destination: Dial.Destination, in group: State.GroupID) -> Dial {
        let loop = engine.chooseLoop()
        return Dial(to: destination, on: loop, of: engine, in: protectionSpaces, resolver) {
            [self] dial, result, thread in
            do throws(SluiceError) {
                let socket = try result.get()
                dialed(dial, try connection(from: socket, of: dial, to: destination, in: group, on: thread), on: thread)
                ended(dial)
            } catch {
                change(on: thread) { $0.dialFailed(dial, with: error, at: thread.now) }
                ended(dial, with: error)
            }
        }
    }

    // MARK: Warm-up

    func add(_ warmUp: WarmUp) {
        warmUps.withLock { $0.append(warmUp) }
    }

    func remove(_ warmUp: WarmUp) {
        warmUps.withLock { $0.removeAll { $0 === warmUp } }
    }

    /// Reserves dials so that a number of connections is open.
    func reserve(_ count: Int, dialing allowed: Int, to destination: Dial.Destination) -> State.Reservation {
        withState { state in
            state.reserve(count, dialing: allowed, to: destination.origin, by: destination.plan)
        }
    }

    func startDial(
        to destination: Dial.Destination,
        in group: State.GroupID,
        within timeout: Duration?,
        for warmUp: WarmUp
    ) {
        let dial = makeDial(to: destination, in: group)
        warmUp.started(dial)
        let now = MonotonicTime.now
        let deadline = timeout.map { now + $0 } ?? .distantFuture
        state.withLockUnchecked { $0.dialStarted(dial, in: group, until: deadline, at: now) }
        watchDeadlines()
        dial.start()
    }

    /// Notifies the callers that wait for dials.
    private func ended(_ dial: Dial, with failure: SluiceError? = nil) {
        for warmUp in warmUps.withLock(\.self) { warmUp.ended(dial, with: failure) }
    }

    /// Creates the connection of a socket, or closes a socket that cannot be used.
    private func connection(
        from socket: DialedSocket,
        of dial: Dial,
        to destination: Dial.Destination,
        in group: State.GroupID,
        on thread: LoopThread
    ) throws(SluiceError) -> PooledConnection {
        let needsHTTP2 = destination.plan.httpVersion == .http2PriorKnowledge
        let isHTTP2 = socket.tls.map { $0.negotiatedProtocol == "h2" } ?? needsHTTP2
        guard isHTTP2 else {
            if needsHTTP2 {
                close(socket, on: thread)
                let text = "The server at \(destination.serverName) did not negotiate HTTP/2."
                throw SluiceError(.unsupported, text)
            }
            let connection = Connection(socket, from: dial, in: self, group)
            thread.replaceHandler(of: socket.registration, with: connection)
            connection.start(on: thread)
            return .http1(connection)
        }
        guard let connection = HTTP2Connection(socket, from: dial, in: self, group) else {
            close(socket, on: thread)
            throw Engine.unavailable(without: nghttp2.is_complete == 0 ? String(cString: nghttp2.file) : nil)
        }
        thread.replaceHandler(of: socket.registration, with: connection)
        connection.start(on: thread)
        return .http2(connection)
    }

    private func close(_ socket: DialedSocket, on thread: LoopThread) {
        thread.unregister(socket.registration)
        engine.descriptors.close(socket.descriptor)
    }

    private func dialed(_ dial: Dial, _ connection: PooledConnection, on thread: LoopThread) {
        var isWanted = false
        change(on: thread) { state in
            var capacity: Int?
            if case .http2 = connection {
                capacity = min(HTTP2Session.initialStreams, state.knownCapacity(of: connection.group) ?? .max)
            }
            let result = state.dialSucceeded(dial, connection, capacity: capacity, at: thread.now)
            isWanted = result.isWanted
            return result.actions
        }
        if !isWanted { connection.closeIdle() }
    }

    // MARK: Idle connections

    /// The time after which an idle connection closes.
    var idleTimeout: Duration {
        let usual = configuration.idleConnectionTimeout
        return engine.descriptors.isExceeded ? min(.seconds(1), usual) : usual
    }

    /// The time since which the least recently used connection has been idle, or the distant future if none is idle.
    var oldestIdle: MonotonicTime { state.withLockUnchecked { $0.oldestIdleTime() } ?? .distantFuture }

    /// Closes the connection that has been idle for the longest time. Returns false if none is idle.
    func closeOldestIdle() -> Bool {
        guard let connection = withState({ $0.popOldestIdle() }) else { return false }
        connection.closeIdle()
        return true
    }

    /// Closes the pool on its loop. The last reference to the client may be released anywhere, also under the lock of a connection.
    func closeLater() {
        if Engine.isForked { return }
        loop.post { [self] _ in close() }
    }

    /// Closes all idle connections, and keeps none from now on.
    func close() {
        // The connections belong to the parent process. Ending them would write to its sockets.
        if Engine.isForked { return }
        engine.descriptors.remove(ObjectIdentifier(self))
        let idle = state.withLockUnchecked { state in
            state.keepsIdle = false
            return state.removeAllIdle()
        }
        for connection in idle { connection.closeIdle() }
        loop.post { [self] thread in
            deadlineTimer.withLock { $0.isClosed = true }
            unregisterIfUnused(on: thread)
        }
    }

    /// Closes the connections of a group that have been idle since the start of a request that was never acknowledged.
    ///
    /// A network device that has dropped the state of one connection has probably dropped that of the others. The next request would time
    /// out, too.
    func closeIdle(of group: State.GroupID, since time: MonotonicTime) {
        for connection in withState({ $0.removeIdle(of: group, since: time) }) { connection.closeIdle() }
    }

    /// Unregisters from the loop if the client is released and no request has a deadline.
    private func unregisterIfUnused(on thread: LoopThread) {
        guard state.withLockUnchecked({ $0.nextDeadline }) == .distantFuture else { return }
        let registration = deadlineTimer.withLock { $0.isClosed ? $0.registration.take() : nil }
        guard let registration else { return }
        thread.unregister(registration)
        timerDeadline.store(MonotonicTime.distantFuture.nanoseconds, ordering: .relaxed)
        // A running request may need another connection, now or later.
        watchDeadlines()
    }

    /// The number of requests that have a slot, of those among them that have no connection, and of those that wait for a slot.
    var load: (active: Int, connecting: Int, queued: Int) {
        state.withLockUnchecked { ($0.active, $0.connecting, $0.waiting) }
    }

    /// Closes the idle connections, and the others as soon as their requests end.
    ///
    /// - Parameter isRetired: Selects the connections.
    func retire(_ isRetired: (PooledConnection) -> Bool = { _ in true }) {
        if Engine.isForked { return }
        for connection in state.withLockUnchecked({ $0.openConnections }) where isRetired(connection) {
            // In this order, so that a connection which is released meanwhile is removed here or by its release.
            connection.retire()
            remove(connection, on: nil)
            connection.closeIdle()
        }
    }

    // MARK: Actions

    /// Changes the state, and performs the actions that this requires.
    private func change(on thread: LoopThread?, _ body: (inout State) -> [State.Action]) {
        let (actions, next) = withState { (body(&$0), $0.nextDeadline) }
        if !actions.isEmpty { perform(actions, on: thread) }
        // The change may have begun the connect time-out of a request that waited for a slot.
        if next.nanoseconds < timerDeadline.load(ordering: .relaxed) { watchDeadlines() }
    }

    private func perform(_ actions: [State.Action], on thread: LoopThread?) {
        for action in actions {
            switch action {
            case .start(let call, let connection):
                startLater(call, on: connection, thread)
            case .dial(let call, let group): dial(for: call, in: group)
            case .cancel(let dial):
                dial.cancel()
                ended(dial, with: .connectTimedOut(to: dial.target, after: dial.lastFailure))
            case .discard(let connection): connection.closeIdle()
            case .fail(let call, .failed(let error)): call.fail(error)
            case .fail(let call, .timedOut): call.fail(call.timeoutError(at: .distantFuture))
            case .fail(let call, .connectTimedOut(let dial)):
                let proxy = call.plan.proxy.map { " through \($0.displayName)" } ?? ""
                call.fail(.connectTimedOut(to: call.serverName + proxy, after: dial?.lastFailure))
            }
        }
    }

    /// Sends a request after the events that the loop is handling. Another caller may send it earlier, but not over HTTP/2, where the loop
    /// sends the requests of a connection in one write.
    private func startLater(_ call: Call, on connection: PooledConnection, _ thread: LoopThread?) {
        guard let thread else { return start(call, on: connection, nil) }
        guard case .http1 = connection, call.startsWithoutUserCode else {
            return thread.runLater { [self] in start(call, on: connection, $0) }
        }
        let index = thread.loop.index
        guard starts.withLockUnchecked({ $0.append((call, connection), on: index) }) else { return }
        thread.runLater { [self] thread in
            for _ in 0..<starts.withLockUnchecked({ $0.begin(on: index) }) {
                guard let (call, connection) = starts.withLockUnchecked({ $0.popFirst(of: index) }) else { return }
                start(call, on: connection, thread)
            }
        }
    }

    private func start(_ call: Call, on connection: PooledConnection, _ thread: LoopThread?) {
        if !connection.begin(call, on: thread) {
            reacquire(call, in: connection.group, refusing: connection, on: thread)
        }
    }

    // MARK: Deadlines

    /// Moves the timer forward if a deadline is earlier.
    private func watchDeadlines() {
        let next = state.withLockUnchecked { $0.nextDeadline.nanoseconds }
        guard next < timerDeadline.min(next, ordering: .relaxed).oldValue else { return }
        loop.post { [self] thread in
            // The earliest time: two threads may post in another order than they changed it. There is none if it has passed.
            let time = MonotonicTime(nanoseconds: timerDeadline.load(ordering: .relaxed))
            if time == .distantFuture { return }
            let registration = deadlineTimer.withLock { timer in
                if timer.registration == nil { timer.registration = thread.register(self) }
                return timer.registration
            }
            if let registration { thread.setTimer(registration, at: time) }
        }
    }

    package func ready(_ events: UInt32, on thread: LoopThread) {}

    package func deadlinePassed(on thread: LoopThread) {
        timerDeadline.store(MonotonicTime.distantFuture.nanoseconds, ordering: .relaxed)
        change(on: thread) { $0.expire(at: thread.now) }
        unregisterIfUnused(on: thread)
    }
}

/// A connection of a pool, with HTTP/1.1 or HTTP/2.
enum PooledConnection: Sendable, Identifiable {
    case http1(Connection)
    case http2(HTTP2Connection)

    var id: ObjectIdentifier {
        switch self {
        case .http1(let connection): ObjectIdentifier(connection)
        case .http2(let connection): ObjectIdentifier(connection)
        }
    }

    var group: ConnectionPool.State.GroupID {
        switch self {
        case .http1(let connection): connection.group
        case .http2(let connection): connection.group
        }
    }

    var version: HTTPVersion {
        switch self {
        case .http1: .http1_1
        case .http2: .http2
        }
    }

    var remoteAddress: String {
        switch self {
        case .http1(let connection): connection.remoteAddress
        case .http2(let connection): connection.remoteAddress
        }
    }

    /// The time at which the dial began.
    var dialed: MonotonicTime { life { $0.dialed } }

    /// Sends a request on this connection.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - thread: The thread of a loop, if the caller runs on one.
    /// - Returns: False if the connection cannot take the request. Nothing was sent then.
    func begin(_ call: Call, on thread: LoopThread?) -> Bool {
        switch self {
        case .http1(let connection): connection.begin(call, on: thread)
        case .http2(let connection): connection.begin(call, on: thread)
        }
    }

    /// Closes a connection that the pool has removed from its idle connections.
    func closeIdle() {
        switch self {
        case .http1(let connection): connection.closeIdle()
        case .http2(let connection): connection.closeIdle()
        }
    }

    /// Ends the time during which the connection takes requests.
    func retire() {
        life { $0.retire() }
    }

    /// True after ``retire()``.
    var isRetired: Bool { life { $0.isRetired } }

    /// True if newer certificates than those of the connection are in use.
    var isOutdated: Bool { life { $0.isOutdated } }

    private func life<Value>(_ body: (borrowing ConnectionLife) -> Value) -> Value {
        switch self {
        case .http1(let connection): body(connection.life)
        case .http2(let connection): body(connection.life)
        }
    }
}

extension SluiceError {
    fileprivate static func connectTimedOut(to server: String, after failure: SystemError?) -> SluiceError {
        let cause = failure.map { "; the last error was: \($0.message)" } ?? ""
        return SluiceError(
            .connectTimedOut,
            "The connection to \(server) could not be established within the connect time-out\(cause).",
            underlyingError: failure
        )
    }

    fileprivate static let queueFull = SluiceError(
        .queueFull,
        "The request queue is full. Send fewer requests at once, or raise maximumWaitingTransfers."
    )
}
#endif

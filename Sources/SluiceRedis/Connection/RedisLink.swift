#if os(Linux)
import CLinux
import SluiceEngine
import SluiceHTTP
import SluiceLibc
import Synchronization

/// One connection to a server, which is opened for the first command and again after it was lost.
///
/// Everything runs on the thread of one loop. The lock around the state is never contended; only the concurrency checks of the compiler
/// need it. ``LinkHealth``, ``Greeting`` and ``CommandPipeline`` decide, and this class performs.
final class RedisLink: LoopHandler {
    /// The way to the server.
    enum Route: Sendable {
        case fixed(Dial.Destination)
        /// The primary that sentinels name before each connection.
        case primary(PrimaryLocator)
    }

    private struct Socket {
        let descriptor: Int32
        let registration: LoopThread.Registration
        var stream: SocketStream
        var parser = RESPParser()
        var output = OutputQueue()
        /// True while the socket accepts no more output.
        var isBlocked = false
        /// Nil once the greeting is complete.
        var greeting: Greeting?
    }

    private struct State {
        var health: LinkHealth
        var pipeline: CommandPipeline<PendingReply>
        /// The question to the sentinels, and the number of it.
        var search: (task: Task<Void, Never>, number: Int)?
        var lastSearch = 0
        /// The answer for the current connection.
        var location: PrimaryLocator.Location?
        var dial: Dial?
        var socket: Socket?
        /// The time by which the connection and its greeting must be complete.
        var connectDeadline = MonotonicTime.distantFuture
        var timer: LoopThread.Registration?
        /// The time for which the timer is set.
        var timerDeadline = MonotonicTime.distantFuture
        var awaitsFlush = false
        /// The outcomes of this turn, which callers get after the lock is released.
        var outcomes: [(PendingReply, PendingReply.Outcome)] = []
        /// True to close the connection when no command is under way.
        var isRetired = false
        var isClosed = false
    }

    /// The maximum number of bytes that one turn reads.
    private static let turnBytes = 256 << 10

    private let server: RedisServer
    private let engine: Engine
    private let route: Route
    private let loop: EventLoop
    private let state: Locked<State>
    /// The nanoseconds of ``LinkHealth/refusalEnd``, for other threads.
    private let refusalEnd = Atomic(Int64.min)

    init(_ server: RedisServer, _ route: Route, of engine: Engine) {
        self.server = server
        self.engine = engine
        self.route = route
        loop = engine.chooseLoop()
        state = Locked(
            unchecked: State(
                health: LinkHealth(server.backoff),
                pipeline: CommandPipeline(
                    maximumCommands: server.maximumCommands,
                    maximumBytes: server.maximumCommandBytes,
                    overdueTimeout: server.overdueTimeout
                )
            )
        )
    }

    /// True if a command would fail at once. Commands that are on their way may change that.
    func refuses(at now: MonotonicTime) -> Bool { now.nanoseconds < refusalEnd.load(ordering: .relaxed) }

    /// Sends a command, from any thread. Its caller gets the reply, or an error at the deadline.
    ///
    /// - Parameters:
    ///   - reply: The caller.
    ///   - bytes: The command as it is sent.
    ///   - message: The command.
    func send(_ reply: PendingReply, _ bytes: [UInt8], of message: RedisNode.Message) {
        let (deadline, isIdempotent) = (message.deadline, message.command.isIdempotent)
        let precedingReplies = message.isAsking ? 1 : 0
        loop.post { [self] thread in
            run(on: thread) { state in
                guard let admission = admit(reply, deadline: deadline, &state, on: thread) else { return }
                let isAdded = state.pipeline.add(
                    reply,
                    bytes,
                    precedingReplies: precedingReplies,
                    deadline: deadline,
                    isIdempotent: isIdempotent
                )
                if !isAdded { state.outcomes.append((reply, .failure(fullError))) }
                switch admission {
                case .connect: connect(&state, on: thread)
                case .write: requestFlush(&state, on: thread)
                case .wait, .refuse: break
                }
            }
        }
    }

    /// Closes the connection as soon as no command is under way. A later command opens it again for itself.
    func retire() {
        loop.post { [self] thread in
            run(on: thread) { $0.isRetired = true }
        }
    }

    /// Closes the connection for good, when no caller can be left.
    func close() {
        loop.post { [self] thread in
            run(on: thread) { state in
                state.isClosed = true
                disconnect(&state, on: thread)
                let sent = state.pipeline.lost()
                let waiting = state.pipeline.removeWaiting()
                let replies = sent + waiting.unsent + waiting.sentBefore
                for reply in replies { state.outcomes.append((reply, .failure(.cancelled))) }
                removeTimer(&state, on: thread)
            }
        }
    }

    /// Runs a turn under the lock, and sets the timer after it.
    private func run(on thread: LoopThread, _ body: (inout State) -> Void) {
        let outcomes = state.withLockUnchecked { state in
            body(&state)
            if state.isRetired, state.pipeline.isEmpty {
                state.health.released()
                disconnect(&state, on: thread)
                removeTimer(&state, on: thread)
            } else {
                setTimer(&state, on: thread)
            }
            refusalEnd.store(state.health.refusalEnd.nanoseconds, ordering: .relaxed)
            defer { state.outcomes = [] }
            return state.outcomes
        }
        for (reply, outcome) in outcomes { reply.finish(outcome) }
    }

    // MARK: Commands

    /// Decides on a command that is to be added. Returns nil if it is over.
    private func admit(
        _ reply: PendingReply,
        deadline: MonotonicTime,
        _ state: inout State,
        on thread: LoopThread
    ) -> LinkHealth.Admission? {
        let now = MonotonicTime.now
        var error: RedisError?
        if !reply.isWanted || state.isClosed { error = .cancelled } else if deadline <= now { error = timeoutError }
        if error == nil {
            leaveFormerPrimary(&state, on: thread)
            let admission = state.health.admit(at: now)
            if admission != .refuse { return admission }
            error = .unavailable(server)
        }
        if let error { state.outcomes.append((reply, .failure(error))) }
        return nil
    }

    /// Writes after all commands of this round have been added.
    private func requestFlush(_ state: inout State, on thread: LoopThread) {
        guard !state.awaitsFlush else { return }
        state.awaitsFlush = true
        thread.runLater { [self] thread in
            run(on: thread) { state in
                state.awaitsFlush = false
                flush(&state, on: thread)
            }
        }
    }

    private func flush(_ state: inout State, on thread: LoopThread) {
        while state.socket?.isBlocked == false, var socket = state.socket.take() {
            if socket.output.isEmpty, socket.greeting == nil {
                socket.output.append { output in
                    state.pipeline.write(to: &output) { $0.isWanted }
                }
            }
            let isEmpty = socket.output.isEmpty
            let result = isEmpty ? .wouldBlock : socket.stream.write(socket.output)
            if case .bytes(let count) = result { socket.output.consume(count) }
            if case .wouldBlock = result { socket.isBlocked = !isEmpty }
            state.socket = socket
            switch result {
            case .bytes: continue
            case .wouldBlock: return
            case .end, .failed:
                // Replies may have arrived before the server closed its side.
                state.socket?.isBlocked = true
                state.socket?.stream.mayRead = true
                read(&state, on: thread)
                if state.socket != nil { closed(&state, on: thread) }
                return
            }
        }
    }

    // MARK: Connecting

    private func connect(_ state: inout State, on thread: LoopThread) {
        let deadline = MonotonicTime.now + server.connectTimeout
        state.connectDeadline = deadline
        switch route {
        case .fixed(let destination): dial(destination, &state)
        case .primary(let locator):
            state.lastSearch += 1
            let number = state.lastSearch
            let task = Task { [self] in
                let answer = await locator.locate(before: deadline)
                loop.post { [self] thread in
                    run(on: thread) { state in located(answer, number, &state, on: thread) }
                }
            }
            state.search = (task, number)
        }
    }

    /// Handles the answer of the sentinels.
    private func located(
        _ answer: Result<PrimaryLocator.Location, RedisError>,
        _ number: Int,
        _ state: inout State,
        on thread: LoopThread
    ) {
        guard state.search?.number == number else { return }
        state.search = nil
        do {
            let location = try answer.get()
            state.location = location
            var primary = server
            primary.address = .tcp(host: location.address.host, port: location.address.port)
            dial(try Dial.Destination(primary), &state)
        } catch {
            failed(error as? RedisError ?? .unavailable(server, error), &state, on: thread)
        }
    }

    /// Closes a connection to a server that is no longer the primary, as another connection has found out.
    private func leaveFormerPrimary(_ state: inout State, on thread: LoopThread) {
        guard case .primary(let locator) = route, state.health.isReady, let location = state.location,
            location.version < locator.version
        else { return }
        state.health.released()
        lost(&state, on: thread)
    }

    private func dial(_ destination: Dial.Destination, _ state: inout State) {
        let dial = Dial(to: destination, on: loop, of: engine) { [self] dial, result, thread in
            if case .success(let dialed) = result, let failure = dialed.tls?.pinFailure,
                case .report(let report) = server.tls?.pins?.mode
            {
                report(failure)
            }
            run(on: thread) { state in dialed(dial, result, &state, on: thread) }
        }
        state.dial = dial
        dial.start()
    }

    private func dialed(
        _ dial: Dial,
        _ result: Result<DialedSocket, SluiceError>,
        _ state: inout State,
        on thread: LoopThread
    ) {
        guard state.dial === dial else {
            if case .success(let dialed) = result { close(dialed.descriptor, dialed.registration, on: thread) }
            return
        }
        state.dial = nil
        switch result {
        case .failure(let error): failed(.unavailable(server, error), &state, on: thread)
        case .success(let dialed):
            thread.replaceHandler(of: dialed.registration, with: self)
            switch server.address {
            case .tcp, .primary: RedisLink.keepAlive(dialed.descriptor)
            case .unixSocket: break
            }
            var greeting = Greeting(server)
            var socket = Socket(
                descriptor: dialed.descriptor,
                registration: dialed.registration,
                stream: SocketStream(dialed.descriptor, dialed.tls, hasHungUp: dialed.hasHungUp)
            )
            socket.output.append { output in
                for command in greeting.begin() { command.write(to: &output) }
            }
            socket.greeting = greeting
            state.socket = socket
            flush(&state, on: thread)
        }
    }

    /// Detects a dead peer, also while data is unacknowledged, when keep-alive probes are not sent.
    private static func keepAlive(_ descriptor: Int32) {
        let tcp = Int32(IPPROTO_TCP)
        let options: [(Int32, Int32, Int32)] = [
            (SOL_SOCKET, SO_KEEPALIVE, 1), (tcp, TCP_KEEPIDLE, 30), (tcp, TCP_KEEPINTVL, 10), (tcp, TCP_KEEPCNT, 3),
            (tcp, TCP_USER_TIMEOUT, 10_000),
        ]
        for (level, name, value) in options {
            var value = value
            setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    // MARK: Turns

    func ready(_ events: UInt32, on thread: LoopThread) {
        run(on: thread) { state in
            state.socket?.stream.recordEvents(events)
            if events & EPOLLOUT.rawValue != 0 { state.socket?.isBlocked = false }
            read(&state, on: thread)
            flush(&state, on: thread)
        }
    }

    func deadlinePassed(on thread: LoopThread) {
        run(on: thread) { state in
            state.timerDeadline = .distantFuture
            let now = MonotonicTime.now
            let (owners, isTimeout) = state.pipeline.expire(at: now)
            for reply in owners { state.outcomes.append((reply, .failure(timeoutError))) }
            let isDead = isTimeout ? state.health.timedOut() : false
            if isDead || state.pipeline.isOverdue(at: now) || state.connectDeadline <= now {
                failed(.unavailable(server), &state, on: thread)
            }
        }
    }

    private func setTimer(_ state: inout State, on thread: LoopThread) {
        let deadline = min(state.connectDeadline, state.pipeline.nextDeadline)
        // A timer that fires too early sets itself again.
        guard deadline < state.timerDeadline, !state.isClosed else { return }
        let timer = state.timer ?? thread.register(self)
        state.timer = timer
        state.timerDeadline = deadline
        thread.setTimer(timer, at: deadline)
    }

    private func removeTimer(_ state: inout State, on thread: LoopThread) {
        if let timer = state.timer.take() { thread.unregister(timer) }
        state.timerDeadline = .distantFuture
    }

    private func read(_ state: inout State, on thread: LoopThread) {
        var left = RedisLink.turnBytes
        while state.socket?.stream.mayRead == true, left > 0 {
            switch state.socket?.stream.read(into: thread.scratch) {
            case .bytes(let count):
                left -= count
                state.socket?.parser.append(UnsafeRawBufferPointer(rebasing: thread.scratch[..<count]))
                takeMessages(&state, on: thread)
            case .wouldBlock: continue
            case .end, .failed: return closed(&state, on: thread)
            case nil: return
            }
        }
        if let socket = state.socket, socket.stream.mayRead { thread.runAgain(socket.registration) }
    }

    private func takeMessages(_ state: inout State, on thread: LoopThread) {
        while true {
            do throws(RESPSyntaxError) {
                guard let message = try state.socket?.parser.next() else { return }
                // No command subscribes to anything, and attributes are comments.
                guard case .reply(let value) = message else { continue }
                if state.socket?.greeting == nil {
                    take(value, &state, on: thread)
                } else {
                    greet(value, &state, on: thread)
                }
            } catch {
                let text = "The Redis server at \(server) sent something other than RESP: \(error)."
                return failed(RedisError(.invalidReply, text), &state, on: thread)
            }
        }
    }

    private func greet(_ value: RedisValue, _ state: inout State, on thread: LoopThread) {
        switch state.socket?.greeting?.received(value) {
        case .send(let commands):
            state.socket?.output.append { output in
                for command in commands { command.write(to: &output) }
            }
            flush(&state, on: thread)
        case .done:
            state.socket?.greeting = nil
            state.connectDeadline = .distantFuture
            state.health.connected()
            flush(&state, on: thread)
        case .failed(let error): failed(.unavailable(server, error), &state, on: thread)
        case .wait, nil: return
        }
    }

    private func take(_ value: RedisValue, _ state: inout State, on thread: LoopThread) {
        var failure: RedisError?
        if case .error(let error) = value { failure = RedisError(error) }
        switch state.pipeline.received() {
        case .owner(let reply): state.outcomes.append((reply, failure.map { .failure($0) } ?? .success(value)))
        case .dropped: break
        case .unexpected: return failed(.strayReply, &state, on: thread)
        }
        // After a failover the name may belong to another server.
        if let failure, failure.code == .readOnly || failure.code == .loading {
            switch server.address {
            case .tcp(let host, _): Resolver.shared.forget(host)
            case .primary: if let location = state.location { Resolver.shared.forget(location.address.host) }
            case .unixSocket: break
            }
            failed(failure, &state, on: thread)
        } else {
            state.health.answered()
        }
    }

    // MARK: Ends

    /// Handles a connection that the server has closed, or that was lost.
    private func closed(_ state: inout State, on thread: LoopThread) {
        state.health.closed(at: .now, random: server.randomness())
        lost(&state, on: thread)
    }

    /// Ends a connection, and connects again for the commands that can still be sent.
    private func lost(_ state: inout State, on thread: LoopThread) {
        disconnect(&state, on: thread)
        let error = RedisError(.connectionLost, "The connection to the Redis server at \(server) was lost.")
        for reply in state.pipeline.lost() { state.outcomes.append((reply, .failure(error))) }
        guard state.pipeline.hasWaiting else { return }
        if state.health.admit(at: .now) == .connect { return connect(&state, on: thread) }
        failWaiting(.unavailable(server), sentBefore: error, &state)
    }

    /// Handles an unavailable server: closes the connection, and fails all commands until the pause is over.
    private func failed(_ error: RedisError, _ state: inout State, on thread: LoopThread) {
        state.health.failed(at: .now, random: server.randomness())
        disconnect(&state, on: thread)
        let unknown = RedisError(
            .connectionLost,
            "The connection to the Redis server at \(server) was closed: \(error.description)",
            underlyingError: error
        )
        for reply in state.pipeline.lost() { state.outcomes.append((reply, .failure(unknown))) }
        failWaiting(error.code == .unavailable ? error : .unavailable(server, error), sentBefore: unknown, &state)
    }

    /// Fails the waiting commands: those that were never sent, and those that the server may have executed.
    private func failWaiting(_ unsent: RedisError, sentBefore: RedisError, _ state: inout State) {
        let waiting = state.pipeline.removeWaiting()
        for reply in waiting.unsent { state.outcomes.append((reply, .failure(unsent))) }
        for reply in waiting.sentBefore { state.outcomes.append((reply, .failure(sentBefore))) }
    }

    private func disconnect(_ state: inout State, on thread: LoopThread) {
        state.connectDeadline = .distantFuture
        state.search.take()?.task.cancel()
        state.location = nil
        state.dial.take()?.cancel()
        guard var socket = state.socket.take() else { return }
        socket.stream.tls?.close()
        socket.stream.tls = nil
        close(socket.descriptor, socket.registration, on: thread)
    }

    private func close(_ descriptor: Int32, _ registration: LoopThread.Registration, on thread: LoopThread) {
        thread.unregister(registration)
        engine.descriptors.close(descriptor)
    }

    private var fullError: RedisError {
        RedisError(.queueFull, "Too many commands wait for the Redis server at \(server).")
    }

    private var timeoutError: RedisError {
        RedisError(.timedOut, "The Redis server at \(server) did not answer in time.")
    }
}
#endif

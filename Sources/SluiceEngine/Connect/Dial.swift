#if os(Linux)
import CLinux
import Dispatch
import Glibc
import SluiceHTTP

/// A socket that is connected, with its TLS, and what making it took.
struct DialedSocket {
    let descriptor: Int32
    let registration: LoopThread.Registration
    let remoteAddress: String
    let tls: TLSStream?
    let timings: ConnectionTimings
}

/// The making of one connection: name, addresses, sockets in a race, TLS.
///
/// ```
/// TLS policy ──▶ name ──▶ race of addresses ──▶ handshake ──▶ connection
///       └──────────┴────────────┴──────────────────┴──▶ failure
/// ```
///
/// Its pool decides for which request it is made, which time-out holds, and whom the connection is given to. Everything here happens on
/// the thread of one loop; the lock is never contended, and satisfies the compiler.
package final class Dial: LoopHandler {
    struct State {
        var isOver = false
        var race: AddressRace?
        var attempts: [Int: Attempt] = [:]
        var ticket: Resolver.Ticket?
        /// The dial's own place on the loop, for the timer of the race.
        var registration: LoopThread.Registration?
        /// The attempt that could not have a descriptor, or met a full backlog, and is made again.
        var postponed: (index: Int, address: Target)?
        /// True once the server has said something, or has ended the connection: the loop reports that once.
        var hasInput = false
        var tlsContext: TLSContext?
        var tls: TLSStream?
        var timings = ConnectionTimings()
    }

    struct Attempt {
        let descriptor: Int32
        let registration: LoopThread.Registration
        let target: Target
    }

    enum Target {
        case address(SocketAddress)
        case unix(String)

        var description: String {
            switch self {
            case .address(let address): address.description
            case .unix(let path): path
            }
        }
    }

    /// The time after which an attempt that met a passing shortage is made again.
    private static let postponement = Duration.milliseconds(20)
    /// Threads that may wait for files, of certificates and authorities.
    private static let files = DispatchQueue(label: "sluice.tls", attributes: .concurrent)

    let pool: ConnectionPool
    let group: PoolState<Call, Connection, Dial>.GroupID
    let loop: EventLoop
    let began = MonotonicTime.now
    private let origin: HTTPOrigin
    private let plan: ConnectionPlan
    private let request: HTTPRequest
    private let serverName: String
    private let state = Locked(State())
    private let failure = Locked<SystemError?>(nil)

    /// The failure of the attempt that failed last; nil as long as none has. For any thread.
    var lastFailure: SystemError? { failure.withLock { $0 } }

    /// Prepares a dial for a request; nothing happens before ``start()``.
    init(for call: Call, in group: PoolState<Call, Connection, Dial>.GroupID, on loop: EventLoop) {
        pool = call.pool
        self.group = group
        self.loop = loop
        origin = call.origin
        plan = call.plan
        request = call.request
        serverName = call.serverName
    }

    /// Begins to connect.
    func start() {
        loop.post { [self] thread in
            guard with({ !$0.isOver }) else { return }
            origin.scheme == "https" ? prepareTLS(on: thread) : resolve(on: thread)
        }
    }

    /// Stops, and closes what is open; the pool has forgotten it.
    func cancel() {
        loop.post { [self] thread in tearDown(on: thread) }
    }

    private func with<Value>(_ body: (inout State) -> Value) -> Value {
        state.withLockUnchecked(body)
    }

    // MARK: TLS policy

    private func prepareTLS(on thread: LoopThread) {
        if let context = TLSContext.cached(for: plan.tls, offering: ["http/1.1"]) {
            with { $0.tlsContext = context }
            return resolve(on: thread)
        }
        Dial.files.async { [self] in
            let result = Result { () throws(TLSFailure) in
                try TLSContext.context(for: plan.tls, offering: ["http/1.1"])
            }
            loop.post { [self] thread in
                guard with({ !$0.isOver }) else { return }
                switch result {
                case .success(let context):
                    with { $0.tlsContext = context }
                    resolve(on: thread)
                case .failure(let failure): fail(failure.error(host: serverName), on: thread)
                }
            }
        }
    }

    // MARK: Names

    private func resolve(on thread: LoopThread) {
        if let path = plan.unixSocket {
            _ = attempt(0, .unix(path), on: thread)
            return
        }
        let port = UInt16(clamping: origin.port)
        if !plan.hostAddresses.isEmpty {
            return race(plan.hostAddresses.map { SocketAddress(address: $0, port: port) }, on: thread)
        }
        let resolution = Resolver.shared.resolve(origin.host, port: port) { [self] answer in
            loop.post { [self] thread in resolved(answer, on: thread) }
        }
        switch resolution {
        case .answer(let answer): resolved(answer, on: thread)
        case .pending(let ticket): with { $0.ticket = ticket }
        }
    }

    private func resolved(_ answer: Resolver.Answer, on thread: LoopThread) {
        let isOver = with { state in
            state.ticket = nil
            return state.isOver
        }
        if isOver { return }
        switch answer {
        case .success(let addresses): race(addresses, on: thread)
        case .failure(let failure):
            fail(
                SluiceError(
                    .cannotResolveHost,
                    "The name of the host in “\(request.authority)” does not resolve; check its spelling and the DNS.",
                    underlyingError: failure
                ),
                on: thread
            )
        }
    }

    private func race(_ addresses: [SocketAddress], on thread: LoopThread) {
        with { $0.timings.nameLookup = MonotonicTime.now.since(began) }
        let allowed = addresses.filter { plan.addresses.allows($0.address) }
        guard !allowed.isEmpty else {
            // The address stays untold: whoever named the host may be the one to read this.
            return fail(
                SluiceError(
                    .addressRefused,
                    "\(request.authority) leads to an address that this client may not connect to."
                ),
                on: thread
            )
        }
        let registration = thread.register(self)
        with { state in
            state.registration = registration
            state.race = AddressRace(allowed)
        }
        advance(on: thread)
    }

    // MARK: Sockets

    /// Does what the race says is next, until it has to wait.
    private func advance(on thread: LoopThread) {
        while true {
            guard let action = with({ state in state.isOver ? nil : state.race?.next(at: .now) }) else { return }
            switch action {
            case .attempt(let index, let address):
                if !attempt(index, .address(address), on: thread) { return }
            case .wait(let time):
                if let registration = with({ $0.registration }) { thread.setTimer(registration, at: time) }
                return
            case .won(let index, let losers):
                for loser in losers { close(loser, on: thread) }
                return connected(index, on: thread)
            case .failed:
                Resolver.shared.forget(origin.host)
                return fail(lastFailure.map { cannotConnect($0) } ?? Engine.unavailable, on: thread)
            }
        }
    }

    package func ready(_ events: UInt32, on thread: LoopThread) {}

    package func deadlinePassed(on thread: LoopThread) {
        if let (index, target) = with({ $0.postponed.take() }) {
            guard attempt(index, target, on: thread) else { return }
        }
        if with({ $0.race != nil }) { advance(on: thread) }
    }

    /// Starts to connect a socket; returns false if that has to wait for a descriptor.
    private func attempt(_ index: Int, _ target: Target, on thread: LoopThread) -> Bool {
        let family =
            switch target {
            case .address(let address): address.family
            case .unix: AF_UNIX
            }
        let descriptor = pool.engine.descriptors.socket(family)
        guard descriptor >= 0 else {
            if errno == EMFILE || errno == ENFILE {
                postpone(index, target, on: thread)
                return false
            }
            attemptFailed(index, errno, on: thread)
            return true
        }
        if family != AF_UNIX {
            var on: Int32 = 1
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        }
        let status = target.connect(descriptor)
        if status < 0, errno != EINPROGRESS {
            let error = errno
            pool.engine.descriptors.close(descriptor)
            if error == EAGAIN {
                // The backlog of a unix-domain socket is full.
                postpone(index, target, on: thread)
                return false
            }
            attemptFailed(index, error, on: thread)
            return true
        }
        let registration = thread.register(DialAttempt(dial: self, index: index))
        with { $0.attempts[index] = Attempt(descriptor: descriptor, registration: registration, target: target) }
        guard thread.watch(descriptor, for: registration) else {
            let error = errno
            close(index, on: thread)
            attemptFailed(index, error, on: thread)
            return true
        }
        return true
    }

    private func postpone(_ index: Int, _ target: Target, on thread: LoopThread) {
        let registration = with { $0.registration } ?? thread.register(self)
        with { state in
            state.registration = registration
            state.postponed = (index, target)
        }
        thread.setTimer(registration, at: .now + Dial.postponement)
    }

    private func attemptFailed(_ index: Int, _ error: Int32, on thread: LoopThread) {
        let cause = SystemError(number: error)
        failure.withLock { $0 = cause }
        let isRace = with { state in
            state.race?.attemptFailed(index, at: .now)
            return state.race != nil
        }
        if !isRace { fail(cannotConnect(cause), on: thread) }
    }

    private func cannotConnect(_ cause: SystemError) -> SluiceError {
        SluiceError(.cannotConnect, "No connection to \(serverName): \(cause.words).", underlyingError: cause)
    }

    /// Handles readiness of an attempt's socket.
    fileprivate func attemptReady(_ index: Int, _ events: UInt32, on thread: LoopThread) {
        guard let attempt = with({ $0.isOver ? nil : $0.attempts[index] }) else { return }
        if events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0 { with { $0.hasInput = true } }
        if with({ $0.tls != nil }) { return handshake(index, attempt, on: thread) }
        guard events & (EPOLLOUT.rawValue | EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 else { return }
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(attempt.descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
        if error == 0, events & EPOLLHUP.rawValue != 0, events & EPOLLOUT.rawValue == 0 { error = ECONNREFUSED }
        let isRace = with { $0.race != nil }
        if error != 0 {
            close(index, on: thread)
            attemptFailed(index, error, on: thread)
        } else if isRace {
            with { $0.race?.attemptConnected(index) }
        } else {
            return connected(index, on: thread)
        }
        if isRace { advance(on: thread) }
    }

    private func close(_ index: Int, on thread: LoopThread) {
        guard let attempt = with({ $0.attempts.removeValue(forKey: index) }) else { return }
        thread.unregister(attempt.registration)
        pool.engine.descriptors.close(attempt.descriptor)
    }

    // MARK: Handshake

    private func connected(_ index: Int, on thread: LoopThread) {
        guard let attempt = with({ $0.attempts[index] }) else { return }
        if let registration = with({ $0.registration.take() }) { thread.unregister(registration) }
        with { $0.timings.connect = MonotonicTime.now.since(began) }
        guard let context = with({ $0.tlsContext }) else { return succeed(attempt, on: thread) }
        do throws(TLSFailure) {
            let stream = try TLSStream(
                context,
                descriptor: attempt.descriptor,
                host: origin.host,
                port: origin.port,
                pins: plan.tls.pins
            )
            with { $0.tls = stream }
        } catch {
            return fail(error.error(host: serverName), on: thread)
        }
        handshake(index, attempt, on: thread)
    }

    private func handshake(_ index: Int, _ attempt: Attempt, on thread: LoopThread) {
        switch with({ $0.tls?.handshake() }) {
        case nil, .wantsRead, .wantsWrite: return
        case .failed(let error): fail(error, on: thread)
        case .done:
            with { $0.timings.tls = MonotonicTime.now.since(began) }
            succeed(attempt, on: thread)
        }
    }

    // MARK: Ends

    private func succeed(_ attempt: Attempt, on thread: LoopThread) {
        let (dialed, hasInput) = with { state in
            state.isOver = true
            state.attempts = [:]
            return (
                DialedSocket(
                    descriptor: attempt.descriptor,
                    registration: attempt.registration,
                    remoteAddress: attempt.target.description,
                    tls: state.tls.take(),
                    timings: state.timings
                ),
                state.hasInput
            )
        }
        let connection = Connection(dialed, from: self)
        thread.replaceHandler(of: attempt.registration, with: connection)
        pool.dialed(self, connection, on: thread)
        // No event comes for what the dial was told of.
        if hasInput { thread.runAgain(attempt.registration) }
    }

    private func fail(_ error: SluiceError, on thread: LoopThread) {
        guard with({ !$0.isOver }) else { return }
        tearDown(on: thread)
        pool.dialFailed(self, with: error, on: thread)
    }

    private func tearDown(on thread: LoopThread) {
        let (indices, registration, ticket) = with { state in
            state.isOver = true
            state.tls = nil
            return (Array(state.attempts.keys), state.registration.take(), state.ticket.take())
        }
        for index in indices { close(index, on: thread) }
        if let registration { thread.unregister(registration) }
        if let ticket { Resolver.shared.cancel(ticket) }
    }
}

/// One attempt of a dial as its loop sees it.
private final class DialAttempt: LoopHandler {
    let dial: Dial
    let index: Int

    init(dial: Dial, index: Int) {
        self.dial = dial
        self.index = index
    }

    func ready(_ events: UInt32, on thread: LoopThread) {
        dial.attemptReady(index, events, on: thread)
    }
}

extension Dial.Target {
    /// Begins to connect; -1 with `errno` set unless that is done at once.
    fileprivate func connect(_ descriptor: Int32) -> Int32 {
        switch self {
        case .address(let address):
            return address.withSockaddr { Glibc.connect(descriptor, $0, $1) }
        case .unix(let path):
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
            return withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }
    }
}

/// An error number of the system's, the underlying error of a failure to connect.
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The value of `errno`.
    public let number: Int32

    /// The system's words for it.
    public var description: String { String(cString: strerror(number)) }

    /// The same words for the middle of a sentence.
    var words: String { description.lowercased() }
}
#endif

#if os(Linux)
import CLinux
import Dispatch
import SluiceHTTP
import SluiceLibc

/// The setup of one connection: name resolution, address race, proxy handshake and TLS.
///
/// ```
/// TLS policies ──▶ names ──▶ race of addresses ──▶ TLS to the proxy ──▶ proxy's handshake ──▶ TLS ──▶ connection
///       │            │               ▲ └─────────────────┼────────────────────┼───────────────┘
///       │            │               └── a new connection to the proxy ───────┤
///       └────────────┴───────────────────────────────────┴────────────────────┴──▶ failure
/// ```
///
/// Without a proxy, the socket connects to the origin. With a proxy, it connects to the address of the proxy, and the name of the origin
/// is resolved only if the proxy protocol needs an address. If the server closes the connection during TLS, the race goes on with its
/// other addresses.
///
/// The owner selects the destination, the time-out and the receiver of the socket. All functions run on the thread of one loop, except
/// ``start()``, ``cancel()`` and ``lastFailure``. The lock around the state is never contended. Only the concurrency checks of the
/// compiler need it.
package final class Dial: LoopHandler {
    /// Receives the socket or the failure, once and on the loop's thread, unless the dial was cancelled.
    package typealias Completion = @Sendable (Dial, Result<DialedSocket, SluiceError>, LoopThread) -> Void

    struct State {
        var isOver = false
        var race: AddressRace?
        var attempts: [Int: Attempt] = [:]
        var ticket: Resolver.Ticket?
        /// True if the addresses of the last name were known without a look-up, and may be outdated.
        var hasCachedAddresses = false
        /// The registration of the dial on the loop, for the timer of the race.
        var registration: LoopThread.Registration?
        /// The attempts to repeat after a short time, because there was no descriptor or the backlog was full.
        var postponed: [(index: Int, address: Target)] = []
        var tlsContext: TLSContext?
        var proxyContext: TLSContext?
        /// TLS to the proxy, which carries all later traffic.
        var proxyTLS: TLSStream?
        var tunnel: ProxyTunnel?
        var stage = Stage.connecting
        /// The failures of the handshakes that the server has ended by closing its connection.
        var lostHandshakes: [SluiceError] = []
        var timings = ConnectionTimings()
    }

    /// The delay before an attempt that failed for lack of a resource is repeated.
    private static let postponement = Duration.milliseconds(20)
    /// The number of lost handshakes after which no other address is tried.
    private static let maximumLostHandshakes = 3

    let loop: EventLoop
    let began = MonotonicTime.now
    private let destination: Destination
    private let descriptors: DescriptorBudget
    /// The protection spaces known to the client, for the proxy's handshake.
    private let spaces: Locked<ProtectionSpaces>
    private let resolver: Resolver
    private let completion: Completion
    private let state = Locked(State())
    private let failure = Locked<SystemError?>(nil)

    /// The most recent failure of an attempt, or nil if none has failed. It can be read on any thread.
    var lastFailure: SystemError? { failure.withLock { $0 } }

    /// Creates a dial. ``start()`` starts it.
    package init(
        to destination: Destination,
        on loop: EventLoop,
        of engine: Engine,
        in spaces: Locked<ProtectionSpaces> = Locked(ProtectionSpaces()),
        _ resolver: Resolver = .shared,
        completion: @escaping Completion
    ) {
        self.destination = destination
        self.loop = loop
        descriptors = engine.descriptors
        self.spaces = spaces
        self.resolver = resolver
        self.completion = completion
    }

    private var origin: HTTPOrigin { destination.origin }
    private var plan: ConnectionPlan { destination.plan }
    private var serverName: String { destination.serverName }
    /// The server and its proxy, for error texts.
    var target: String { serverName + (plan.proxy.map { " through \($0.displayName)" } ?? "") }
    /// The route through the proxy, or nil for none.
    private var route: ProxyRoute? { destination.route }

    /// Begins to connect.
    package func start() {
        loop.post { [self] thread in
            guard withState({ !$0.isOver }) else { return }
            origin.scheme == "https" ? prepareTLS(on: thread) : prepareProxyTLS(on: thread)
        }
    }

    /// Stops the dial and closes its sockets. A socket that connects at the same time may still be completed.
    package func cancel() {
        loop.post { [self] thread in
            // Addresses that have not answered for a second may no longer be those of the name.
            if MonotonicTime.now.since(began) >= .seconds(1) {
                let (isWaiting, silent) = withState { state in
                    (!state.isOver && state.race != nil && !state.isConnected, state.addressInTLS)
                }
                if isWaiting { resolver.forget(route?.host ?? origin.host) }
                if route == nil, let silent { resolver.putLast(silent, of: origin.host) }
            }
            tearDown(on: thread)
        }
    }

    private func withState<Value>(_ body: (inout State) -> Value) -> Value {
        state.withLockUnchecked(body)
    }

    // MARK: TLS policy

    private func prepareTLS(on thread: LoopThread) {
        prepare(plan.tls, offering: destination.protocols, on: thread) { [self] result, thread in
            switch result {
            case .success(let context):
                withState { $0.tlsContext = context }
                prepareProxyTLS(on: thread)
            case .failure(let failure): fail(failure.error(host: serverName), on: thread)
            }
        }
    }

    private func prepareProxyTLS(on thread: LoopThread) {
        guard let route, let tls = route.tls else { return resolve(on: thread) }
        prepare(tls, offering: ProxyRoute.protocols, on: thread) { [self] result, thread in
            switch result {
            case .success(let context):
                withState { $0.proxyContext = context }
                resolve(on: thread)
            case .failure(let failure): fail(route.error(of: failure), on: thread)
            }
        }
    }

    /// Finds the context of a TLS policy, on another thread if it has files.
    private func prepare(
        _ policy: TLSConfiguration,
        offering protocols: [String],
        on thread: LoopThread,
        _ completion: @escaping @Sendable (Result<TLSContext, TLSFailure>, LoopThread) -> Void
    ) {
        if let context = TLSContext.withoutFiles(for: policy, offering: protocols) {
            return completion(.success(context), thread)
        }
        BlockingQueues.certificates(of: TLSPolicy(policy, protocols)).async { [self] in
            let result = Result { () throws(TLSFailure) in
                try TLSContext.context(for: policy, offering: protocols)
            }
            loop.post { [self] thread in
                if withState({ !$0.isOver }) { completion(result, thread) }
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
        if let route, !route.resolvesOrigin { return resolve(route, for: [], on: thread) }
        if !plan.hostAddresses.isEmpty {
            return race(plan.hostAddresses.map { SocketAddress(address: $0, port: port) }, on: thread)
        }
        lookUp(origin.host, port: port, on: thread) { [self] answer, thread in
            switch answer {
            case .success(let addresses):
                if let route { resolve(route, for: addresses, on: thread) } else { race(addresses, on: thread) }
            case .failure(let failure):
                let reason = failure.reason(of: "The host name “\(origin.host)”")
                fail(SluiceError(.cannotResolveHost, reason, underlyingError: failure), on: thread)
            }
        }
    }

    /// Creates the handshake of a proxy, and resolves the proxy's name.
    private func resolve(_ route: ProxyRoute, for addresses: [SocketAddress], on thread: LoopThread) {
        do throws(ProxyError) {
            let tunnel = try route.handshake(for: addresses, in: spaces).map { ProxyTunnel($0) }
            withState { $0.tunnel = tunnel }
        } catch {
            return fail(error.error(to: serverName, by: route.name), on: thread)
        }
        lookUp(route.host, port: route.port, on: thread) { [self] answer, thread in
            switch answer {
            case .success(let addresses): race(addresses, on: thread)
            case .failure(let failure): fail(route.resolutionError(failure), on: thread)
            }
        }
    }

    private func lookUp(
        _ host: String,
        port: UInt16,
        on thread: LoopThread,
        _ completion: @escaping @Sendable (Resolver.Answer, LoopThread) -> Void
    ) {
        let resolution = resolver.resolve(host, port: port) { [self] answer in
            loop.post { [self] thread in
                let isOver = withState { state in
                    state.ticket = nil
                    return state.isOver
                }
                if !isOver { completion(answer, thread) }
            }
        }
        switch resolution {
        case .answer(let answer):
            let isName = if case .name = LookupTarget(host) { true } else { false }
            withState { $0.hasCachedAddresses = isName }
            completion(answer, thread)
        case .pending(let ticket): withState { ($0.hasCachedAddresses, $0.ticket) = (false, ticket) }
        }
    }

    private func race(_ addresses: [SocketAddress], on thread: LoopThread) {
        withState { $0.timings.nameLookup = MonotonicTime.now.since(began) }
        let allowed = addresses.filter { plan.addresses.allows($0.address) }
        guard !allowed.isEmpty else {
            // Do not reveal the address. The error may be shown to the party that supplied the host name.
            return fail(
                SluiceError(
                    .addressRefused,
                    "\(destination.authority) resolves to an address that this client is not allowed to connect to."
                ),
                on: thread
            )
        }
        let registration = thread.register(self)
        withState { state in
            state.registration = registration
            state.race = AddressRace(allowed, areCached: state.hasCachedAddresses)
        }
        advance(on: thread)
    }

    /// Looks the name up again, and adds the new addresses to the race.
    private func lookUpAgain(on thread: LoopThread) {
        let (host, port) = route.map { ($0.host, $0.port) } ?? (origin.host, UInt16(clamping: origin.port))
        resolver.forget(host)
        lookUp(host, port: port, on: thread) { [self] answer, thread in
            let allowed = ((try? answer.get()) ?? []).filter { plan.addresses.allows($0.address) }
            withState { $0.race?.add(allowed, at: .now) }
            if !withState({ $0.isConnected }) { advance(on: thread) }
        }
    }

    // MARK: Sockets

    /// Performs the actions of the race until it has to wait.
    private func advance(on thread: LoopThread) {
        while true {
            guard let action = withState({ state in state.isOver ? nil : state.race?.next(at: .now) }) else { return }
            switch action {
            case .attempt(let index, let address):
                // Many addresses that do not answer must not take the descriptors of other hosts.
                let mayAbandon = descriptors.isExceeded && withState { $0.postponed.isEmpty }
                if mayAbandon, let old = withState({ $0.race?.abandonOldest(at: .now) }) { close(old, on: thread) }
                if !attempt(index, .address(address), on: thread) { return }
            case .wait(let time):
                let (registration, isPostponed) = withState { ($0.registration, !$0.postponed.isEmpty) }
                let next = isPostponed ? min(time, .now + Dial.postponement) : time
                if let registration { thread.setTimer(registration, at: next) }
                return
            case .won(let index, let losers):
                for loser in losers { close(loser, on: thread) }
                return connected(index, on: thread)
            case .lookUpAgain: lookUpAgain(on: thread)
            case .failed:
                resolver.forget(route?.host ?? origin.host)
                let loss = withState { $0.lostHandshakes.last }
                return fail(loss ?? lastFailure.map { cannotConnect($0) } ?? Engine.unavailable, on: thread)
            }
        }
    }

    package func ready(_ events: UInt32, on thread: LoopThread) {}

    package func deadlinePassed(on thread: LoopThread) {
        let postponed = withState { state in
            defer { state.postponed = [] }
            return state.postponed
        }
        if !postponed.isEmpty { failure.withLock { $0 = nil } }
        var isPostponed = false
        for (index, target) in postponed where !attempt(index, target, on: thread) { isPostponed = true }
        if isPostponed { return }
        if withState({ $0.race != nil }) { advance(on: thread) }
    }

    /// Starts to connect a socket. Returns false if the attempt must wait for a descriptor or for the backlog.
    private func attempt(_ index: Int, _ target: Target, on thread: LoopThread) -> Bool {
        let descriptor = descriptors.socket(target.family)
        guard descriptor >= 0 else {
            let error = errno
            if error == EMFILE || error == ENFILE { return postpone(index, target, after: error, on: thread) }
            attemptFailed(index, error, on: thread)
            return true
        }
        if target.family != AF_UNIX {
            var on: Int32 = 1
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        }
        let status = target.connect(descriptor)
        if status < 0, errno != EINPROGRESS {
            let error = errno
            descriptors.close(descriptor)
            if error == EAGAIN {
                // The backlog of a unix-domain socket is full.
                return postpone(index, target, after: error, on: thread)
            }
            attemptFailed(index, error, on: thread)
            return true
        }
        let registration = thread.register(DialAttempt(dial: self, index: index))
        withState { state in
            state.race?.attemptBegan(index, at: .now)
            state.attempts[index] = Attempt(
                index: index,
                descriptor: descriptor,
                registration: registration,
                target: target
            )
        }
        if !thread.watch(descriptor, for: registration) {
            let error = errno
            close(index, on: thread)
            attemptFailed(index, error, on: thread)
        }
        return true
    }

    /// Repeats an attempt later. Returns false.
    private func postpone(_ index: Int, _ target: Target, after error: Int32, on thread: LoopThread) -> Bool {
        failure.withLock { $0 = SystemError(number: error) }
        let registration = withState { $0.registration } ?? thread.register(self)
        withState { ($0.registration, $0.postponed) = (registration, $0.postponed + [(index, target)]) }
        thread.setTimer(registration, at: .now + Dial.postponement)
        return false
    }

    private func attemptFailed(_ index: Int, _ error: Int32, on thread: LoopThread) {
        let cause = SystemError(number: error)
        // A machine without IPv6 fails at once for such an address, which says little about the server.
        let isUnroutable = [EADDRNOTAVAIL, EAFNOSUPPORT, ENETUNREACH, EHOSTUNREACH].contains(error)
        failure.withLock { if $0 == nil || !isUnroutable { $0 = cause } }
        let isRace = withState { state in
            state.race?.attemptFailed(index, at: .now)
            return state.race != nil
        }
        if !isRace { fail(cannotConnect(cause), on: thread) }
    }

    private func cannotConnect(_ cause: SystemError) -> SluiceError {
        route?.connectionError(cause)
            ?? SluiceError(
                .cannotConnect,
                "The connection to \(serverName) could not be established: \(cause.message).",
                underlyingError: cause
            )
    }

    /// Handles readiness of an attempt's socket.
    func attemptReady(_ index: Int, _ events: UInt32, on thread: LoopThread) {
        guard let attempt = withState({ $0.isOver ? nil : $0.attempts[index] }) else { return }
        if events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0 {
            withState { state in
                state.attempts[index]?.hasInput = true
                if events & EPOLLRDHUP.rawValue != 0 { state.attempts[index]?.hasHungUp = true }
            }
        }
        if withState({ $0.isConnected }) { return proceed(attempt, on: thread) }
        guard events & (EPOLLOUT.rawValue | EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 else { return }
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(attempt.descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
        if error == 0, events & EPOLLHUP.rawValue != 0, events & EPOLLOUT.rawValue == 0 { error = ECONNREFUSED }
        let isRace = withState { $0.race != nil }
        if error != 0 {
            close(index, on: thread)
            attemptFailed(index, error, on: thread)
        } else if isRace {
            withState { $0.race?.attemptConnected(index) }
        } else {
            return connected(index, on: thread)
        }
        if isRace { advance(on: thread) }
    }

    private func close(_ index: Int, on thread: LoopThread) {
        guard let attempt = withState({ $0.attempts.removeValue(forKey: index) }) else { return }
        thread.unregister(attempt.registration)
        descriptors.close(attempt.descriptor)
    }

    // MARK: Handshakes

    private func connected(_ index: Int, on thread: LoopThread) {
        guard let attempt = withState({ $0.attempts[index] }) else { return }
        let registration = withState { state in
            state.timings.connect = MonotonicTime.now.since(began)
            // The other addresses are no longer needed.
            state.postponed = []
            return state.registration.take()
        }
        if let registration { thread.unregister(registration) }
        guard let route, let context = withState({ $0.proxyContext }) else {
            return startProxyHandshake(attempt, on: thread)
        }
        do throws(TLSFailure) {
            let stream = try TLSStream(
                context,
                descriptor: attempt.descriptor,
                host: route.host,
                port: Int(route.port),
                pins: nil
            )
            withState { state in
                state.proxyTLS = stream
                state.stage = .proxyTLS(stream)
            }
        } catch {
            return fail(route.error(of: error), on: thread)
        }
        proceed(attempt, on: thread)
    }

    /// Starts the proxy handshake, or TLS with the origin if there is no handshake.
    private func startProxyHandshake(_ attempt: Attempt, on thread: LoopThread) {
        let hasTunnel = withState { state in
            guard state.tunnel != nil else { return false }
            state.tunnel?.begin(on: SocketStream(attempt.descriptor, state.proxyTLS))
            state.stage = .tunnel
            return true
        }
        if hasTunnel { proceed(attempt, on: thread) } else { startTLS(attempt, on: thread) }
    }

    /// Starts TLS with the origin, if the scheme requires it.
    private func startTLS(_ attempt: Attempt, on thread: LoopThread) {
        let (context, outer) = withState { ($0.tlsContext, $0.proxyTLS) }
        guard let context else { return succeed(attempt, on: thread) }
        do throws(TLSFailure) {
            let stream = try TLSStream(
                context,
                descriptor: attempt.descriptor,
                within: outer,
                host: origin.host,
                port: origin.port,
                pins: plan.tls.pins
            )
            withState { $0.stage = .tls(stream) }
        } catch {
            return fail(error.error(host: serverName), on: thread)
        }
        proceed(attempt, on: thread)
    }

    /// Continues the current stage until the socket is neither readable nor writable.
    private func proceed(_ attempt: Attempt, on thread: LoopThread) {
        switch withState({ $0.stage }) {
        case .connecting: return
        case .proxyTLS(let stream):
            switch stream.handshake() {
            case .wantsRead, .wantsWrite: return
            case .failed(let error): fail(route?.error(ofHandshake: error) ?? error, on: thread)
            case .done:
                withState { $0.timings.tls = MonotonicTime.now.since(began) }
                startProxyHandshake(attempt, on: thread)
            }
        case .tunnel: proceedTunnel(attempt, on: thread)
        case .tls(let stream):
            switch stream.handshake() {
            case .wantsRead, .wantsWrite: return
            case .failed(let error): handshakeFailed(attempt, error, on: thread)
            case .done:
                withState { $0.timings.tls = MonotonicTime.now.since(began) }
                succeed(attempt, on: thread)
            }
        }
    }

    /// Tries the other addresses of the server if the connection was lost. A machine of a server that is about to stop may still accept
    /// connections.
    private func handshakeFailed(_ attempt: Attempt, _ error: SluiceError, on thread: LoopThread) {
        let mayTryOthers = route == nil && withState { $0.lostHandshakes.count } < Dial.maximumLostHandshakes
        guard mayTryOthers, error.code == .connectionLost, case .address(let address) = attempt.target else {
            return fail(error, on: thread)
        }
        resolver.putLast(address.address, of: origin.host)
        let registration = thread.register(self)
        withState { state in
            _ = state.takeTLS()
            state.race?.winnerFailed(at: .now)
            state.lostHandshakes.append(error)
            state.registration = registration
        }
        close(attempt.index, on: thread)
        advance(on: thread)
    }

    private func proceedTunnel(_ attempt: Attempt, on thread: LoopThread) {
        let step = withState { state in
            state.tunnel?.advance(reading: thread.scratch, precedesTLS: state.tlsContext != nil)
        }
        guard let route, let step else { return }
        switch step {
        case .wait: return
        case .done: startTLS(attempt, on: thread)
        case .reconnect: reconnect(to: attempt.target, on: thread)
        case .failed(let failure): fail(failure.error(to: serverName, by: route.name), on: thread)
        case .tlsFailed(let failure): fail(route.error(of: failure), on: thread)
        }
    }

    /// Opens a new connection to the proxy, at the address that worked before.
    private func reconnect(to target: Target, on thread: LoopThread) {
        for index in withState({ Array($0.attempts.keys) }) { close(index, on: thread) }
        withState { state in
            state.race = nil
            state.proxyTLS = nil
            state.stage = .connecting
        }
        _ = attempt(0, target, on: thread)
    }

    // MARK: Ends

    private func succeed(_ attempt: Attempt, on thread: LoopThread) {
        if let ticket = withState({ $0.ticket.take() }) { resolver.cancel(ticket) }
        let (dialed, hasInput) = withState { state in
            state.isOver = true
            let current = state.attempts.removeValue(forKey: attempt.index)
            state.attempts = [:]
            return (
                DialedSocket(
                    descriptor: attempt.descriptor,
                    registration: attempt.registration,
                    remoteAddress: attempt.target.description,
                    tls: state.takeTLS(),
                    timings: state.timings,
                    hasHungUp: current?.hasHungUp == true
                ),
                current?.hasInput == true
            )
        }
        completion(self, .success(dialed), thread)
        // The loop does not repeat an event that the dial has received.
        if hasInput { thread.runAgain(attempt.registration) }
    }

    private func fail(_ error: SluiceError, on thread: LoopThread) {
        guard withState({ !$0.isOver }) else { return }
        tearDown(on: thread)
        completion(self, .failure(error), thread)
    }

    private func tearDown(on thread: LoopThread) {
        let (indices, registration, ticket) = withState { state in
            state.isOver = true
            _ = state.takeTLS()
            return (Array(state.attempts.keys), state.registration.take(), state.ticket.take())
        }
        for index in indices { close(index, on: thread) }
        if let registration { thread.unregister(registration) }
        if let ticket { resolver.cancel(ticket) }
    }
}
#endif

#if os(Linux)
import CLinux
import Dispatch
import SluiceHTTP
import SluiceLibc

/// Resolves host names on a bounded number of dedicated threads, so a name server that does not answer only blocks look-ups.
///
/// No caller waits for a thread. A look-up without waiters continues in the background, and does not delay the end of the process.
/// ``ResolverState`` makes the decisions. This class runs the threads.
package final class Resolver: Sendable {
    /// The reason why a name could not be resolved.
    package enum Failure: Error, Sendable, Hashable {
        /// The name does not exist, has no address, or is invalid.
        case notFound
        /// The look-up failed temporarily. The value is the message of gai_strerror(3).
        case temporary(String)
        /// No thread could be started.
        case noThread

        /// Returns the reason of an error for a name that could not be resolved.
        ///
        /// - Parameter subject: The name, as the beginning of a sentence.
        /// - Returns: One or two sentences.
        func reason(of subject: String) -> String {
            let text = "\(subject) could not be resolved"
            return switch self {
            case .notFound: "\(text). Check its spelling and your DNS settings."
            case .temporary(let message): "\(text) now: \(message). Check your network and DNS settings."
            case .noThread: "\(text), because the system could not start a thread."
            }
        }
    }

    package typealias Answer = Result<[SocketAddress], Failure>

    /// The identity of a caller that waits for a look-up.
    package struct Ticket: Sendable, Hashable {
        let lookUp: UInt64
        let number: UInt64
    }

    package enum Resolution: Sendable {
        case answer(Answer)
        case pending(Ticket)
    }

    private struct Waiter: Sendable {
        let port: UInt16
        let completion: @Sendable (Answer) -> Void

        func complete(_ answer: Result<[ScopedAddress], Failure>) {
            completion(answer.map { addresses in addresses.map { SocketAddress($0, port: port) } })
        }
    }

    package static let shared = Resolver()

    /// The stack size of a thread, which must suffice for the name service modules of the C library. Only the pages in use consume memory.
    private static var stackSize: Int { 512 << 10 }

    private let state: Locked<ResolverState<Waiter>>
    /// A semaphore that is signalled once for each thread to wake.
    private let wakes = DispatchSemaphore(value: 0)
    private let idleTime: Duration
    private let lookUp: @Sendable (String) -> Result<[ScopedAddress], Failure>
    private let now: @Sendable () -> MonotonicTime
    private let startThread: @Sendable (@escaping @Sendable () -> Void) -> Bool

    /// Creates a resolver. Its threads start when they are needed.
    ///
    /// - Parameters:
    ///   - threads: The number of concurrent look-ups. Look-ups without waiters do not count, up to the same number of them, so there
    ///     are at most twice as many threads.
    ///   - lifetime: The time for which addresses are cached. A missing name is cached for a second at most.
    ///   - idleTime: The time after which a thread without work ends.
    ///   - lookUp: Returns the addresses of a name. Called on one of the threads, where it may block.
    ///   - now: Returns the current time.
    ///   - startThread: Runs a closure on a new thread. Returns false if none can be started.
    package init(
        threads: Int = 32,
        lifetime: Duration = .seconds(60),
        idleTime: Duration = .seconds(5),
        lookUp: @escaping @Sendable (String) -> Result<[ScopedAddress], Failure> = { SystemLookup.addresses(of: $0) },
        now: @escaping @Sendable () -> MonotonicTime = { .now },
        startThread: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool = {
            DetachedThread.start("sluice-dns", stackSize: Resolver.stackSize, $0)
        }
    ) {
        state = Locked(ResolverState(threads: threads, lifetime: lifetime))
        self.idleTime = idleTime
        self.lookUp = lookUp
        self.now = now
        self.startThread = startThread
    }

    /// Resolves a host. IP addresses and cached answers are returned at once.
    ///
    /// - Parameters:
    ///   - host: A name or an IP address, without brackets.
    ///   - port: The port of the returned addresses.
    ///   - completion: Called once with a later answer, on a thread of the resolver, possibly before this method returns. It must not
    ///     block. If no thread can be started, it may be called on the thread of another caller.
    /// - Returns: The answer, after which the completion is not called, or a ticket for cancellation.
    package func resolve(
        _ host: String,
        port: UInt16,
        completion: @escaping @Sendable (Answer) -> Void
    ) -> Resolution {
        switch LookupTarget(host) {
        case .address(let address): return .answer(.success([SocketAddress(address, port: port)]))
        case .invalid: return .answer(.failure(.notFound))
        case .name(let name):
            let time = now()
            let waiter = Waiter(port: port, completion: completion)
            let (reply, work) = state.withLock { $0.request(name, waiter, at: time) }
            switch reply {
            case .answer(let answer):
                return .answer(answer.map { addresses in addresses.map { SocketAddress($0, port: port) } })
            case .pending(let ticket):
                return perform(work, for: ticket) ? .pending(ticket) : .answer(.failure(.noThread))
            }
        }
    }

    /// Cancels the wait for a look-up. The look-up itself continues.
    ///
    /// - Returns: True if the completion will not be called. False if it has been called or is about to be.
    @discardableResult
    package func cancel(_ ticket: Ticket) -> Bool {
        let (isCancelled, work) = state.withLock { $0.cancel(ticket) }
        _ = perform(work, for: nil)
        return isCancelled
    }

    /// Removes the cached answer of a name after a failed connection attempt.
    package func forget(_ host: String) {
        guard case .name(let name) = LookupTarget(host) else { return }
        state.withLock { $0.forget(name) }
    }

    /// Moves an address to the end of the cached answer of a name, because its server did not complete a handshake.
    package func putLast(_ address: IPAddress, of host: String) {
        guard case .name(let name) = LookupTarget(host) else { return }
        state.withLock { $0.putLast(address, of: name) }
    }

    /// Starts or wakes a thread.
    ///
    /// - Returns: False if no thread can be started, which ends the caller's look-up. Its completion is not called.
    private func perform(_ work: ResolverState<Waiter>.Work, for ticket: Ticket?) -> Bool {
        switch work {
        case .none: return true
        case .wakeThread:
            wakes.signal()
            return true
        case .startThread:
            if startThread({ self.run() }) { return true }
            var isFailed = false
            for (failed, waiter) in state.withLock({ $0.threadFailed() }) {
                if failed == ticket { isFailed = true } else { waiter.complete(.failure(.noThread)) }
            }
            return !isFailed
        }
    }

    /// Runs look-ups until there have been none for the idle time.
    private func run() {
        var step = state.withLock { $0.threadArrived() }
        while true {
            switch step {
            case .lookUp(let id, let name):
                let result = lookUp(name)
                let time = now()
                let (answer, waiters) = state.withLock { $0.finish(id, result, at: time) }
                for waiter in waiters { waiter.complete(answer) }
                step = state.withLock { $0.nextStep() }
            case .idle:
                let isWoken = wakes.wait(timeout: .now() + .nanoseconds(Int(idleTime.nanoseconds))) == .success
                if isWoken {
                    step = state.withLock { $0.threadArrived() }
                } else if state.withLock({ $0.idleTimePassed() }) {
                    return
                }
            case .end: return
            }
        }
    }
}

/// Resolves names with getaddrinfo(3), according to the configuration of the system (hosts file, DNS, mDNS and others).
enum SystemLookup {
    /// Returns the addresses of a name in the system's order (RFC 6724). Blocks until the answer is known.
    static func addresses(of name: String) -> Result<[ScopedAddress], Resolver.Failure> {
        var hints = addrinfo()
        // AI_ADDRCONFIG is not set: it ignores loopback addresses, so a host with only `lo` would resolve nothing.
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = sluice_stream_socket
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, nil, &hints, &list)
        let systemCode = errno
        guard code == 0 else { return .failure(failure(code, errno: systemCode)) }
        defer { if let list { freeaddrinfo(list) } }
        var addresses: [ScopedAddress] = []
        var next = list
        while let entry = next {
            if let pointer = entry.pointee.ai_addr,
                let socket = SocketAddress(pointer, length: entry.pointee.ai_addrlen)
            {
                addresses.append(ScopedAddress(socket.address, scope: socket.scope))
            }
            next = entry.pointee.ai_next
        }
        return .success(addresses)
    }

    /// Returns the failure for an error code of getaddrinfo.
    static func failure(_ code: Int32, errno systemCode: Int32) -> Resolver.Failure {
        switch code {
        case EAI_NONAME, noData, noAddressOfFamily: .notFound
        case EAI_SYSTEM: .temporary(String(cString: strerror(systemCode)))
        default: .temporary(String(cString: gai_strerror(code)))
        }
    }

    /// `EAI_NODATA` and `EAI_ADDRFAMILY`, which the C library declares only with `_GNU_SOURCE`.
    private static var noData: Int32 { -5 }
    private static var noAddressOfFamily: Int32 { -9 }
}
#endif

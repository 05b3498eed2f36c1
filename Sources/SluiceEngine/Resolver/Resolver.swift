#if os(Linux)
import Dispatch
import Glibc
import SluiceHTTP

/// Finds the addresses of hosts, on bounded threads of its own, so that a name server that does not answer stops look-ups only.
///
/// Nobody waits for a thread: a look-up that its callers have left goes on by itself, and the process ends in spite of it.
/// ``ResolverState`` decides; this class runs the threads.
package final class Resolver: Sendable {
    package enum Failure: Error, Sendable, Hashable {
        /// The name does not exist, has no address, or is no name.
        case notFound
        /// The look-up failed for now, in the words of gai_strerror(3).
        case temporary(String)
        /// No thread could be started.
        case noThread
    }

    package typealias Answer = Result<[SocketAddress], Failure>

    /// A caller's place at a look-up.
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

    /// The process's resolver.
    package static let shared = Resolver()

    private let state: Locked<ResolverState<Waiter>>
    /// Signalled once for each thread that is woken.
    private let wakes = DispatchSemaphore(value: 0)
    private let idleTime: Duration
    private let lookUp: @Sendable (String) -> Result<[ScopedAddress], Failure>
    private let now: @Sendable () -> MonotonicTime
    private let startThread: @Sendable (@escaping @Sendable () -> Void) -> Bool

    /// Creates a resolver, which starts its threads when they are needed.
    ///
    /// - Parameters:
    ///   - threads: The number of look-ups that run at a time. Look-ups whose callers have all left do not count, up to the same
    ///     number of them, so there are at most twice as many threads.
    ///   - lifetime: The time for which addresses are cached; a name that does not exist is cached for a second at most.
    ///   - idleTime: The time after which a thread without work ends.
    ///   - lookUp: Finds the addresses of a name; it runs on one of the threads and may block.
    ///   - now: The clock.
    ///   - startThread: Runs a closure on a thread; false if there is none to be had.
    package init(
        threads: Int = 8,
        lifetime: Duration = .seconds(60),
        idleTime: Duration = .seconds(5),
        lookUp: @escaping @Sendable (String) -> Result<[ScopedAddress], Failure> = { SystemLookUp.addresses(of: $0) },
        now: @escaping @Sendable () -> MonotonicTime = { .now },
        startThread: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool = { ResolverThread.start($0) }
    ) {
        state = Locked(ResolverState(threads: threads, lifetime: lifetime))
        self.idleTime = idleTime
        self.lookUp = lookUp
        self.now = now
        self.startThread = startThread
    }

    /// Finds the addresses of a host: at once for an IP address and for a cached answer, and else later.
    ///
    /// - Parameters:
    ///   - host: A name or an IP address; no brackets.
    ///   - port: The port that the addresses get.
    ///   - completion: Called once with a later answer, on a thread of the resolver, possibly before this method returns; it must not
    ///     block. Where no thread can be started, another caller of the resolver calls it.
    /// - Returns: The answer, after which the completion is not called, or a ticket to cancel with.
    package func resolve(
        _ host: String,
        port: UInt16,
        completion: @escaping @Sendable (Answer) -> Void
    ) -> Resolution {
        switch LookUpTarget(host) {
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

    /// Leaves a look-up, which goes on for others, or else by itself until it ends.
    ///
    /// - Returns: True if the completion will not be called; false if it has been called or is about to be.
    @discardableResult
    package func cancel(_ ticket: Ticket) -> Bool {
        let (isCancelled, work) = state.withLock { $0.cancel(ticket) }
        _ = perform(work, for: nil)
        return isCancelled
    }

    /// Removes the cached answer of a name, since connecting to it failed.
    package func forget(_ host: String) {
        guard case .name(let name) = LookUpTarget(host) else { return }
        state.withLock { $0.forget(name) }
    }

    /// Starts or wakes a thread.
    ///
    /// - Returns: False if no thread can be started and the caller's look-up has ended by that; its completion is not called.
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

    /// Looks names up until there have been none for a while.
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
#endif

import SluiceHTTP

/// The connections and requests of a server, and the tasks that wait for changes.
final class TrafficLog: Sendable {
    /// The counters that a test can wait for.
    struct Counts: Sendable {
        /// The number of heads received, including those whose body never arrived.
        var heads = 0
        var requests = 0
        var accepted = 0
        var open = 0
        var stalled = 0
        var bytesSent: Int64 = 0
        var bytesReceived: Int64 = 0
        /// True if the server has stopped and all connections are closed, so no counter will change.
        var isOver = false
    }

    private typealias Observer = (isSatisfied: @Sendable (Counts) -> Bool, waiter: Waiter<Void>)

    private struct State {
        var counts = Counts()
        var requests: [LoopbackRequest] = []
        var recordsRequests = true
        var sockets: [Int: StreamSocket] = [:]
        var isStopped = false
        var observers: [Int: Observer] = [:]
    }

    private let state = Locked(State())

    var counts: Counts { state.withLock { $0.counts } }
    var requests: [LoopbackRequest] { state.withLock { $0.requests } }

    var recordsRequests: Bool {
        get { state.withLock { $0.recordsRequests } }
        set { state.withLock { $0.recordsRequests = newValue } }
    }

    /// Registers a connection. Returns its number, or nil if the server has stopped.
    func open(_ socket: StreamSocket) -> Int? {
        change { state in
            guard !state.isStopped else { return nil }
            state.counts.accepted += 1
            state.counts.open += 1
            state.sockets[state.counts.accepted] = socket
            return state.counts.accepted
        }
    }

    /// Closes a connection under the lock, so that `stop` cannot shut down a descriptor that has been reused.
    func close(_ connection: Int) {
        change { state in
            guard let socket = state.sockets.removeValue(forKey: connection) else { return }
            socket.close()
            state.counts.open -= 1
            state.counts.isOver = state.isStopped && state.counts.open == 0
        }
    }

    /// Shuts down every connection. The threads of the connections then close them.
    func stop() {
        change { state in
            state.isStopped = true
            state.counts.isOver = state.counts.open == 0
            for socket in state.sockets.values { socket.shutDown() }
        }
    }

    func record(_ request: LoopbackRequest) {
        change { state in
            state.counts.requests += 1
            if state.recordsRequests { state.requests.append(request) }
        }
    }

    func headArrived() {
        change { $0.counts.heads += 1 }
    }

    func sent(_ bytes: Int) {
        change { $0.counts.bytesSent += Int64(bytes) }
    }

    func received(_ bytes: Int) {
        change { $0.counts.bytesReceived += Int64(bytes) }
    }

    func stalled(_ isStalled: Bool) {
        change { $0.counts.stalled += isStalled ? 1 : -1 }
    }

    func wait(until isSatisfied: @escaping @Sendable (Counts) -> Bool) async {
        await state.wait(cancelled: ()) { waiter in
            change { $0.observers[waiter.id] = (isSatisfied, waiter) }
            if Task.isCancelled { remove(waiter.id)?.resume() }
        } leave: { id in
            remove(id)
        }
    }

    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        // The predicates belong to callers and may query the server, so they run outside the lock.
        let (result, counts, observers) = state.withLock { state in
            let result = body(&state)
            return (result, state.counts, state.observers)
        }
        for (id, observer) in observers where counts.isOver || observer.isSatisfied(counts) { remove(id)?.resume() }
        return result
    }

    private func remove(_ id: Int) -> Waiter<Void>? {
        state.withLock { $0.observers.removeValue(forKey: id) }?.waiter
    }
}

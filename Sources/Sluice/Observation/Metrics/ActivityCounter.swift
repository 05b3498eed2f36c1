import SluiceHTTP

/// Counts the requests in flight, and reports the changes between none and some, for an activity indicator.
///
/// ```swift
/// let activity = ActivityCounter()
/// let client = APIClient(baseURL: "https://api.example.com") { $0.observers = [activity] }
/// for await isActive in activity.changes { spinner.isHidden = !isActive }
/// ```
///
/// To know which request begins or ends, give it a closure that takes the request too:
///
/// ```swift
/// let activity = ActivityCounter { isActive, request in
///     guard case Shop.feed = request.endpoint else { return }
///     Task { @MainActor in spinner.isHidden = !isActive }
/// }
/// ```
///
/// A request counts from its first step to its end, including retries and waits at gates, whatever its outcome. One
/// counter may serve several clients. Like all observers, it receives events with a short delay.
public final class ActivityCounter: RequestObserver {
    private struct State {
        var requests: [RequestID: ObservedRequest] = [:]
        /// The value that the listeners last received.
        var isActive = false
        var isReporting = false
        var listeners: [UInt64: AsyncStream<Bool>.Continuation] = [:]
        var nextListener: UInt64 = 0
    }

    private let state = Locked(State())
    private let onChange: (@Sendable (Bool) -> Void)?
    private let onRequest: (@Sendable (Bool, ObservedRequest) -> Void)?

    /// Creates a counter.
    ///
    /// - Parameter onChange: Called with true when the first request begins and with false when the last one ends.
    ///   Calls come one at a time, the newest value last. It must not block.
    public init(onChange: (@Sendable (_ isActive: Bool) -> Void)? = nil) {
        self.onChange = onChange
        onRequest = nil
    }

    /// Creates a counter that reports each request.
    ///
    /// - Parameter onRequest: Called with true and a request that begins, and with false and a request that ends. Calls
    ///   for one request come in this order; those for requests of several clients may be concurrent. It must not block.
    public init(onRequest: @escaping @Sendable (_ isActive: Bool, _ request: ObservedRequest) -> Void) {
        onChange = nil
        self.onRequest = onRequest
    }

    deinit {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.finish() }
    }

    /// The number of requests in flight.
    public var count: Int { state.withLock { $0.requests.count } }

    /// The requests in flight, oldest first, each as at its beginning.
    public var requests: [ObservedRequest] {
        state.withLock { $0.requests.values.sorted { $0.id.rawValue < $1.id.rawValue } }
    }

    /// True if requests are in flight.
    public var isActive: Bool { count > 0 }

    /// A sequence that gives ``isActive`` now and at each change. A slow reader gets the newest value. It ends when the
    /// counter is released.
    public var changes: some AsyncSequence<Bool, Never> & Sendable {
        let (stream, continuation) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingNewest(1))
        let listener = state.withLock { state in
            state.nextListener += 1
            state.listeners[state.nextListener] = continuation
            continuation.yield(state.isActive)
            return state.nextListener
        }
        // Weak, so that listeners do not keep the counter alive.
        continuation.onTermination = { [weak self] _ in self?.remove(listener) }
        return ActivityChanges(stream: stream)
    }

    private func remove(_ listener: UInt64) {
        state.withLockReleasing { $0.listeners.removeValue(forKey: listener) }
    }

    /// True if the counter has a closure that takes the request.
    public var usesTaskLocals: Bool { onRequest != nil }

    /// The first and the last event of each request.
    public var interests: RequestEvent.Kinds { [.began, .finished] }

    /// Counts a request that begins or ends.
    public func observe(_ event: RequestEvent, of request: ObservedRequest) {
        switch event {
        case .began:
            state.withLock { $0.requests[request.id] = request }
            onRequest?(true, request)
        case .finished:
            let began = state.withLock { $0.requests.removeValue(forKey: request.id) }
            // A request that could not be built has not begun.
            if began != nil { onRequest?(false, request) }
        default: return
        }
        notify()
    }

    /// Resets the count to zero. The end of requests may be among the dropped events, and an indicator must not stay
    /// on.
    public func didDrop(_ count: Int) {
        let lost = state.withLock { state in
            defer { state.requests = [:] }
            return state.requests.values.sorted { $0.id.rawValue < $1.id.rawValue }
        }
        if let onRequest { for request in lost { onRequest(false, request) } }
        notify()
    }

    /// Reports a change outside the lock. Only one thread reports at a time, so the newest value comes last.
    private func notify() {
        while true {
            let change: (Bool, [AsyncStream<Bool>.Continuation])? = state.withLock { state in
                let isActive = !state.requests.isEmpty
                if state.isReporting || state.isActive == isActive { return nil }
                state.isActive = isActive
                state.isReporting = true
                return (isActive, Array(state.listeners.values))
            }
            guard let (isActive, listeners) = change else { return }
            for listener in listeners { listener.yield(isActive) }
            onChange?(isActive)
            state.withLock { $0.isReporting = false }
        }
    }
}

/// Values that indicate whether requests are in flight: ``ActivityCounter/changes``. Each differs from the one before.
private struct ActivityChanges: AsyncSequence, Sendable {
    let stream: AsyncStream<Bool>

    func makeAsyncIterator() -> Iterator {
        Iterator(stream: stream.makeAsyncIterator())
    }

    struct Iterator: AsyncIteratorProtocol {
        private var stream: AsyncStream<Bool>.Iterator
        private var last: Bool?

        fileprivate init(stream: AsyncStream<Bool>.Iterator) {
            self.stream = stream
        }

        /// Returns the next change; nil once the counter is released or the task is cancelled.
        mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> Bool? {
            // A value that was replaced in the buffer would otherwise be returned twice.
            while let isActive = await stream.next(isolation: actor) {
                if isActive == last { continue }
                last = isActive
                return isActive
            }
            return nil
        }
    }
}

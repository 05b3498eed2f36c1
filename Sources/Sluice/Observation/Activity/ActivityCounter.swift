import SluiceHTTP

/// Counts the requests in flight, and tells when there are some and when there are none, for an activity indicator.
///
/// ```swift
/// let activity = ActivityCounter()
/// let client = APIClient(baseURL: "https://api.example.com") { $0.observers = [activity] }
/// for await isActive in activity.changes { spinner.isHidden = !isActive }
/// ```
///
/// A request counts from its first step to its last word, retries and waits at gates included, however it ends. One counter
/// may serve several clients. As all observers do, it follows the requests a little later.
public final class ActivityCounter: RequestObserver {
    private struct State {
        var requests: Set<RequestID> = []
        /// What the listeners have been told.
        var isActive = false
        var isTelling = false
        var listeners: [UInt64: AsyncStream<Bool>.Continuation] = [:]
        var nextListener: UInt64 = 0
    }

    private let state = Locked(State())
    private let onChange: (@Sendable (Bool) -> Void)?

    /// Makes a counter.
    ///
    /// - Parameter onChange: Is told true when a first request begins and false when the last has ended, one call at a
    ///   time, the newest last; it must not block.
    public init(onChange: (@Sendable (_ isActive: Bool) -> Void)? = nil) {
        self.onChange = onChange
    }

    deinit {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.finish() }
    }

    /// How many requests are in flight.
    public var count: Int { state.withLock { $0.requests.count } }

    /// Whether any are.
    public var isActive: Bool { count > 0 }

    /// Whether any are, now and at each change; one who reads slowly gets the newest. It ends with the counter.
    public var changes: Changes {
        let (stream, continuation) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingNewest(1))
        let listener = state.withLock { state in
            state.nextListener += 1
            state.listeners[state.nextListener] = continuation
            continuation.yield(state.isActive)
            return state.nextListener
        }
        // Weakly, lest the counter lives on as long as anybody listens.
        continuation.onTermination = { [weak self] _ in self?.remove(listener) }
        return Changes(stream: stream)
    }

    private func remove(_ listener: UInt64) {
        _ = state.withLock { $0.listeners.removeValue(forKey: listener) }
    }

    /// The first and the last event of each request.
    public var interests: RequestEvent.Kinds { [.began, .finished] }

    /// Counts a request, or no longer.
    public func observe(_ event: RequestEvent, of request: ObservedRequest) {
        switch event {
        case .began: state.withLock { _ = $0.requests.insert(request.id) }
        case .finished: state.withLock { _ = $0.requests.remove(request.id) }
        default: return
        }
        tell()
    }

    /// Begins anew at none: the ends of requests may be among what was missed, and an indicator must not stay on.
    public func missed(_ count: Int) {
        state.withLock { $0.requests = [] }
        tell()
    }

    /// Tells of a change outside of the lock. Whoever finds another telling leaves it to that one, so that the newest is
    /// told last.
    private func tell() {
        while true {
            let change: (Bool, [AsyncStream<Bool>.Continuation])? = state.withLock { state in
                let isActive = !state.requests.isEmpty
                if state.isTelling || state.isActive == isActive { return nil }
                state.isActive = isActive
                state.isTelling = true
                return (isActive, Array(state.listeners.values))
            }
            guard let (isActive, listeners) = change else { return }
            for listener in listeners { listener.yield(isActive) }
            onChange?(isActive)
            state.withLock { $0.isTelling = false }
        }
    }
}

extension ActivityCounter {
    /// Whether requests are in flight, each time another than before.
    public struct Changes: AsyncSequence, Sendable {
        fileprivate let stream: AsyncStream<Bool>

        /// Begins to read.
        public func makeAsyncIterator() -> Iterator {
            Iterator(stream: stream.makeAsyncIterator())
        }

        /// Reads one change after the other.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var stream: AsyncStream<Bool>.Iterator
            private var last: Bool?

            fileprivate init(stream: AsyncStream<Bool>.Iterator) {
                self.stream = stream
            }

            /// The next change; nil once the counter is gone or the task cancelled.
            public mutating func next() async -> Bool? {
                // One that was overtaken in the buffer would be told twice.
                while let isActive = await stream.next() {
                    if isActive == last { continue }
                    last = isActive
                    return isActive
                }
                return nil
            }
        }
    }
}

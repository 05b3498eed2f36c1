/// A counter of the bytes of a request's bodies, for any number of listeners.
///
/// A transport finds the meter in its ``TransferContext``, calls ``begin(uploading:)`` when a transfer starts, and
/// reports progress to the returned ``Reporter``. Counting costs a few nanoseconds and is always on. The clock is
/// read only after the first listener has started.
public struct TransferMeter: Sendable {
    package enum Direction: Sendable {
        case upload, download
    }

    fileprivate struct Count: Sendable {
        var completed: Int64 = 0
        var total: Int64?
        /// Increases with every change.
        var version = 0
        var speed = SpeedWindow()

        mutating func set(completed: Int64) {
            self.completed = completed
            version &+= 1
        }

        mutating func set(total: Int64?) {
            self.total = total
            version &+= 1
        }

        mutating func set(_ progress: TransferProgress) {
            set(completed: progress.completed)
            set(total: progress.total)
        }
    }

    fileprivate struct Listener {
        let direction: Direction
        let waiter: Waiter<Void>
        /// True if a change wakes the listener. The end of the transfer always does.
        let awaitsChange: Bool
    }

    fileprivate struct State {
        let clock: any SluiceClock
        var upload = Count()
        var download = Count()
        var attempt = 0
        var isOver = false
        /// True after the first snapshot.
        var isWatched = false
        /// The meter whose counts this one shows; nil if this one counts itself.
        var leader: TransferMeter?
        var listeners: [Int: Listener] = [:]

        init(clock: any SluiceClock) {
            self.clock = clock
        }
    }

    // The clock is part of the state, so that a copy of the meter retains one object.
    private let state: Locked<State>

    /// Creates a meter with all counts at zero.
    ///
    /// - Parameter clock: The clock that speeds are measured with.
    package init(clock: any SluiceClock = SystemClock()) {
        state = Locked(State(clock: clock))
    }

    /// Starts to count one transfer, which replaces any earlier one.
    ///
    /// - Parameter length: The length of the request's body, nil if unknown.
    /// - Returns: The object that the transfer reports its progress to.
    public func begin(uploading length: Int64?) -> Reporter {
        let (number, waiters): (Int, [Waiter<Void>]) = state.withLock { state in
            if state.isOver { return (0, []) }
            state.attempt += 1
            state.upload.set(completed: 0)
            state.upload.set(total: length)
            state.download.set(completed: 0)
            state.download.set(total: nil)
            return (state.attempt, state.isWatched ? state.woken(.upload) + state.woken(.download) : [])
        }
        TransferMeter.resume(waiters)
        return Reporter(meter: self, number: number)
    }

    /// The progress reports of one transfer. Reports of a transfer that has been replaced are ignored.
    public struct Reporter: Sendable {
        fileprivate let meter: TransferMeter
        fileprivate let number: Int

        /// Reports the total number of bytes of the request's body sent so far.
        public func sent(_ completed: Int64) {
            meter.change(.upload, number) { $0.set(completed: completed) }
        }

        /// Reports the length of the response's body; nil if unknown.
        public func expected(_ total: Int64?) {
            meter.change(.download, number) { $0.set(total: total) }
        }

        /// Reports the total number of bytes of the response's body received so far.
        public func received(_ completed: Int64) {
            meter.change(.download, number) { $0.set(completed: completed) }
        }
    }

    private func change(_ direction: Direction, _ number: Int?, _ change: (inout Count) -> Void) {
        let waiters: [Waiter<Void>] = state.withLock { state in
            guard !state.isOver, number == nil || number == state.attempt else { return [] }
            change(&state[direction])
            guard state.isWatched else { return [] }
            let count = state[direction].completed
            state[direction].speed.record(count, at: state.clock.now)
            return state.woken(direction)
        }
        TransferMeter.resume(waiters)
    }

    /// Resumes listeners in a task, because a transport may report while it holds a lock. On an executor that runs jobs at
    /// once, a listener would otherwise run under that lock.
    private static func resume(_ waiters: [Waiter<Void>]) {
        if waiters.isEmpty { return }
        Task.detached {
            for waiter in waiters { waiter.resume() }
        }
    }
}

extension TransferMeter {
    /// Sets the counts of a body that is assembled from several transfers.
    ///
    /// - Parameters:
    ///   - direction: The body.
    ///   - completed: The number of bytes so far.
    ///   - total: The total number of bytes, nil if unknown.
    ///   - isStart: True if all of these bytes existed before, so that they do not count for the speed.
    package func set(_ direction: Direction, completed: Int64, total: Int64?, isStart: Bool = false) {
        change(direction, nil) { count in
            if isStart { count.speed = SpeedWindow() }
            count.set(completed: completed)
            count.set(total: total)
        }
    }

    /// Shows the counts of another meter until this one ends, for requests that share a transfer.
    package func follow(_ leader: TransferMeter) {
        let waiters: [Waiter<Void>] = state.withLock { state in
            if state.isOver { return [] }
            state.leader = leader
            return state.isWatched ? state.woken(.upload) + state.woken(.download) : []
        }
        for waiter in waiters { waiter.resume() }
    }

    private var leader: TransferMeter? {
        state.withLock { $0.isOver ? nil : $0.leader }
    }

    /// Ends the counting. The current counts become final. Only the first call has an effect.
    ///
    /// - Parameter received: The length of a complete response body that no transfer may have reported.
    package func end(received: Int64? = nil) {
        // Most meters have no leader, and need the lock only once.
        let (leader, listeners): (TransferMeter?, [Waiter<Void>]) = state.withLock { state in
            if let leader = state.leader { return (leader, []) }
            return (nil, state.end(received))
        }
        var waiters = listeners
        if let leader {
            let (upload, download) = (leader.snapshot(.upload).progress, leader.snapshot(.download).progress)
            waiters = state.withLock { state in
                if state.isOver { return [] }
                state.attempt = upload.attempt
                state.upload.set(upload)
                state.download.set(download)
                return state.end(received)
            }
        }
        for waiter in waiters { waiter.resume() }
    }

    /// The state of a body's transfer at one time.
    package struct Snapshot: Sendable {
        package let progress: TransferProgress
        /// A number that differs after every change.
        package let version: Int
        package let isFinal: Bool
    }

    /// Returns the current state. From the first call on, changes are measured for the speed.
    package func snapshot(_ direction: Direction) -> Snapshot {
        if let leader {
            let snapshot = leader.snapshot(direction)
            return Snapshot(progress: snapshot.progress, version: snapshot.version, isFinal: false)
        }
        return state.withLock { state in
            if !state.isWatched {
                state.isWatched = true
                for direction in [Direction.upload, .download] {
                    let count = state[direction].completed
                    state[direction].speed.record(count, at: state.clock.now)
                }
            }
            let count = state[direction]
            let progress = TransferProgress(
                completed: count.completed,
                total: count.total,
                bytesPerSecond: count.speed.bytesPerSecond(count.completed, at: state.clock.now),
                attempt: state.attempt
            )
            return Snapshot(progress: progress, version: count.version, isFinal: state.isOver)
        }
    }

    /// Waits for a newer state than `version`, or for the interval to pass if it is not nil.
    ///
    /// Returns early when the counting ends or the calling task is cancelled.
    package func wait(_ direction: Direction, after version: Int, atLeast interval: Duration?) async {
        // A leader's changes do not wake listeners of this meter, so its counts are polled.
        let interval = interval ?? (leader == nil ? nil : .milliseconds(50))
        var pause: Task<Void, Never>?
        defer { pause?.cancel() }
        await state.wait(cancelled: ()) { waiter in
            let listener = Listener(direction: direction, waiter: waiter, awaitsChange: interval == nil)
            let isWaiting = state.withLock { state in
                if state.isOver || Task.isCancelled { return false }
                // The meter may have started to follow a leader since the check above.
                if interval == nil, state.leader != nil || state[direction].version != version { return false }
                state.listeners[waiter.id] = listener
                return true
            }
            guard isWaiting else { return waiter.resume() }
            pause = interval.map { interval in
                let clock = state.withLock { $0.clock }
                return Task {
                    try? await clock.sleep(for: interval)
                    remove(waiter.id)?.resume()
                }
            }
        } leave: { id in
            remove(id)
        }
    }

    private func remove(_ id: Int) -> Waiter<Void>? {
        state.withLock { $0.listeners.removeValue(forKey: id) }?.waiter
    }
}

extension TransferMeter.State {
    fileprivate subscript(direction: TransferMeter.Direction) -> TransferMeter.Count {
        get { direction == .upload ? upload : download }
        _modify {
            if direction == .upload { yield &upload } else { yield &download }
        }
    }

    /// Ends the counting, and returns all listeners. Has no effect if it has ended.
    fileprivate mutating func end(_ received: Int64?) -> [Waiter<Void>] {
        if isOver { return [] }
        isOver = true
        leader = nil
        if let received {
            download.set(completed: received)
            download.set(total: received)
        }
        let waiters = listeners.isEmpty ? [] : listeners.values.map(\.waiter)
        listeners = [:]
        return waiters
    }

    /// Removes and returns the listeners that a change wakes.
    fileprivate mutating func woken(_ direction: TransferMeter.Direction) -> [Waiter<Void>] {
        let isWoken = { (listener: TransferMeter.Listener) in listener.direction == direction && listener.awaitsChange }
        // Runs for every piece of a body, and nearly always no listener awaits a change.
        if !listeners.values.contains(where: isWoken) { return [] }
        let woken = listeners.filter { isWoken($0.value) }
        for id in woken.keys { listeners[id] = nil }
        return woken.values.map(\.waiter)
    }
}

/// The speed of a transfer, averaged over the last seconds.
struct SpeedWindow: Sendable {
    typealias Instant = ContinuousClock.Instant

    static let length = Duration.seconds(3)
    /// The minimum interval between samples.
    static let step = Duration.milliseconds(100)

    private var samples: [(instant: Instant, bytes: Int64)] = []

    /// Records the number of bytes so far. A lower number than before starts a new measurement.
    mutating func record(_ bytes: Int64, at instant: Instant) {
        guard let last = samples.last else { return samples.append((instant, bytes)) }
        if bytes < last.bytes {
            samples = [(instant, bytes)]
            return
        }
        guard last.instant.duration(to: instant) >= SpeedWindow.step else { return }
        samples.append((instant, bytes))
        // The last sample before the window marks its beginning.
        if let first = samples.firstIndex(where: { $0.instant.duration(to: instant) <= SpeedWindow.length }), first > 1
        {
            samples.removeFirst(first - 1)
        }
    }

    /// Returns the speed in bytes per second; nil until enough time has passed to measure it.
    func bytesPerSecond(_ bytes: Int64, at instant: Instant) -> Double? {
        guard
            let first = samples.last(where: { $0.instant.duration(to: instant) >= SpeedWindow.length }) ?? samples.first
        else { return nil }
        let elapsed = first.instant.duration(to: instant)
        guard elapsed >= SpeedWindow.step else { return nil }
        return max(0, Double(bytes) - Double(first.bytes)) / (elapsed / .seconds(1))
    }
}

// MARK: - Transfer progress

/// The progress and speed of a body's transfer.
public struct TransferProgress: Sendable, Hashable {
    /// The number of bytes so far.
    public var completed: Int64
    /// The total number of bytes; nil if unknown.
    public var total: Int64?
    /// The speed over about the last three seconds; nil until it can be measured.
    public var bytesPerSecond: Double?
    /// The number of the transfer that the progress belongs to, from 1; 0 before the first. Each retry and each
    /// redirect starts another transfer, so this is not the `attempt` of a `RequestContext`.
    public var attempt: Int

    /// Creates a progress value.
    ///
    /// - Parameters:
    ///   - completed: The number of bytes so far.
    ///   - total: The total number of bytes, nil if unknown.
    ///   - bytesPerSecond: The recent speed, nil if unknown.
    ///   - attempt: The number of the transfer.
    public init(completed: Int64 = 0, total: Int64? = nil, bytesPerSecond: Double? = nil, attempt: Int = 0) {
        self.completed = completed
        self.total = total
        self.bytesPerSecond = bytesPerSecond
        self.attempt = attempt
    }

    /// The completed fraction, from 0 to 1; nil if the total is unknown. An empty body is complete.
    public var fractionCompleted: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(completed) / Double(total)) : 1
    }

    /// The estimated remaining time at the recent speed; nil if the speed or the total is unknown.
    public var timeLeft: Duration? {
        guard let total, let bytesPerSecond, bytesPerSecond > 0 else { return nil }
        // Limited to a century, so that the duration cannot overflow.
        return .seconds(min(3_153_600_000, max(0, Double(total) - Double(completed)) / bytesPerSecond))
    }
}

/// The progress of a body, as senders describe it. Any number of loops may observe it, before, during and after the
/// transfer.
package struct TransferProgressSequence: AsyncSequence, Sendable {
    /// The minimum interval between values, except before the last one.
    static let interval = Duration.milliseconds(50)

    private let meter: TransferMeter
    private let direction: TransferMeter.Direction
    private let clock: any SluiceClock

    package init(_ meter: TransferMeter, _ direction: TransferMeter.Direction, clock: any SluiceClock) {
        self.meter = meter
        self.direction = direction
        self.clock = clock
    }

    package func makeAsyncIterator() -> Iterator {
        Iterator(meter: meter, direction: direction, clock: clock)
    }

    /// An iterator that observes a body.
    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let meter: TransferMeter
        fileprivate let direction: TransferMeter.Direction
        fileprivate let clock: any SluiceClock
        private var version: Int?
        private var lastReturn: ContinuousClock.Instant?
        private var isOver = false

        fileprivate init(meter: TransferMeter, direction: TransferMeter.Direction, clock: any SluiceClock) {
            self.meter = meter
            self.direction = direction
            self.clock = clock
        }

        /// Returns the newest state when it changes; nil after the final state or when the calling task is cancelled.
        package mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> TransferProgress? {
            if isOver { return nil }
            while true {
                if Task.isCancelled { return nil }
                let snapshot = meter.snapshot(direction)
                let pause = lastReturn.map { TransferProgressSequence.interval - $0.duration(to: clock.now) } ?? .zero
                if snapshot.isFinal || snapshot.version != version && pause <= .zero {
                    isOver = snapshot.isFinal
                    version = snapshot.version
                    lastReturn = clock.now
                    return snapshot.progress
                }
                let isUnchanged = snapshot.version == version
                await meter.wait(direction, after: snapshot.version, atLeast: isUnchanged ? nil : pause)
            }
        }
    }
}

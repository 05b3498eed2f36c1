/// Counts the bytes of a request's bodies, for any number of listeners, whatever sends it.
///
/// A transport finds it in its ``TransferContext``, calls ``begin(uploading:)`` when it begins, and tells the ``Run`` it gets as it goes. That costs
/// some nanoseconds, so that there is nothing to switch on; times are read once somebody listens.
public struct TransferMeter: Sendable {
    /// Which of the two bodies.
    package enum Direction: Sendable {
        case upload, download
    }

    package typealias Waiter = UnsafeContinuation<Void, Never>

    /// One body.
    fileprivate struct Count: Sendable {
        var completed: Int64 = 0
        var total: Int64?
        /// Rises with every change.
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

        mutating func take(_ progress: TransferProgress) {
            set(completed: progress.completed)
            set(total: progress.total)
        }
    }

    fileprivate struct Listener {
        let direction: Direction
        let waiter: Waiter
        /// Whether a change wakes it; the end always does.
        let awaitsChange: Bool
    }

    fileprivate struct State {
        var upload = Count()
        var download = Count()
        var run = 0
        var isOver = false
        var isWatched = false
        /// Where the transfer is counted, if it is not here.
        var leader: TransferMeter?
        var listeners: [Int: Listener] = [:]
        var lastListener = 0
    }

    private let time: any TimeSource
    private let state = Locked(State())

    /// Makes a meter on which nothing has been counted.
    ///
    /// - Parameter time: What speeds are measured by.
    public init(time: any TimeSource = SystemTime()) {
        self.time = time
    }

    /// Begins to count for one transfer, in place of any before it.
    ///
    /// - Parameter length: The length of the request's body, nil if unknown.
    /// - Returns: What the transfer tells its progress.
    public func begin(uploading length: Int64?) -> Run {
        let (number, waiters): (Int, [Waiter]) = state.withLock { state in
            if state.isOver { return (0, []) }
            state.run += 1
            state.upload.set(completed: 0)
            state.upload.set(total: length)
            state.download.set(completed: 0)
            state.download.set(total: nil)
            return (state.run, state.isWatched ? state.woken(.upload) + state.woken(.download) : [])
        }
        for waiter in waiters { waiter.resume() }
        return Run(meter: self, number: number)
    }

    /// One transfer, to whose meter it tells how far it is. What one that has been replaced tells does not count.
    public struct Run: Sendable {
        fileprivate let meter: TransferMeter
        fileprivate let number: Int

        /// Tells how many bytes of the request's body have gone out, in all.
        public func sent(_ completed: Int64) {
            meter.change(.upload, number) { $0.set(completed: completed) }
        }

        /// Tells how long the response's body will be, once that is known.
        public func expects(_ total: Int64?) {
            meter.change(.download, number) { $0.set(total: total) }
        }

        /// Tells how many bytes of the response's body have come, in all.
        public func received(_ completed: Int64) {
            meter.change(.download, number) { $0.set(completed: completed) }
        }
    }

    private func change(_ direction: Direction, _ number: Int?, _ change: (inout Count) -> Void) {
        let waiters: [Waiter] = state.withLock { state in
            guard !state.isOver, number == nil || number == state.run else { return [] }
            change(&state[direction])
            guard state.isWatched else { return [] }
            let count = state[direction].completed
            state[direction].speed.record(count, at: time.now)
            return state.woken(direction)
        }
        for waiter in waiters { waiter.resume() }
    }
}

extension TransferMeter {
    /// Counts what is not counted by transfers: a body that is put together of several.
    ///
    /// - Parameters:
    ///   - direction: Which body.
    ///   - completed: What there is of it.
    ///   - total: How much there will be; nil if unknown.
    ///   - isStart: Whether all of it had been there before, and says nothing of the speed.
    package func set(_ direction: Direction, completed: Int64, total: Int64?, isStart: Bool = false) {
        change(direction, nil) { count in
            if isStart { count.speed = SpeedWindow() }
            count.set(completed: completed)
            count.set(total: total)
        }
    }

    /// Shows what another counts, from now on until its own end: whoever began the transfer, all see how far it is.
    package func follow(_ leader: TransferMeter) {
        let waiters: [Waiter] = state.withLock { state in
            if state.isOver { return [] }
            state.leader = leader
            return state.isWatched ? state.woken(.upload) + state.woken(.download) : []
        }
        for waiter in waiters { waiter.resume() }
    }

    private var leader: TransferMeter? {
        state.withLock { $0.isOver ? nil : $0.leader }
    }

    /// Ends it: what there is now is the final state. Only the first end counts.
    ///
    /// - Parameter received: The length of a body that has come whole, where no transfer may have told of it.
    package func end(received: Int64? = nil) {
        let led = leader.map { (upload: $0.sight(.upload).progress, download: $0.sight(.download).progress) }
        let waiters: [Waiter] = state.withLock { state in
            guard !state.isOver else { return [] }
            state.isOver = true
            state.leader = nil
            if let led {
                state.run = led.upload.attempt
                state.upload.take(led.upload)
                state.download.take(led.download)
            }
            if let received {
                state.download.set(completed: received)
                state.download.set(total: received)
            }
            let waiters = state.listeners.isEmpty ? [] : state.listeners.values.map(\.waiter)
            state.listeners = [:]
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// What a listener sees now.
    package struct Sight: Sendable {
        package let progress: TransferProgress
        /// Differs where anything has changed.
        package let version: Int
        package let isFinal: Bool
    }

    package func sight(_ direction: Direction) -> Sight {
        if let leader {
            let sight = leader.sight(direction)
            return Sight(progress: sight.progress, version: sight.version, isFinal: false)
        }
        return state.withLock { state in
            if !state.isWatched {
                state.isWatched = true
                for direction in [Direction.upload, .download] {
                    let count = state[direction].completed
                    state[direction].speed.record(count, at: time.now)
                }
            }
            let count = state[direction]
            let progress = TransferProgress(
                completed: count.completed,
                total: count.total,
                bytesPerSecond: count.speed.bytesPerSecond(count.completed, at: time.now),
                attempt: state.run
            )
            return Sight(progress: progress, version: count.version, isFinal: state.isOver)
        }
    }

    /// Waits until there is something newer than what was seen, where `interval` is nil, or until the interval has passed; until the end at
    /// the latest, and no longer than the calling task lasts.
    package func wait(_ direction: Direction, after version: Int, atLeast interval: Duration?) async {
        let id = state.withLock { state in
            state.lastListener += 1
            return state.lastListener
        }
        // What another counts wakes nobody here; it is looked at.
        let interval = interval ?? (leader == nil ? nil : .milliseconds(50))
        var pause: Task<Void, Never>?
        defer {
            pause?.cancel()
            state.synchronize()
        }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { waiter in
                let listener = Listener(direction: direction, waiter: waiter, awaitsChange: interval == nil)
                let isWaiting = state.withLock { state in
                    if state.isOver || Task.isCancelled { return false }
                    // It may have begun to follow another since it was looked at.
                    if interval == nil, state.leader != nil || state[direction].version != version { return false }
                    state.listeners[id] = listener
                    return true
                }
                guard isWaiting else { return waiter.resume() }
                pause = interval.map { interval in
                    Task {
                        try? await time.sleep(for: interval)
                        wake(id)
                    }
                }
            }
        } onCancel: {
            wake(id)
        }
    }

    private func wake(_ id: Int) {
        let waiter = state.withLock { $0.listeners.removeValue(forKey: id)?.waiter }
        waiter?.resume()
    }
}

extension TransferMeter.State {
    fileprivate subscript(direction: TransferMeter.Direction) -> TransferMeter.Count {
        get { direction == .upload ? upload : download }
        _modify {
            if direction == .upload { yield &upload } else { yield &download }
        }
    }

    /// Takes out those whom a change wakes.
    fileprivate mutating func woken(_ direction: TransferMeter.Direction) -> [TransferMeter.Waiter] {
        let isWoken = { (listener: TransferMeter.Listener) in listener.direction == direction && listener.awaitsChange }
        // Nearly always all of them sleep, and this is asked for every piece.
        if !listeners.values.contains(where: isWoken) { return [] }
        let woken = listeners.filter { isWoken($0.value) }
        for id in woken.keys { listeners[id] = nil }
        return woken.values.map(\.waiter)
    }
}

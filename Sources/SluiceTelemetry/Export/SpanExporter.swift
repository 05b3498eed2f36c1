import Sluice
import SluiceHTTP

/// Exports spans in batches, in a task that runs while spans wait.
final class SpanExporter: Sendable {
    typealias Encoding = @Sendable ([SpanRecord]) -> [UInt8]

    /// A caller that waits until the spans of that time have been exported or refused.
    private struct Flush {
        let waiter: Waiter<Void>
        /// The number of these spans that have not been.
        var left: Int
    }

    private struct State {
        var queue: SpanQueue
        /// The number of spans of the export that runs.
        var exporting = 0
        var statistics = TelemetryStatistics()
        var backoff = ExportBackoff()
        /// The number of failures in a row of the first batch, without a time for the next attempt.
        var failures = 0
        /// The time of the first of these failures.
        var firstFailure = ContinuousClock.now
        /// The number of spans that the first batch had when it failed; nil if it has not. Later attempts have the same spans.
        var failed: Int?
        var worker: Task<Void, Never>?
        /// The pause in which spans gather, which a whole batch and a flush end early.
        var gathering: Task<Void, Never>?
        /// The pause after a failed export, which a flush ends early.
        var pausing: Task<Void, Never>?
        var flushes: [Flush] = []
        /// True after the end: nothing is accepted.
        var isOver = false
        /// True if no failed export is repeated.
        var givesUp = false

        /// Counts spans that have been exported, refused or dropped, in their order. Returns the flushes that have ended.
        mutating func settle(_ count: Int) -> [Waiter<Void>] {
            for index in flushes.indices { flushes[index].left -= count }
            defer { flushes.removeAll { $0.left <= 0 } }
            return flushes.filter { $0.left <= 0 }.map(\.waiter)
        }
    }

    /// The number of failures in a row, and the time since the first of them, after which a batch is dropped, because a collector may
    /// never take it.
    private static let maximumFailures = (count: 10, time: Duration.seconds(120))

    private let sender: OTLPSender
    private let encode: Encoding
    private let delay: Duration
    private let clock: any SluiceClock
    private let state: Locked<State>

    init(
        _ queue: SpanQueue,
        _ sender: OTLPSender,
        delay: Duration,
        clock: any SluiceClock,
        _ encode: @escaping Encoding
    ) {
        self.sender = sender
        self.encode = encode
        self.delay = delay
        self.clock = clock
        state = Locked(State(queue: queue))
    }

    var statistics: TelemetryStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.waitingSpans = state.queue.count
            statistics.droppedSpans += state.queue.dropped
            return statistics
        }
    }

    /// Adds spans. Does not wait.
    func append(_ spans: [SpanRecord]) {
        if spans.isEmpty { return }
        let gathering = state.withLock { state -> Task<Void, Never>? in
            if state.isOver {
                state.statistics.droppedSpans += spans.count
                return nil
            }
            for span in spans { state.queue.append(span) }
            // Detached, so that the deadline of a caller does not apply.
            if state.worker == nil { state.worker = Task.detached { [self] in await run() } }
            return state.queue.hasBatch ? state.gathering : nil
        }
        gathering?.cancel()
    }

    /// Waits until all spans of this time have been exported or refused, or until the task is cancelled.
    func flush() async {
        await state.wait(cancelled: ()) { waiter in
            let (isOver, waits) = state.withLock { state -> (Bool, [Task<Void, Never>?]) in
                if state.worker == nil || Task.isCancelled { return (true, []) }
                state.flushes.append(Flush(waiter: waiter, left: state.exporting + state.queue.count))
                return (false, [state.gathering, state.pausing])
            }
            for wait in waits { wait?.cancel() }
            if isOver { waiter.resume() }
        } leave: { id in
            state.withLock { state in
                state.flushes.firstIndex { $0.waiter.id == id }.map { state.flushes.remove(at: $0).waiter }
            }
        }
    }

    /// Ends the exports. Spans that wait have been dropped and counted when it returns.
    func end() async {
        let (worker, waits) = state.withLock { state in
            state.isOver = true
            return (state.worker, [state.gathering, state.pausing])
        }
        worker?.cancel()
        for wait in waits { wait?.cancel() }
        await worker?.value
    }

    /// Stops repeating exports that fail, when nobody is left to count them.
    func release() {
        let waits = state.withLock { state in
            state.givesUp = true
            return [state.gathering, state.pausing]
        }
        for wait in waits { wait?.cancel() }
    }

    private func run() async {
        await gather()
        while let batch = take() {
            let outcome = await sender.send(encode(batch.spans), now: clock.date)
            if let pause = settle(batch, outcome) {
                await pause.value
                state.withLock { $0.pausing = nil }
            } else {
                await gather()
            }
        }
    }

    /// Waits until a whole batch has gathered, or for the delay.
    private func gather() async {
        let task = state.withLock { state -> Task<Void, Never>? in
            let isHurried = state.isOver || state.givesUp || !state.flushes.isEmpty
            if isHurried || state.queue.hasBatch || state.queue.count == 0 { return nil }
            let task = Task { [clock, delay] in _ = try? await clock.sleep(for: delay) }
            state.gathering = task
            return task
        }
        await task?.value
        state.withLock { $0.gathering = nil }
    }

    /// Returns the next batch; nil after the last, with which the task ends.
    private func take() -> SpanQueue.Batch? {
        let (batch, flushes) = state.withLock { state -> (SpanQueue.Batch?, [Waiter<Void>]) in
            if state.isOver {
                while let rest = state.queue.take() { state.statistics.droppedSpans += rest.spans.count }
            }
            if let batch = state.queue.take(atMost: state.failed ?? .max) {
                state.exporting = batch.spans.count
                return (batch, [])
            }
            state.worker = nil
            return (nil, state.settle(.max))
        }
        for waiter in flushes { waiter.resume() }
        return batch
    }

    /// Counts an outcome, and begins the pause before the next export, which a flush ends. Returns nil for none. A batch whose export has
    /// failed too often is dropped, so that those behind it are not held up for good.
    private func settle(_ batch: SpanQueue.Batch, _ outcome: ExportOutcome) -> Task<Void, Never>? {
        let (pause, flushes) = state.withLock { state -> (Task<Void, Never>?, [Waiter<Void>]) in
            state.exporting = 0
            state.statistics.count(outcome, of: batch.spans.count, \.exportedSpans, \.refusedSpans)
            state.failed = nil
            switch outcome {
            case .busy(let requested, _) where !state.isOver && !state.givesUp:
                state.failures = requested == nil ? state.failures + 1 : 0
                if state.failures == 1 { state.firstFailure = clock.now }
                let isDropped =
                    state.failures >= Self.maximumFailures.count
                    && state.firstFailure.duration(to: clock.now) >= Self.maximumFailures.time
                if isDropped {
                    state.failures = 0
                    state.statistics.droppedSpans += batch.spans.count
                } else {
                    state.failed = batch.spans.count
                    state.queue.restore(batch)
                }
                let pause = state.backoff.pause(requested, random: .random(in: .min ... .max))
                let task = Task { [clock] in _ = try? await clock.sleep(for: pause) }
                state.pausing = task
                return (task, isDropped ? state.settle(batch.spans.count) : [])
            case .busy, .cancelled: state.statistics.droppedSpans += batch.spans.count
            case .accepted, .refused:
                state.backoff.reset()
                state.failures = 0
            }
            return (nil, state.settle(batch.spans.count))
        }
        for waiter in flushes { waiter.resume() }
        return pause
    }
}

// MARK: - Span queue

/// The spans that wait for their export, limited in number and bytes.
struct SpanQueue: Sendable {
    /// Spans that are exported together.
    struct Batch: Sendable, Equatable {
        var spans: [SpanRecord] = []
        var bytes = 0
    }

    private let maximumCount: Int
    private let maximumBytes: Int
    private let batchCount: Int
    private let batchBytes: Int
    private var waiting: [SpanRecord] = []
    /// The index of the first span that waits. Those before it have been taken.
    private var head = 0
    private(set) var bytes = 0
    /// The number of spans for which there was no room.
    private(set) var dropped = 0

    init(maximumCount: Int, maximumBytes: Int, batchCount: Int, batchBytes: Int) {
        self.maximumCount = max(0, maximumCount)
        self.maximumBytes = max(0, maximumBytes)
        self.batchCount = max(1, batchCount)
        self.batchBytes = max(1, batchBytes)
    }

    var count: Int { waiting.count - head }
    /// True if a whole batch waits.
    var hasBatch: Bool { count >= batchCount || bytes >= batchBytes }

    /// Adds a span, or drops it if the queue is full: those that wait are older, and were promised first.
    mutating func append(_ span: SpanRecord) {
        let size = span.size
        guard count < maximumCount, bytes + size <= maximumBytes else {
            dropped += 1
            return
        }
        waiting.append(span)
        bytes += size
    }

    /// Removes and returns the oldest spans; nil if none wait. A batch has at least one, however large.
    mutating func take(atMost limit: Int = .max) -> Batch? {
        var batch = Batch()
        let limit = min(batchCount, max(1, limit))
        while head < waiting.count, batch.spans.count < limit {
            let size = waiting[head].size
            if !batch.spans.isEmpty, batch.bytes + size > batchBytes { break }
            batch.spans.append(waiting[head])
            batch.bytes += size
            head += 1
        }
        bytes -= batch.bytes
        if head == waiting.count || head >= 1024 {
            waiting.removeFirst(head)
            head = 0
        }
        return batch.spans.isEmpty ? nil : batch
    }

    /// Puts a batch back in front. The newest spans make room for it.
    mutating func restore(_ batch: Batch) {
        waiting.replaceSubrange(0..<head, with: batch.spans)
        head = 0
        bytes += batch.bytes
        while count > maximumCount || bytes > maximumBytes, let last = waiting.popLast() {
            bytes -= last.size
            dropped += 1
        }
    }
}

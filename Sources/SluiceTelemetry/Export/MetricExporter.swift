import Sluice
import SluiceFoundation
import SluiceHTTP

/// Exports durations at intervals, in a task that begins with the first duration.
final class MetricExporter: Sendable {
    typealias Encoding = @Sendable (DurationLedger.Collection) -> [UInt8]

    private struct State {
        var ledger: DurationLedger
        var statistics = TelemetryStatistics()
        var reader: Task<Void, Never>?
        /// The export that runs; nil if none does. There is one at a time, because the next delta begins where the last one ends.
        var running: Task<ExportOutcome, Never>?
        /// The end of the pause that the collector asked for; nil for none.
        var pauseEnd: ContinuousClock.Instant?
        /// True if no more durations are counted.
        var isClosed = false
        /// True after the end: nothing is exported.
        var isOver = false
    }

    private let sender: OTLPSender
    private let encode: Encoding
    private let interval: Duration
    private let clock: any SluiceClock
    private let state: Locked<State>

    init(
        _ ledger: DurationLedger,
        _ sender: OTLPSender,
        every interval: Duration,
        clock: any SluiceClock,
        _ encode: @escaping Encoding
    ) {
        self.sender = sender
        self.encode = encode
        self.interval = max(.milliseconds(100), interval)
        self.clock = clock
        state = Locked(State(ledger: ledger))
    }

    deinit {
        state.withLock { $0.reader }?.cancel()
    }

    var statistics: TelemetryStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.overflowedDurations = state.ledger.overflowed
            return statistics
        }
    }

    /// Counts a duration. Does not wait.
    func record(_ duration: Duration, _ attributes: [Attribute]) {
        state.withLock { state in
            if state.isClosed { return }
            state.ledger.record(max(0, duration / .seconds(1)), attributes)
            if state.reader != nil { return }
            // Detached, so that the deadline of a caller does not apply.
            state.reader = Task.detached { [weak self, clock, interval] in
                var pause = interval
                while (try? await clock.sleep(for: pause)) != nil {
                    guard let self else { return }
                    // A failure is not repeated before the next interval, whose export has the same durations too.
                    if requestedPause <= .zero { _ = await export() }
                    pause = max(interval, requestedPause)
                }
            }
        }
    }

    /// The rest of the pause that the collector asked for; not positive for none. A flush does not wait for it.
    private var requestedPause: Duration {
        state.withLock { $0.pauseEnd }.map { clock.now.duration(to: $0) } ?? .zero
    }

    /// Exports until the collector has answered, or until the task is cancelled.
    ///
    /// - Returns: False if the exports ended before the collector had answered.
    func flush() async -> Bool {
        // The export that runs may lack the latest durations.
        _ = await state.withLock { $0.running }?.value
        var backoff = ExportBackoff()
        while !Task.isCancelled {
            switch await export() {
            case .busy(let requested, _):
                let pause = backoff.pause(requested, random: .random(in: .min ... .max))
                if (try? await clock.sleep(for: pause)) == nil { return false }
            case .cancelled: return false
            case .accepted, .refused, nil: return true
            }
        }
        return false
    }

    /// Ends the exports at intervals. Later durations are not counted, so that a flush exports the last ones.
    func close() {
        let reader = state.withLock { state in
            state.isClosed = true
            return state.reader
        }
        reader?.cancel()
    }

    /// Ends all exports. The one that runs has been cancelled when it returns.
    func end() async {
        close()
        let running = state.withLock { state in
            state.isOver = true
            return state.running
        }
        running?.cancel()
        _ = await running?.value
    }

    /// Exports what was counted, or waits for the export that runs; returns nil if there is nothing to export.
    private func export() async -> ExportOutcome? {
        let now = clock.date
        let running = state.withLock { state -> Task<ExportOutcome, Never>? in
            if let running = state.running { return running }
            guard !state.isOver, let collection = state.ledger.collect(at: now.unixNanoseconds) else { return nil }
            // Detached, so that it goes on if a caller no longer waits for it.
            let task = Task.detached { [self] in await send(collection, at: now) }
            state.running = task
            return task
        }
        return await running?.value
    }

    private func send(_ collection: DurationLedger.Collection, at now: Date) async -> ExportOutcome {
        let outcome = await sender.send(encode(collection), now: now)
        state.withLock { state in
            state.running = nil
            state.statistics.count(outcome, of: collection.series.count, \.exportedPoints, \.refusedPoints)
            switch outcome {
            case .busy(let requested, _):
                state.ledger.restore(collection)
                state.pauseEnd = requested.map { clock.now + ExportBackoff.obeyed($0) }
            case .cancelled: state.ledger.restore(collection)
            case .accepted, .refused: state.pauseEnd = nil
            }
        }
        return outcome
    }
}

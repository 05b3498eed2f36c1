import Sluice
import SluiceHTTP

/// Exports durations at intervals, in a task that begins with the first duration.
final class MetricExporter: Sendable {
    typealias Encoding = @Sendable (DurationLedger.Collection) -> [UInt8]

    private struct State {
        var ledger: DurationLedger
        var statistics = TelemetryStatistics()
        var reader: Task<Void, Never>?
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
        self.interval = interval
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
            if state.isOver { return }
            state.ledger.record(max(0, duration / .seconds(1)), attributes)
            if state.reader != nil { return }
            // Detached, so that the deadline of a caller does not apply.
            state.reader = Task.detached { [weak self, clock, interval] in
                while (try? await clock.sleep(for: interval)) != nil {
                    guard let self else { return }
                    // A failure is not repeated before the next interval, whose export has the same durations too.
                    _ = await export()
                }
            }
        }
    }

    /// Exports until the collector has answered.
    func flush() async {
        var backoff = ExportBackoff()
        while case .busy(let requested, _)? = await export() {
            let pause = backoff.pause(requested, random: .random(in: .min ... .max))
            if (try? await clock.sleep(for: pause)) == nil { return }
        }
    }

    func end() {
        let reader = state.withLock { state in
            state.isOver = true
            return state.reader
        }
        reader?.cancel()
    }

    /// Exports what was counted; returns nil if nothing was.
    private func export() async -> ExportOutcome? {
        let now = clock.date
        guard let collection = state.withLock({ $0.ledger.collect(at: now.unixNanoseconds) }) else { return nil }
        let outcome = await sender.send(encode(collection), now: now)
        state.withLock { state in
            state.statistics.count(outcome, of: collection.series.count, \.exportedPoints, \.refusedPoints)
            switch outcome {
            case .busy, .cancelled: state.ledger.restore(collection)
            case .accepted, .refused: break
            }
        }
        return outcome
    }
}

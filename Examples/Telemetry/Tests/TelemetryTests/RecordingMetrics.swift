import Metrics
import Synchronization

/// A backend that keeps the values of counters and timers in memory.
final class RecordingMetrics: MetricsFactory {
    private final class Values: CounterHandler, TimerHandler, RecorderHandler {
        private let stored = Mutex<[Int64]>([])

        var all: [Int64] { stored.withLock { $0 } }

        func increment(by amount: Int64) { append(amount) }
        func reset() { stored.withLock { $0 = [] } }
        func recordNanoseconds(_ duration: Int64) { append(duration) }
        func record(_ value: Int64) { append(value) }
        func record(_ value: Double) { append(Int64(value)) }

        private func append(_ value: Int64) {
            stored.withLock { $0.append(value) }
        }
    }

    /// The values by a name such as `requests{method=GET,host=a,status=2xx}`.
    private let series = Mutex<[String: Values]>([:])

    /// The names of all series.
    var names: Set<String> { series.withLock { Set($0.keys) } }

    /// Returns the sum of a counter.
    func total(_ name: String) -> Int64 { values(name).reduce(0, +) }

    /// Returns the values of a timer in nanoseconds.
    func values(_ name: String) -> [Int64] { series.withLock { $0[name] }?.all ?? [] }

    private func values(_ label: String, _ dimensions: [(String, String)]) -> Values {
        let name = "\(label){\(dimensions.map { "\($0)=\($1)" }.joined(separator: ","))}"
        return series.withLock { series in
            if let values = series[name] { return values }
            let values = Values()
            series[name] = values
            return values
        }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { values(label, dimensions) }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { values(label, dimensions) }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        values(label, dimensions)
    }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
}

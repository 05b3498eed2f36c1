import SluiceHTTP

/// The progress of a batch of requests.
public struct BatchProgress: Sendable, Hashable {
    /// The number of requests that have succeeded.
    public internal(set) var succeeded = 0
    /// The number of requests that have failed, without cancelled ones.
    public internal(set) var failed = 0
    /// The number of all requests.
    public let total: Int
    /// The number of bytes sent of all request bodies. A retry counts its own body from 0.
    public internal(set) var bytesSent: Int64 = 0
    /// The number of bytes received of all response bodies.
    public internal(set) var bytesReceived: Int64 = 0

    /// The number of requests that have succeeded or failed.
    public var completed: Int { succeeded + failed }

    /// The fraction of completed requests, from 0 to 1. An empty batch is complete.
    public var fractionCompleted: Double { total > 0 ? Double(completed) / Double(total) : 1 }
}

/// The progress of several requests, as one value that changes.
protocol ObservableProgress: Sendable {
    associatedtype Progress: Sendable, Equatable
    /// The current progress.
    var progress: Progress { get }
    /// Begins with the first request and ends with the last. Each `begin` wakes the readers of the progress.
    var signal: TransferMeter { get }
    var clock: any SluiceClock { get }
}

extension BatchRun: ObservableProgress {}

/// The states of several requests: ``BatchSender/progress``, ``Chain/progress``.
struct ProgressSequence<Run: ObservableProgress>: AsyncSequence, Sendable {
    private let run: Run

    init(_ run: Run) {
        self.run = run
    }

    func makeAsyncIterator() -> Iterator { Iterator(run: run) }

    struct Iterator: AsyncIteratorProtocol {
        private static var interval: Duration { .milliseconds(50) }

        fileprivate let run: Run
        private var last: Run.Progress?
        private var lastReported: ContinuousClock.Instant?
        private var isOver = false

        fileprivate init(run: Run) {
            self.run = run
        }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> Run.Progress? {
            if isOver { return nil }
            while true {
                if Task.isCancelled { return nil }
                let snapshot = run.signal.snapshot(.download)
                let progress = run.progress
                let rest = lastReported.map { Self.interval - $0.duration(to: run.clock.now) } ?? .zero
                if snapshot.isFinal || progress != last && rest <= .zero {
                    isOver = snapshot.isFinal
                    last = progress
                    lastReported = run.clock.now
                    return progress
                }
                // Transferred bytes do not wake the iterator, so it polls for them.
                let pause = rest > .zero ? rest : Self.interval
                let hasBegun = snapshot.progress.attempt > 0
                await run.signal.wait(.download, after: snapshot.version, atLeast: hasBegun ? pause : nil)
            }
        }
    }
}

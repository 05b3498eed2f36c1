import SluiceHTTP

/// The progress of a chain of requests: ``Chain/progress``.
public struct ChainProgress: Sendable, Hashable {
    /// The number of the current request, starting at 1; 0 before the first.
    public internal(set) var request = 0
    /// The progress of the current request's body.
    public internal(set) var upload = TransferProgress()
    /// The progress of the body of the response to the current request.
    public internal(set) var download = TransferProgress()
}

/// One iteration over a chain, for the readers of its progress.
final class ChainRun: ObservableProgress {
    private struct State {
        var progress = ChainProgress()
        /// Returns the progress of the current request; nil before the first request and after the last.
        var read: (@Sendable () -> (upload: TransferProgress, download: TransferProgress))?
        var isOver = false
    }

    let clock: any SluiceClock
    let signal: TransferMeter
    private let state = Locked(State())

    init(clock: any SluiceClock) {
        self.clock = clock
        signal = TransferMeter(clock: clock)
    }

    var progress: ChainProgress {
        let (progress, read) = state.withLock { ($0.progress, $0.read) }
        return read.map { progress.updated(by: $0()) } ?? progress
    }

    /// Begins the next request.
    ///
    /// - Parameter read: Returns the progress of the request.
    func begin(_ read: @escaping @Sendable () -> (upload: TransferProgress, download: TransferProgress)) {
        state.withLock { state in
            guard !state.isOver else { return }
            state.progress = ChainProgress(request: state.progress.request + 1)
            state.read = read
        }
        _ = signal.begin(uploading: nil)
    }

    /// Ends the chain with the current progress. Only the first call has an effect.
    func end() {
        let last = progress
        state.withLock { state in
            guard !state.isOver else { return }
            state.progress = last
            state.read = nil
            state.isOver = true
        }
        signal.end()
    }
}

extension ChainProgress {
    fileprivate func updated(by current: (upload: TransferProgress, download: TransferProgress)) -> ChainProgress {
        ChainProgress(request: request, upload: current.upload, download: current.download)
    }
}

/// The iterations over a chain, of which the newest reports its progress.
final class ChainRuns: Sendable {
    private let clock: any SluiceClock
    private let state: Locked<(newest: ChainRun, isTaken: Bool)>

    init(clock: any SluiceClock) {
        self.clock = clock
        state = Locked((ChainRun(clock: clock), false))
    }

    deinit {
        // Ends the progress sequences of a chain that was never iterated.
        state.withLock { if !$0.isTaken { $0.newest.end() } }
    }

    /// The newest iteration, or the one that is to begin.
    var newest: ChainRun { state.withLock { $0.newest } }

    /// Returns the run of an iteration that begins.
    func begin() -> ChainRun {
        state.withLock { state in
            if state.isTaken { state.newest = ChainRun(clock: clock) }
            state.isTaken = true
            return state.newest
        }
    }
}

/// Ends the run of an iteration when its iterator is released.
final class ChainRunOwner: Sendable {
    let run: ChainRun

    init(_ run: ChainRun) {
        self.run = run
    }

    deinit {
        run.end()
    }
}

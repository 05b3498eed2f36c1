import Fetching
import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Reports the progress of all downloads: in place on a terminal, as lines elsewhere, or as JSON.
actor Reporter {
    private let report: FetchOptions.Report
    private let urls: [String]
    private var states: [DownloadState]
    private var board: ProgressBoard
    private var log = ProgressLog()
    private let isTerminal: Bool
    private var drawn: ContinuousClock.Instant?

    init(_ options: FetchOptions) {
        report = options.report
        urls = options.items.map(\.url)
        states = options.items.map { DownloadState(name: $0.name) }
        board = ProgressBoard(states.map(\.name))
        isTerminal = report == .progress && StandardError.isTerminal
    }

    func began(_ index: Int) {
        states[index].phase = .running
        show(index, DownloadEvent(.started, url: urls[index]))
    }

    func progressed(_ index: Int, _ progress: TransferProgress) {
        guard states[index].phase == .running else { return }
        states[index].completed = progress.completed
        states[index].total = progress.total
        states[index].bytesPerSecond = progress.bytesPerSecond
        states[index].timeLeft = progress.timeLeft
        var event = DownloadEvent(.progress, url: urls[index])
        event.completed = progress.completed
        event.total = progress.total
        event.bytesPerSecond = progress.bytesPerSecond?.rounded()
        show(index, event)
    }

    func finished(_ index: Int, _ file: DownloadedFile, after time: Duration) {
        states[index].name = file.url.lastPathComponent
        states[index].completed = file.length
        states[index].phase = .finished(time)
        var event = DownloadEvent(.finished, url: urls[index])
        event.file = file.url.path
        event.total = file.length
        event.resumed = file.resumedBytes
        event.sha256 = file.sha256
        event.seconds = time / .seconds(1)
        show(index, event)
    }

    func failed(_ index: Int, _ error: APIError) {
        let reason = error.isCancellation ? "interrupted" : error.description
        states[index].phase = .failed(reason)
        var event = DownloadEvent(.failed, url: urls[index])
        event.code = error.code.description
        event.reason = reason
        show(index, event)
        if report == .quiet, !error.isCancellation { StandardError.write("fetch: \(PlainText.of(reason))\n") }
    }

    /// Draws the changes that have not been drawn yet.
    func end() {
        if isTerminal { draw() }
    }

    func interrupted() {
        if report == .json { return write(DownloadEvent(.interrupted)) }
        StandardError.write("fetch: interrupted. Run the same command again to continue.\n")
    }

    private func show(_ index: Int, _ event: DownloadEvent) {
        switch report {
        case .quiet:
            break
        case .json:
            write(event)
        case .progress where isTerminal:
            board.update(index, states[index])
            // A slow terminal cannot follow more frequent drawing.
            let isDue = drawn.map { $0.duration(to: .now) >= .milliseconds(80) } ?? true
            if isDue || event.event != .progress { draw() }
        case .progress:
            if let line = log.line(index, states[index]) { StandardError.write(line + "\n") }
        }
    }

    private func draw() {
        drawn = .now
        let size = StandardError.size
        StandardError.write(board.drawing(columns: size.columns, rows: size.rows))
    }

    /// Prints an event and flushes it, because its reader waits for it.
    private func write(_ event: DownloadEvent) {
        print(event.line)
        fflush(nil)
    }
}

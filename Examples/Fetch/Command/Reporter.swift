import Fetching
import Sluice
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Reports the progress of all downloads: in place on a terminal, as lines elsewhere, or as JSON.
actor Reporter {
    private enum Display {
        /// Lines that are redrawn in place.
        case board
        /// Lines below each other.
        case log
        /// Failures as text.
        case failures
        /// Events as JSON.
        case json
        /// Failures as JSON.
        case jsonFailures
    }

    private let executor = BlockingExecutor("fetch.reporter")
    private let display: Display
    private let items: [FetchOptions.Item]
    private var states: [DownloadState]
    private var board: ProgressBoard
    private var log = ProgressLog()
    /// The time of the last drawing.
    private var drawn: ContinuousClock.Instant?
    /// True if a task waits to draw the last changes.
    private var isDrawingDue = false
    /// A slow terminal cannot follow more frequent drawing.
    private static let drawingInterval = Duration.milliseconds(80)
    /// Stops the downloads.
    private var stop: @Sendable () -> Void = {}
    /// True once a signal has stopped the command. Events that find no room are then dropped.
    private nonisolated let isInterrupted = Atomic(false)
    /// The failure to write to standard output; nil if there was none.
    private(set) var outputFailure: Descriptor.Failure?

    init(_ options: FetchOptions) {
        items = options.items
        states = options.items.map { DownloadState(name: $0.name) }
        board = ProgressBoard(states.map(\.name))
        // A body on the terminal and progress would overwrite each other.
        let showsBody = options.writesToStandardOutput && Descriptor.standardOutput.isTerminal
        display =
            switch (options.report, options.isQuiet) {
            case (.json, false): .json
            case (.json, true): .jsonFailures
            case (.text, true): .failures
            case (.text, false): showsBody ? .failures : Descriptor.standardError.canRedraw ? .board : .log
            }
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Sets the closure that stops the downloads if the events can no longer be written.
    func onOutputFailure(_ stop: @escaping @Sendable () -> Void) {
        self.stop = stop
    }

    /// Ends a write that waits for the reader of standard output. Called by a signal, while the reporter may be blocked.
    nonisolated func interrupt() {
        isInterrupted.store(true, ordering: .relaxed)
    }

    func began(_ index: Int) {
        states[index].phase = .running
        show(index, DownloadEvent(.started, url: items[index].url))
    }

    func progressed(_ index: Int, _ progress: TransferProgress) {
        guard states[index].phase == .running else { return }
        states[index].completed = progress.completed
        states[index].total = progress.total
        states[index].bytesPerSecond = progress.bytesPerSecond
        states[index].timeLeft = progress.timeLeft
        var event = DownloadEvent(.progress, url: items[index].url)
        event.completed = progress.completed
        event.total = progress.total
        event.bytesPerSecond = progress.bytesPerSecond?.rounded()
        show(index, event)
    }

    func finished(_ index: Int, _ file: DownloadedFile, after time: Duration) {
        states[index].name = file.url.lastPathComponent
        var event = DownloadEvent(.finished, url: items[index].url)
        event.file = file.url.path
        event.resumed = file.resumedBytes
        finished(index, event, file.length, file.sha256, time)
    }

    func finished(_ index: Int, _ content: StreamedDownload.Content, after time: Duration) {
        var event = DownloadEvent(.finished, url: items[index].url)
        if case .file(let path) = items[index].output { event.file = path }
        finished(index, event, content.length, content.sha256, time)
    }

    private func finished(_ index: Int, _ event: DownloadEvent, _ length: Int64, _ sha256: String?, _ time: Duration) {
        states[index].completed = length
        states[index].phase = .finished(time)
        var event = event
        event.total = length
        event.sha256 = sha256
        event.seconds = time / .seconds(1)
        show(index, event)
    }

    func failed(_ index: Int, _ failure: DownloadFailure) {
        states[index].phase = .failed(failure.reason)
        // A reader that has gone, such as `head`, has received all that it needs.
        if failure.isBrokenPipe, outputFailure?.isBrokenPipe == true { return }
        var event = DownloadEvent(.failed, url: items[index].url)
        event.code = failure.code
        event.reason = failure.reason
        if display == .failures, !failure.isCancellation {
            Descriptor.standardError.write("fetch: \(PlainText.of(failure.reason))\n")
        }
        show(index, event)
    }

    /// Records that the reader of standard output has gone.
    func readerHasGone() {
        outputFailure = Descriptor.Failure(number: EPIPE)
    }

    /// Draws the changes that have not been drawn yet.
    func end() {
        if display == .board { draw() }
    }

    /// Continues on the next line, because something else may have written to the terminal while the command was stopped.
    func continued() {
        board.leaveLines()
    }

    /// Reports that a signal has stopped the command.
    func interrupted(_ verb: String) {
        switch display {
        case .json, .jsonFailures: write(DownloadEvent(.interrupted))
        case .failures: break
        case .board, .log:
            let isResumable = items.contains { $0.output != .standardOutput }
            let advice = isResumable ? " Run the same command again to continue." : ""
            // The terminal has shown `^C` at the start of the line.
            let start = display == .board ? "\r\u{1B}[K" : ""
            Descriptor.standardError.write("\(start)fetch: \(verb).\(advice)\n")
        }
    }

    private func show(_ index: Int, _ event: DownloadEvent) {
        switch display {
        case .failures:
            break
        case .jsonFailures:
            if event.event == .failed { write(event) }
        case .json:
            write(event)
        case .board:
            board.update(index, states[index])
            if event.event == .progress { drawSoon() } else { draw() }
        case .log:
            if let line = log.line(index, states[index]) { Descriptor.standardError.write(line + "\n") }
        }
    }

    /// Draws, or waits for the time of the next drawing. The last change before a download stalls is drawn too.
    private func drawSoon() {
        guard !isDrawingDue else { return }
        let pause = drawn.map { Reporter.drawingInterval - $0.duration(to: .now) } ?? .zero
        guard pause > .zero else { return draw() }
        isDrawingDue = true
        Task {
            try? await Task.sleep(for: pause)
            if isDrawingDue { draw() }
        }
    }

    private func draw() {
        isDrawingDue = false
        drawn = .now
        let size = Descriptor.standardError.size
        Descriptor.standardError.write(board.drawing(columns: size.columns, rows: size.rows))
    }

    /// Writes an event at once, because its reader waits for it.
    private func write(_ event: DownloadEvent) {
        guard outputFailure == nil else { return }
        do throws(Descriptor.Failure) {
            try event.write(unless: { isInterrupted.load(ordering: .relaxed) })
        } catch {
            if error.isCancellation { return }
            outputFailure = error
            stop()
        }
    }
}

extension DownloadEvent {
    /// Writes the event to standard output.
    ///
    /// - Parameter isCancelled: Asked while there is no room. True to give up.
    /// - Throws: A ``Descriptor/Failure``.
    func write(unless isCancelled: () -> Bool = { false }) throws(Descriptor.Failure) {
        try Descriptor.standardOutput.write(Data("\(line)\n".utf8), unless: isCancelled)
    }
}

extension Descriptor {
    /// True for a terminal that moves its cursor.
    fileprivate var canRedraw: Bool {
        isTerminal && getenv("TERM").map { String(cString: $0) != "dumb" } ?? true
    }
}

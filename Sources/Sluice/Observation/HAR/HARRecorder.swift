import Dispatch
import SluiceFoundation
import SluiceHTTP

/// Records the exchanges of a client as an HTTP archive, for browsers' developer tools, `Examples/Waterfall`, or a bug
/// report.
///
/// ```swift
/// let recorder = HARRecorder()
/// let client = APIClient(baseURL: url) { $0.observers = [recorder] }
/// …
/// try await recorder.write(to: URL(filePath: "session.har"))
/// ```
///
/// Each exchange becomes an entry when it ends: every attempt, every redirect, and failures too, with status 0 and the
/// reason in `_error`. Secrets are removed before anything is stored. The recorder keeps the newest entries up to a
/// limit, and bodies up to a limit of their own.
public final class HARRecorder: RequestObserver, RecordingObserver {
    private let assembly: Locked<HARAssembly>

    /// Creates an empty recorder.
    ///
    /// - Parameters:
    ///   - redaction: The secrets to remove.
    ///   - maximumEntries: The maximum number of entries; 2,000 by default. The newest are kept.
    ///   - maximumBodyBytes: The maximum length of a body to keep, in bytes; 64 KiB by default, 0 for none. For longer
    ///     bodies only the length is recorded.
    public init(redaction: Redaction = .standard, maximumEntries: Int = 2000, maximumBodyBytes: Int = 64 << 10) {
        let transcript = HARTranscript(redaction: redaction, maximumBodyBytes: maximumBodyBytes)
        assembly = Locked(HARAssembly(transcript, maximumEntries: maximumEntries))
    }

    /// False: the recorder does not read task-local values.
    public var usesTaskLocals: Bool { false }

    /// Records an event.
    public func observe(_ event: RequestEvent, of request: ObservedRequest) {
        assembly.withLock { $0.record(event, of: request) }
    }

    /// Discards exchanges in progress, because their end may be among the dropped events.
    public func didDrop(_ count: Int) {
        assembly.withLock { $0.discardPending() }
    }

    /// Returns the entries so far, in the order in which they began.
    public func har() -> HAR {
        let (entries, dropped) = assembly.withLock { ($0.entries, $0.droppedEntries) }
        // A stable order, so that the same entries give the same output.
        let order = entries.enumerated().sorted {
            ($0.element.startedDateTime, $0.offset) < ($1.element.startedDateTime, $1.offset)
        }
        var log = HAR.Log(entries: order.map(\.element))
        if dropped > 0 { log.droppedEntries = dropped }
        return HAR(log: log)
    }

    /// Removes all entries.
    public func reset() {
        assembly.withLock { $0.reset() }
    }

    /// Writes the entries so far to a file atomically: if it fails, an existing file is unchanged.
    ///
    /// - Parameter url: The URL of the file. An existing file is replaced.
    /// - Throws: A ``SluiceError`` of code ``SluiceError/Code/internalFailure`` if the file cannot be written.
    public func write(to url: URL) async throws(SluiceError) {
        let har = har()
        try await BlockingQueues.next.result { () -> Result<Void, SluiceError> in
            do throws(SluiceError) {
                return .success(try har.write(to: url))
            } catch {
                return .failure(error)
            }
        }.get()
    }
}

extension HAR {
    fileprivate func write(to url: URL) throws(SluiceError) {
        let data = try data()
        do {
            // A device or a pipe is not replaced.
            guard SystemFile.replacementError(url.path) == 0 else { throw CocoaError(.fileWriteFileExists) }
            try data.write(to: url, options: .atomic)
        } catch {
            throw SluiceError(
                .internalFailure,
                "The HTTP archive cannot be written to “\(url.path)”.",
                underlyingError: error
            )
        }
    }
}

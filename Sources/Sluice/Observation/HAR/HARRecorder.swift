import Dispatch
import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Records what a client sends and gets, as an HTTP archive: for browsers' developer tools, for `Examples/Waterfall`, for a bug report.
///
/// ```swift
/// let recorder = HARRecorder()
/// let client = APIClient(baseURL: url) { $0.observers = [recorder] }
/// …
/// try await recorder.write(to: URL(filePath: "session.har"))
/// ```
///
/// Each exchange becomes an entry as soon as it is over: every attempt, every redirect, and failures too, with status 0 and the reason in
/// `_error`. Secrets are taken out before anything is kept. The newest entries are kept, up to a bound, and of each body as much as one
/// says.
public final class HARRecorder: RequestObserver {
    private static let queue = DispatchQueue(label: "sluice.har", attributes: .concurrent)

    private let assembly: Locked<HARAssembly>

    /// Makes a recorder that has recorded nothing yet.
    ///
    /// - Parameters:
    ///   - redaction: What is taken out as secret.
    ///   - maximumEntries: How many entries are kept; 2,000 by default, the newest.
    ///   - maximumBodyBytes: How long a body may be to be kept; 64 KiB by default, 0 for none. Of longer ones only the size is.
    public init(redaction: Redaction = .standard, maximumEntries: Int = 2000, maximumBodyBytes: Int = 64 << 10) {
        let transcript = HARTranscript(redaction: redaction, maximumBodyBytes: maximumBodyBytes)
        assembly = Locked(HARAssembly(transcript, maximumEntries: maximumEntries))
    }

    /// Records an event.
    public func observe(_ event: RequestEvent, of request: ObservedRequest) {
        assembly.withLock { $0.take(event, of: request) }
    }

    /// Forgets what has begun, since its end may be among what was missed.
    public func missed(_ count: Int) {
        assembly.withLock { $0.forgetPending() }
    }

    /// The entries so far, in the order in which they began.
    public func har() -> HAR {
        let (entries, dropped) = assembly.withLock { ($0.entries, $0.droppedEntries) }
        // Stable, so that the same entries give the same text.
        let order = entries.enumerated().sorted {
            ($0.element.startedDateTime, $0.offset) < ($1.element.startedDateTime, $1.offset)
        }
        var log = HAR.Log(entries: order.map(\.element))
        if dropped > 0 { log.droppedEntries = dropped }
        return HAR(log: log)
    }

    /// Forgets all entries.
    public func reset() {
        assembly.withLock { $0.reset() }
    }

    /// Writes the entries so far to a file: all of it, or if that fails nothing, and whoever reads the file meanwhile reads the old one.
    ///
    /// - Parameter url: The file; one that is there is replaced.
    /// - Throws: A ``SluiceError`` of code ``SluiceError/Code/internalFailure`` if the file cannot be written.
    public func write(to url: URL) async throws(SluiceError) {
        let har = har()
        try await HARRecorder.queue.result { () -> Result<Void, SluiceError> in
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

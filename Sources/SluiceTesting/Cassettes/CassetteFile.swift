import Dispatch
import SluiceFoundation
import SluiceHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The file of a cassette. It is read on a dispatch queue, because reading blocks the thread.
struct CassetteFile: Sendable {
    let url: URL
    private let queue = DispatchQueue(label: "sluice.cassette")

    init(_ url: URL) {
        self.url = url
    }

    /// Returns the contents of the file, or nil if it does not exist.
    func read() async throws(SluiceError) -> Data? {
        let url = url
        return try await queue.result { () -> Result<Data?, SluiceError> in
            if !FileManager.default.fileExists(atPath: url.path) { return .success(nil) }
            do {
                return .success(try Data(contentsOf: url))
            } catch {
                let reason = "The cassette “\(url.path)” cannot be read."
                return .failure(SluiceError(.cassetteUnreadable, reason, underlyingError: error))
            }
        }.get()
    }
}

/// A recording to one cassette file, shared by all transports of the process that record to that file.
///
/// Because the recording is shared, no transport overwrites the exchanges of another.
final class CassetteRecording: Sendable {
    private struct State {
        /// The text of each exchange in the file.
        var exchanges: [String]
        /// The number of exchanges that have been written to the file.
        var written = 0
    }

    private struct Entry {
        weak var recording: CassetteRecording?
    }

    private static let open = Locked<[String: Entry]>([:])

    private let url: URL
    private let queue = DispatchQueue(label: "sluice.cassette.recording")
    // Pending writes hold the state, not the recording, so the recording is released with the last transport that uses it.
    private let state: Locked<State>

    private init(_ url: URL, _ exchanges: [String]) {
        self.url = url
        state = Locked(State(exchanges: exchanges))
    }

    /// Returns the recording to a file, and creates it if there is none.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - exchanges: The exchanges of the file to keep. They are ignored if another transport already records to the file.
    /// - Returns: The recording that all transports share.
    static func to(_ url: URL, keeping exchanges: [RecordedExchange]) -> CassetteRecording {
        let path = url.absoluteURL.standardizedFileURL.path
        let texts = exchanges.map(Cassette.text)
        return open.withLock { open in
            if let recording = open[path]?.recording { return recording }
            open = open.filter { $0.value.recording != nil }
            let recording = CassetteRecording(url, texts)
            open[path] = Entry(recording: recording)
            return recording
        }
    }

    /// Adds an exchange and replaces the whole file atomically. Missing folders are created.
    ///
    /// - Parameter exchange: The redacted exchange.
    /// - Throws: A ``SluiceError`` with the code `cassetteUnwritable`.
    func append(_ exchange: RecordedExchange) async throws(SluiceError) {
        let text = Cassette.text(of: exchange)
        let number = state.withLock { state in
            state.exchanges.append(text)
            return state.exchanges.count
        }
        try await queue.result { [state, url] () -> Result<Void, SluiceError> in
            // One write covers every exchange added so far, so a later call may have nothing left to write.
            let (exchanges, written) = state.withLock { ($0.exchanges, $0.written) }
            if written >= number { return .success(()) }
            let result = Self.write(exchanges, to: url)
            if case .success = result { state.withLock { $0.written = exchanges.count } }
            return result
        }.get()
    }

    private static func write(_ exchanges: [String], to url: URL) -> Result<Void, SluiceError> {
        let folder = url.deletingLastPathComponent()
        let temporary = folder.appending(path: ".\(url.lastPathComponent).\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Cassette.data(of: exchanges).write(to: temporary)
        } catch {
            try? FileManager.default.removeItem(at: temporary)
            let reason = "The cassette “\(url.path)” cannot be written."
            return .failure(SluiceError(.cassetteUnwritable, reason, underlyingError: error))
        }
        guard rename(temporary.path, url.path) == 0 else {
            let reason = String(cString: strerror(errno))
            try? FileManager.default.removeItem(at: temporary)
            let sentence = "The cassette “\(url.path)” cannot be written: \(reason)."
            return .failure(SluiceError(.cassetteUnwritable, sentence))
        }
        return .success(())
    }
}

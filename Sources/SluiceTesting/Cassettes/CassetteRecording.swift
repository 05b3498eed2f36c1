import Dispatch
import SluiceHTTP

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

/// What is being recorded to a cassette's file, by all transports of the process that record to it: no one overwrites what another has
/// recorded.
final class CassetteRecording: Sendable {
    private struct State {
        /// The text of each exchange in the file.
        var exchanges: [String]
        /// How many of them are written.
        var written = 0
    }

    private struct Entry {
        weak var recording: CassetteRecording?
    }

    private static let open = Locked<[String: Entry]>([:])

    private let url: URL
    private let queue = DispatchQueue(label: "sluice.cassette.recording")
    // What waits for the disk holds this and not the recording, which ends with the last transport that records.
    private let state: Locked<State>

    private init(_ url: URL, _ exchanges: [String]) {
        self.url = url
        state = Locked(State(exchanges: exchanges))
    }

    /// Joins the recording to a file, or begins one.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - exchanges: What it holds that is to stay, if nobody else is recording to it.
    /// - Returns: The one recording to that file.
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

    /// Adds an exchange and replaces the file as a whole, its folder made if need be: a reader finds the old text or the new one.
    ///
    /// - Parameter exchange: What to add, redacted.
    /// - Throws: A ``SluiceError`` of code `cassetteUnwritable`.
    func append(_ exchange: RecordedExchange) async throws(SluiceError) {
        let text = Cassette.text(of: exchange)
        let number = state.withLock { state in
            state.exchanges.append(text)
            return state.exchanges.count
        }
        try await queue.result { [state, url] () -> Result<Void, SluiceError> in
            // Whoever comes first writes for all who wait.
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

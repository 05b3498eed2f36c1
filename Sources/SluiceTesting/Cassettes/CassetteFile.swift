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

/// A cassette's file, read and written on a queue whose threads may block.
final class CassetteFile: Sendable {
    let url: URL
    private let queue = DispatchQueue(label: "sluice.cassette")
    private let lastWritten = Locked(0)

    init(_ url: URL) {
        self.url = url
    }

    /// The file's bytes; nil where there is none.
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

    /// Replaces the file as a whole, its folder made if need be: a reader finds the old text or the new one.
    ///
    /// - Parameters:
    ///   - exchanges: What it holds from now on.
    ///   - number: Rises from one to the next; what is older than what has been written is dropped.
    /// - Throws: A ``SluiceError`` of code `cassetteUnwritable`.
    func write(_ exchanges: [RecordedExchange], number: Int) async throws(SluiceError) {
        let url = url
        try await queue.result { [lastWritten] () -> Result<Void, SluiceError> in
            if lastWritten.withLock({ $0 >= number }) { return .success(()) }
            let folder = url.deletingLastPathComponent()
            let temporary = folder.appending(path: ".\(url.lastPathComponent).\(UUID().uuidString)")
            do {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                try Cassette(exchanges: exchanges).data.write(to: temporary)
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
            lastWritten.withLock { $0 = number }
            return .success(())
        }.get()
    }
}

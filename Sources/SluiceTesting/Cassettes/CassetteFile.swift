import Dispatch
import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A cassette's file, read on a queue whose threads may block.
struct CassetteFile: Sendable {
    let url: URL
    private let queue = DispatchQueue(label: "sluice.cassette")

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
}

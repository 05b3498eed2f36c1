import Dispatch
import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
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

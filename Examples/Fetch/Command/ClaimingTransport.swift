import Fetching
import Sluice
import Synchronization

/// Fails a download before the first byte of its file if another download of this command has the name.
///
/// The name is known when the response begins, after all redirects.
struct ClaimingTransport: Transport {
    /// The transport that sends the requests.
    let base: any Transport
    /// The names, which all downloads share.
    let names: SharedNames
    /// The index of the download.
    let index: Int

    func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
        let response = try await base.send(request, context: context)
        guard response.head.status.isSuccess else { return response }
        let name = response.head.fileName(path: request.path)
        guard names.claim(name, for: index) else {
            throw SluiceError(.fileExists, "Another download of this command has the name “\(name)”.")
        }
        return response
    }
}

/// The names that the downloads share.
final class SharedNames: Sendable {
    private let names = Mutex(ClaimedNames())

    /// The downloads that have not got a name.
    var refused: Set<Int> { names.withLock { $0.refused } }

    /// Claims a name, and returns false if another download has it.
    func claim(_ name: String, for index: Int) -> Bool {
        names.withLock { $0.claim(name, for: index) }
    }
}

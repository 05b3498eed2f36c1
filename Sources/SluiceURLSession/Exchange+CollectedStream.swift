#if canImport(FoundationNetworking)
import Foundation
import SluiceHTTP

extension Exchange {
    /// The maximum number of bytes of a stream that are collected in memory.
    private static let collectedBytes = 64 << 20

    /// Reads the whole stream before sending it.
    ///
    /// Foundation on Linux reads a body's stream on the session's only queue, so that a stream that waits for data
    /// would block all other transfers.
    func startStream(_ stream: HTTPBody.Stream, length: Int64?) {
        keep(
            Task {
                do throws(SluiceError) {
                    var body = Data()
                    try await stream.read(length: length) { chunk throws(SluiceError) in
                        guard body.count + chunk.count <= Exchange.collectedBytes else { throw .streamTooLong }
                        body.append(chunk)
                    }
                    launch(length == nil ? .stream { [body] in InputStream(data: body) } : .data(body))
                } catch {
                    fail(error)
                }
            }
        )
    }
}

extension SluiceError {
    fileprivate static var streamTooLong: SluiceError {
        SluiceError(
            .unsupported,
            "URLSession on Linux cannot send a stream of more than 64 MiB; send a file, or use SocketTransport."
        )
    }
}
#endif

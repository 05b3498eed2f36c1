import SluiceHTTP

/// A sink that keeps the body of an accepted response for the reader of the stream.
final class StreamSink: ResponseSink {
    private let isAccepted: @Sendable (HTTPResponse, HTTPRequest) -> Bool
    private let taken = Locked<ResponseBody?>(nil)

    init(_ isAccepted: @escaping @Sendable (HTTPResponse, HTTPRequest) -> Bool) {
        self.isAccepted = isAccepted
    }

    /// Takes the body. Returns nil if there is none or it was taken before.
    func body() -> ResponseBody? {
        taken.withLock { $0.take() }
    }

    func receive(_ response: TransportResponse, to request: HTTPRequest) async throws(SluiceError) -> Bool {
        guard isAccepted(response.head, request) else { return false }
        taken.withLock { $0 = response.body }
        return true
    }
}

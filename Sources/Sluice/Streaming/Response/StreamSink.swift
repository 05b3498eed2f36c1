import SluiceHTTP

/// Keeps the body of a response that is accepted for whoever reads it.
final class StreamSink: ResponseSink {
    private let isAccepted: @Sendable (HTTPResponse, HTTPRequest) -> Bool
    private let taken = Locked<ResponseBody?>(nil)

    init(_ isAccepted: @escaping @Sendable (HTTPResponse, HTTPRequest) -> Bool) {
        self.isAccepted = isAccepted
    }

    /// The body, once.
    func body() -> ResponseBody? {
        taken.withLock { $0.take() }
    }

    func receive(_ response: TransportResponse, to request: HTTPRequest) async throws(SluiceError) -> Bool {
        guard isAccepted(response.head, request) else { return false }
        taken.withLock { $0 = response.body }
        return true
    }
}

import SluiceFoundation
import SluiceHTTP

/// A request and its result, as stored in a cassette.
public struct RecordedExchange: Sendable {
    /// A response with its complete body.
    public struct Response: Sendable {
        /// The status, header fields and version.
        public var head: HTTPResponse
        /// The body, decoded.
        public var body: Data
        /// The trailer section after the body. Empty if there is none.
        public var trailers: HTTPHeaders

        /// Creates a response.
        package init(head: HTTPResponse, body: Data = Data(), trailers: HTTPHeaders = [:]) {
            self.trailers = trailers
            self.head = head
            self.body = body
        }
    }

    /// The request.
    public var request: RecordedRequest
    /// The response, or the error with which the exchange failed.
    public var result: Result<Response, SluiceError>

    /// Creates an exchange.
    package init(request: RecordedRequest, result: Result<Response, SluiceError>) {
        self.request = request
        self.result = result
    }

    /// Returns the recorded response to a request, as a transport would, or throws the recorded error.
    func response(to request: HTTPRequest, _ context: TransferContext) throws(SluiceError) -> TransportResponse {
        let sent = Int64(self.request.body.count)
        let reporter = context.meter?.begin(uploading: sent)
        reporter?.sent(sent)
        switch result {
        case .failure(let error): throw error.with(request: request)
        case .success(let response):
            let count = Int64(response.body.count)
            if let limit = context.limits.body, count > limit {
                throw SluiceError.bodyTooLarge(limit: limit).with(request: request)
            }
            reporter?.expected(count)
            reporter?.received(count)
            var metrics = TransferMetrics()
            metrics.bytesSent = sent
            metrics.bytesReceived = count
            return TransportResponse(
                head: response.head,
                body: ResponseBody(response.body, metrics: metrics, trailers: response.trailers)
            )
        }
    }
}

extension RecordedExchange.Response: CustomReflectable {
    /// A mirror without the contents of the body, which may contain secrets.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["head": head, "body": "\(body.count) bytes", "trailers": trailers],
            displayStyle: .struct
        )
    }
}

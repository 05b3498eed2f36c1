import SluiceFoundation
import SluiceHTTP

/// A request and its result, as stored in a cassette.
public struct RecordedExchange: Sendable {
    /// A response with its complete body.
    public struct Response: Sendable {
        /// The status, header fields and version.
        public var head: HTTPResponse
        /// The body, decoded. Empty if there is none, or if the body has more than 1 MiB and is in a file of its own.
        public var body: Data
        /// The digest of a body that is in a file of its own; nil for all others.
        package var digest: BodyDigest?
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
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - context: The context, for its body limit and its meter.
    ///   - bodies: The bodies of the cassette.
    /// - Returns: The response.
    /// - Throws: The recorded error, ``SluiceError/Code/bodyTooLarge``, or a ``SluiceError`` with the code
    ///   `cassetteUnreadable`.
    func response(
        to request: HTTPRequest,
        _ context: TransferContext,
        _ bodies: CassetteBodies
    ) async throws(SluiceError) -> TransportResponse {
        let sent = self.request.digest?.length ?? Int64(self.request.body.count)
        let reporter = context.meter?.begin(uploading: sent)
        reporter?.sent(sent)
        switch result {
        case .failure(let error): throw error.with(request: request)
        case .success(let response):
            let count = response.digest?.length ?? Int64(response.body.count)
            if let limit = context.limits.body, count > limit {
                throw SluiceError.bodyTooLarge(limit: limit).with(request: request)
            }
            reporter?.expected(count)
            var metrics = TransferMetrics()
            metrics.bytesSent = sent
            metrics.bytesReceived = count
            if let digest = response.digest {
                let body = try await bodies.body(digest, of: response, metrics, reporter)
                return TransportResponse(head: response.head, body: body)
            }
            reporter?.received(count)
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
            children: ["head": head, "body": "\(digest?.length ?? Int64(body.count)) bytes", "trailers": trailers],
            displayStyle: .struct
        )
    }
}

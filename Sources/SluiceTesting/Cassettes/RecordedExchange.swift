import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request and what came of it, as a cassette keeps them.
public struct RecordedExchange: Sendable {
    /// A response with its whole body.
    public struct Response: Sendable {
        /// Status, headers and version.
        public var head: HTTPResponse
        /// The body, decompressed.
        public var body: Data
        /// The trailer section behind the body; empty where there was none.
        public var trailers: HTTPHeaders

        /// Makes a response.
        public init(head: HTTPResponse, body: Data = Data(), trailers: HTTPHeaders = [:]) {
            self.trailers = trailers
            self.head = head
            self.body = body
        }
    }

    /// What was sent.
    public var request: RecordedRequest
    /// What came back: a response, or how the network failed.
    public var result: Result<Response, SluiceError>

    /// Makes an exchange.
    public init(request: RecordedRequest, result: Result<Response, SluiceError>) {
        self.request = request
        self.result = result
    }

    /// The response as a transport gives it, in answer to a request.
    func response(to request: HTTPRequest, _ context: TransferContext) throws(SluiceError) -> TransportResponse {
        let sent = Int64(self.request.body.count)
        let run = context.meter?.begin(uploading: sent)
        run?.sent(sent)
        switch result {
        case .failure(let error): throw error.with(request: request)
        case .success(let response):
            let count = Int64(response.body.count)
            if let limit = context.limits.body, count > limit {
                throw SluiceError.bodyTooLarge(limit: limit).with(request: request)
            }
            run?.expects(count)
            run?.received(count)
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
    /// All but the contents of the body, which may hold secrets.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["head": head, "body": "\(body.count) bytes", "trailers": trailers],
            displayStyle: .struct
        )
    }
}

import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A response with its whole body, before it is judged and made into a model.
public struct ServerResponse: Sendable {
    /// The request it answers: after interceptors and redirects.
    public var request: HTTPRequest
    /// Status, headers and version.
    public var head: HTTPResponse
    /// The body, decompressed.
    public var body: Data
    /// What the transfer took; of the last one if there were redirects.
    public var metrics: TransferMetrics
    /// Where it came from: the server or the cache.
    public var source: ResponseSource
    /// The trailer section behind the body (RFC 9110 §6.5); empty where there was none. The cache does not keep it.
    public var trailers: HTTPHeaders
    /// What the server failed with, where the cache has stood in for it.
    var failure: SluiceError?
    /// Whose body it was at first, and whose models may be given again; nil of what came from the server.
    var entry: CacheEntry?

    /// Makes a response.
    public init(
        request: HTTPRequest,
        head: HTTPResponse,
        body: Data,
        metrics: TransferMetrics = TransferMetrics(),
        source: ResponseSource = .server,
        trailers: HTTPHeaders = [:]
    ) {
        self.trailers = trailers
        self.source = source
        self.request = request
        self.head = head
        self.body = body
        self.metrics = metrics
    }
}

/// What came of sending a request: the server's response, whatever its status, or the failure to get one.
public typealias TransportOutcome = Result<ServerResponse, SluiceError>

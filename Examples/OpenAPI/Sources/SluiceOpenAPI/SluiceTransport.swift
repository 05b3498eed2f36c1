import Foundation
import HTTPTypes
import HTTPTypesConversion
import OpenAPIRuntime
import Sluice

/// A transport for clients that Swift OpenAPI Generator generates.
///
/// ```swift
/// let shop = APIClient(baseURL: url.absoluteString) { $0.retry = .standard }
/// let client = Client(serverURL: url, transport: SluiceTransport(client: shop))
/// ```
///
/// Gates, interceptors, retries and observers are those of the client. The route of a request is the ID of its operation. Responses of every
/// status are returned, because the generated client decodes errors too.
///
/// Bodies are streamed in both directions: a request body is read no faster than the network accepts it, and a response body is received
/// no faster than it is read. A request whose body can be iterated once is not sent again. The client's total time-out, `timeouts.total`,
/// and its limit on bodies do not apply to streams.
public struct SluiceTransport: ClientTransport {
    private let client: APIClient

    /// Creates a transport.
    ///
    /// - Parameter client: The client. If its base URL is that of the server, its gates send their secrets there.
    public init(client: APIClient = APIClient()) {
        self.client = client
    }

    /// Sends a request, and returns as soon as the head of the response has arrived.
    ///
    /// - Parameters:
    ///   - request: The method, the path with the query, and the header fields.
    ///   - body: The body; nil for none.
    ///   - baseURL: The URL of the server, to which the path is appended.
    ///   - operationID: The name of the operation, as which observers count the request.
    /// - Returns: The head of the response, and a body that is still arriving; nil without content.
    /// - Throws: A `SluiceError`, or a `ConversionError` for a message that one of the libraries does not accept.
    public func send(
        _ request: HTTPTypes.HTTPRequest,
        body: HTTPBody?,
        baseURL: URL,
        operationID: String
    ) async throws -> (HTTPTypes.HTTPResponse, HTTPBody?) {
        var headers = try HTTPHeaders(request.headerFields)
        // The length of the body decides about it.
        headers.remove(.contentLength)
        let response = try await response(
            to: client.stream(url(of: request, baseURL))
                .method(HTTPMethod(rawValue: request.method.rawValue), body.map(RequestBody.init))
                .headers(headers)
                .validate(.none)
                .route(operationID)
        )
        let head = try HTTPTypes.HTTPResponse(response.head)
        if request.method == .head || [.noContent, .notModified].contains(response.status) { return (head, nil) }
        return (head, HTTPBody(response))
    }

    private func url(of request: HTTPTypes.HTTPRequest, _ baseURL: URL) -> String {
        var url = baseURL.absoluteString
        if url.hasSuffix("/") { url.removeLast() }
        return url + (request.path ?? "")
    }

    private func response(to request: StreamRequest<APIError>) async throws(SluiceError) -> StreamedResponse<APIError> {
        do {
            return try await request.response()
        } catch {
            throw error.error
        }
    }
}

import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request by a method that may have a body, before it is given one.
///
/// ```swift
/// let create: APIRequest<User, ShopError> = shop.codable.request("users").post().json(user)
/// ```
///
/// It can be modified and sent as an ``APIRequest`` can; giving it a body makes it one. Requests by GET, HEAD, DELETE and
/// OPTIONS are never of this type, so that a body on one of them does not compile; where an API wants one all the same,
/// there is `method(_:)`.
public struct BodyRequest<Model: Sendable, ErrorModel: ErrorSerializable>: ModifiableRequest {
    /// The request without a body.
    public var request: APIRequest<Model, ErrorModel>

    /// All that the request says of itself, without its types.
    public var draft: RequestDraft {
        get { request.draft }
        // In place: a modifier would copy the draft out and in again.
        _modify { yield &request.draft }
    }

    /// Makes a sender of the request without a body.
    public func sender() -> RequestSender<Model, ErrorModel> { request.sender() }

    /// The request as it would go to the first gate.
    ///
    /// - Returns: Method, URL, headers and body.
    /// - Throws: A ``SluiceError`` of the step ``SluiceError/Step/building``.
    public func httpRequest() throws(SluiceError) -> HTTPRequest { try request.httpRequest() }

    /// Sends a body described apart from the request.
    public consuming func body(_ body: RequestBody) -> APIRequest<Model, ErrorModel> {
        request.modified { $0.body = body }
    }

    /// Sends a body as it is.
    ///
    /// - Parameters:
    ///   - body: Bytes, a file or a stream.
    ///   - contentType: The `Content-Type`, unless a header says another.
    /// - Returns: The request with that body.
    public consuming func body(_ body: HTTPBody, contentType: String? = nil) -> APIRequest<Model, ErrorModel> {
        self.body(.bytes(body, contentType: contentType))
    }

    /// Sends bytes with their media type.
    ///
    /// - Parameters:
    ///   - data: The body.
    ///   - contentType: The `Content-Type`, unless a header says another.
    /// - Returns: The request with that body.
    public consuming func data(_ data: Data, contentType: String = MediaType.octetStream) -> APIRequest<
        Model, ErrorModel
    > {
        body(.data(data, contentType: contentType))
    }

    /// Sends a value as JSON.
    ///
    /// It is encoded when the request is sent: what cannot be encoded fails the request with
    /// ``SluiceError/Code/encodingFailed`` and names the field.
    ///
    /// - Parameters:
    ///   - value: What to encode.
    ///   - root: A key to put the value under; nil for none.
    ///   - encoder: The encoder, nil for the client's.
    /// - Returns: The request with that body.
    @_disfavoredOverload
    public consuming func json(
        _ value: some Encodable & Sendable,
        root: String? = nil,
        encoder: JSONEncoder? = nil
    ) -> APIRequest<Model, ErrorModel> {
        body(.json(value, root: root, encoder: encoder))
    }
}

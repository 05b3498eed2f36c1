import SluiceFoundation
import SluiceHTTP

/// A request without a body, with a method that allows one.
///
/// ```swift
/// let create: APIRequest<User, ShopError> = shop.codable.request("users").post().json(user)
/// ```
///
/// It can be modified and sent like an ``APIRequest``, and becomes one when a body is set. Requests with
/// GET, HEAD, DELETE and OPTIONS never have this type, so a body on one of them does not compile. Use
/// `method(_:)` for an API that requires one.
public struct BodyRequest<Model: Sendable, ErrorModel: ErrorSerializable>: ModifiableRequest {
    /// The request without a body.
    public var request: APIRequest<Model, ErrorModel>

    /// The description of the request, without its types.
    public var draft: RequestDraft {
        get { request.draft }
        // Modified in place, because a setter would copy the draft.
        _modify { yield &request.draft }
    }

    /// Creates a sender of the request without a body.
    public func sender() -> RequestSender<Model, ErrorModel> { request.sender() }

    /// Builds the request that the first gate receives.
    ///
    /// - Returns: The method, URL, headers and body.
    /// - Throws: A ``SluiceError`` of step ``SluiceError/Step/building``.
    public func httpRequest() throws(SluiceError) -> HTTPRequest { try request.httpRequest() }

    /// Sets the body.
    public consuming func body(_ body: RequestBody) -> APIRequest<Model, ErrorModel> {
        request.modified { $0.body = body }
    }

    /// Sets the body; nil for none.
    ///
    /// ```swift
    /// let request = shop.request(path, as: User.self).method(method).body(user.map { .json($0) })
    /// ```
    @_disfavoredOverload
    public consuming func body(_ body: RequestBody?) -> APIRequest<Model, ErrorModel> {
        request.modified { $0.body = body }
    }

    /// Sets bytes as the body.
    ///
    /// - Parameters:
    ///   - data: The body.
    ///   - contentType: The `Content-Type`, unless a header sets another; `application/octet-stream` by default.
    /// - Returns: The request with that body.
    public consuming func data(_ data: Data, contentType: String? = nil) -> APIRequest<
        Model, ErrorModel
    > {
        body(.data(data, contentType: contentType))
    }

    /// Sets a JSON body.
    ///
    /// A `String` or `Data` is encoded as a JSON value too; send text that is JSON already with `data(_:contentType:)`.
    /// The value is encoded when the request is sent. If encoding fails, the request fails with
    /// ``SluiceError/Code/encodingFailed``, and the error names the field.
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - root: A key to put the value under; nil for none.
    ///   - encoder: The encoder; nil for the client's.
    /// - Returns: The request with that body.
    @_disfavoredOverload
    public consuming func json(
        _ value: some Encodable & Sendable,
        root: String? = nil,
        encoder: JSONEncoder? = nil
    ) -> APIRequest<Model, ErrorModel> {
        body(.json(value, root: root, encoder: encoder))
    }

    /// Sets a JSON body of names and values of any encodable types. The members are in no particular order.
    ///
    /// ```swift
    /// .json(["name": name, "nick": nil, "tags": ["a"]], root: "user")     // nick is left out
    /// .json(Parameters(["name": name, "nick": nil], nilValues: .null))    // nick is null
    /// ```
    public consuming func json(
        _ parameters: Parameters,
        root: String? = nil,
        encoder: JSONEncoder? = nil
    ) -> APIRequest<Model, ErrorModel> {
        body(.json(parameters, root: root, encoder: encoder))
    }

    /// Sets a form body, `application/x-www-form-urlencoded`.
    ///
    /// - Parameters:
    ///   - value: A structure or dictionary.
    ///   - encoder: The encoder; nil for the client's.
    /// - Returns: The request with that body.
    @_disfavoredOverload
    public consuming func form(
        _ value: some Encodable & Sendable,
        encoder: URLEncodedFormEncoder? = nil
    ) -> APIRequest<Model, ErrorModel> {
        body(.form(value, encoder: encoder))
    }

    /// Sets a form body of names and values of any encodable types.
    public consuming func form(_ parameters: Parameters, encoder: URLEncodedFormEncoder? = nil) -> APIRequest<
        Model, ErrorModel
    > {
        body(.form(parameters, encoder: encoder))
    }

    /// Unavailable: the types of the values are not known. Write `as JSON` after a literal, or pass `try Parameters(any: values)`.
    @available(
        *,
        unavailable,
        message:
            "The types of the values are not known. Write \"as JSON\" after a literal, or pass \"try Parameters(any: values)\"."
    )
    @_disfavoredOverload
    public func json(_ values: [String: Any], root: String? = nil, encoder: JSONEncoder? = nil) -> APIRequest<
        Model, ErrorModel
    > { request }

    /// Unavailable: the types of the values are not known. Pass `try Parameters(any: values)`.
    @available(*, unavailable, message: "The types of the values are not known: pass \"try Parameters(any: values)\".")
    @_disfavoredOverload
    public func form(_ values: [String: Any], encoder: URLEncodedFormEncoder? = nil) -> APIRequest<Model, ErrorModel> {
        request
    }

    /// Sets a multipart form body. Files and streams are read while they are sent (RFC 7578).
    public consuming func multipart(_ form: MultipartForm) -> APIRequest<Model, ErrorModel> { body(.multipart(form)) }

    /// Sets a property list body, in XML by default.
    public consuming func propertyList(
        _ value: some Encodable & Sendable,
        format: PropertyListDecoder.PropertyListFormat = .xml
    ) -> APIRequest<Model, ErrorModel> {
        body(.propertyList(value, format: format))
    }

    /// Sets a file or a part of it as the body. It is read while it is sent. A missing file fails the request before a byte is sent.
    ///
    /// - Parameters:
    ///   - url: The URL of the file.
    ///   - range: The positions of the bytes to send; nil for the whole file.
    ///   - contentType: The media type; nil to derive it from the file's extension.
    /// - Returns: The request with that body.
    public consuming func file(
        _ url: URL,
        range: Range<Int>? = nil,
        contentType: String? = nil
    ) -> APIRequest<Model, ErrorModel> {
        body(.file(url, range: range, contentType: contentType))
    }
}

extension BodyRequest {
    /// Creates the errors of this request by a closure, instead of the initializer of the error model.
    public func serializingErrors<Other: ErrorSerializable>(
        by serialize: @escaping @Sendable (RequestFailure) -> Other
    ) -> BodyRequest<Model, Other> {
        BodyRequest<Model, Other>(request: request.serializingErrors(by: serialize))
    }

    /// Returns the contents of the envelope as the model, for the request without a body.
    public func outcome() -> APIRequest<EnvelopeOutcome<Model>, ErrorModel> { request.outcome() }
}

// MARK: - Requests that take no body

extension APIRequest {
    /// Unavailable: the request has a method without a body, or its body already.
    @available(*, unavailable, message: "Set one body, and only after \"post\", \"put\", \"patch\" or \"method(_:)\".")
    public func body(_ body: RequestBody) -> Self { self }

    /// Unavailable: the request has a method without a body, or its body already.
    @available(*, unavailable, message: "Set one body, and only after \"post\", \"put\", \"patch\" or \"method(_:)\".")
    public func data(_ data: Data, contentType: String? = nil) -> Self { self }

    /// Unavailable: the request has a method without a body, or its body already.
    @available(*, unavailable, message: "Set one body, and only after \"post\", \"put\", \"patch\" or \"method(_:)\".")
    public func json(_ value: some Encodable & Sendable, root: String? = nil, encoder: JSONEncoder? = nil) -> Self {
        self
    }

    /// Unavailable: the request has a method without a body, or its body already.
    @available(*, unavailable, message: "Set one body, and only after \"post\", \"put\", \"patch\" or \"method(_:)\".")
    public func json(_ parameters: Parameters, root: String? = nil, encoder: JSONEncoder? = nil) -> Self { self }

    /// Unavailable: the request has a method without a body, or its body already.
    @available(*, unavailable, message: "Set one body, and only after \"post\", \"put\", \"patch\" or \"method(_:)\".")
    public func form(_ value: some Encodable & Sendable, encoder: URLEncodedFormEncoder? = nil) -> Self { self }

    /// Unavailable: the request has a method without a body, or its body already.
    @available(*, unavailable, message: "Set one body, and only after \"post\", \"put\", \"patch\" or \"method(_:)\".")
    public func form(_ parameters: Parameters, encoder: URLEncodedFormEncoder? = nil) -> Self { self }

    /// Unavailable: the request has a method without a body, or its body already.
    @available(*, unavailable, message: "Set one body, and only after \"post\", \"put\", \"patch\" or \"method(_:)\".")
    public func multipart(_ form: MultipartForm) -> Self { self }

    /// Unavailable: the request has a method without a body, or its body already.
    @available(*, unavailable, message: "Set one body, and only after \"post\", \"put\", \"patch\" or \"method(_:)\".")
    public func propertyList(_ value: some Encodable & Sendable) -> Self { self }

    /// Unavailable: the request has a method without a body, or its body already.
    @available(*, unavailable, message: "Set one body, and only after \"post\", \"put\", \"patch\" or \"method(_:)\".")
    public func file(_ url: URL, range: Range<Int>? = nil, contentType: String? = nil) -> Self { self }
}

extension BodyRequest: CustomStringConvertible, CustomReflectable, RedactedMirror {}

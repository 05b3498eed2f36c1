import SluiceFoundation
import SluiceHTTP

extension RequestBody {
    /// Creates a body that is encoded when the request is built: a type of body of your own.
    ///
    /// ```swift
    /// extension RequestBody {
    ///     static func messagePack(_ value: some Encodable & Sendable) -> RequestBody {
    ///         RequestBody(contentType: "application/msgpack") { _ in .data(try MessagePackEncoder().encode(value)) }
    ///     }
    ///
    ///     static func jsonAPI(_ value: some Encodable & Sendable) -> RequestBody {
    ///         RequestBody(contentType: "application/vnd.api+json") { .json(value, encoder: $0.encoder) }
    ///     }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - contentType: The media type; nil for that of the body that `encode` returns.
    ///   - encode: Returns the body to send: bytes, a file, a stream or another encoded body. It gets the client's
    ///     configuration, or the default one where no client sends the request. An error that it throws fails the
    ///     request with ``SluiceError/Code/encodingFailed``. It may be called once for each request, and must not block.
    public init(
        contentType: String? = nil,
        encode: @escaping @Sendable (APIClient.Configuration) throws -> RequestBody
    ) {
        self = .encoded(contentType: contentType) { client in
            try encode((client as? Pipeline)?.configuration ?? APIClient.Configuration())
        }
    }

    /// A JSON body.
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - root: A key to put the value under; nil for none.
    ///   - encoder: The encoder; nil for the client's.
    /// - Returns: A body of type `application/json`.
    @_disfavoredOverload
    public static func json(
        _ value: some Encodable & Sendable,
        root: String? = nil,
        encoder: JSONEncoder? = nil
    ) -> RequestBody {
        encodedJSON(value, root, encoder)
    }

    private static func encodedJSON(
        _ value: some Encodable & Sendable,
        _ root: String?,
        _ encoder: JSONEncoder?
    ) -> RequestBody {
        RequestBody(contentType: "application/json") { configuration in
            let encoder = encoder ?? configuration.encoder
            guard let root else { return .data(try encoder.encode(value)) }
            return .data(try encoder.encode(RootKeyed(key: root, value: value)))
        }
    }

    /// A JSON body of names and values of any encodable types.
    public static func json(_ parameters: Parameters, root: String? = nil, encoder: JSONEncoder? = nil) -> RequestBody {
        encodedJSON(parameters, root, encoder)
    }

    /// A form body of names and values.
    ///
    /// - Parameters:
    ///   - value: A structure or dictionary.
    ///   - encoder: The encoder; nil for the client's.
    /// - Returns: A body of type `application/x-www-form-urlencoded`.
    @_disfavoredOverload
    public static func form(_ value: some Encodable & Sendable, encoder: URLEncodedFormEncoder? = nil) -> RequestBody {
        form([RequestParameters(value: value, encoder: encoder)])
    }

    /// A form body of names and values of any encodable types.
    public static func form(_ parameters: Parameters, encoder: URLEncodedFormEncoder? = nil) -> RequestBody {
        form([RequestParameters(value: parameters, encoder: encoder)])
    }

    static func form(_ parameters: [RequestParameters]) -> RequestBody {
        RequestBody(contentType: "application/x-www-form-urlencoded") { configuration in
            let texts = try parameters.map { try $0.text(by: configuration.formEncoder) }
            return .data(Data(texts.filter { !$0.isEmpty }.joined(separator: "&").utf8))
        }
    }

    /// A multipart form body. Files and streams are read while they are sent (RFC 7578).
    public static func multipart(_ form: MultipartForm) -> RequestBody {
        RequestBody(contentType: form.contentType) { try form.body(encoder: $0.encoder) }
    }

    /// A property list body.
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - format: The format; XML by default.
    /// - Returns: A body of type `application/x-plist`.
    public static func propertyList(
        _ value: some Encodable & Sendable,
        format: PropertyListDecoder.PropertyListFormat = .xml
    ) -> RequestBody {
        RequestBody(contentType: "application/x-plist") { _ in
            let encoder = PropertyListEncoder()
            encoder.outputFormat = format
            return .data(try encoder.encode(value))
        }
    }
}

extension HTTPRequest {
    /// Encodes the body with the settings of a client, and returns the type that it has apart from the headers.
    private mutating func encodedBodyType(for pipeline: Pipeline) throws(SluiceError) -> String? {
        if case .encoded = body.source {
            do {
                body = try body.encoded(for: pipeline)
            } catch let error as SluiceError {
                throw error.with(request: self)
            } catch {
                throw .bodyEncoding(error).with(request: self)
            }
        }
        // Most bodies have no type here, and a change costs more than a look.
        return body.contentType == nil ? nil : body.contentType.take()
    }

    /// Sets the body of a request that is being built, and its `Content-Type`.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - hasContentType: True if the request sets its own `Content-Type`. Otherwise the body's type replaces one of
    ///     the client's headers. A form's boundary is always sent.
    ///   - pipeline: The client.
    /// - Throws: ``SluiceError/Code/encodingFailed``, or the ``SluiceError`` of the body.
    mutating func setBody(_ body: RequestBody, hasContentType: Bool, for pipeline: Pipeline) throws(SluiceError) {
        self.body = body
        let contentType = try encodedBodyType(for: pipeline)
        if self.body.isNone { return }
        if hasContentType {
            if let contentType { setBoundary(ofForm: contentType) }
        } else if let contentType {
            headers[.contentType] = contentType
        } else if !headers.contains(.contentType) {
            headers[.contentType] = MediaType.octetStream
        }
    }

    /// Adds the boundary of a form to the `Content-Type`, without which the body cannot be read (RFC 2046 §5.1).
    private mutating func setBoundary(ofForm contentType: String) {
        guard let form = ContentType(contentType), form.type == "multipart", let boundary = form["boundary"] else {
            return
        }
        guard let own = headers[.contentType], let type = ContentType(own), type.type == "multipart" else {
            headers[.contentType] = contentType
            return
        }
        if type["boundary"] == nil { headers[.contentType] = "\(own); boundary=\"\(boundary)\"" }
    }

    /// Encodes a body that an interceptor has set. A type of its own replaces the `Content-Type`, unless the
    /// interceptor has set that, too.
    ///
    /// - Parameters:
    ///   - pipeline: The client.
    ///   - original: The request before. Set to this request if a body was encoded, for the next interceptor.
    /// - Throws: ``SluiceError/Code/encodingFailed``, or the ``SluiceError`` of the body.
    mutating func encodeBody(for pipeline: Pipeline, since original: inout HTTPRequest?) throws(SluiceError) {
        guard let contentType = try encodedBodyType(for: pipeline) else { return }
        if headers[.contentType] == original?.headers[.contentType] { headers[.contentType] = contentType }
        original = self
    }
}

extension JSONEncoder {
    /// An encoder with the same options; the encoder itself if it is of a subclass.
    var copied: JSONEncoder {
        guard type(of: self) == JSONEncoder.self else { return self }
        let copy = JSONEncoder()
        copy.outputFormatting = outputFormatting
        copy.keyEncodingStrategy = keyEncodingStrategy
        copy.dateEncodingStrategy = dateEncodingStrategy
        copy.dataEncodingStrategy = dataEncodingStrategy
        copy.nonConformingFloatEncodingStrategy = nonConformingFloatEncodingStrategy
        copy.userInfo = userInfo
        return copy
    }
}

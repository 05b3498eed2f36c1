import SluiceFoundation
import SluiceHTTP

/// A response that can be decoded in other ways than into its request's model: ``APIResponse``, ``ServerResponse``.
///
/// ```swift
/// let response = await request.validate(.none).sender().response
/// let message = try response.filter(statuses: 400..<500).string(at: "error.details[0].message")
/// ```
public protocol ReceivedResponse: Sendable {
    /// Returns the server's response.
    ///
    /// - Throws: The error for which no response was received.
    func received() throws(SluiceError) -> ServerResponse
}

extension ServerResponse: ReceivedResponse {
    /// Returns the response itself.
    public func received() throws(SluiceError) -> ServerResponse { self }
}

extension ReceivedResponse {
    /// Returns the response if its status is within one of the ranges.
    ///
    /// - Parameter statuses: The accepted statuses.
    /// - Returns: The response.
    /// - Throws: ``SluiceError/Code/unacceptableStatus`` for any other status, or the error for which no response was
    ///   received.
    public func filter(statuses: Range<Int>...) throws(SluiceError) -> Self { try filter(statuses) }

    /// Returns the response if its status is within one of the ranges.
    public func filter(statuses: ClosedRange<Int>...) throws(SluiceError) -> Self {
        try filter(statuses.map(Range.init(statuses:)))
    }

    /// Unavailable: the range has no end.
    @available(*, unavailable, message: "Say the last status: \"filter(statuses: 400...599)\".")
    public func filter(statuses: PartialRangeFrom<Int>) throws(SluiceError) -> Self { self }

    /// Returns the response if it has this status.
    public func filter(status: HTTPStatus) throws(SluiceError) -> Self {
        try filter { $0 == status }
    }

    private func filter(_ statuses: [Range<Int>]) throws(SluiceError) -> Self {
        try filter { status in statuses.contains { $0.contains(status.rawValue) } }
    }

    private func filter(_ isAccepted: (HTTPStatus) -> Bool) throws(SluiceError) -> Self {
        let response = try received()
        guard isAccepted(response.head.status) else { throw .unacceptableStatus(response.head, response.request) }
        return self
    }

    /// Returns the response if its status is 200 to 299.
    public func filterSuccesses() throws(SluiceError) -> Self { try filter(statuses: 200..<300) }

    /// Returns the body as text, in the charset of the response: see ``APIClient/string``.
    ///
    /// - Parameter defaultCharset: The charset of a response that specifies none; UTF-8 by default.
    /// - Returns: The text, without a byte order mark.
    /// - Throws: ``SluiceError/Code/decodingFailed`` for invalid bytes or an unknown charset, or the error for which no
    ///   response was received.
    public func string(defaultCharset: String = "utf-8") throws(SluiceError) -> String {
        try model(by: StringSerializer(defaultCharset: defaultCharset))
    }

    /// Returns the body as an image.
    public func image() throws(SluiceError) -> ImageFile { try model(by: ImageSerializer()) }

    /// Returns a part of the JSON body, or all of it without a path.
    public func json(at path: JSONPath = "") throws(SluiceError) -> JSON {
        try model(at: path, by: JSONSerializer<JSON>())
    }

    /// Returns a string, number or boolean in the JSON body as text.
    public func string(at path: JSONPath) throws(SluiceError) -> String {
        try model(at: path, by: StringSerializer())
    }

    /// Returns the original text of a part of the JSON body, or all of it without a path.
    public func rawJSON(at path: JSONPath = "") throws(SluiceError) -> String {
        String(decoding: try model(at: path, by: DataSerializer()), as: UTF8.self)
    }

    /// Decodes the body, or a part of it, as the request would: an ``APIResponse`` by the decoder and the ``Envelope``
    /// of its request or client, a ``ServerResponse`` by a `JSONDecoder` and without an envelope.
    ///
    /// ```swift
    /// let failure = try response.decoded(as: Failure.self)                            // the payload, if there is an envelope
    /// let whole = try response.received().decoded(as: Document.self)                  // the body as it is
    /// let user = try response.decoded(as: User?.self, failsOnEmptyData: false)        // nil for an empty body
    /// ```
    ///
    /// - Parameters:
    ///   - model: The type to decode.
    ///   - path: The location of the value in the body, or in the payload of the envelope.
    ///   - decoder: The decoder to use; nil for the one of the request or client.
    ///   - failsOnEmptyData: False to decode an empty body from `null`, `{}` or `[]`, whichever the model accepts.
    /// - Returns: The model.
    /// - Throws: ``SluiceError/Code/decodingFailed``, which names the type and the path;
    ///   ``SluiceError/Code/envelopeFailed`` if the envelope reports a failure; or the error for which no response was
    ///   received.
    public func decoded<Model: Decodable & Sendable>(
        as model: Model.Type = Model.self,
        at path: JSONPath? = nil,
        by decoder: (any DataDecoder)? = nil,
        failsOnEmptyData: Bool = true
    ) throws(SluiceError) -> Model {
        let decoding = (self as? any DecodableResponse)?.decoding ?? .standard
        let location = ModelLocation(envelope: decoding.envelope, keyPath: path, allowsEmptyBody: !failsOnEmptyData)
        let serializer = CodableSerializer<Model>(decoder.map(SharedDecoder.init) ?? decoding.decoder)
        let response = try received()
        return try response.addingContext { () throws(SluiceError) in
            try location.model(in: response, decoding.clientsEnvelope, by: serializer)
        }
    }

    private func model<Model>(
        at path: JSONPath? = nil,
        by serializer: some ResponseSerializer<Model>
    ) throws(SluiceError) -> Model {
        let response = try received()
        return try response.addingContext { () throws(SluiceError) in
            try ModelLocation(keyPath: path).model(in: response, nil, by: serializer)
        }
    }
}

/// The decoder and the envelope of a client, as far as a request does not replace them.
struct ResponseDecoding: Sendable {
    let decoder: SharedDecoder
    let envelope: ModelLocation.EnvelopeRule
    let clientsEnvelope: Envelope?

    /// A `JSONDecoder`, and no envelope.
    static let standard = ResponseDecoding(decoder: SharedDecoder(JSONDecoder()), envelope: .none, clientsEnvelope: nil)
}

/// A response that knows how its request decodes it.
protocol DecodableResponse {
    /// Nil for a response without a request.
    var decoding: ResponseDecoding? { get }
}

extension ServerResponse {
    /// Adds the request and the head to the errors that the closure throws.
    fileprivate func addingContext<Value>(_ work: () throws(SluiceError) -> Value) throws(SluiceError) -> Value {
        do {
            return try work()
        } catch {
            throw error.with(request: request, response: head)
        }
    }
}

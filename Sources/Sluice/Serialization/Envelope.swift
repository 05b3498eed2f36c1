import SluiceFoundation
import SluiceHTTP

/// The envelope in which an API wraps all its responses: the locations of the status, the message and the payload.
///
/// ```swift
/// // {"code": 0, "msg": "OK", "data": {"user": {…}}}
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.envelope = Envelope(status: "code", success: 0, "OK", message: "msg", payload: "data")
/// }
/// let user: User = try await shop.codable.request("users/1").keyPath("user").sender().value
/// ```
///
/// Requests for text, bytes and images receive the whole response, including the envelope. Requests for `Decodable` and
/// ``JSONDecodable`` models and for ``Empty`` receive the payload. If the status is not a success value, they fail with
/// ``SluiceError/Code/envelopeFailed``, and ``RequestFailure/envelope`` contains the code and the message. The body must
/// be valid JSON in UTF-8, also if the decoder accepts more.
public struct Envelope: Sendable, Hashable {
    /// The path to the status.
    public var status: JSONPath
    /// The values that mean success. A number and a string with the same text are equal.
    public var successValues: [JSON]
    /// The path to the human-readable message, which may be missing.
    public var message: JSONPath
    /// The path to the payload, which may be missing.
    public var payload: JSONPath

    /// Creates an envelope.
    ///
    /// - Parameters:
    ///   - status: The path to the status: `code`, `error.code` or `error>code`.
    ///   - success: The values that mean success.
    ///   - message: The path to the human-readable message, which may be missing; `message` by default.
    ///   - payload: The path to the payload.
    public init(status: JSONPath, success: JSON..., message: JSONPath = "message", payload: JSONPath) {
        self.status = status
        self.successValues = success
        self.message = message
        self.payload = payload
    }

    func opened(_ document: JSONDocument) throws(JSONPathFailure) -> OpenedEnvelope {
        let code = JSON(document, try document.find(status))
        let message = (try? document.find(message)).map { JSON(document, $0) }
        let payload = Result { () throws(JSONPathFailure) in try document.slice(at: self.payload) }
        return OpenedEnvelope(
            isSuccess: successValues.contains { $0.isSameStatus(as: code) },
            code: code,
            message: message.flatMap { $0.isNull ? nil : $0.isScalar ? $0.stringValue : $0.description },
            path: self.payload,
            payload: payload
        )
    }

    func opened(_ response: ServerResponse) throws(SluiceError) -> OpenedEnvelope {
        do {
            return try opened(JSONDocument(response.body))
        } catch {
            throw .noModel(error, in: response.body, "envelope")
        }
    }
}

extension JSON {
    /// True for equal values, and for a number and a string with the same text. Strings are compared byte by byte, because
    /// the comparison of characters takes quadratic time for some texts of a server.
    fileprivate func isSameStatus(as other: JSON) -> Bool {
        if case .number(let number) = self, case .number(let otherNumber) = other { return number == otherNumber }
        guard isScalar, other.isScalar else { return self == other }
        return stringValue.utf8.elementsEqual(other.stringValue.utf8)
    }
}

/// The contents of a response's envelope.
struct OpenedEnvelope: Sendable {
    let isSuccess: Bool
    let code: JSON
    let message: String?
    /// The path to the payload.
    let path: JSONPath
    /// The JSON text of the payload, or the reason there is none.
    let payload: Result<Data, JSONPathFailure>

    /// Serializes the payload. A missing payload is serialized as `null`.
    func model<Model>(
        of response: ServerResponse,
        at location: ModelLocation,
        by serializer: any ResponseSerializer<Model>
    ) throws(SluiceError) -> Model {
        var response = response
        var location = location
        // Read a JSON string as a value, not as its source text. The empty path refers to the payload itself.
        if location.keyPath == nil, serializer is any JSONPartReading<Model> { location.keyPath = JSONPath() }
        switch payload {
        case .success(let data):
            response.body = data
            do {
                return try location.model(in: response, nil, by: serializer)
            } catch {
                throw error.inside(path)
            }
        case .failure(let failure):
            response.body = Data("null".utf8)
            do {
                return try location.model(in: response, nil, by: serializer)
            } catch {
                throw .noModel(failure)
            }
        }
    }
}

extension SluiceError {
    /// The error for a body that is not JSON, or that has no value at the path of the model or of an envelope's status.
    static func noModel(_ failure: any Error, in body: Data = Data(), _ part: String = "model") -> SluiceError {
        let reason = (failure as? JSONSyntaxError).map { "\(DecodingReason.notJSON(body, $0))." } ?? "\(failure)"
        return SluiceError(
            .decodingFailed,
            "The response has no \(part): \(reason)",
            step: .serialization,
            underlyingError: failure
        )
    }

    /// The error for an envelope that reports a failure. Its sentence contains the code, but not the message, which may
    /// contain personal data.
    static func envelope(_ failure: EnvelopeFailure) -> SluiceError {
        let code = failure.code.isScalar ? " with the code \(JSON.quoted(failure.code.stringValue))" : ""
        return SluiceError(
            .envelopeFailed,
            "The envelope of the response reports that the request failed\(code).",
            step: .serialization,
            underlyingError: failure
        )
    }
}

extension JSON {
    /// True for a string, a number or a boolean.
    var isScalar: Bool {
        switch self {
        case .bool, .number, .string: true
        case .null, .array, .object: false
        }
    }
}

// MARK: - Failure

/// The code and message of an envelope that reports a failure: the underlying error of
/// ``SluiceError/Code/envelopeFailed``.
public struct EnvelopeFailure: LocalizedError, Sendable, Hashable, CustomStringConvertible, DescribedError {
    /// The API's status code.
    public let code: JSON
    /// The API's human-readable message; nil if there is none.
    public let message: String?

    /// Creates a failure, for testing an error model.
    public init(code: JSON, message: String?) {
        self.code = code
        self.message = message
    }

    /// The code and the message, unchanged. They may contain personal data from the API.
    public var description: String {
        message.map { "\(code.stringValue): \($0)" } ?? code.stringValue
    }
}

extension RequestFailure {
    /// The failure in the response's envelope, regardless of the HTTP status; nil if the client declares no
    /// ``Envelope``, the body does not contain one, or the envelope reports success.
    public var envelope: EnvelopeFailure? {
        if let failure = error.underlyingError as? EnvelopeFailure { return failure }
        guard let declaredEnvelope, !body.isEmpty, let document = try? JSONDocument(body),
            let opened = try? declaredEnvelope.opened(document), !opened.isSuccess
        else { return nil }
        return EnvelopeFailure(code: opened.code, message: opened.message)
    }
}

extension APIError {
    /// The failure in the response's envelope; nil if there is none.
    public var envelope: EnvelopeFailure? { failure.envelope }
}

// MARK: - Outcome

/// The contents of an envelope: success or failure, with the payload of a success.
///
/// ```swift
/// let outcome = try await shop.codable.request("orders", as: Order.self).outcome().sender().value
/// print(outcome.isSuccess, outcome.message ?? "", outcome.payload)
/// let (ok, message) = try await shop.empty.post("logout").outcome().sender().value.summary
/// ```
public struct EnvelopeOutcome<Payload: Sendable>: Sendable {
    /// True if the status is one of the success values and the request did not fail.
    public let isSuccess: Bool
    /// The API's status code; null if no envelope was received.
    public let code: JSON
    /// The API's human-readable message, nil if there is none; the description of ``failure`` if no envelope was
    /// received.
    public let message: String?
    /// The payload of a success; nil for a failure.
    public let payload: Payload?
    /// The error of a request that failed: a status that is not accepted, or a server that could not be reached. Nil if
    /// the envelope alone reports a failure.
    public let failure: SluiceError?

    /// Creates an outcome, for tests and previews.
    public init(
        isSuccess: Bool,
        code: JSON = .null,
        message: String? = nil,
        payload: Payload? = nil,
        failure: SluiceError? = nil
    ) {
        self.isSuccess = isSuccess
        self.code = code
        self.message = message
        self.payload = payload
        self.failure = failure
    }

    /// The success and the message only.
    public var summary: (isSuccess: Bool, message: String?) { (isSuccess, message) }
}

/// A model that says if the API accepted the request.
protocol EnvelopeReport {
    var isSuccess: Bool { get }
}

extension EnvelopeOutcome: EnvelopeReport {}

/// A serializer that reads the envelope itself.
protocol EnvelopeReading<Model>: ResponseSerializer {
    func serialize(
        _ response: ServerResponse,
        at location: ModelLocation,
        _ clientsEnvelope: Envelope?
    ) throws(SluiceError) -> Model

    /// Returns the model of a failed request; nil if the failure is the request's.
    func outcome(of failure: RequestFailure) -> Model?
}

/// Reads an envelope and serializes the payload of a success.
struct EnvelopeOutcomeSerializer<Payload: Sendable>: EnvelopeReading {
    let serializer: any ResponseSerializer<Payload>

    func serialize(_ response: ServerResponse) throws(SluiceError) -> EnvelopeOutcome<Payload> {
        try serialize(response, at: ModelLocation(), nil)
    }

    func outcome(of failure: RequestFailure) -> EnvelopeOutcome<Payload>? {
        let error = failure.error
        guard failure.declaredEnvelope != nil, !error.isCancellation,
            error.step != .building && error.step != .serialization
        else { return nil }
        guard let envelope = failure.envelope else {
            return EnvelopeOutcome(isSuccess: false, message: error.description, failure: error)
        }
        return EnvelopeOutcome(isSuccess: false, code: envelope.code, message: envelope.message, failure: error)
    }

    func serialize(
        _ response: ServerResponse,
        at location: ModelLocation,
        _ clientsEnvelope: Envelope?
    ) throws(SluiceError) -> EnvelopeOutcome<Payload> {
        if response.body.isEmpty && (location.allowsEmptyBody || response.isWithoutContent) {
            let payload = try location.inPayload.model(in: response, nil, by: serializer)
            return EnvelopeOutcome(isSuccess: true, code: .null, message: nil, payload: payload)
        }
        guard let envelope = location.envelope(orOf: clientsEnvelope) else {
            throw SluiceError(
                .unsupported,
                "No envelope is declared. Declare one on the client or on the request.",
                step: .serialization
            )
        }
        let opened = try envelope.opened(response)
        return EnvelopeOutcome(
            isSuccess: opened.isSuccess,
            code: opened.code,
            message: opened.message,
            payload: opened.isSuccess ? try opened.model(of: response, at: location.inPayload, by: serializer) : nil
        )
    }
}

// MARK: - Model location

/// The location of the model in a response: in an envelope, at a key path, or absent because the body is empty.
struct ModelLocation: Sendable {
    enum EnvelopeRule: Sendable {
        case none
        /// The client's envelope, for serializers that read JSON.
        case client
        /// The request's envelope, for any serializer.
        indirect case request(Envelope)
    }

    var envelope = EnvelopeRule.client
    var keyPath: JSONPath?
    var allowsEmptyBody = false
    /// True if the contents of the envelope are the model.
    var isOutcome = false

    var inPayload: ModelLocation {
        ModelLocation(envelope: .none, keyPath: keyPath, allowsEmptyBody: allowsEmptyBody)
    }

    func envelope(orOf client: Envelope?) -> Envelope? {
        switch envelope {
        case .none: nil
        case .client: client
        case .request(let envelope): envelope
        }
    }

    /// Extracts the part of the body that contains the model and serializes it.
    func model<Model>(
        in response: ServerResponse,
        _ clientsEnvelope: Envelope?,
        by serializer: any ResponseSerializer<Model>
    ) throws(SluiceError) -> Model {
        if isOutcome, let serializer = serializer as? any EnvelopeReading<Model> {
            return try serializer.serialize(response, at: self, clientsEnvelope)
        }
        if response.bodyCount == 0 && serializer.readsJSON,
            allowsEmptyBody || response.isWithoutContent && Model.self is any OptionalValue.Type
        {
            return try emptyModel(of: response, by: serializer)
        }
        let clientsEnvelope = serializer.readsJSON ? clientsEnvelope : nil
        if let envelope = envelope(orOf: clientsEnvelope), response.bodyCount > 0 {
            let opened = try envelope.opened(response)
            guard opened.isSuccess else {
                throw .envelope(EnvelopeFailure(code: opened.code, message: opened.message))
            }
            return try opened.model(of: response, at: inPayload, by: serializer)
        }
        guard let keyPath else { return try serializer.serialize(response) }
        var response = response
        let document: JSONDocument
        let node: JSONDocument.Node
        do {
            document = try JSONDocument(response.body)
            node = try document.find(keyPath)
        } catch {
            throw .noModel(error, in: response.body)
        }
        response.body = document.bytes(of: node)
        do {
            if let serializer = serializer as? any JSONPartReading<Model> {
                return try serializer.serialize(JSON(document, node), at: keyPath)
            }
            return try serializer.serialize(response)
        } catch {
            throw error.inside(keyPath)
        }
    }

    /// Serializes an empty body as `null`, `{}` or `[]`, whichever the serializer accepts first.
    private func emptyModel<Model>(
        of response: ServerResponse,
        by serializer: any ResponseSerializer<Model>
    ) throws(SluiceError) -> Model {
        var substitute = response
        for text in ["null", "{}", "[]"] {
            substitute.body = Data(text.utf8)
            if let model = try? serializer.serialize(substitute) { return model }
        }
        return try serializer.serialize(response)
    }
}

extension ServerResponse {
    /// True if the response has no content by its definition: 204, 205 (RFC 9110 §15.3.5, §15.3.6) or a response to
    /// HEAD (§9.3.2).
    fileprivate var isWithoutContent: Bool {
        status == .noContent || status.rawValue == 205 || request.method == .head
    }
}

extension SluiceError {
    /// Returns the error with the path of a decoding failure extended to start at the root of the body.
    func inside(_ path: JSONPath) -> SluiceError {
        guard let failure = underlyingError as? DecodingFailure else { return self }
        return .undecodable(failure.inside(path))
    }
}

/// A serializer that reads a part of a JSON body as a value instead of its source text.
protocol JSONPartReading<Model>: ResponseSerializer {
    func serialize(_ part: JSON, at path: JSONPath) throws(SluiceError) -> Model
}

extension StringSerializer: JSONPartReading {
    /// Returns the text of a string, number or boolean, without JSON quotes and escapes.
    func serialize(_ part: JSON, at path: JSONPath) throws(SluiceError) -> String {
        guard part.isScalar else {
            throw SluiceError(
                .decodingFailed,
                "The response has no text at “\(path)”: the value is \(JSON.Kind(part)).",
                step: .serialization
            )
        }
        return part.stringValue
    }
}

import SluiceFoundation
import SluiceHTTP

// The errors of a request:
//
//     ErrorSerializable          the request's error model, created from a RequestFailure
//     ├── APIError               contains all information, for users who need no type of their own
//     ├── TypedAPIError<Body>    the same, with the error body decoded
//     ├── SluiceError            the library's error alone
//     └── the user's own types
//     RequestFailure             the input of an error model
//     └── SluiceError            code, step, request, response, underlying error
//         ├── URITemplateFailure   underlying: the position at which a template is malformed
//         ├── FormEncodingFailure  underlying: the field that cannot be encoded
//         ├── TLSFailure           underlying: the check that failed, and its certificate
//         ├── SystemError          underlying: the error number of a socket
//         ├── OAuth2Error          underlying: the response of the authorization server
//         ├── GateRefusal          underlying: the limit or breaker that refused, and the time to wait
//         ├── EnvelopeFailure      underlying: code and message of the response's envelope
//         ├── JSONPathFailure      underlying: the part of a key path that was found
//         ├── DecodingFailure      underlying: type, coding path, first bytes
//         ├── TextFailure          underlying: charset and offset of the invalid text
//         ├── ImageFailure         underlying: the defect in an image's header
//         └── the error that a stream, an encoder or an interceptor threw

/// An error model for the requests of an API.
///
/// It is created from every failure, with or without a response, so values from the body may be missing:
///
/// ```swift
/// struct GitHubError: ErrorSerializable {
///     let message: String
///     let isCancellation: Bool
///
///     init(_ failure: RequestFailure) {
///         struct Body: Decodable { let message: String }
///         message = (try? failure.decoded(as: Body.self))?.message ?? failure.error.description
///         isCancellation = failure.error.isCancellation
///     }
/// }
/// ```
public protocol ErrorSerializable: Error, Sendable {
    /// Creates the error from a failure.
    init(_ failure: RequestFailure)
}

/// The failure of a request, from which its error model is created.
public struct RequestFailure: Sendable {
    /// The error, with its step, request and response.
    public let error: SluiceError
    /// The body of the failed response; empty if none was received, or if that of a stream or download did not end in
    /// time.
    public let body: Data
    /// The URL of the downloaded file, if a later step failed; nil otherwise.
    public let fileURL: URL?
    let declaredEnvelope: Envelope?
    private let decoder: any DataDecoder

    /// Creates a failure to test an error model with.
    public init(
        error: SluiceError,
        body: Data = Data(),
        decoder: any DataDecoder = JSONDecoder(),
        envelope: Envelope? = nil,
        fileURL: URL? = nil
    ) {
        self.fileURL = fileURL
        declaredEnvelope = envelope
        self.error = error
        self.body = body
        self.decoder = decoder
    }

    /// The request, as far as it was built; nil if it could not be.
    public var request: HTTPRequest? { error.request }
    /// The head of the response; nil if none was received.
    public var response: HTTPResponse? { error.response }
    /// The status of the response; nil if none was received.
    public var status: HTTPStatus? { error.status }

    /// Decodes the body with the request's error decoder.
    ///
    /// - Parameter type: The type of the API's error body.
    /// - Returns: The decoded body.
    /// - Throws: The error of the decoder. Always throws if there is no body.
    public func decoded<Body: Decodable>(as type: Body.Type = Body.self) throws -> Body {
        // A `JSONDecoder` itself takes quadratic time for names with many combining characters.
        try SharedDecoder(decoder).decode(type, from: body)
    }
}

extension SluiceError: ErrorSerializable {
    /// Uses the library's error as the error model.
    public init(_ failure: RequestFailure) {
        self = failure.error
    }
}

extension RequestFailure: CustomStringConvertible, CustomReflectable, RedactedMirror {
    /// The description of ``error``.
    public var description: String { error.description }

    /// All properties without the contents of the body, which may be secret.
    package var shown: [Mirror.Child] { [("error", error), ("body", body.summary), ("fileURL", fileURL as Any)] }
}

// MARK: - Errors of building a request

extension SluiceError {
    /// Creates an error from one that user code threw while a request was built.
    static func building(_ error: any Error, _ reason: String) -> SluiceError {
        if let error = error as? SluiceError { return error }
        return SluiceError(.buildingFailed, "\(reason).", step: .building, underlyingError: error)
    }

    /// Creates an error for a body that cannot be encoded. It names the field if the encoder reports it, but never its
    /// value.
    static func bodyEncoding(_ error: any Error) -> SluiceError {
        var reason = "The request's body could not be encoded."
        if case EncodingError.invalidValue(let value, let context) = error {
            let position = context.codingPath.isEmpty ? "" : " at “\(context.codingPath.text)”,"
            reason =
                "The request's body could not be encoded:\(position) the encoder rejected a value of type \(type(of: value))."
        }
        return SluiceError(.encodingFailed, reason, step: .building, underlyingError: error)
    }
}

extension [any CodingKey] {
    /// The path as `items[0].id`; empty for the root.
    var text: String {
        reduce(into: "") { text, key in
            // A key of a dictionary, such as “101”, has a number too.
            if let index = key.intValue, key.stringValue != "\(index)" {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
    }
}

// MARK: - API error

/// A general error model that contains all information about a failure.
public struct APIError: ErrorSerializable, LocalizedError, CustomStringConvertible, DescribedError {
    /// The cause, with its code, step and reason.
    public let error: SluiceError
    /// The body of the failed response; empty if none was received.
    public let body: Data
    /// The URL of the file that a download was written to; nil if there is none.
    public let fileURL: URL?
    let failure: RequestFailure

    /// Creates the error from a failure.
    public init(_ failure: RequestFailure) {
        error = failure.error
        body = failure.body
        fileURL = failure.fileURL
        self.failure = failure
    }

    /// The code of the error.
    public var code: SluiceError.Code { error.code }
    /// The request, as far as it was built; nil if it could not be.
    public var request: HTTPRequest? { error.request }
    /// The head of the response; nil if none was received.
    public var response: HTTPResponse? { error.response }
    /// The status of the response; nil if none was received.
    public var status: HTTPStatus? { error.response?.status }
    /// The error that caused the failure.
    public var underlyingError: (any Error)? { error.underlyingError }
    /// True if the request was cancelled.
    public var isCancellation: Bool { error.isCancellation }

    /// Decodes the body of the failed response with the request's error decoder, as
    /// ``RequestFailure/decoded(as:)`` does. ``TypedAPIError`` does so for each failure.
    ///
    /// ```swift
    /// let problem = try? error.decoded(as: Problem.self)
    /// ```
    ///
    /// - Parameter type: The type of the API's error body.
    /// - Returns: The decoded body.
    /// - Throws: The error of the decoder. Always throws if there is no body.
    public func decoded<Body: Decodable>(as type: Body.Type = Body.self) throws -> Body {
        try failure.decoded(as: type)
    }

    /// One sentence without query, headers or body.
    public var description: String { error.description }
}

/// An ``APIError`` with the decoded error body.
@dynamicMemberLookup
public struct TypedAPIError<Body: Decodable & Sendable>: ErrorSerializable, LocalizedError, CustomStringConvertible,
    DescribedError
{
    /// The error without its decoded body. Its members are also available on this type.
    public let apiError: APIError
    /// The decoded error body; nil if no response was received or its body could not be decoded.
    public let errorBody: Body?

    /// Creates the error, and decodes the body with the request's error decoder.
    public init(_ failure: RequestFailure) {
        apiError = APIError(failure)
        errorBody = try? failure.decoded(as: Body.self)
    }

    // Dynamic look-up would find the unavailable members of `Error` first.

    /// The code of the error.
    public var code: SluiceError.Code { apiError.code }
    /// The status of the response; nil if none was received.
    public var status: HTTPStatus? { apiError.status }
    /// True if the request was cancelled.
    public var isCancellation: Bool { apiError.isCancellation }

    /// A member of ``apiError``.
    public subscript<Value>(dynamicMember member: KeyPath<APIError, Value>) -> Value {
        apiError[keyPath: member]
    }

    /// One sentence without query, headers or body.
    public var description: String { apiError.description }
}

extension APIError: CustomReflectable, RedactedMirror {
    /// All properties without the contents of the body, which may be secret.
    package var shown: [Mirror.Child] { [("error", error), ("body", body.summary), ("fileURL", fileURL as Any)] }
}

extension TypedAPIError: CustomReflectable, RedactedMirror {
    /// All properties without the contents of the body, which may be secret. `dump(error.errorBody)` shows them.
    package var shown: [Mirror.Child] {
        [("apiError", apiError), ("errorBody", errorBody == nil ? "none" : "a \(Body.self)")]
    }
}

// MARK: - Cancellation

/// An error that knows if the request was cancelled.
private protocol CancellableError: Error {
    var isCancellation: Bool { get }
}

extension SluiceError: CancellableError {}
extension APIError: CancellableError {}
extension TypedAPIError: CancellableError {}

extension Error {
    /// True for a `CancellationError`, and for an error of a request that was cancelled.
    var meansCancellation: Bool {
        self is CancellationError || (self as? any CancellableError)?.isCancellation ?? false
    }
}

import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// What a request can fail with:
//
//     ErrorSerializable          the request's error model, made of a RequestFailure
//     ├── APIError               carries everything, for those who need no type of their own
//     ├── TypedAPIError<Body>    the same, with the error body decoded
//     ├── SluiceError            the SDK's failure alone
//     └── the user's own types
//     RequestFailure             what an error model is made of
//     └── SluiceError            code, step, request, response, underlying error
//         ├── URITemplateFailure   underlying: where a template is malformed
//         ├── FormEncodingFailure  underlying: the field that cannot be written
//         ├── TLSFailure           underlying: the check that failed, and on which certificate
//         ├── SystemError          underlying: the number of a socket's error
//         ├── OAuth2Error          underlying: what the authorization server answered
//         ├── GateRefusal          underlying: which limit or breaker refused, and for how long
//         ├── EnvelopeFailure      underlying: code and message of the response's envelope
//         ├── JSONPathFailure      underlying: how far a key path got
//         ├── DecodingFailure      underlying: type, coding path, first bytes
//         ├── TextFailure          underlying: charset and offset of what is no text
//         ├── ImageFailure         underlying: what is wrong with a picture's header
//         └── the error a stream, an encoder or an interceptor threw

/// An error that a request of a certain API throws.
///
/// It is made of every failure, with a response or without; so what is decoded from the body may be missing:
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
    /// Makes the error.
    init(_ failure: RequestFailure)
}

/// A request's failure, of which its error model is made.
public struct RequestFailure: Sendable {
    /// What failed, at which step, of which request and response.
    public let error: SluiceError
    /// The body of the failed response; empty if none came.
    public let body: Data
    /// The file a download had been written to, where what came after failed.
    public let fileURL: URL?
    let declaredEnvelope: Envelope?
    private let decoder: any DataDecoder

    /// Makes a failure, to test an error model with.
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

    /// The request as far as it had been made.
    public var request: HTTPRequest? { error.request }
    /// The head of the response, where there was one.
    public var response: HTTPResponse? { error.response }

    /// Decodes the body with the request's error decoder.
    ///
    /// - Parameter type: What the API sends with an error.
    /// - Returns: The decoded body.
    /// - Throws: What the decoder throws; always when there is no body.
    public func decoded<Body: Decodable>(as type: Body.Type = Body.self) throws -> Body {
        try decoder.decode(type, from: body)
    }
}

extension SluiceError: ErrorSerializable {
    /// Keeps the SDK's failure alone.
    public init(_ failure: RequestFailure) {
        self = failure.error
    }
}

extension RequestFailure: CustomStringConvertible, CustomReflectable {
    /// The sentence of ``error``.
    public var description: String { error.description }

    /// All but the contents of the body, which may hold secrets.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["error": error, "body": body.shown, "fileURL": fileURL as Any],
            displayStyle: .struct
        )
    }
}

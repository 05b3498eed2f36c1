import SluiceFoundation
import SluiceHTTP

/// A general error model that contains all information about a failure.
public struct APIError: ErrorSerializable, LocalizedError, CustomStringConvertible {
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
    /// The ``description``, as `localizedDescription`.
    public var errorDescription: String? { description }
}

/// An ``APIError`` with the decoded error body.
@dynamicMemberLookup
public struct TypedAPIError<Body: Decodable & Sendable>: ErrorSerializable, LocalizedError, CustomStringConvertible {
    /// The error without its decoded body. Its members are also available on this type.
    public let apiError: APIError
    /// The decoded error body; nil if no response was received or its body could not be decoded.
    public let errorBody: Body?

    /// Creates the error, and decodes the body with the request's error decoder.
    public init(_ failure: RequestFailure) {
        apiError = APIError(failure)
        errorBody = try? failure.decoded(as: Body.self)
    }

    // Dynamic lookup would find the unavailable members of `Error` first.

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
    /// The ``description``, as `localizedDescription`.
    public var errorDescription: String? { description }
}

extension APIError: CustomReflectable {
    /// All properties without the contents of the body, which may be secret.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["error": error, "body": body.summary, "fileURL": fileURL as Any],
            displayStyle: .struct
        )
    }
}

extension TypedAPIError: CustomReflectable {
    /// All properties without the contents of the body, which may be secret. `dump(error.errorBody)` shows them.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["apiError": apiError, "errorBody": errorBody == nil ? "none" : "a \(Body.self)"],
            displayStyle: .struct
        )
    }
}

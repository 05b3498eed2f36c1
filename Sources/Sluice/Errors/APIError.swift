import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A ready error model that carries all that is known of a failure.
public struct APIError: ErrorSerializable, CustomStringConvertible {
    /// What failed, at which step.
    public let error: SluiceError
    /// The body of the failed response; empty if none came.
    public let body: Data
    /// The file a download had been written to, where there is one.
    public let fileURL: URL?
    let failure: RequestFailure

    /// Makes the error.
    public init(_ failure: RequestFailure) {
        error = failure.error
        body = failure.body
        fileURL = failure.fileURL
        self.failure = failure
    }

    /// What kind of failure it is.
    public var code: SluiceError.Code { error.code }
    /// The request as far as it had been made.
    public var request: HTTPRequest? { error.request }
    /// The head of the response, where there was one.
    public var response: HTTPResponse? { error.response }
    /// The status, where there was a response.
    public var status: HTTPStatus? { error.response?.status }
    /// The error that caused the failure.
    public var underlyingError: (any Error)? { error.underlyingError }
    /// Whether the request was cancelled rather than failed.
    public var isCancellation: Bool { error.isCancellation }

    /// One sentence without query, headers or body.
    public var description: String { error.description }
}

/// An ``APIError`` with the error body decoded, where it could be.
@dynamicMemberLookup
public struct TypedAPIError<Body: Decodable & Sendable>: ErrorSerializable, CustomStringConvertible {
    /// All else that is known; its members can be read from this error directly.
    public let apiError: APIError
    /// What the API said of the error; nil if no response came or its body is something else.
    public let errorBody: Body?

    /// Makes the error, decoding the body with the request's error decoder.
    public init(_ failure: RequestFailure) {
        apiError = APIError(failure)
        errorBody = try? failure.decoded(as: Body.self)
    }

    /// A member of ``apiError``.
    public subscript<Value>(dynamicMember member: KeyPath<APIError, Value>) -> Value {
        apiError[keyPath: member]
    }

    /// One sentence without query, headers or body.
    public var description: String { apiError.description }
}

extension APIError: CustomReflectable {
    /// All but the contents of the body, which may hold secrets.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["error": error, "body": body.shown, "fileURL": fileURL as Any],
            displayStyle: .struct
        )
    }
}

extension TypedAPIError: CustomReflectable {
    /// All but the contents of the body, which may hold secrets; `dump(error.errorBody)` shows it.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["apiError": apiError, "errorBody": errorBody == nil ? "none" : "a \(Body.self)"],
            displayStyle: .struct
        )
    }
}

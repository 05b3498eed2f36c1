import Foundation
import SluiceHTTP

/// A request's body, validated before anything is sent.
enum UploadBody: Sendable {
    case none
    case data(Data)
    case file(URL, length: Int64)
    case stream(HTTPBody.Stream, length: Int64?)

    /// The number of bytes, if known.
    var length: Int64? {
        switch self {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .file(_, let length): length
        case .stream(_, let length): length
        }
    }

    /// Validates a body. Rejects bodies that the session would fail or trap on later.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - limit: The request's total time, counted from now.
    /// - Returns: A body that can be sent.
    /// - Throws: A ``SluiceError`` if the body cannot be sent.
    static func open(_ request: HTTPRequest, within limit: Duration?) async throws(SluiceError) -> UploadBody {
        if request.method == .get && !request.body.isNone {
            throw SluiceError(
                .unsupported,
                "URLSession sends no body with a GET; use another method, or another transport.",
                request: request
            )
        }
        do {
            return try await open(request.body, within: limit)
        } catch {
            throw error.with(request: request)
        }
    }

    private static func open(_ body: HTTPBody, within limit: Duration?) async throws(SluiceError) -> UploadBody {
        switch body.source {
        case .none:
            return .none
        case .data(let data):
            return .data(data)
        case .stream(let stream):
            return .stream(stream, length: body.length)
        case .file(let url):
            // Opened only to check the file. The session opens it again.
            let file = try await TimedWork.outcome(within: limit) { () async throws(SluiceError) in
                try await FileReader.open(url)
            }
            return .file(url, length: file.length)
        case .deferred:
            // A prepared body needs no further preparation.
            return try await open(body.prepared(within: limit), within: limit)
        }
    }
}

/// The body in the form that a session task takes.
enum Payload: Sendable {
    /// Opens a stream of the body's bytes; returns nil if they have been consumed.
    typealias OpenStream = @Sendable () -> InputStream?

    case none
    case data(Data)
    case file(URL)
    case stream(OpenStream)
}

extension SluiceError {
    static func unavailable(_ reason: String, _ error: (any Error)? = nil) -> SluiceError {
        SluiceError(.bodyUnavailable, reason, underlyingError: error)
    }
}

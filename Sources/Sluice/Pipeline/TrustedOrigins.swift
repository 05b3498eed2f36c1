import SluiceHTTP

/// The origins that a secret may be sent to: scheme, host and port (RFC 6454 §4).
enum TrustedOrigins: Sendable {
    /// The origin of each client's base URL.
    case baseURL
    case origins([HTTPOrigin])
    /// One of the URLs is not valid.
    case invalid(SluiceError)

    /// Creates the origins of absolute URLs, whose paths are ignored.
    init(_ urls: [String]) {
        do throws(SluiceError) {
            self = .origins(try urls.map { url throws(SluiceError) in try RequestLocation(parsing: url).origin })
        } catch {
            self = .invalid(error)
        }
    }

    /// Returns true if a client's request goes to one of the origins; nil if the client's base URL is not valid.
    func include(_ request: HTTPRequest, of pipeline: Pipeline) -> Bool? {
        switch self {
        case .invalid: return false
        case .origins(let origins):
            return origins.contains { $0.scheme == request.scheme && $0.authority == request.authority }
                || origins.contains(request.origin)
        case .baseURL:
            guard case .success(let base) = pipeline.base else { return nil }
            // The fast path, because both are usually equal as text.
            return request.authority == base.authority && request.scheme == base.scheme
                || request.origin == base.origin
        }
    }
}

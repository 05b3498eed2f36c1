import SluiceHTTP

/// The origins that credentials may be sent to: scheme, host and port (RFC 6454 §4).
///
/// ```swift
/// BearerToken(token, scope: .origins("https://api.example.com", "https://upload.example.com"))
/// ```
public struct CredentialScope: Sendable {
    private enum Extent: Sendable {
        case baseURL
        case origins([HTTPOrigin])
        case invalid(SluiceError)
    }

    private let extent: Extent

    /// The origin of the client's base URL only. This is right for most tokens.
    ///
    /// A client without a base URL has no such origin. A request that needs credentials then fails with
    /// ``SluiceError/Code/unsupported``.
    public static let baseURL = CredentialScope(extent: .baseURL)

    /// Returns a scope of these origins only.
    ///
    /// - Parameter urls: Absolute http or https URLs, whose paths are ignored. An invalid URL fails each request that
    ///   needs credentials with ``SluiceError/Code/invalidURL``.
    /// - Returns: A scope.
    public static func origins(_ urls: String...) -> CredentialScope { origins(urls) }

    /// Returns a scope of these origins only.
    public static func origins(_ urls: [String]) -> CredentialScope {
        do throws(SluiceError) {
            var origins: [HTTPOrigin] = []
            for url in urls { origins.append(try RequestLocation(parsing: url).origin) }
            return CredentialScope(extent: .origins(origins))
        } catch {
            return CredentialScope(extent: .invalid(error))
        }
    }

    /// Returns true if the request's origin is within the scope.
    func covers(_ request: HTTPRequest, _ context: RequestContext) throws(SluiceError) -> Bool {
        switch extent {
        case .baseURL:
            guard case .success(let base) = context.client.pipeline.base else { throw .noBaseURL }
            if request.scheme == base.scheme && request.authority == base.authority { return true }
            return request.origin == base.origin
        case .origins(let origins):
            return origins.contains(request.origin)
        case .invalid(let error):
            throw error
        }
    }
}

extension RequestLocation {
    var origin: HTTPOrigin { HTTPOrigin(scheme: scheme, authority: authority) }
}

extension SluiceError {
    fileprivate static var noBaseURL: SluiceError {
        SluiceError(
            .unsupported,
            "The client has no base URL, so nobody has said where its credentials may go: give them a scope of origins.",
            step: .requestInterceptor
        )
    }
}

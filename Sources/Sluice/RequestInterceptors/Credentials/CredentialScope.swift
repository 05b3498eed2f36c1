import SluiceHTTP

/// Where credentials may go: the origins, scheme with host and port (RFC 6454 §4), that a token is for.
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

    /// The origin of the client's base URL, and no other: what most tokens are for.
    ///
    /// A client without a base URL has none; a request that is to get credentials then fails with
    /// ``SluiceError/Code/unsupported``, since nobody has said where they may go.
    public static let baseURL = CredentialScope(extent: .baseURL)

    /// These origins and no others.
    ///
    /// - Parameter urls: Absolute http or https URLs; of their paths nothing is said. One that is not valid fails each request that
    ///   is to get credentials with ``SluiceError/Code/invalidURL``.
    /// - Returns: A scope.
    public static func origins(_ urls: String...) -> CredentialScope { origins(urls) }

    /// These origins and no others.
    public static func origins(_ urls: [String]) -> CredentialScope {
        do throws(SluiceError) {
            var origins: [HTTPOrigin] = []
            for url in urls { origins.append(try RequestLocation(parsing: url).origin) }
            return CredentialScope(extent: .origins(origins))
        } catch {
            return CredentialScope(extent: .invalid(error))
        }
    }

    /// Whether a request's origin is within.
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

import SluiceHTTP

/// The credentials for challenges that each request of a chain of redirects may use.
///
/// Credentials are for one origin. The origin itself may redirect to any of its paths. If another origin redirects back,
/// it chooses the path, and could so make the client act at a URL that the caller never meant to use. From then on, Basic
/// is used only in the protection space that the caller's own URL belongs to: the paths at or below its folder (RFC 7617
/// §2.2). Digest covers the whole origin (RFC 7616 §3.3), if the caller's own URL is there.
struct RedirectCredentials: Sendable {
    private let credentials: ChallengeCredentials?
    /// The folder of the caller's own URL; nil if that has another origin than the credentials.
    private let folder: String?
    /// True once another origin has chosen the target of a redirect.
    private var isForeign = false

    /// Creates the credentials of a chain.
    ///
    /// - Parameters:
    ///   - credentials: The credentials that the first request may use; nil for none.
    ///   - first: The first request, whose URL the caller has chosen.
    init(_ credentials: ChallengeCredentials?, for first: HTTPRequest) {
        self.credentials = credentials
        let isOwn = credentials != nil && credentials?.origin == first.origin
        folder = isOwn ? PathSpace.folder(of: PathSpace.path(of: first.path)) : nil
    }

    /// Returns the credentials that a request may use.
    ///
    /// - Parameters:
    ///   - request: The request whose response is the redirect.
    ///   - next: The request that the redirect leads to.
    /// - Returns: The credentials, without the methods that are not allowed; nil for none.
    mutating func following(_ request: HTTPRequest, to next: HTTPRequest) -> ChallengeCredentials? {
        guard let credentials, let origin = credentials.origin else { return credentials }
        if request.origin != origin { isForeign = true }
        guard isForeign, next.origin == origin else { return credentials }
        guard let folder else { return nil }
        if PathSpace.longestMatch(of: [folder], PathSpace.path(of: next.path)) != nil { return credentials }
        return credentials.restricted(to: credentials.methods.subtracting(.basic))
    }
}

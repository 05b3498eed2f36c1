import SluiceHTTP

/// The rules for following redirects (RFC 9110 §15.4, and the Fetch Standard's “HTTP-redirect fetch”).
///
/// ```swift
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.redirects.limit = 3
///     $0.redirects.decide = { $0.next.path.hasPrefix("/sign-in") ? .stop : .follow }
/// }
/// ```
///
/// The statuses 301, 302, 303, 307 and 308 redirect to their `Location`. Without a `Location`, and with any other
/// status, the response is returned. A POST becomes a GET after 301 and 302, and any method but GET and HEAD does after
/// 303. The body is then dropped, together with the headers that describe it. `Authorization`, `Cookie`,
/// `Proxy-Authorization` and ``APIClient/Configuration/secretHeaders`` are not sent to another origin, nor are the
/// request's own `Host`, `Origin` and `Referer`. A later redirect does not restore them. ``ChallengeCredentials`` answer
/// for one origin. If another origin redirects back to it, Basic is used only at or below the folder of the caller's
/// own URL. A `Location` with a user name, or with a scheme other than http or https, is refused.
///
/// A redirect to a URL that was already requested with the same method fails with ``SluiceError/Code/redirectLoop``. If
/// the client keeps cookies, a second visit may have another response, so only the limit applies.
public struct RedirectPolicy: Sendable {
    /// The maximum number of redirects of a request; 10 by default. With 0 none is followed, and the 3xx response is
    /// returned.
    public var limit: Int
    /// True to allow redirects from https to http; false by default.
    public var allowsDowngrade: Bool
    /// True to allow sending a body to another origin when a redirect keeps it, by 307 or 308; true by default, as in
    /// Fetch. If false, such a redirect fails the request with ``SluiceError/Code/redirectRefused``.
    public var sendsBodyAcrossOrigins: Bool
    /// Called for each redirect that the rules allow, to make the final decision; nil, the default, follows them all.
    /// It must not block.
    public var decide: (@Sendable (RedirectProposal) -> RedirectDecision)?

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of redirects of a request.
    ///   - allowsDowngrade: True to allow redirects from https to http.
    ///   - sendsBodyAcrossOrigins: True to allow sending a body to another origin.
    ///   - decide: Makes the final decision about each redirect.
    public init(
        limit: Int = 10,
        allowsDowngrade: Bool = false,
        sendsBodyAcrossOrigins: Bool = true,
        decide: (@Sendable (RedirectProposal) -> RedirectDecision)? = nil
    ) {
        self.limit = limit
        self.allowsDowngrade = allowsDowngrade
        self.sendsBodyAcrossOrigins = sendsBodyAcrossOrigins
        self.decide = decide
    }

    /// Follows no redirects; a 3xx response is returned.
    public static let none = RedirectPolicy(limit: 0)
}

extension RedirectPolicy {
    /// Headers that hold secrets or refer to the original origin.
    static let boundToOrigin = HTTPHeaderName.credentialFields + [.host, .origin, .referer]
    /// The request-body-header names of the Fetch Standard, the content-specific fields of RFC 9110, and the fields
    /// that frame a body.
    private static let boundToBody: [HTTPHeaderName] = [
        .contentEncoding, "Content-Language", "Content-Location", .contentType, .contentLength, .transferEncoding,
        .expect, "Digest", "Content-Digest", "Repr-Digest", "Content-MD5", "Content-Range", "Last-Modified",
    ]

    /// True if each redirect is followed or fails the request, so that no caller receives its body.
    var discardsBodies: Bool { limit > 0 && decide == nil }

    /// Returns the request that a redirect leads to.
    ///
    /// - Parameters:
    ///   - head: The head of the response.
    ///   - request: The request of the response.
    ///   - visited: The requests sent so far, including this one, as method and URL.
    ///   - secretHeaders: Additional headers that must not be sent to another origin.
    ///   - keepsCookies: True if cookies are kept, so that a second visit to a URL may have another response.
    /// - Returns: The request to send next; nil if there is no redirect to follow.
    /// - Throws: A ``SluiceError`` for a redirect that must not be followed.
    func next(
        after head: HTTPResponse,
        to request: HTTPRequest,
        visited: [String],
        secretHeaders: [HTTPHeaderName] = [],
        keepsCookies: Bool = false
    ) throws(SluiceError) -> HTTPRequest? {
        guard limit > 0, head.isRedirect, let location = head.headers.fieldValues(for: .location).first?.uriText else {
            return nil
        }
        let refusal = Refusal(request: request, head: head)
        var next = try resolve(location, against: request, refusal)
        if visited.count > limit {
            let times = limit == 1 ? "once" : "\(limit) times"
            throw refusal.error(.tooManyRedirects, "The server redirected more than \(times).")
        }
        if request.scheme == "https", next.scheme == "http", !allowsDowngrade {
            throw refusal.error(.redirectRefused, "The server redirected from https to http.")
        }
        let leavesOrigin = next.origin != request.origin
        if RedirectPolicy.becomesGet(request.method, head.status) {
            next.method = .get
            next.body = .none
            for name in RedirectPolicy.boundToBody { next.headers.remove(name) }
        } else if leavesOrigin, !request.body.isNone, !sendsBodyAcrossOrigins {
            throw refusal.error(.redirectRefused, "The server redirected a request with a body to another origin.")
        } else if !request.body.isReplayable {
            throw refusal.error(.bodyNotReplayable, "The server redirected a request whose body can be sent only once.")
        }
        if leavesOrigin {
            for name in RedirectPolicy.boundToOrigin + secretHeaders { next.headers.remove(name) }
        }
        let proposal = RedirectProposal(response: head, request: request, next: next, count: max(visited.count, 1))
        switch decide?(proposal) ?? .follow {
        case .follow:
            if !keepsCookies, visited.contains(RedirectPolicy.key(next)) {
                throw refusal.error(.redirectLoop, "The server redirected in a loop.")
            }
            return next
        case .send(let request):
            return request
        case .stop:
            return nil
        case .fail(let error):
            throw refusal.error(causedBy: error)
        }
    }

    /// Returns the method and URL of a request, for detecting loops.
    static func key(_ request: HTTPRequest) -> String {
        "\(request.method) \(request.url)"
    }

    /// Step 12 of the “HTTP-redirect fetch” of the Fetch Standard.
    private static func becomesGet(_ method: HTTPMethod, _ status: HTTPStatus) -> Bool {
        switch status.rawValue {
        case 301, 302: method == .post
        case 303: method != .get && method != .head
        default: false
        }
    }

    private func resolve(
        _ location: String,
        against request: HTTPRequest,
        _ refusal: Refusal
    ) throws(SluiceError) -> HTTPRequest {
        let target: RequestLocation
        do {
            target = try RequestLocation(
                URIReference(location).resolved(against: URIReference(request.url)).withoutEmptyPort,
                as: "URL “\(RequestLocation.redacted(location))”"
            )
        } catch {
            let reason = "The server redirected to a URL that cannot be requested. \(error.reason)"
            throw refusal.error(.redirectRefused, reason, underlyingError: error)
        }
        var next = request
        next.scheme = target.scheme
        next.authority = target.authority
        next.path = target.target
        return next
    }
}

/// A redirect that the rules of a ``RedirectPolicy`` allow.
public struct RedirectProposal: Sendable {
    /// The server's response, with its `Location`.
    public let response: HTTPResponse
    /// The request of the response.
    public let request: HTTPRequest
    /// The request that would be sent, with resolved URL, and with method, headers and body according to the rules.
    public let next: HTTPRequest
    /// The number of redirects so far, including this one.
    public let count: Int

    /// True if the redirect leads to another origin.
    public var leavesOrigin: Bool { request.origin != next.origin }

    /// Creates a proposal to test a decision with.
    public init(response: HTTPResponse, request: HTTPRequest, next: HTTPRequest, count: Int = 1) {
        self.response = response
        self.request = request
        self.next = next
        self.count = count
    }
}

/// The decision about a redirect.
public enum RedirectDecision: Sendable {
    /// Follows the redirect.
    case follow
    /// Sends another request in place of the proposed one. The rules do not apply to it.
    case send(HTTPRequest)
    /// Returns the 3xx response.
    case stop
    /// Fails the request: with a ``SluiceError`` as it is, or with ``SluiceError/Code/redirectRefused`` and any other
    /// error as the underlying one.
    case fail(any Error)
}

/// Adds the request and the response of a redirect to its errors.
private struct Refusal {
    let request: HTTPRequest
    let head: HTTPResponse

    func error(_ code: SluiceError.Code, _ reason: String, underlyingError: (any Error)? = nil) -> SluiceError {
        SluiceError(code, reason, step: .recovery, request: request, response: head, underlyingError: underlyingError)
    }

    func error(causedBy cause: any Error) -> SluiceError {
        if let error = cause as? SluiceError { return error.with(step: .recovery, request: request, response: head) }
        return error(.redirectRefused, "The redirect was refused by the client's policy.", underlyingError: cause)
    }
}

// MARK: - Redirect credentials

/// The credentials for challenges that each request of a chain of redirects may use.
///
/// Credentials are for one origin. The origin itself may redirect to any of its paths. If another origin redirects back,
/// it chooses the path, and could so make the client act at a URL that the caller never meant to use. From then on, Basic
/// is used only in the protection space that the caller's own URL belongs to: the paths at or below its folder (RFC 7617
/// §2.2). Digest covers the whole origin (RFC 7616 §3.3), if the caller's own URL is there. Both only answer challenges.
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
        let isInFolder = PathSpace.longestMatch(of: [folder], PathSpace.path(of: next.path)) != nil
        return credentials.answering(isInFolder ? credentials.methods : credentials.methods.subtracting(.basic))
    }
}

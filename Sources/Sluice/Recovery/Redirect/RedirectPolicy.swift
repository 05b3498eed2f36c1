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
/// request's own `Host`, `Origin` and `Referer`. A later redirect does not restore them. A `Location` with a user name,
/// or with a scheme other than http or https, is refused.
///
/// A redirect to a URL that was already requested with the same method fails with ``SluiceError/Code/redirectLoop``. If
/// the client keeps cookies, a second visit may have another response, so only the limit applies.
public struct RedirectPolicy: Sendable {
    /// Decides about a redirect that the rules allow. Must not block.
    public typealias Deciding = @Sendable (RedirectProposal) -> RedirectDecision

    /// The maximum number of redirects of a request; 10 by default. With 0 none is followed, and the 3xx response is
    /// returned.
    public var limit: Int
    /// True to allow redirects from https to http; false by default.
    public var allowsDowngrade: Bool
    /// True to allow sending a body to another origin when a redirect keeps it, by 307 or 308; true by default, as in
    /// Fetch. If false, such a redirect fails the request with ``SluiceError/Code/redirectRefused``.
    public var sendsBodyAcrossOrigins: Bool
    /// Called for each redirect that the rules allow, to make the final decision; nil, the default, follows them all.
    public var decide: Deciding?

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
        decide: Deciding? = nil
    ) {
        self.limit = limit
        self.allowsDowngrade = allowsDowngrade
        self.sendsBodyAcrossOrigins = sendsBodyAcrossOrigins
        self.decide = decide
    }

    /// Follows no redirects; a 3xx response is returned.
    public static let none = RedirectPolicy(limit: 0)
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

import SluiceHTTP

/// Which redirects are followed, and with what (RFC 9110 §15.4, and the Fetch Standard's “HTTP-redirect fetch”).
///
/// ```swift
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.redirects.limit = 3
///     $0.redirects.decide = { $0.next.path.hasPrefix("/sign-in") ? .stop : .follow }
/// }
/// ```
///
/// The statuses 301, 302, 303, 307 and 308 redirect to their `Location`; without one they are the response, as all other statuses
/// are. A POST becomes a GET by 301 and 302, and any method but GET and HEAD by 303; the body is then left behind and with it the
/// headers that speak of it. To another origin go neither `Authorization`, `Cookie` and `Proxy-Authorization` nor
/// ``APIClient/Configuration/secretHeaders``, and no `Host`, `Origin` or `Referer` of the request's own; they do not come back where a
/// further redirect does. A `Location` with a user name in it, or one that is no http or https URL, is refused.
///
/// A redirect to where the request has been already, with the same method, fails it with ``SluiceError/Code/redirectLoop``; where the
/// client keeps cookies, which make the second visit another than the first, the limit alone counts.
public struct RedirectPolicy: Sendable {
    /// Decides about a redirect that the rules allow; must not block.
    public typealias Deciding = @Sendable (RedirectProposal) -> RedirectDecision

    /// How many redirects one request may take; 10 by default, 0 follows none and returns the 3xx response.
    public var limit: Int
    /// Whether a redirect may lead from https to http; false by default.
    public var allowsDowngrade: Bool
    /// Whether a body that a redirect keeps, by 307 and 308, may go to another origin; true by default, as Fetch has it. Where it
    /// may not, such a redirect fails the request with ``SluiceError/Code/redirectRefused``.
    public var sendsBodyAcrossOrigins: Bool
    /// Has the last word about each redirect that these rules allow; nil, the default, follows them all.
    public var decide: Deciding?

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - limit: How many redirects one request may take.
    ///   - allowsDowngrade: Whether a redirect may lead from https to http.
    ///   - sendsBodyAcrossOrigins: Whether a body may go to another origin.
    ///   - decide: Has the last word.
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

    /// Follows none: a 3xx response is the response.
    public static let none = RedirectPolicy(limit: 0)
}

/// A redirect that the rules of a ``RedirectPolicy`` allow.
public struct RedirectProposal: Sendable {
    /// The server's response, with its `Location`.
    public let response: HTTPResponse
    /// The request it answers.
    public let request: HTTPRequest
    /// The request that would be sent: its URL resolved, its method, headers and body as the rules have them.
    public let next: HTTPRequest
    /// How many redirects this makes, from 1.
    public let count: Int

    /// Whether it leads to another origin.
    public var leavesOrigin: Bool { request.origin != next.origin }

    /// Makes a proposal, to test a decision with.
    public init(response: HTTPResponse, request: HTTPRequest, next: HTTPRequest, count: Int = 1) {
        self.response = response
        self.request = request
        self.next = next
        self.count = count
    }
}

/// What becomes of a redirect.
public enum RedirectDecision: Sendable {
    /// It is followed.
    case follow
    /// Another request is sent in place of the one proposed, whatever the rules would say of it.
    case send(HTTPRequest)
    /// The 3xx response is the response.
    case stop
    /// The request fails: with a ``SluiceError`` as it is, or with ``SluiceError/Code/redirectRefused`` over any other.
    case fail(any Error)
}

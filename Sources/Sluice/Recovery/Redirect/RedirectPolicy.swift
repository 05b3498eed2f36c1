import SluiceHTTP

/// Which redirects are followed, and with what (RFC 9110 §15.4).
public struct RedirectPolicy: Sendable, Hashable {
    /// How many redirects one request may take; 10 by default, 0 follows none and returns the 3xx response.
    public var limit: Int
    /// Whether a redirect may lead from https to http; false by default.
    public var allowsDowngrade: Bool

    /// Makes a policy.
    public init(limit: Int = 10, allowsDowngrade: Bool = false) {
        self.limit = limit
        self.allowsDowngrade = allowsDowngrade
    }

    /// Follows none: a 3xx response is the response.
    public static let none = RedirectPolicy(limit: 0)

    /// Headers that hold secrets or speak of the origin the request was made for.
    private static let boundToOrigin: [HTTPHeaderName] = [
        .authorization, .cookie, .proxyAuthorization, .host, .origin, .referer,
    ]
    private static let boundToBody: [HTTPHeaderName] = [.contentType, .contentEncoding, .expect]

    /// Decides where a response redirects to.
    ///
    /// - Parameters:
    ///   - head: The response.
    ///   - request: The request it answers.
    ///   - visited: The requests sent so far, this one included, as method and URL.
    /// - Returns: The request to send next; nil if it is no redirect to be followed.
    /// - Throws: A ``SluiceError`` for a redirect that must not be followed.
    func next(
        after head: HTTPResponse,
        to request: HTTPRequest,
        visited: [String]
    ) throws(SluiceError) -> HTTPRequest? {
        guard limit > 0, [301, 302, 303, 307, 308].contains(head.status.rawValue) else { return nil }
        guard let location = head.headers.values(for: .location).first else { return nil }
        var next = try resolve(location, against: request, head)
        if visited.count > limit {
            throw refuse(.tooManyRedirects, "The server redirected more than \(limit) times.", request, head)
        }
        if request.scheme == "https", next.scheme == "http", !allowsDowngrade {
            throw refuse(.redirectRefused, "The server redirected from https to http.", request, head)
        }
        let becomesGet =
            head.status == .seeOther ? request.method != .head : head.status.rawValue < 303 && request.method == .post
        if becomesGet {
            next.method = .get
            next.body = .none
            for name in Self.boundToBody { next.headers.remove(name) }
        } else if !request.body.isReplayable {
            throw refuse(
                .bodyNotReplayable,
                "The server redirected a request whose body can be sent only once.",
                request,
                head
            )
        }
        if next.origin != request.origin {
            for name in Self.boundToOrigin { next.headers.remove(name) }
        }
        if visited.contains(RedirectPolicy.key(next)) {
            throw refuse(.redirectLoop, "The server redirected in a circle.", request, head)
        }
        return next
    }

    static func key(_ request: HTTPRequest) -> String {
        "\(request.method) \(request.url)"
    }

    private func resolve(
        _ location: String,
        against request: HTTPRequest,
        _ head: HTTPResponse
    ) throws(SluiceError) -> HTTPRequest {
        let target: RequestLocation
        do {
            target = try RequestLocation(URIReference(location).resolved(against: URIReference(request.url)))
        } catch {
            throw SluiceError(
                .redirectRefused,
                "The server redirected to where no request can go. \(error.reason)",
                step: .recovery,
                request: request,
                response: head,
                underlyingError: error
            )
        }
        var next = request
        next.scheme = target.scheme
        next.authority = target.authority
        next.path = target.target
        return next
    }

    private func refuse(
        _ code: SluiceError.Code,
        _ reason: String,
        _ request: HTTPRequest,
        _ head: HTTPResponse
    ) -> SluiceError {
        SluiceError(code, reason, step: .recovery, request: request, response: head)
    }
}

import SluiceHTTP

extension RedirectPolicy {
    /// The redirect statuses of the Fetch Standard.
    private static let statuses: Set<Int> = [301, 302, 303, 307, 308]
    /// Headers that hold secrets or refer to the original origin.
    private static let boundToOrigin: [HTTPHeaderName] = [
        .authorization, .cookie, .proxyAuthorization, .host, .origin, .referer,
    ]
    /// The request-body-header names of the Fetch Standard, the content-specific fields of RFC 9110, and the fields
    /// that frame a body.
    private static let boundToBody: [HTTPHeaderName] = [
        .contentEncoding, "Content-Language", "Content-Location", .contentType, .contentLength, .transferEncoding,
        .expect, "Digest", "Content-Digest", "Content-MD5", "Content-Range", "Last-Modified",
    ]

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
        guard limit > 0, RedirectPolicy.statuses.contains(head.status.rawValue) else { return nil }
        guard let location = head.headers.fieldValues(for: .location).first?.uriText else { return nil }
        let refusal = Refusal(request: request, head: head)
        var next = try resolve(location, against: request, refusal)
        if visited.count > limit {
            throw refusal.error(.tooManyRedirects, "The server redirected more than \(limit) times.")
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
            throw refusal.error(
                .bodyNotReplayable,
                "The server redirected a request whose body can be sent only once."
            )
        }
        if leavesOrigin {
            for name in RedirectPolicy.boundToOrigin + secretHeaders { next.headers.remove(name) }
        }
        let proposal = RedirectProposal(response: head, request: request, next: next, count: max(visited.count, 1))
        switch decide?(proposal) ?? .follow {
        case .follow:
            if !keepsCookies, visited.contains(RedirectPolicy.key(next)) {
                throw refusal.error(.redirectLoop, "The server redirected in a circle.")
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
            target = try RequestLocation(URIReference(location).resolved(against: URIReference(request.url)))
        } catch {
            let reason = "The server redirected to where no request can go. \(error.reason)"
            throw refusal.error(.redirectRefused, reason, underlyingError: error)
        }
        var next = request
        next.scheme = target.scheme
        next.authority = target.authority
        next.path = target.target
        return next
    }
}

/// Adds the request and the response of a redirect to its errors.
private struct Refusal {
    let request: HTTPRequest
    let head: HTTPResponse

    func error(
        _ code: SluiceError.Code,
        _ reason: String,
        underlyingError: (any Error)? = nil
    ) -> SluiceError {
        SluiceError(
            code,
            reason,
            step: .recovery,
            request: request,
            response: head,
            underlyingError: underlyingError
        )
    }

    func error(causedBy cause: any Error) -> SluiceError {
        if let error = cause as? SluiceError { return error.with(step: .recovery, request: request, response: head) }
        return error(.redirectRefused, "The redirect was refused by the client's policy.", underlyingError: cause)
    }
}

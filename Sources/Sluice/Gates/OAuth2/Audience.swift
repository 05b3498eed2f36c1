import SluiceHTTP

/// To whom a token may be shown.
enum Audience: Sendable {
    /// The origin of each client's own base URL.
    case baseURL
    case origins([HTTPOrigin])
    /// What was declared names no origins.
    case invalid(SluiceError)

    /// What an audience is to one request.
    enum Reach: Sendable {
        /// It goes elsewhere, and needs no token.
        case outside
        /// It goes to where the token may be shown.
        case inside
        /// It goes to where a token should be shown but must not.
        case refused(SluiceError)
    }

    init(_ origins: [String]?) {
        guard let origins else {
            self = .baseURL
            return
        }
        do throws(SluiceError) {
            self = .origins(
                try origins.map { text throws(SluiceError) in
                    let location = try RequestLocation(parsing: text)
                    return HTTPOrigin(scheme: location.scheme, authority: location.authority)
                }
            )
        } catch {
            self = .invalid(
                SluiceError(
                    OAuth2Error(
                        .unsupported,
                        "an origin it is declared for is not valid. \(error.reason)",
                        underlyingError: error
                    )
                )
            )
        }
    }

    /// What it is to a request.
    func reach(_ request: RequestContext) -> Reach {
        if case .invalid(let error) = self { return .refused(error) }
        let pipeline = request.client.pipeline
        guard includes(request.request, of: pipeline) else { return .outside }
        guard case .baseURL = self, request.request.scheme != "https" else { return .inside }
        let origin = request.request.origin
        if origin.isLoopback { return .inside }
        let detail = "it sends no token to \(origin), where others can read it, unless its origins name it"
        return .refused(SluiceError(OAuth2Error(.unsupported, detail)))
    }

    /// Whether a client's request goes to where the token may be shown; asked twice, since interceptors may send it elsewhere.
    func includes(_ request: HTTPRequest, of pipeline: Pipeline) -> Bool {
        switch self {
        case .invalid: return false
        case .origins(let origins): return origins.contains { $0.isOrigin(of: request) }
        case .baseURL:
            guard case .success(let base) = pipeline.base else { return false }
            // As a rule they are written alike.
            return request.authority == base.authority && request.scheme == base.scheme
                || request.origin == HTTPOrigin(scheme: base.scheme, authority: base.authority)
        }
    }
}

extension HTTPOrigin {
    /// Whether a request goes there.
    func isOrigin(of request: HTTPRequest) -> Bool {
        // As a rule they are written alike.
        request.authority == authority && request.scheme == scheme || request.origin == self
    }

    /// Whether it is on this machine: `localhost` and the names within it (RFC 6761 §6.3), 127.0.0.0/8 and ::1.
    var isLoopback: Bool {
        if authority == "[::1]" || authority.hasPrefix("[::1]:") { return true }
        let host = authority.prefix { $0 != ":" }
        if host == "localhost" || host.hasSuffix(".localhost") { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return numbers.count == 4 && numbers[0] == 127 && !numbers.contains(nil)
    }
}

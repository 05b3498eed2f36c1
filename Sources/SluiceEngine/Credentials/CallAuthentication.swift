#if os(Linux)
import SluiceHTTP

/// The credentials of one call: those for its server, and those for an HTTP proxy that passes it on.
///
/// A body that can be read only once is held back while nothing but Digest is allowed and no challenge has come: the request goes without
/// its body first, to be asked. So it is with a request of any version of HTTP.
struct CallAuthentication: Sendable {
    private var authenticators: [Authenticator] = []
    private let request: HTTPRequest
    private let upload: UploadSource
    /// True once a server has taken the request without its body, or nothing more will be asked.
    private var wantsBody = false

    /// Prepares the credentials of a call; nil if there are none.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - upload: Its body.
    ///   - credentials: The credentials for the request's server.
    ///   - proxy: The proxy that the request goes by.
    init?(_ request: HTTPRequest, _ upload: UploadSource, _ credentials: ChallengeCredentials?, _ proxy: Proxy?) {
        self.request = request
        self.upload = upload
        if let server = credentials.flatMap(AuthenticationCredentials.init) {
            authenticators.append(Authenticator(server))
        }
        // A tunnel's CONNECT asks for itself.
        if request.scheme == "http", let proxy = proxy.flatMap(AuthenticationCredentials.init) {
            authenticators.append(Authenticator(proxy))
        }
        if authenticators.isEmpty { return nil }
    }

    /// True if the next request goes without its body.
    var holdsBodyBack: Bool {
        guard case .stream(_, _, isReplayable: false) = upload, !wantsBody else { return false }
        return authenticators.contains(where: \.waitsForChallenge)
    }

    /// Returns the field value of the next request for the server, or for the proxy; nil for none.
    mutating func fieldValue(ofProxy isOfProxy: Bool, in spaces: Locked<ProtectionSpaces>) -> String? {
        guard let index = authenticators.firstIndex(where: { $0.credentials.isOfProxy == isOfProxy }) else {
            return nil
        }
        guard holdsBodyBack else {
            return authenticators[index].fieldValue(for: message(isOfProxy, upload), in: spaces)
        }
        // A known nonce might be too old by now, and the body would be lost: the server is asked for a new one.
        if authenticators[index].waitsForChallenge { return nil }
        return authenticators[index].fieldValue(for: message(isOfProxy, .none), in: spaces)
    }

    /// Takes the head of a response; returns true if it is not the caller's, and the request has to be sent again.
    mutating func takes(_ head: HTTPResponse, in spaces: Locked<ProtectionSpaces>) -> Bool {
        let hasHeldBack = holdsBodyBack
        for index in authenticators.indices {
            let credentials = authenticators[index].credentials
            guard head.status == credentials.challengeStatus else { continue }
            let message = message(credentials.isOfProxy, upload)
            let decision = spaces.withLockUnchecked { spaces in
                authenticators[index].takeChallenge(head.headers, to: message, in: &spaces)
            }
            guard decision == .sendAgain else { return false }
            if head.status == .unauthorized { takeAcceptance(of: head, in: spaces) }
            return true
        }
        guard hasHeldBack, head.status.rawValue < 300 else { return false }
        wantsBody = true
        return true
    }

    /// Takes the head of a response that the caller gets.
    mutating func takeAcceptance(of head: HTTPResponse, in spaces: Locked<ProtectionSpaces>) {
        for index in authenticators.indices {
            let isOfProxy = authenticators[index].credentials.isOfProxy
            // The proxy that asks has not passed the request on; the server that asks has had it by the proxy.
            guard head.status != 407, isOfProxy || head.status != .unauthorized else { continue }
            let message = message(isOfProxy, upload)
            spaces.withLockUnchecked { authenticators[index].takeAcceptance(head.headers, to: message, in: &$0) }
        }
    }

    /// The target is that of the request line: a whole URL where a proxy passes the request on.
    private func message(_ isOfProxy: Bool, _ upload: UploadSource) -> AuthenticatedMessage {
        AuthenticatedMessage(
            method: request.method.rawValue,
            uri: isOfProxy ? request.url : request.path,
            upload: upload
        )
    }
}
#endif

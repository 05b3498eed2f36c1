#if os(Linux)
import SluiceHTTP

/// The credentials of one call, for the server and for an HTTP proxy that forwards the request.
///
/// If only Digest is allowed and there has been no challenge, a body that can be read only once is held back. The request is then first
/// sent without its body, to receive the challenge. This applies to all versions of HTTP.
struct CallAuthentication: Sendable {
    private var authenticators: [Authenticator] = []
    private let request: HTTPRequest
    private let upload: UploadSource
    /// True once the server has accepted the request without its body, so the body must be sent.
    private var needsBody = false

    /// Creates the credentials of a call, or returns nil if there are none.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - upload: The body of the request.
    ///   - credentials: The credentials for the request's server.
    ///   - proxy: The proxy of the request.
    init?(_ request: HTTPRequest, _ upload: UploadSource, _ credentials: ChallengeCredentials?, _ proxy: Proxy?) {
        self.request = request
        self.upload = upload
        if let server = credentials.flatMap(AuthenticationCredentials.init) {
            authenticators.append(Authenticator(server))
        }
        // For a tunnel, the CONNECT request authenticates with the proxy.
        if request.scheme == "http", let proxy = proxy.flatMap(AuthenticationCredentials.init) {
            authenticators.append(Authenticator(proxy))
        }
        if authenticators.isEmpty { return nil }
    }

    /// True if the next request is sent without its body.
    var holdsBodyBack: Bool {
        guard case .stream(_, _, isReplayable: false) = upload, !needsBody else { return false }
        return authenticators.contains(where: \.waitsForChallenge)
    }

    /// Returns the value of the next request's `Authorization` field, or of its `Proxy-Authorization` field. Nil for no field.
    mutating func fieldValue(forProxy isForProxy: Bool, in spaces: Locked<ProtectionSpaces>) -> String? {
        guard let index = authenticators.firstIndex(where: { $0.credentials.isForProxy == isForProxy }) else {
            return nil
        }
        guard holdsBodyBack else {
            return authenticators[index].fieldValue(for: message(isForProxy, upload), in: spaces)
        }
        // A known nonce may have expired, and the body could not be sent again. Send no credentials, to receive a new nonce.
        if authenticators[index].waitsForChallenge { return nil }
        return authenticators[index].fieldValue(for: message(isForProxy, .none), in: spaces)
    }

    /// Processes the head of a response. Returns true if the request must be sent again instead of returning the response.
    mutating func processHead(_ head: HTTPResponse, in spaces: Locked<ProtectionSpaces>) -> Bool {
        let hasHeldBack = holdsBodyBack
        for index in authenticators.indices {
            let credentials = authenticators[index].credentials
            guard head.status == credentials.challengeStatus else { continue }
            let message = message(credentials.isForProxy, upload)
            let decision = spaces.withLockUnchecked { spaces in
                authenticators[index].processChallenge(head.headers, to: message, in: &spaces)
            }
            guard decision == .sendAgain else { return false }
            if head.status == .unauthorized { recordAcceptance(of: head, in: spaces) }
            return true
        }
        guard hasHeldBack, head.status.rawValue < 300 else { return false }
        needsBody = true
        return true
    }

    /// Processes the head of the response that is returned to the caller.
    mutating func recordAcceptance(of head: HTTPResponse, in spaces: Locked<ProtectionSpaces>) {
        for index in authenticators.indices {
            let isForProxy = authenticators[index].credentials.isForProxy
            // A 407 comes from the proxy, which has not forwarded the request. A 401 comes from the server, through the proxy.
            guard head.status != 407, isForProxy || head.status != .unauthorized else { continue }
            let message = message(isForProxy, upload)
            spaces.withLockUnchecked { authenticators[index].recordAcceptance(head.headers, to: message, in: &$0) }
        }
    }

    /// Returns the message with the request target: an absolute URL if a proxy forwards the request.
    private func message(_ isForProxy: Bool, _ upload: UploadSource) -> AuthenticatedMessage {
        var uri = request.path
        if isForProxy {
            var target: [UInt8] = []
            RequestWriter.appendAbsoluteTarget(of: request, to: &target)
            uri = String(decoding: target, as: UTF8.self)
        }
        return AuthenticatedMessage(method: request.method.rawValue, uri: uri, upload: upload)
    }
}
#endif

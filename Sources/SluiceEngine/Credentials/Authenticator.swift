#if os(Linux)
import SluiceHTTP

/// The answers of one transfer to the challenges of its server or of a proxy (RFC 9110 §11), for requests over any version of HTTP.
///
/// ```
/// fieldValue ──▶ request ──▶ response ──▶ processChallenge ──▶ sendAgain ──▶ fieldValue …
///                                │                └──▶ deliver
///                                └──▶ recordAcceptance
/// ```
///
/// If only Basic is allowed, the first request already carries the password. Otherwise the first request has credentials only within a
/// known protection space. Of several challenges, the strongest is answered: Digest before Basic, and the strongest hash of Digest. A
/// challenge that cannot be answered is returned to the caller.
package struct Authenticator: Sendable {
    /// The maximum number of answers in one transfer.
    package static let maximumAnswers = 4

    /// The result of a challenge.
    package enum Decision: Sendable, Hashable {
        /// Send the request again, with the value that ``Authenticator/fieldValue(for:in:)`` returns.
        case sendAgain
        /// Return the challenge as the response.
        case deliver
    }

    /// A challenge that can be answered.
    private enum Offer: Sendable {
        case basic(realm: String)
        case digest(DigestChallenge)

        var realm: String {
            switch self {
            case .basic(let realm): realm
            case .digest(let challenge): challenge.realm
            }
        }
    }

    /// The credentials of the last request.
    private enum Sent: Sendable {
        case nothing
        /// The realm is nil if no challenge was received.
        case basic(realm: String?)
        /// `isFirst` is true for the first use of a nonce from a challenge of this transfer. A refusal then means a wrong password.
        case digest(DigestAnswer, isFirst: Bool)
    }

    package let credentials: AuthenticationCredentials
    private let cnonce: @Sendable () -> String
    private var selectedOffer: Offer?
    private var sent = Sent.nothing
    private var answeredRealms: [String] = []
    /// True once credentials with Basic have been refused.
    private var isBasicRefused = false
    /// The number of answers so far.
    package private(set) var answers = 0

    /// Creates an authenticator for a transfer.
    ///
    /// - Parameters:
    ///   - credentials: The name and password.
    ///   - cnonce: Returns a new client nonce. By default 128 random bits.
    package init(
        _ credentials: AuthenticationCredentials,
        cnonce: @escaping @Sendable () -> String = Authenticator.randomNonce
    ) {
        self.credentials = credentials
        self.cnonce = cnonce
    }

    /// Returns 128 random bits as hexadecimal digits.
    package static let randomNonce: @Sendable () -> String = {
        var generator = SystemRandomNumberGenerator()
        let (high, low) = (generator.next() as UInt64, generator.next() as UInt64)
        return HexText.text(length: 32) {
            $0.append(high, digits: 16)
            $0.append(low, digits: 16)
        }
    }

    /// True if only Digest is allowed and no challenge has been received. A body that can be read only once is held back meanwhile.
    package var waitsForChallenge: Bool { credentials.methods == .digest && selectedOffer == nil }

    // MARK: Requests

    /// Returns the value of `Authorization`, or of `Proxy-Authorization` for a proxy, for the next request. Nil for none.
    package mutating func fieldValue(
        for message: AuthenticatedMessage,
        in spaces: Locked<ProtectionSpaces>
    ) -> String? {
        spaces.withLockUnchecked { next(for: message, in: &$0) }
        // The body is hashed outside the lock.
        switch sent {
        case .nothing: return nil
        case .basic: return credentials.basic
        case .digest(let answer, _): return answer.fieldValue(for: message)
        }
    }

    /// Selects the credentials of the next request.
    private mutating func next(for message: AuthenticatedMessage, in spaces: inout ProtectionSpaces) {
        switch selectedOffer {
        case .basic(let realm): sent = .basic(realm: realm)
        case .digest(let challenge):
            var count: UInt32 = 0
            if case .digest(let last, _) = sent, last.nonce.hasBytes(of: challenge.nonce) { count = last.count }
            let answer = spaces.answer(challenge, as: credentials, to: message, after: count, cnonce: cnonce)
            sent = .digest(answer, isFirst: answer.count == 1)
        case nil where !credentials.isPreemptive: sent = .nothing
        case nil where credentials.methods == .basic: sent = .basic(realm: nil)
        case nil:
            switch spaces.known(credentials, for: message, cnonce: cnonce) {
            case .basic(let realm): sent = .basic(realm: realm)
            case .digest(let answer): sent = .digest(answer, isFirst: false)
            case nil: sent = .nothing
            }
        }
    }

    // MARK: Responses

    /// Processes a response with the status ``AuthenticationCredentials/challengeStatus``.
    package mutating func processChallenge(
        _ headers: HTTPHeaders,
        to message: AuthenticatedMessage,
        in spaces: inout ProtectionSpaces
    ) -> Decision {
        guard answers < Authenticator.maximumAnswers, let offer = strongestOffer(in: headers, for: message),
            canAnswer(offer)
        else {
            refuseSent(in: &spaces)
            return .deliver
        }
        if case .basic = sent {
            refuseSent(in: &spaces)
            isBasicRefused = true
        }
        answers += 1
        answeredRealms.append(offer.realm)
        selectedOffer = offer
        return .sendAgain
    }

    /// Processes a response to a request that the server or proxy has accepted.
    package mutating func recordAcceptance(
        _ headers: HTTPHeaders,
        to message: AuthenticatedMessage,
        in spaces: inout ProtectionSpaces
    ) {
        switch sent {
        case .nothing, .basic(realm: nil): break
        case .basic(let realm?): spaces.acceptBasic(realm: realm, credentials, for: message)
        case .digest(let answer, _): spaces.accept(answer, nextNonce: nextNonce(in: headers))
        }
    }

    private func nextNonce(in headers: HTTPHeaders) -> String? {
        for value in headers.fieldValues(for: credentials.infoField) {
            guard let text = value.exactText, let nonce = AuthenticationChallenge.parameters(in: text)["nextnonce"],
                !nonce.isEmpty, nonce.canBeSentBack
            else { continue }
            return nonce
        }
        return nil
    }

    private func strongestOffer(in headers: HTTPHeaders, for message: AuthenticatedMessage) -> Offer? {
        var digest: DigestChallenge?
        var basic: Offer?
        for value in headers.fieldValues(for: credentials.challengeField) {
            // A realm that is not valid UTF-8 could not be sent back unchanged. A longer field could not either, and comparing its text
            // can take long, because Swift normalizes it.
            guard value.bytes.count <= 8 << 10, let text = value.exactText else { continue }
            for challenge in AuthenticationChallenge.all(in: text) {
                if challenge.scheme == "basic" {
                    if basic == nil { basic = .basic(realm: challenge["realm"] ?? "") }
                } else if let offer = DigestChallenge(challenge), offer.protection(for: message.upload) != nil {
                    if digest.map({ $0.hash < offer.hash }) ?? true { digest = offer }
                }
            }
        }
        if let digest, credentials.methods.contains(.digest) { return .digest(digest) }
        return credentials.methods.contains(.basic) ? basic : nil
    }

    /// Returns true unless the same credentials have just been refused.
    private func canAnswer(_ offer: Offer) -> Bool {
        switch (sent, offer) {
        case (.nothing, _), (.basic, .digest): return true
        case (.basic, .basic): return false
        // A refused answer with a new nonce means a wrong password. The server gets the password itself only if the nonce was used before.
        case (.digest(_, let isFirst), .basic): return !isFirst && !isBasicRefused
        case (.digest(let refused, let isFirst), .digest(let challenge)):
            if !challenge.realm.hasBytes(of: refused.challenge.realm) {
                return !answeredRealms.contains { $0.hasBytes(of: challenge.realm) }
            }
            // The server may have refused a count or nonce that was used before.
            return challenge.isStale || !isFirst && !challenge.nonce.hasBytes(of: refused.nonce)
        }
    }

    /// Removes the credentials of the last request from the protection spaces.
    private func refuseSent(in spaces: inout ProtectionSpaces) {
        switch sent {
        case .nothing, .basic(realm: nil): break
        case .basic(let realm?): spaces.refuseBasic(realm: realm, credentials)
        case .digest(let answer, _): spaces.refuse(answer)
        }
    }
}

// MARK: - Call authentication

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
        guard case .stream(_, _, isReplayable: false, _) = upload, !needsBody else { return false }
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
        // A server may reject the missing content before it asks for credentials.
        guard hasHeldBack, head.status.rawValue < 300 || [400, 411, 415, 422].contains(head.status) else {
            return false
        }
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

// MARK: - Authentication credentials

/// A user name and a password for one server or proxy. Descriptions do not contain the password.
package struct AuthenticationCredentials: Sendable, Hashable {
    /// The party that may request the credentials.
    package enum Target: Sendable, Hashable {
        case server(HTTPOrigin)
        /// A proxy, by its scheme and address.
        case proxy(String)
    }

    package let target: Target
    package let user: String
    package let password: String
    package let methods: ChallengeCredentials.Methods
    /// False if the credentials only answer challenges. Does not distinguish credentials, which have the same protection spaces.
    package let isPreemptive: Bool

    package init(
        target: Target,
        user: String,
        password: String,
        methods: ChallengeCredentials.Methods,
        isPreemptive: Bool = true
    ) {
        self.target = target
        self.user = user
        self.password = password
        self.methods = methods
        self.isPreemptive = isPreemptive
    }

    package static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.target == rhs.target && lhs.user == rhs.user && lhs.password == rhs.password && lhs.methods == rhs.methods
    }

    /// Creates the credentials for a server, or returns nil if no origin is set.
    package init?(_ credentials: ChallengeCredentials) {
        guard let origin = credentials.origin, !credentials.methods.isEmpty else { return nil }
        self.init(
            target: .server(origin),
            user: credentials.user,
            password: credentials.password,
            methods: credentials.methods,
            isPreemptive: credentials.isPreemptive
        )
    }

    /// Creates the credentials for an HTTP proxy, or returns nil if there are none.
    package init?(_ proxy: Proxy) {
        guard !proxy.scheme.isSOCKS, let credentials = proxy.credentials, !credentials.methods.isEmpty else {
            return nil
        }
        self.init(
            target: .proxy(proxy.description),
            user: credentials.user,
            password: credentials.password.reveal(),
            methods: credentials.methods
        )
    }

    /// The value of the `Authorization` field with Basic (RFC 7617 §2).
    var basic: String { ChallengeCredentials.basic(user, password) }

    package var isForProxy: Bool {
        if case .proxy = target { true } else { false }
    }

    package var challengeStatus: HTTPStatus { isForProxy ? 407 : .unauthorized }
    /// The response field with the challenges.
    package var challengeField: HTTPHeaderName { isForProxy ? "Proxy-Authenticate" : "WWW-Authenticate" }
    /// The response field after successful authentication.
    package var infoField: HTTPHeaderName { isForProxy ? "Proxy-Authentication-Info" : "Authentication-Info" }

    /// Hashes the name and the target.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(target)
        hasher.combine(user)
    }
}

extension AuthenticationCredentials: CustomStringConvertible, RedactedMirror {
    /// The user name, without the password.
    package var description: String { "credentials of “\(user)”" }
}
#endif

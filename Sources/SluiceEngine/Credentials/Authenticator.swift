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
    private var answeredRealms: Set<String> = []
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

    /// Returns the value of ``AuthenticationCredentials/answerField`` for the next request, or nil for none.
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
            if case .digest(let last, _) = sent, last.nonce == challenge.nonce { count = last.count }
            let answer = spaces.answer(challenge, as: credentials, to: message, after: count, cnonce: cnonce)
            sent = .digest(answer, isFirst: answer.count == 1)
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
        if case .basic = sent { refuseSent(in: &spaces) }
        answers += 1
        answeredRealms.insert(offer.realm)
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
        case (.nothing, _), (.basic, .digest), (.digest, .basic): return true
        case (.basic, .basic): return false
        case (.digest(let refused, let isFirst), .digest(let challenge)):
            if challenge.realm != refused.challenge.realm { return !answeredRealms.contains(challenge.realm) }
            // The server may have refused a count or nonce that was used before.
            return challenge.isStale || !isFirst && challenge.nonce != refused.nonce
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
#endif

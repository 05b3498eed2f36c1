#if os(Linux)
import SluiceHTTP

/// The answers of one transfer to the challenges of its server or of a proxy (RFC 9110 §11), for requests over any version of HTTP.
///
/// ```
/// next ──▶ request ──▶ response ──▶ takeChallenge ──▶ sendAgain ──▶ next …
///                          │               └──▶ deliver
///                          └──▶ takeAcceptance
/// ```
///
/// With Basic alone the password goes with the first request. Otherwise the first request has credentials only within a protection space
/// that is known. Of several challenges it answers the strongest: Digest before Basic, and the strongest hash of Digest. A challenge that
/// it cannot answer is the caller's response.
package struct Authenticator: Sendable {
    /// The most answers in one transfer.
    package static let maximumAnswers = 4

    /// The consequence of a challenge.
    package enum Decision: Sendable, Hashable {
        /// The request goes again, with what `next` returns.
        case sendAgain
        /// The challenge is the response to the request.
        case deliver
    }

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

    private enum Sent: Sendable {
        case nothing
        /// The realm is nil where nobody has asked.
        case basic(realm: String?)
        /// `isFirst` is true for the first use of a nonce that was asked with in this transfer, so that a refusal means the password.
        case digest(DigestAnswer, isFirst: Bool)
    }

    package let credentials: AuthenticationCredentials
    private let cnonce: @Sendable () -> String
    private var chosen: Offer?
    private var sent = Sent.nothing
    private var answeredRealms: Set<String> = []
    /// The answers so far.
    package private(set) var answers = 0

    /// Starts a transfer.
    ///
    /// - Parameters:
    ///   - credentials: The name and password.
    ///   - cnonce: Makes the client's nonces, by 128 random bits each unless a test has others.
    package init(
        _ credentials: AuthenticationCredentials,
        cnonce: @escaping @Sendable () -> String = Authenticator.randomNonce
    ) {
        self.credentials = credentials
        self.cnonce = cnonce
    }

    /// Makes 128 random bits in hexadecimal digits.
    package static let randomNonce: @Sendable () -> String = {
        var generator = SystemRandomNumberGenerator()
        return DigestHash.hex((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// True if the server has to ask before anything can be proven to it, and has not: a body that can be read only once waits for that.
    package var waitsForChallenge: Bool { credentials.methods == .digest && chosen == nil }

    // MARK: Requests

    /// Returns the value of ``AuthenticationCredentials/answerField`` for a request that is about to be sent; nil for none.
    package mutating func fieldValue(
        for message: AuthenticatedMessage,
        in spaces: Locked<ProtectionSpaces>
    ) -> String? {
        spaces.withLockUnchecked { next(for: message, in: &$0) }
        // A body is hashed outside the lock.
        switch sent {
        case .nothing: return nil
        case .basic: return credentials.basic
        case .digest(let answer, _): return answer.fieldValue(for: message)
        }
    }

    /// Decides on the credentials of the next request.
    private mutating func next(for message: AuthenticatedMessage, in spaces: inout ProtectionSpaces) {
        switch chosen {
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

    /// Takes a response with the status ``AuthenticationCredentials/challengeStatus``.
    package mutating func takeChallenge(
        _ headers: HTTPHeaders,
        to message: AuthenticatedMessage,
        in spaces: inout ProtectionSpaces
    ) -> Decision {
        guard answers < Authenticator.maximumAnswers, let offer = strongestOffer(in: headers, for: message),
            mayAnswer(offer)
        else {
            forgetSent(in: &spaces)
            return .deliver
        }
        if case .basic = sent { forgetSent(in: &spaces) }
        answers += 1
        answeredRealms.insert(offer.realm)
        chosen = offer
        return .sendAgain
    }

    /// Takes a response to a request that the server or proxy has let in.
    package mutating func takeAcceptance(
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
                !nonce.isEmpty, nonce.isFieldText
            else { continue }
            return nonce
        }
        return nil
    }

    private func strongestOffer(in headers: HTTPHeaders, for message: AuthenticatedMessage) -> Offer? {
        var digest: DigestChallenge?
        var basic: Offer?
        for value in headers.fieldValues(for: credentials.challengeField) {
            // A realm that is no UTF-8 could not be sent back as it was.
            guard let text = value.exactText else { continue }
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

    /// True unless the same credentials have just been refused.
    private func mayAnswer(_ offer: Offer) -> Bool {
        switch (sent, offer) {
        case (.nothing, _), (.basic, .digest), (.digest, .basic): return true
        case (.basic, .basic): return false
        case (.digest(let refused, let isFirst), .digest(let challenge)):
            if challenge.realm != refused.challenge.realm { return !answeredRealms.contains(challenge.realm) }
            // A count or nonce that was used before may be what the server did not like.
            return challenge.isStale || !isFirst && challenge.nonce != refused.nonce
        }
    }

    private func forgetSent(in spaces: inout ProtectionSpaces) {
        switch sent {
        case .nothing, .basic(realm: nil): break
        case .basic(let realm?): spaces.refuseBasic(realm: realm, credentials)
        case .digest(let answer, _): spaces.refuse(answer)
        }
    }
}
#endif

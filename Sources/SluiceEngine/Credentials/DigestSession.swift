#if os(Linux)

/// A nonce in use, and the number of answers that were made with it (RFC 7616 §3.4 and §3.6).
package struct DigestSession: Sendable {
    package let challenge: DigestChallenge
    /// The nonce of the next answer: the challenge's, or one that `Authentication-Info` has put in its place.
    package private(set) var nonce: String
    /// The answers so far with the nonce.
    package private(set) var count: UInt32 = 0
    /// The nonces from which the key of an algorithm with `-sess` is made, those of the first answer.
    private var key: DigestAnswer.SessionKey?

    package init(_ challenge: DigestChallenge) {
        self.challenge = challenge
        nonce = challenge.nonce
    }

    /// True if there is no count left.
    package var isUsedUp: Bool { count == .max }

    /// Counts at least the answers that were made before with the same nonce.
    package mutating func raise(to count: UInt32) {
        self.count = max(self.count, count)
    }

    /// Returns the next answer.
    ///
    /// - Parameters:
    ///   - credentials: The name and password.
    ///   - cnonce: Makes the client's nonce. All answers with a key of one session have the same, since servers differ on which of them
    ///     makes the key.
    /// - Returns: The answer.
    package mutating func answer(
        as credentials: AuthenticationCredentials,
        cnonce: () -> String
    ) -> DigestAnswer {
        if count < .max { count += 1 }
        if challenge.isSession, key == nil { key = DigestAnswer.SessionKey(nonce: nonce, cnonce: cnonce()) }
        return DigestAnswer(
            challenge: challenge,
            credentials: credentials,
            nonce: nonce,
            count: count,
            cnonce: key?.cnonce ?? cnonce(),
            key: key
        )
    }

    /// Takes another nonce of the server, with which the count begins anew; the key of a session stays.
    package mutating func replaceNonce(with next: String) {
        if next == nonce { return }
        nonce = next
        count = 0
    }
}
#endif

#if os(Linux)

/// A nonce in use, and the number of answers that were made with it (RFC 7616 §3.4 and §3.6).
package struct DigestSession: Sendable {
    package let challenge: DigestChallenge
    /// The nonce of the next answer, from the challenge or from `Authentication-Info`.
    package private(set) var nonce: String
    /// The number of answers with the nonce so far.
    package private(set) var count: UInt32 = 0
    /// The nonces of the session key for a `-sess` algorithm, from the first answer.
    private var key: DigestAnswer.SessionKey?

    package init(_ challenge: DigestChallenge) {
        self.challenge = challenge
        nonce = challenge.nonce
    }

    /// True if the count has reached its maximum.
    package var isUsedUp: Bool { count == .max }

    /// Raises the count to at least the number of earlier answers with the same nonce.
    package mutating func raise(to count: UInt32) {
        self.count = max(self.count, count)
    }

    /// Returns the next answer.
    ///
    /// - Parameters:
    ///   - credentials: The name and password.
    ///   - cnonce: Returns a new client nonce. All answers with one session key use the same client nonce, since servers differ on which
    ///     of them forms the key.
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

    /// Replaces the nonce. The count starts again, and the session key remains.
    package mutating func replaceNonce(with next: String) {
        if next == nonce { return }
        nonce = next
        count = 0
    }
}
#endif

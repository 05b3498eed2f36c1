#if os(Linux)
import SluiceHTTP

/// A Digest challenge that can be answered (RFC 7616 §3.3).
package struct DigestChallenge: Sendable, Hashable {
    /// The quality of protection: the parts of a message that an answer covers.
    package enum Protection: Sendable, Hashable {
        /// Method and URI, without a nonce count: the form of RFC 2069.
        case plain
        /// Method and URI.
        case auth
        /// Method, URI and body.
        case authInt
    }

    /// The maximum size of a body that is hashed for `auth-int`. Hashing takes a few milliseconds of the loop at most.
    package static let maximumHashedBody = 1 << 20

    /// The realm. Empty if the server sends none, which RFC 7616 §3.3 forbids.
    package let realm: String
    package let nonce: String
    package let opaque: String?
    package let hash: DigestHash
    /// True for the algorithms with `-sess`, whose key depends on the first nonces of a session.
    package let isSession: Bool
    /// The algorithm in the server's spelling, or nil if the server sends none, which means MD5.
    package let algorithm: String?
    /// The known protections that the server offers.
    package let protections: Set<Protection>
    /// True if the nonce of the request was stale, so the credentials were not refused.
    package let isStale: Bool
    /// True if the user name is sent as a hash (RFC 7616 §3.4.4).
    package let hashesUser: Bool
    /// True if the server expects names and passwords in UTF-8 (RFC 7616 §4).
    package let isUTF8: Bool
    /// The URIs of the protection space. Empty for the whole server.
    package let domain: [String]

    /// Creates a Digest challenge. Returns nil for another scheme, an unknown algorithm, or only unknown protections.
    package init?(_ challenge: AuthenticationChallenge) {
        guard challenge.scheme == "digest", let nonce = challenge["nonce"] else { return nil }
        realm = challenge["realm"] ?? ""
        self.nonce = nonce
        opaque = challenge["opaque"]
        algorithm = challenge["algorithm"]
        switch (algorithm ?? "md5").lowercased() {
        case "md5": (hash, isSession) = (.md5, false)
        case "md5-sess": (hash, isSession) = (.md5, true)
        case "sha-256": (hash, isSession) = (.sha256, false)
        case "sha-256-sess": (hash, isSession) = (.sha256, true)
        case "sha-512-256": (hash, isSession) = (.sha512t256, false)
        case "sha-512-256-sess": (hash, isSession) = (.sha512t256, true)
        default: return nil
        }
        let offered = (challenge["qop"] ?? "").split { ", \t".contains($0) }.map { $0.lowercased() }
        var protections: Set<Protection> = offered.isEmpty ? [.plain] : []
        if offered.contains("auth") { protections.insert(.auth) }
        if offered.contains("auth-int") { protections.insert(.authInt) }
        self.protections = protections
        isStale = challenge["stale"]?.lowercased() == "true"
        hashesUser = challenge["userhash"]?.lowercased() == "true"
        isUTF8 = challenge["charset"]?.lowercased() == "utf-8"
        domain = (challenge["domain"] ?? "").split { " \t".contains($0) }.map(String.init)
        let texts = [realm, nonce, opaque ?? ""]
        guard !protections.isEmpty, hash.isAvailable, texts.allSatisfy(\.canBeSentBack) else { return nil }
    }

    /// Returns the protection for a message with a body, or nil if none of the offered ones is possible.
    ///
    /// `auth` is preferred to `auth-int`, which servers often offer but do not check. `auth-int` requires a body in memory of at most
    /// ``maximumHashedBody`` bytes.
    package func protection(for upload: UploadSource) -> Protection? {
        if protections.contains(.auth) { return .auth }
        if protections.contains(.authInt) {
            switch upload {
            case .none: return .authInt
            case .data(let data): return data.count <= DigestChallenge.maximumHashedBody ? .authInt : nil
            case .stream: return nil
            }
        }
        return protections.contains(.plain) ? .plain : nil
    }
}

extension String {
    /// True if the value of a challenge can stand in a quoted string of later requests: it has no control characters and at most 8 KiB, the
    /// usual limit of servers on a field.
    var canBeSentBack: Bool { utf8.count <= 8 << 10 && !utf8.contains { $0 < 0x20 || $0 == 0x7F } }
}

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
    package var isExhausted: Bool { count == .max }

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

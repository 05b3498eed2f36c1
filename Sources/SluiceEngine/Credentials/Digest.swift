#if os(Linux)
import CSSL
import SluiceHTTP

/// The parts of one Digest answer (RFC 7616 §3.4) that do not depend on the message.
package struct DigestAnswer: Sendable {
    /// The nonces of a session key (RFC 7616 §3.4.2).
    package struct SessionKey: Sendable {
        let nonce: String
        let cnonce: String

        package init(nonce: String, cnonce: String) {
            self.nonce = nonce
            self.cnonce = cnonce
        }
    }

    package let challenge: DigestChallenge
    package let credentials: AuthenticationCredentials
    package let nonce: String
    /// The number of answers with the nonce, including this one.
    package let count: UInt32
    package let cnonce: String
    /// The nonces of the session key, or nil for an algorithm without `-sess`.
    package let key: SessionKey?

    package init(
        challenge: DigestChallenge,
        credentials: AuthenticationCredentials,
        nonce: String,
        count: UInt32,
        cnonce: String,
        key: SessionKey? = nil
    ) {
        self.challenge = challenge
        self.credentials = credentials
        self.nonce = nonce
        self.count = count
        self.cnonce = cnonce
        self.key = key
    }

    /// Returns the value of `Authorization` for a message, or nil if the body cannot be hashed.
    package func fieldValue(for message: AuthenticatedMessage) -> String? {
        guard let protection = challenge.protection(for: message.upload),
            let response = response(to: message, protection), let user = userParameter
        else { return nil }
        var value = "Digest \(user), realm=\(challenge.realm.asQuotedString), nonce=\(nonce.asQuotedString)"
        value += ", uri=\(message.uri.asQuotedString), response=\"\(response)\""
        if let algorithm = challenge.algorithm { value += ", algorithm=\(algorithm)" }
        if protection != .plain || challenge.isSession { value += ", cnonce=\(cnonce.asQuotedString)" }
        if let opaque = challenge.opaque { value += ", opaque=\(opaque.asQuotedString)" }
        switch protection {
        case .plain: break
        case .auth: value += ", qop=auth, nc=\(nonceCount)"
        case .authInt: value += ", qop=auth-int, nc=\(nonceCount)"
        }
        if challenge.hashesUser { value += ", userhash=true" }
        return value
    }

    /// The count as eight hexadecimal digits.
    private var nonceCount: String {
        HexText.text(length: 8) { $0.append(UInt64(count), digits: 8) }
    }

    /// The parameter with the user name (RFC 7616 §3.4 and §3.4.4).
    ///
    /// A non-ASCII name is sent as `username*` only to servers that announce UTF-8, because older servers know only `username`.
    private var userParameter: String? {
        let user = credentials.user
        if challenge.hashesUser {
            return challenge.hash.hex(of: "\(user):\(challenge.realm)").map { "username=\"\($0)\"" }
        }
        if challenge.isUTF8, user.utf8.contains(where: { $0 >= 0x80 }) {
            return "username*=UTF-8''\(user.extendedValue)"
        }
        return "username=\(user.asQuotedString)"
    }

    /// Returns the response value (RFC 7616 §3.4.1 to §3.4.3).
    private func response(to message: AuthenticatedMessage, _ protection: DigestChallenge.Protection) -> String? {
        let hash = challenge.hash
        guard var hashOfA1 = hash.hex(of: "\(credentials.user):\(challenge.realm):\(credentials.password)") else {
            return nil
        }
        if challenge.isSession {
            let (nonce, cnonce) = (key?.nonce ?? nonce, key?.cnonce ?? cnonce)
            guard let key = hash.hex(of: "\(hashOfA1):\(nonce):\(cnonce)") else { return nil }
            hashOfA1 = key
        }
        // A1 and A2 are the terms of RFC 7616.
        var a2 = "\(message.method):\(message.uri)"
        if protection == .authInt {
            guard let body = hash.hex(of: message.upload) else { return nil }
            a2 += ":\(body)"
        }
        guard let hashOfA2 = hash.hex(of: a2) else { return nil }
        switch protection {
        case .plain: return hash.hex(of: "\(hashOfA1):\(nonce):\(hashOfA2)")
        case .auth: return hash.hex(of: "\(hashOfA1):\(nonce):\(nonceCount):\(cnonce):auth:\(hashOfA2)")
        case .authInt: return hash.hex(of: "\(hashOfA1):\(nonce):\(nonceCount):\(cnonce):auth-int:\(hashOfA2)")
        }
    }
}

/// The parts of a request that an answer may cover.
package struct AuthenticatedMessage: Sendable {
    package let method: String
    /// The request target: a path with its query, an absolute URL for a proxy, or host and port for CONNECT.
    package let uri: String
    package let upload: UploadSource

    package init(method: String, uri: String, upload: UploadSource = .none) {
        self.method = method
        self.uri = uri
        self.upload = upload
    }
}

/// A hash function of Digest authentication (RFC 7616 §6.1), the weakest first.
package enum DigestHash: Int, Sendable, CaseIterable, Comparable {
    case md5
    case sha256
    /// SHA-512/256 (FIPS 180-4 §5.3.6), which is not a truncated SHA-512.
    case sha512t256

    /// The hash functions that OpenSSL provides. In FIPS mode, MD5 is missing.
    private static let available = Set(allCases.filter { $0.hex(of: "") != nil })

    /// True if OpenSSL provides the function.
    package var isAvailable: Bool { DigestHash.available.contains(self) }

    /// Returns the hash as lower-case hexadecimal digits, or nil if OpenSSL does not provide it.
    package func hex(of bytes: UnsafeRawBufferPointer) -> String? {
        let function =
            switch self {
            case .md5: openSSL.EVP_md5()
            case .sha256: openSSL.EVP_sha256()
            case .sha512t256: openSSL.EVP_sha512_256()
            }
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard openSSL.EVP_Digest(bytes.baseAddress, bytes.count, &digest, &count, function, nil) == 1 else {
            // The error must not remain in the queue of the thread, where the next TLS call would find it.
            openSSL.ERR_clear_error()
            return nil
        }
        return HexText.text(of: digest.prefix(Int(count)))
    }

    /// Returns the hash of a text in UTF-8.
    package func hex(of text: String) -> String? {
        var text = text
        return text.withUTF8 { hex(of: UnsafeRawBufferPointer($0)) }
    }

    package static func < (lhs: DigestHash, rhs: DigestHash) -> Bool { lhs.rawValue < rhs.rawValue }
}

extension DigestHash {
    /// Returns the hash of a body, or nil if the body is not in memory.
    fileprivate func hex(of upload: UploadSource) -> String? {
        switch upload {
        case .none: hex(of: "")
        case .data(let data): data.withUnsafeBytes { hex(of: $0) }
        case .stream: nil
        }
    }
}

extension String {
    /// The text in the encoding of parameters with an asterisk (RFC 8187 §3.2.1).
    fileprivate var extendedValue: String {
        var bytes: [UInt8] = []
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "%"):
                PercentEncoding.append(triplet: byte, to: &bytes)
            case _ where byte.isTokenCharacter: bytes.append(byte)
            default: PercentEncoding.append(triplet: byte, to: &bytes)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

// MARK: - Digest challenge

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
        switch algorithm.map(\.lowercasedASCII) ?? "md5" {
        case "md5": (hash, isSession) = (.md5, false)
        case "md5-sess": (hash, isSession) = (.md5, true)
        case "sha-256": (hash, isSession) = (.sha256, false)
        case "sha-256-sess": (hash, isSession) = (.sha256, true)
        case "sha-512-256": (hash, isSession) = (.sha512t256, false)
        case "sha-512-256-sess": (hash, isSession) = (.sha512t256, true)
        default: return nil
        }
        let blanks: [UInt8] = [UInt8(ascii: " "), UInt8(ascii: "\t")]
        let offered = (challenge["qop"] ?? "").utf8.split { $0 == UInt8(ascii: ",") || blanks.contains($0) }
            .map { String(Substring($0)).lowercasedASCII }
        var protections: Set<Protection> = offered.isEmpty ? [.plain] : []
        if offered.contains("auth") { protections.insert(.auth) }
        if offered.contains("auth-int") { protections.insert(.authInt) }
        self.protections = protections
        isStale = challenge["stale"]?.lowercasedASCII == "true"
        hashesUser = challenge["userhash"]?.lowercasedASCII == "true"
        isUTF8 = challenge["charset"]?.lowercasedASCII == "utf-8"
        // A URI has only ASCII characters (RFC 3986 §2). Other text stays as an empty element, which covers nothing.
        domain = (challenge["domain"] ?? "").utf8.split { blanks.contains($0) }
            .map { $0.allSatisfy { $0 < 0x80 } ? String(Substring($0)) : "" }
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
    /// The text in lower case; empty if it is not ASCII, as all known values are.
    fileprivate var lowercasedASCII: String { utf8.allSatisfy { $0 < 0x80 } ? lowercased() : "" }

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
        if next.hasBytes(of: nonce) { return }
        nonce = next
        count = 0
    }
}
#endif

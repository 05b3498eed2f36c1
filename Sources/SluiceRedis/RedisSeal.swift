import SluiceFoundation
import SluiceHTTP

#if os(Linux)
import CCrypto

/// Keys that protect stored values against everybody who can write to the server, or also against those who can read it.
///
/// ```swift
/// guard let key = Secret(environment: "REDIS_SEAL") else { throw Misconfiguration.noKey }
/// let seal = try RedisSeal(key, encrypts: true)
/// let name = try seal.name("token/\(user)")
/// let sealed = try seal.seal(token, as: name)
/// ```
///
/// A sealed value opens only under its own name and with its key. Values are authenticated with HMAC-SHA256, or encrypted and
/// authenticated with AES-256-GCM. Names are keyed hashes, so that they show neither users nor tokens.
///
/// A key has at least 32 random bytes, for example from `openssl rand -base64 32`. All machines of a fleet have the same one. To replace a
/// key, add the new one to ``accepting(_:)`` of all machines first, then exchange the two, then remove the old one. The names of values
/// stay only if they have a key of their own. Otherwise tokens and cache entries are missing after the exchange, and during it a removal
/// from the cache does not reach machines with the other key.
public struct RedisSeal: Sendable {
    /// The reason for which a value does not open. The cache treats it like a missing value, and the token store as an error.
    public enum Failure: Error, Sendable, Hashable {
        /// The key has fewer than 32 bytes.
        case weakKey
        /// The value is not one of this kind, or of another version.
        case unknownFormat
        /// The value was sealed with a key that is not among the accepted ones.
        case unknownKey
        /// The value was changed, cut, or stored under another name.
        case forged
        /// The system's library for cryptography failed.
        case unavailable
    }

    /// The keys for the purposes, derived from the user's key, so that no key serves two algorithms.
    private struct Keys: Sendable {
        let identifier: [UInt8]
        let values: KeyedHash
        let messages: KeyedHash
        let names: KeyedHash

        init(_ secret: Secret) throws(Failure) {
            let bytes = Array(secret.reveal().utf8)
            guard bytes.count >= 32 else { throw .weakKey }
            guard let root = SystemSHA256.digest(of: bytes).map(KeyedHash.init(key:)) else { throw .unavailable }
            func derived(_ purpose: String) throws(Failure) -> [UInt8] {
                guard let key = root.digest(of: Array("sluice-redis \(purpose)".utf8)) else { throw .unavailable }
                return key
            }
            identifier = Array(try derived("identifier").prefix(RedisSeal.identifierSize))
            values = KeyedHash(key: try derived("values"))
            messages = KeyedHash(key: try derived("messages"))
            names = KeyedHash(key: try derived("names"))
        }
    }

    /// The first byte of a value, with its version and algorithm.
    private enum Format: UInt8 {
        /// Identifier, HMAC-SHA256 of everything else and the name, value.
        case authenticated = 0x11
        /// Identifier, salt, nonce, encrypted value, tag. The salt gives each value a key of its own, because random nonces of one key would
        /// repeat after some billion values (NIST SP 800-38D §8.3).
        case encrypted = 0x12
    }

    private static let identifierSize = 8
    private static let digestSize = 32
    private static let saltSize = 16

    private let keys: Keys
    private let names: KeyedHash
    private var accepted: [Keys] = []
    private var encrypts: Bool

    /// Creates a seal.
    ///
    /// - Parameters:
    ///   - key: The key, a text with at least 32 random bytes.
    ///   - encrypts: True to encrypt values, so that those who can read the server do not see them. False by default.
    ///   - nameKey: The key of names, a text with at least 32 random bytes, which stays when `key` is replaced; nil, the default, for
    ///     `key`.
    /// - Throws: ``Failure/weakKey`` for a short key.
    public init(
        _ key: some SecretConvertible,
        encrypts: Bool = false,
        nameKey: (any SecretConvertible)? = nil
    ) throws(Failure) {
        keys = try Keys(key.asSecret())
        names = try nameKey.map { nameKey throws(Failure) in try Keys(nameKey.asSecret()).names } ?? keys.names
        self.encrypts = encrypts
    }

    /// Returns a seal that also opens the values of other keys, while they are replaced.
    ///
    /// - Parameter others: The other keys.
    /// - Returns: The seal.
    /// - Throws: ``Failure/weakKey`` for a short key.
    public func accepting(_ others: Secret...) throws(Failure) -> RedisSeal {
        var seal = self
        for other in others { seal.accepted.append(try Keys(other)) }
        return seal
    }

    /// The same seal, which encrypts.
    package var encrypting: RedisSeal {
        var seal = self
        seal.encrypts = true
        return seal
    }

    /// Returns the name under which a value is stored: 64 hexadecimal digits, which cannot be computed without the key.
    ///
    /// - Parameter name: The name that the program uses.
    /// - Returns: The digits.
    /// - Throws: ``Failure/unavailable``.
    public func name(_ name: String) throws(Failure) -> String {
        guard let digest = names.digest(of: Array(name.utf8)) else { throw .unavailable }
        return HexText.text(of: digest[...])
    }

    /// Seals a value.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - name: The name under which it will be stored.
    /// - Returns: The value with its authentication.
    /// - Throws: ``Failure/unavailable``.
    public func seal(_ value: Data, as name: String) throws(Failure) -> Data {
        let format = encrypts ? Format.encrypted : .authenticated
        let head = [format.rawValue] + keys.identifier
        switch format {
        case .authenticated:
            let digest = value.withUnsafeBytes { keys.values.digest(ofContext: RedisSeal.context(head, name), and: $0) }
            guard let digest else { throw .unavailable }
            return Data(head + digest) + value
        case .encrypted:
            var random = SystemRandomNumberGenerator()
            let fresh = (0..<RedisSeal.saltSize + AuthenticatedCipher.nonceSize).map { _ in
                UInt8.random(in: .min ... .max, using: &random)
            }
            let (salt, nonce) = (Array(fresh.prefix(RedisSeal.saltSize)), Array(fresh.dropFirst(RedisSeal.saltSize)))
            let context = RedisSeal.context(head, name)
            guard let key = keys.messages.digest(of: salt),
                let sealed = AuthenticatedCipher.seal(Array(value), key: key, nonce: nonce, context: context)
            else { throw .unavailable }
            return Data(head + fresh + sealed)
        }
    }

    /// Opens a value.
    ///
    /// An encrypting seal opens encrypted values only.
    ///
    /// - Parameters:
    ///   - sealed: The stored value.
    ///   - name: The name under which it is stored.
    /// - Returns: The value.
    /// - Throws: The ``Failure``.
    public func open(_ sealed: Data, as name: String) throws(Failure) -> Data {
        let headSize = 1 + RedisSeal.identifierSize
        let head = sealed.prefix(headSize).withUnsafeBytes { Array($0) }
        guard head.count == headSize, let format = Format(rawValue: head[0]) else { throw .unknownFormat }
        guard format == .encrypted || !encrypts else { throw .unknownFormat }
        guard let keys = keys(with: head.dropFirst()) else { throw .unknownKey }
        let context = RedisSeal.context(head, name)
        switch format {
        case .authenticated:
            guard sealed.count >= headSize + RedisSeal.digestSize else { throw .forged }
            let value = sealed.dropFirst(headSize + RedisSeal.digestSize)
            let digest = value.withUnsafeBytes { keys.values.digest(ofContext: context, and: $0) }
            guard let digest else { throw .unavailable }
            let stored = sealed.dropFirst(headSize).prefix(RedisSeal.digestSize).withUnsafeBytes { Array($0) }
            guard KeyedHash.areEqual(digest, stored) else { throw .forged }
            return value.withUnsafeBytes { Data($0) }
        case .encrypted:
            let rest = Array(sealed.dropFirst(headSize))[...]
            let salt = Array(rest.prefix(RedisSeal.saltSize))
            let nonce = Array(rest.dropFirst(RedisSeal.saltSize).prefix(AuthenticatedCipher.nonceSize))
            let message = rest.dropFirst(RedisSeal.saltSize + AuthenticatedCipher.nonceSize)
            guard let key = keys.messages.digest(of: salt) else { throw .unavailable }
            guard let value = AuthenticatedCipher.open(message, key: key, nonce: nonce, context: context) else {
                throw .forged
            }
            return Data(value)
        }
    }

    private func keys(with identifier: ArraySlice<UInt8>) -> Keys? {
        if keys.identifier.elementsEqual(identifier) { return keys }
        return accepted.first { $0.identifier.elementsEqual(identifier) }
    }

    /// The bytes that are authenticated beside the value. The length keeps the name and the value apart.
    private static func context(_ head: [UInt8], _ name: String) -> [UInt8] {
        var context = head
        context.reserveCapacity(head.count + 8 + name.utf8.count)
        withUnsafeBytes(of: UInt64(name.utf8.count).bigEndian) { context.append(contentsOf: $0) }
        context.append(contentsOf: name.utf8)
        return context
    }
}

extension KeyedHash {
    /// Returns the 32 bytes for a context followed by a value, or nil if the system's library fails.
    fileprivate func digest(ofContext context: [UInt8], and value: UnsafeRawBufferPointer) -> [UInt8]? {
        digest { add in
            context.withUnsafeBytes(add)
            add(value)
        }
    }
}

extension RedisSeal: CustomStringConvertible, CustomReflectable, RedactedMirror {
    /// The algorithm, without the keys.
    public var description: String { encrypts ? "AES-256-GCM" : "HMAC-SHA256" }
}
// MARK: - Authenticated cipher

/// AES-256-GCM (NIST SP 800-38D) by libcrypto.
package enum AuthenticatedCipher {
    package static let nonceSize = 12
    package static let tagSize = 16

    /// Encrypts a message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - key: A key of 32 bytes.
    ///   - nonce: Bytes that are used once with this key.
    ///   - context: Bytes that are authenticated and not part of the result.
    /// - Returns: The encrypted bytes, followed by the tag; nil if libcrypto fails.
    package static func seal(_ message: [UInt8], key: [UInt8], nonce: [UInt8], context: [UInt8]) -> [UInt8]? {
        transform(message[...], nil, key, nonce, context)
    }

    /// Decrypts a message, or returns nil if the bytes, the key, the nonce or the context are others than those of the encryption.
    package static func open(_ sealed: ArraySlice<UInt8>, key: [UInt8], nonce: [UInt8], context: [UInt8]) -> [UInt8]? {
        guard sealed.count >= tagSize else { return nil }
        return transform(sealed.dropLast(tagSize), Array(sealed.suffix(tagSize)), key, nonce, context)
    }

    /// Encrypts and appends the tag, or decrypts if there is a tag.
    private static func transform(
        _ input: ArraySlice<UInt8>,
        _ tag: [UInt8]?,
        _ key: [UInt8],
        _ nonce: [UInt8],
        _ context: [UInt8]
    ) -> [UInt8]? {
        guard key.count == 32, nonce.count == nonceSize, input.count < Int32.max, context.count < Int32.max,
            let cipher = crypto.EVP_CIPHER_CTX_new()
        else { return nil }
        defer { crypto.EVP_CIPHER_CTX_free(cipher) }
        var output = [UInt8](repeating: 0, count: input.count + tagSize)
        var count: Int32 = 0
        let isOpening = tag != nil
        guard crypto.EVP_CipherInit_ex(cipher, crypto.EVP_aes_256_gcm(), nil, key, nonce, isOpening ? 0 : 1) == 1,
            crypto.EVP_CipherUpdate(cipher, nil, &count, context, Int32(context.count)) == 1
        else { return nil }
        let isTransformed = input.withUnsafeBufferPointer { input in
            // Without bytes, a null pointer would have another meaning.
            input.isEmpty
                || crypto.EVP_CipherUpdate(cipher, &output, &count, input.baseAddress, Int32(input.count)) == 1
        }
        guard isTransformed else { return nil }
        if var tag {
            guard crypto.EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, Int32(tagSize), &tag) == 1 else {
                return nil
            }
        }
        var last = [UInt8](repeating: 0, count: tagSize)
        guard crypto.EVP_CipherFinal_ex(cipher, &last, &count) == 1 else { return nil }
        output.removeLast(tagSize)
        if isOpening { return output }
        guard crypto.EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, Int32(tagSize), &last) == 1 else { return nil }
        return output + last
    }
}
#endif

// MARK: - Keyed hash

/// HMAC-SHA256 (RFC 2104) with a key of 32 bytes.
package struct KeyedHash: Sendable {
    private static let blockSize = 64

    private let inner: SHA256Prefix?
    private let outer: SHA256Prefix?

    /// Creates a hash. A key of more than 64 bytes would have to be hashed first, which no caller needs.
    package init(key: [UInt8]) {
        let padded = key.prefix(Self.blockSize) + [UInt8](repeating: 0, count: max(0, Self.blockSize - key.count))
        inner = SHA256Prefix(padded.map { $0 ^ 0x36 })
        outer = SHA256Prefix(padded.map { $0 ^ 0x5C })
    }

    /// Returns the 32 bytes for a message, or nil if the system's library fails.
    package func digest(of message: [UInt8]) -> [UInt8]? {
        digest { add in message.withUnsafeBytes(add) }
    }

    /// Hashes a message that consists of pieces.
    ///
    /// - Parameter feed: Calls its argument with the pieces.
    /// - Returns: The 32 bytes; nil if the system's library fails.
    func digest(_ feed: ((UnsafeRawBufferPointer) -> Void) -> Void) -> [UInt8]? {
        guard let digest = inner?.digest(feed) else { return nil }
        return outer?.digest { add in digest.withUnsafeBytes(add) }
    }

    /// Compares bytes in time that depends only on their number.
    package static func areEqual(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        left.count == right.count && zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

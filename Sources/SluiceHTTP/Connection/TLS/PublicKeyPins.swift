import SluiceFoundation

/// Public keys of which at least one must occur in a server's certificate chain.
///
/// Pins protect against a certificate authority that was deceived or forced to issue a certificate for the host.
///
/// ```swift
/// $0.connection.tlsByHost["bank.example"] = TLSConfiguration(
///     pins: PublicKeyPins("sha256/jQJTbIh0grw0/1TkHSumWb+Fs0Ggogr621gT3PvPKG0=", backups: "sha256/…")
/// )
/// ```
///
/// Include the pin of a backup key from the start, and keep that key offline until it is needed. With a single pin, a
/// key that is lost or revoked locks out every client (RFC 7469 §4.3). A pin matches the server's own key or the key of
/// any authority in the verified chain.
public struct PublicKeyPins: Sendable {
    /// The handling of a connection that matches no pin.
    public enum Mode: Sendable {
        /// The connection fails with ``SluiceError/Code/tlsFailed`` before the request is sent.
        case enforce
        /// The connection is used, and the closure is called once for each request. Use it to test pins before you
        /// enforce them.
        ///
        /// The closure runs on the engine's thread for the first request of a connection, and on the thread that sends
        /// the request where it finds a free connection. It must not block, and several calls may run at once.
        case report(@Sendable (TLSFailure) -> Void)

        package var isEnforced: Bool { if case .enforce = self { true } else { false } }
    }

    /// The pins.
    package let pins: [PublicKeyPin]
    /// The handling of a connection that matches no pin.
    public var mode: Mode

    /// Creates pins.
    ///
    /// - Parameters:
    ///   - current: The key in use.
    ///   - backups: The keys to use later, at least one.
    ///   - mode: Enforces the pins, the default, or only reports mismatches.
    public init(_ current: PublicKeyPin, backups: PublicKeyPin..., mode: Mode = .enforce) {
        self.init([current] + backups, mode: mode)
    }

    /// Creates pins from an array, such as one that is read from a configuration.
    ///
    /// - Parameters:
    ///   - pins: The keys, with at least one backup. Without any key every connection fails.
    ///   - mode: Enforces the pins, the default, or only reports mismatches.
    public init(_ pins: [PublicKeyPin], mode: Mode = .enforce) {
        self.pins = pins
        self.mode = mode
    }
}

/// The SHA-256 digest of a public key in the form that certificates contain, its SubjectPublicKeyInfo (RFC 7469 §2.4).
///
///     openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform der |
///         openssl dgst -sha256 -binary | base64
public struct PublicKeyPin: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The 32 bytes of the digest; another number of bytes for a text that is not a valid pin.
    private let digest: Data
    private let text: String

    /// Creates a pin from a digest.
    public init(sha256 digest: Data) {
        self.digest = digest
        text = "sha256/\(digest.base64EncodedString())"
    }

    /// Parses `sha256/`, or `sha256//` as some tools write it, followed by 32 bytes in base64. A client with a pin that
    /// cannot be parsed fails every connection.
    public init(_ text: String) {
        let prefix = "sha256/"
        // A second slash belongs to the prefix only if 44 digits, the full length, follow it. Otherwise it is a digit.
        let rest = text.hasPrefix(prefix) ? text.dropFirst(prefix.count) : ""
        let digits = rest.utf8.count == 45 && rest.hasPrefix("/") ? rest.dropFirst() : rest
        digest = Data(base64Encoded: String(digits)) ?? Data()
        self.text = digest.count == 32 ? "\(prefix)\(digest.base64EncodedString())" : text
    }

    /// Parses a pin as ``init(_:)`` does.
    public init(stringLiteral text: String) {
        self.init(text)
    }

    /// True if the digest has 32 bytes.
    package var isValid: Bool { digest.count == 32 }

    /// The pin as `sha256/…`.
    public var description: String { text }
}

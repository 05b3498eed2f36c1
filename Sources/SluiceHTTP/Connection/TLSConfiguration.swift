import SluiceFoundation

/// The TLS settings of a client: trusted authorities, pins, client certificate and minimum version.
///
/// ```swift
/// let bank = APIClient(baseURL: "https://bank.example") {
///     $0.connection.tls.minimumVersion = .tls13
///     $0.connection.tls.trust = .only(.file("/etc/bank/ca.pem"))
///     $0.connection.tls.clientCertificate = .pem(certificate: .file("client.pem"), key: .file("client.key"))
/// }
/// ```
///
/// A connection that violates the configuration fails with ``SluiceError/Code/tlsFailed``. Its underlying error is a
/// ``TLSFailure``, which names the failed check and the certificate. Certificates are checked for every full handshake.
/// A resumed session relies on the check of its first handshake, which used the same configuration at most a day ago.
///
/// Files are read again when they change, without a restart. Each new connection compares the identity of the files, that is
/// their inode, size and times, with that of the files in use. After a change, new connections use the new contents, and
/// older connections finish their requests and take no others. Files that cannot be read, or whose key does not match, change
/// nothing: the contents in use stay, and ``onReload`` reports the reason. A new connection reads such files again if they have
/// changed or ten seconds have passed.
public struct TLSConfiguration: Sendable {
    /// The authorities trusted to certify servers; the system's by default.
    public var trust: Trust
    /// The keys of which the certificate chain of a trusted server must contain one; nil, the default, for no restriction.
    public var pins: PublicKeyPins?
    /// The certificate presented to a server that requests one; nil, the default, for none.
    public var clientCertificate: ClientCertificate?
    /// The oldest accepted version; TLS 1.2 by default.
    public var minimumVersion: TLSVersion
    /// Called when the files of ``trust`` or ``clientCertificate`` have changed: with success once they are in use, and with
    /// the reason if they cannot be used and the old ones stay; nil, the default, for no report.
    ///
    /// Each change is reported once, to one of the clients with equal TLS options. The closure runs on a thread of its own
    /// and delays the connection that has found the change.
    public var onReload: (@Sendable (Result<Void, TLSFailure>) -> Void)?

    /// Creates a configuration. All arguments have defaults.
    public init(
        trust: Trust = .system,
        pins: PublicKeyPins? = nil,
        clientCertificate: ClientCertificate? = nil,
        minimumVersion: TLSVersion = .tls12
    ) {
        self.trust = trust
        self.pins = pins
        self.clientCertificate = clientCertificate
        self.minimumVersion = minimumVersion
    }

    /// True if both accept the same servers and present the same certificate. Pins that only report compare by their
    /// keys.
    package func isEquivalent(to other: TLSConfiguration) -> Bool {
        trust == other.trust && clientCertificate == other.clientCertificate
            && minimumVersion == other.minimumVersion && pins?.pins == other.pins?.pins
            && pins?.mode.isEnforced == other.pins?.mode.isEnforced
    }

    /// The authorities that are trusted to certify servers.
    public struct Trust: Sendable, Hashable {
        package enum Form: Sendable, Hashable {
            case system
            case only(CertificateSource)
            case systemAnd(CertificateSource)
            case anyCertificate
        }

        package let form: Form

        /// The system's authorities.
        public static let system = Trust(form: .system)

        /// Trusts the given authorities only.
        ///
        /// - Parameter authorities: Certificates as PEM. A self-signed server certificate is its own authority.
        /// - Returns: Trust in these authorities alone.
        public static func only(_ authorities: CertificateSource) -> Trust { Trust(form: .only(authorities)) }

        /// Trusts the given authorities in addition to the system's.
        ///
        /// - Parameter authorities: Certificates as PEM.
        /// - Returns: Trust in both.
        public static func systemAnd(_ authorities: CertificateSource) -> Trust { Trust(form: .systemAnd(authorities)) }

        /// Accepts any certificate. An attacker on the network can impersonate the server and read and change all
        /// traffic.
        ///
        /// Use it for local experiments only, or together with ``PublicKeyPins`` for devices that are identified by
        /// their key.
        public static let insecurelyAnyCertificate = Trust(form: .anyCertificate)
    }
}

/// The supported versions of TLS, from the oldest to the newest; RFC 8996 deprecates older ones.
public enum TLSVersion: Sendable, Hashable, Comparable {
    /// RFC 5246.
    case tls12
    /// RFC 8446.
    case tls13
}

// MARK: - Certificate source

/// The location of certificates or keys.
public enum CertificateSource: Sendable, Hashable {
    /// The path of a file, which is read when a connection is made.
    case file(String)
    /// Bytes in memory.
    case bytes(Data)

    /// A file, which is read when a connection is made.
    ///
    /// - Parameter url: The URL of the file. The path of any other URL is used too.
    /// - Returns: The location of the file.
    public static func file(_ url: URL) -> CertificateSource { .file(url.path) }

    /// PEM text in memory.
    public static func pem(_ text: String) -> CertificateSource { .bytes(Data(text.utf8)) }
}

extension CertificateSource: CustomStringConvertible, CustomReflectable, RedactedMirror {
    /// The file's path, or the number of bytes. The bytes are omitted, since they may be a key.
    public var description: String {
        switch self {
        case .file(let path): path
        case .bytes(let data): "\(data.count) bytes"
        }
    }
}

/// A certificate and its key, which a client presents to servers that request client authentication.
public struct ClientCertificate: Sendable, Hashable {
    package enum Form: Sendable, Hashable {
        case pem(certificate: CertificateSource, key: CertificateSource)
        case pkcs12(CertificateSource)
    }

    package let form: Form
    package let password: Secret?

    /// The bytes or the path of the certificate, which tell its user from others.
    var identity: [UInt8] {
        let source =
            switch form {
            case .pem(let certificate, _): certificate
            case .pkcs12(let source): source
            }
        return switch source {
        case .file(let path): Array("file: \(path)".utf8)
        case .bytes(let data): Array(data)
        }
    }

    /// Creates a client certificate from PEM (RFC 7468), the usual format of certificate authorities.
    ///
    /// - Parameters:
    ///   - certificate: The client's certificate, followed by intermediate certificates that the server may not have.
    ///   - key: The certificate's private key.
    ///   - password: The password that the key is encrypted with, a `String` or a ``Secret``; nil if it is not encrypted.
    /// - Returns: A client certificate.
    public static func pem(
        certificate: CertificateSource,
        key: CertificateSource,
        password: (any SecretConvertible)? = nil
    ) -> ClientCertificate {
        ClientCertificate(form: .pem(certificate: certificate, key: key), password: password?.asSecret())
    }

    /// Creates a client certificate from PKCS #12 (RFC 7292), a `.p12` or `.pfx` file with certificate and key.
    ///
    /// - Parameters:
    ///   - source: The file or its bytes.
    ///   - password: The password that it is encrypted with, a `String` or a ``Secret``.
    /// - Returns: A client certificate.
    public static func pkcs12(_ source: CertificateSource, password: some SecretConvertible) -> ClientCertificate {
        ClientCertificate(form: .pkcs12(source), password: password.asSecret())
    }
}

extension ClientCertificate: CustomStringConvertible, CustomReflectable, RedactedMirror {
    /// The location of the certificate, without the password.
    public var description: String {
        switch form {
        case .pem(let certificate, _): "client certificate in \(certificate)"
        case .pkcs12(let source): "client certificate in \(source)"
        }
    }
}

// MARK: - Public key pins

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
        /// the request where it finds a free connection. It must not block, and several calls may run at once. For Redis it is called
        /// once for each connection.
        case report(@Sendable (TLSFailure) -> Void)

        package var isEnforced: Bool { if case .enforce = self { true } else { false } }
    }

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

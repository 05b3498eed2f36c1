/// Whom a client trusts over TLS, and how it shows who it is itself.
///
/// ```swift
/// let bank = APIClient(baseURL: "https://bank.example") {
///     $0.connection.tls.minimumVersion = .tls13
///     $0.connection.tls.trust = .only(.file("/etc/bank/ca.pem"))
///     $0.connection.tls.clientCertificate = .pem(certificate: .file("client.pem"), key: .file("client.key"))
/// }
/// ```
///
/// A connection that does not meet it fails with ``SluiceError/Code/tlsFailed``, whose underlying error is a ``TLSFailure`` that says
/// which check failed on which certificate. Certificates are checked for every
/// connection that is made, or were checked for the session it resumes, which had the same configuration and is a day old at most.
public struct TLSConfiguration: Sendable {
    /// Who vouches for servers; the system's authorities by default.
    public var trust: Trust
    /// Keys of which a server must have one, besides being trusted; nil, the default, for any.
    public var pins: PublicKeyPins?
    /// What the client shows a server that asks who it is; nil, the default, for nothing.
    public var clientCertificate: ClientCertificate?
    /// The oldest version that is spoken; 1.2 by default.
    public var minimumVersion: TLSVersion

    /// Makes a configuration; without arguments the defaults.
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

    /// True if both accept the same servers and show them the same; pins that only report are equal to each other.
    package func isEquivalent(to other: TLSConfiguration) -> Bool {
        trust == other.trust && clientCertificate == other.clientCertificate
            && minimumVersion == other.minimumVersion && pins?.pins == other.pins?.pins
            && pins?.mode.isEnforced == other.pins?.mode.isEnforced
    }

    /// Who vouches for servers.
    public struct Trust: Sendable, Hashable {
        package enum Form: Sendable, Hashable {
            case system
            case only(CertificateSource)
            case systemAnd(CertificateSource)
            case anyCertificate
        }

        package let form: Form

        /// The authorities that the system trusts.
        public static let system = Trust(form: .system)

        /// These authorities and no others.
        ///
        /// - Parameter authorities: Certificates as PEM; a server's own that signs itself is its own authority.
        /// - Returns: Trust in them alone.
        public static func only(_ authorities: CertificateSource) -> Trust { Trust(form: .only(authorities)) }

        /// These authorities besides the system's.
        ///
        /// - Parameter authorities: Certificates as PEM.
        /// - Returns: Trust in both.
        public static func systemAnd(_ authorities: CertificateSource) -> Trust { Trust(form: .systemAnd(authorities)) }

        /// Nobody: whoever answers is believed to be the server, and whoever sits in between can read and change everything.
        ///
        /// For experiments on one's own machine, and for devices that can only be told by their key; then with ``PublicKeyPins``.
        public static let insecurelyAnyCertificate = Trust(form: .anyCertificate)
    }
}

/// Versions of TLS that are still safe to speak (RFC 8996 ended the older ones).
public enum TLSVersion: Int, Sendable, Hashable, Comparable {
    /// RFC 5246.
    case tls12 = 12
    /// RFC 8446.
    case tls13 = 13

    /// Whether one is older than another.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}

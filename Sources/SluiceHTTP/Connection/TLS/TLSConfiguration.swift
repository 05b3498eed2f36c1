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
/// nothing: the contents in use stay until the files change again, and ``onReload`` reports the reason.
public struct TLSConfiguration: Sendable {
    /// The authorities trusted to certify servers; the system's by default.
    public var trust: Trust
    /// Keys of which a trusted server's chain must also contain one; nil, the default, for no restriction.
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

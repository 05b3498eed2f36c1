import SluiceFoundation

/// A failed check of a TLS connection: the underlying error of ``SluiceError/Code/tlsFailed``.
public struct TLSFailure: LocalizedError, Sendable, Hashable, DescribedError, LastingCause {
    package var isLasting: Bool { true }

    /// The checks of a TLS connection. Each case describes the failure.
    public enum Check: Sendable, Hashable {
        /// The certificate has expired.
        case expired
        /// The certificate's validity period has not begun.
        case notYetValid
        /// The certificate is not valid for this host.
        case hostName
        /// The certificate is self-signed and not trusted.
        case selfSigned
        /// No trusted authority issued the certificate.
        case authority
        /// The certificate has been revoked.
        case revoked
        /// The certificate chain contains none of the pinned keys.
        case pin
        /// The certificate violates another rule of RFC 5280 §6: on signatures, purposes, or lengths of keys and paths.
        case certificate
        /// The two sides have no allowed version in common.
        case version
        /// The server requires a client certificate, and there is none.
        case clientCertificateRequired
        /// The server did not accept the client certificate.
        case clientCertificateRejected
        /// The client certificate or key cannot be read, the password is wrong, or the two do not match.
        case clientCertificateUnreadable
        /// The trusted authorities cannot be read.
        case authoritiesUnreadable
        /// The handshake failed for another reason.
        case handshake
    }

    /// The check that failed.
    public let check: Check
    /// The certificate that failed the check, if the check concerns one.
    public let certificate: CertificateSummary?
    /// The engine's own error message.
    public let detail: String

    /// Creates a failure.
    public init(_ check: Check, on certificate: CertificateSummary? = nil, detail: String = "") {
        self.check = check
        self.certificate = certificate
        self.detail = detail
    }

    /// The failure as the end of a sentence about a connection to a server.
    package var reason: String { reason(of: "server") }

    /// Returns the failure as the end of a sentence about a connection to the given kind of peer.
    package func reason(of peer: String) -> String {
        let subject = subject(of: peer)
        return switch check {
        case .expired: "\(subject) expired\(suffix(" on ", certificate?.validUntil))"
        case .notYetValid: "\(subject) is not valid yet\(suffix("; it is valid from ", certificate?.validFrom))"
        case .hostName: "\(subject) is not valid for this host\(namesSuffix)"
        case .selfSigned: "\(subject) is self-signed and not trusted"
        case .authority: "\(subject) is not signed by a trusted authority\(issuerSuffix)"
        case .revoked: "\(subject) has been revoked"
        case .pin: "the certificate chain of \(subject) contains none of the pinned keys"
        case .certificate: "\(subject) was not accepted\(detailSuffix)"
        case .version: "the client and the \(peer) have no allowed TLS version in common"
        case .clientCertificateRequired: "the \(peer) requires a client certificate"
        case .clientCertificateRejected: "the \(peer) did not accept the client certificate\(detailSuffix)"
        case .clientCertificateUnreadable:
            "the client certificate, its key or its password cannot be used\(detailSuffix)"
        case .authoritiesUnreadable: "the trusted certificate authorities cannot be read\(detailSuffix)"
        case .handshake where detail == "wrong version number":
            // OpenSSL's words for an answer without TLS, such as that of a port for http.
            "the \(peer) does not speak TLS on this port: \(detail)"
        case .handshake: detail.isEmpty ? "the handshake failed" : detail
        }
    }

    private func subject(of peer: String) -> String {
        guard let certificate else { return "the \(peer)'s certificate" }
        return certificate.depth == 0
            ? "the \(peer)'s certificate “\(certificate.subject)”"
            : "the certificate “\(certificate.subject)” at depth \(certificate.depth) of the \(peer)'s certificate chain"
    }

    private var issuerSuffix: String {
        certificate.map { "; its issuer is “\($0.issuer)”" } ?? ""
    }

    private var namesSuffix: String {
        guard let certificate, !certificate.names.isEmpty else { return "" }
        let more = certificate.names.count > 4 ? " and \(certificate.names.count - 4) more" : ""
        return "; it is valid for \(certificate.names.prefix(4).joined(separator: ", "))\(more)"
    }

    private var detailSuffix: String { detail.isEmpty ? "" : ": \(detail)" }

    private func suffix(_ words: String, _ date: Date?) -> String {
        date.map { words + $0.formatted(.iso8601) } ?? ""
    }
}

extension TLSFailure: CustomStringConvertible {
    /// The failed check, the certificate, and the engine's error message.
    public var description: String {
        detail.isEmpty || reason.contains(detail) ? reason : "\(reason) (\(detail))"
    }
}

/// A summary of a certificate's contents.
public struct CertificateSummary: Sendable, Hashable {
    /// The subject, such as `CN=api.example,O=Example` (RFC 4514).
    public var subject: String
    /// The issuer, which signed the certificate.
    public var issuer: String
    /// The hosts and addresses that a server's own certificate is valid for.
    public var names: [String]
    /// The start of the validity period; nil if it cannot be parsed.
    public var validFrom: Date?
    /// The end of the validity period; nil if it cannot be parsed.
    public var validUntil: Date?
    /// The pin of the certificate's public key.
    public var publicKey: PublicKeyPin?
    /// The depth in the chain: 0 is the server's certificate, and each certificate is signed by the next.
    public var depth: Int

    /// Creates a summary.
    public init(
        subject: String,
        issuer: String,
        names: [String] = [],
        validFrom: Date? = nil,
        validUntil: Date? = nil,
        publicKey: PublicKeyPin? = nil,
        depth: Int = 0
    ) {
        self.subject = subject
        self.issuer = issuer
        self.names = names
        self.validFrom = validFrom
        self.validUntil = validUntil
        self.publicKey = publicKey
        self.depth = depth
    }
}

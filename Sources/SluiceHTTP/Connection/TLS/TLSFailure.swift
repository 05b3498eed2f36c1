#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Which check of a TLS connection failed, and on which certificate: the underlying error of ``SluiceError/Code/tlsFailed``.
public struct TLSFailure: Error, Sendable, Hashable {
    /// What was checked.
    public enum Check: String, Sendable, Hashable, CaseIterable {
        /// The certificate has not expired.
        case expired
        /// It is valid already.
        case notYetValid
        /// It is for this host.
        case hostName
        /// It does not merely sign itself.
        case selfSigned
        /// An authority that is trusted has signed it.
        case authority
        /// It has not been revoked.
        case revoked
        /// One of the pinned keys is in its chain.
        case pin
        /// It meets what else RFC 5280 §6 asks: signatures, purposes, lengths of keys and paths.
        case certificate
        /// Both sides speak a common version that is allowed.
        case version
        /// The server does without a certificate of the client's.
        case clientCertificateRequired
        /// The server accepts the one it was shown.
        case clientCertificateAccepted
        /// The client's own certificate, key and password can be read and belong together.
        case clientCertificateReadable
        /// The authorities to trust can be read.
        case authoritiesReadable
        /// Anything else of the handshake.
        case handshake
    }

    /// The check that failed.
    public let check: Check
    /// The certificate that it failed on, where it is about one.
    public let certificate: CertificateSummary?
    /// The engine's own words.
    public let detail: String

    /// Makes a failure.
    public init(_ check: Check, on certificate: CertificateSummary? = nil, detail: String = "") {
        self.check = check
        self.certificate = certificate
        self.detail = detail
    }

    /// What failed, as the rest of a sentence about a connection to a server.
    package var reason: String { reason(of: "server") }

    /// What failed, as the rest of a sentence about a connection to one that does what is said.
    package func reason(of peer: String) -> String {
        let subject = subject(of: peer)
        return switch check {
        case .expired: "\(subject) expired\(on(certificate?.validUntil))"
        case .notYetValid:
            "\(subject) is not valid yet\(on(certificate?.validFrom).replacing(" on ", with: ", but from "))"
        case .hostName: "\(subject) is not for this host\(names)"
        case .selfSigned: "\(subject) signs itself, and is not among the trusted"
        case .authority: "nobody who is trusted has signed \(subject)\(issuer)"
        case .revoked: "\(subject) has been revoked"
        case .pin: "none of the pinned keys is in the chain of \(subject)"
        case .certificate: "\(subject) was not accepted\(words)"
        case .version: "the two sides speak no common version of TLS that is allowed"
        case .clientCertificateRequired: "the \(peer) asks for a client certificate"
        case .clientCertificateAccepted: "the \(peer) does not accept the client certificate\(words)"
        case .clientCertificateReadable: "the client certificate, its key or its password cannot be used\(words)"
        case .authoritiesReadable: "the authorities to trust cannot be read\(words)"
        case .handshake: detail.isEmpty ? "the handshake failed" : detail
        }
    }

    private func subject(of peer: String) -> String {
        guard let certificate else { return "the \(peer)'s certificate" }
        return certificate.position == 0
            ? "the \(peer)'s certificate “\(certificate.subject)”"
            : "the certificate “\(certificate.subject)”, number \(certificate.position) above the \(peer)'s own,"
    }

    private var issuer: String {
        certificate.map { ", which says it is “\($0.issuer)” who did" } ?? ""
    }

    private var names: String {
        guard let certificate, !certificate.names.isEmpty else { return "" }
        let more = certificate.names.count > 4 ? " and \(certificate.names.count - 4) more" : ""
        return ", but for \(certificate.names.prefix(4).joined(separator: ", "))\(more)"
    }

    private var words: String { detail.isEmpty ? "" : ": \(detail)" }

    private func on(_ date: Date?) -> String {
        date.map { " on \($0.formatted(.iso8601))" } ?? ""
    }
}

extension TLSFailure: CustomStringConvertible {
    /// What failed, on which certificate, and the engine's own words.
    public var description: String {
        detail.isEmpty || reason.contains(detail) ? reason : "\(reason) (\(detail))"
    }
}

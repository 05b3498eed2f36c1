#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
    /// The position in the chain: 0 is the server's certificate, and each certificate is signed by the next.
    public var position: Int

    /// Creates a summary.
    public init(
        subject: String,
        issuer: String,
        names: [String] = [],
        validFrom: Date? = nil,
        validUntil: Date? = nil,
        publicKey: PublicKeyPin? = nil,
        position: Int = 0
    ) {
        self.subject = subject
        self.issuer = issuer
        self.names = names
        self.validFrom = validFrom
        self.validUntil = validUntil
        self.publicKey = publicKey
        self.position = position
    }
}

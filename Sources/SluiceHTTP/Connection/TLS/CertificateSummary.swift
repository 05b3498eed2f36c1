#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a certificate says of itself.
public struct CertificateSummary: Sendable, Hashable {
    /// Whose it is, as `CN=api.example,O=Example` (RFC 4514).
    public var subject: String
    /// Who signed it.
    public var issuer: String
    /// The hosts and addresses it is for, of a server's own certificate.
    public var names: [String]
    /// From when it is valid; nil where it does not say so in a form that can be read.
    public var validFrom: Date?
    /// Until when it is.
    public var validUntil: Date?
    /// Its key.
    public var publicKey: PublicKeyPin?
    /// Where it stands in the chain: 0 is the server's own, and each one is signed by the next.
    public var position: Int

    /// Makes a summary.
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

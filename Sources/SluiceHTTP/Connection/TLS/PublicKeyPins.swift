#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Keys of which one must be in a server's chain of certificates, so that an authority which was deceived or forced is not enough to
/// stand in for it.
///
/// ```swift
/// $0.connection.tlsByHost["bank.example"] = TLSConfiguration(
///     pins: PublicKeyPins("sha256/jQJTbIh0grw0/1TkHSumWb+Fs0Ggogr621gT3PvPKG0=", backups: "sha256/…")
/// )
/// ```
///
/// The pin of the next key, in a safe place unused until then, belongs among them from the start: with one pin alone the day that its
/// key is lost or has to be revoked is the day that every client stays outside (RFC 7469 §4.3). A pin is met by the server's own key
/// or by that of any authority in the chain that was verified.
public struct PublicKeyPins: Sendable {
    /// What happens to a connection that meets none.
    public enum Mode: Sendable {
        /// It fails with ``SluiceError/Code/tlsFailed`` before the request is sent.
        case enforce
        /// It is used, and the function is told once for each request, on the engine's thread, which it must not hold up: to try pins
        /// out before they are enforced.
        case report(@Sendable (TLSFailure) -> Void)

        package var isEnforced: Bool { if case .enforce = self { true } else { false } }
    }

    /// The pins.
    public let pins: [PublicKeyPin]
    /// What happens to a connection that meets none.
    public var mode: Mode

    /// Makes pins.
    ///
    /// - Parameters:
    ///   - current: The key in use.
    ///   - backups: Those that will be, one at least.
    ///   - mode: Whether they are enforced, as they are by default, or only watched.
    public init(_ current: PublicKeyPin, backups: PublicKeyPin..., mode: Mode = .enforce) {
        self.pins = [current] + backups
        self.mode = mode
    }
}

/// The SHA-256 of a public key as it stands in certificates: its SubjectPublicKeyInfo (RFC 7469 §2.4).
///
///     openssl x509 -in server.pem -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64
public struct PublicKeyPin: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The 32 bytes; of a text that was no pin, something else.
    private let digest: Data
    private let text: String

    /// Makes a pin of a digest.
    public init(sha256 digest: Data) {
        self.digest = digest
        text = "sha256/\(digest.base64EncodedString())"
    }

    /// Reads `sha256/`, or `sha256//` as some tools write it, and 32 bytes in base64 behind it. A client with pins that cannot be read connects to nobody.
    public init(_ text: String) {
        let prefix = "sha256/"
        // The second slash is part of the prefix, or the first digit of the base64, which is 44 long.
        let rest = text.hasPrefix(prefix) ? text.dropFirst(prefix.count) : ""
        let digits = rest.utf8.count == 45 && rest.hasPrefix("/") ? rest.dropFirst() : rest
        digest = Data(base64Encoded: String(digits)) ?? Data()
        self.text = digest.count == 32 ? "\(prefix)\(digest.base64EncodedString())" : text
    }

    /// Reads a pin as ``init(_:)`` does.
    public init(stringLiteral text: String) {
        self.init(text)
    }

    /// Whether it is one.
    package var isValid: Bool { digest.count == 32 }

    /// `sha256/…`
    public var description: String { text }
}

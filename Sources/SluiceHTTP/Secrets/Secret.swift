/// A password, token or key that descriptions, logs and dumps do not show.
///
/// ```swift
/// guard let token = Secret(environment: "API_TOKEN") else { throw Misconfiguration.noToken }
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.requestInterceptors = [BearerToken(token)]
/// }
/// print(token)                            // REDACTED
/// ```
///
/// Every API of Sluice that takes a secret also takes a `String` and stores it as a `Secret`. ``reveal()`` is the only
/// access to the text of a `Secret`, so that a search finds every use. This type prevents accidental disclosure; code that can read
/// the process's memory can still read the text.
///
/// A secret is decoded from a plain string, as in configuration files. It is not encodable: where necessary, encode the
/// result of ``reveal()``.
public struct Secret: Sendable, Hashable {
    private let text: String

    /// Creates a secret from a text.
    ///
    /// - Parameter text: The text, which is not trimmed.
    public init(_ text: String) {
        self.text = text
    }

    /// Returns the text. Use it, but do not store it.
    public func reveal() -> String { text }

    /// True if the text is empty.
    public var isEmpty: Bool { text.isEmpty }

    /// Compares the bytes in time that depends only on their number.
    public static func == (lhs: Secret, rhs: Secret) -> Bool {
        let (left, right) = (lhs.text.utf8, rhs.text.utf8)
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(0xFF as UInt8)
    }
}

extension Secret: ExpressibleByStringLiteral {
    /// Creates a secret from a literal, for tests. Do not put real secrets into source code.
    public init(stringLiteral value: String) {
        self.init(value)
    }
}

extension Secret: Decodable {
    /// Decodes a secret from a string.
    ///
    /// - Parameter decoder: Any decoder.
    /// - Throws: A `DecodingError` without the value if it is not a string.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let text = try? container.decode(String.self) else {
            throw DecodingError.typeMismatch(
                Secret.self,
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "A secret must be a string.")
            )
        }
        self.init(text)
    }
}

extension Secret: CustomStringConvertible, CustomReflectable, RedactedMirror {
    /// `REDACTED` for every secret.
    public var description: String { SecretRules.mark }
}

/// A type that can be passed as a secret: a ``Secret``, or a `String`, which is stored as one.
public protocol SecretConvertible: Sendable {
    /// Returns the secret.
    func asSecret() -> Secret
}

extension Secret: SecretConvertible {
    /// Returns the secret itself.
    public func asSecret() -> Secret { self }
}

extension String: SecretConvertible {
    /// Returns a secret of this text.
    public func asSecret() -> Secret { Secret(self) }
}

// MARK: - Mirrors

/// A type whose mirror has selected children only, because `dump` and failed assertions would show its secrets.
package protocol RedactedMirror: CustomReflectable {
    /// The children of the mirror; none by default for a type with a description, which `dump` shows too.
    var shown: [Mirror.Child] { get }
}

extension RedactedMirror {
    /// A mirror without secrets.
    public var customMirror: Mirror {
        Mirror(self, children: shown, displayStyle: Self.self is AnyClass ? .class : .struct)
    }
}

extension RedactedMirror where Self: CustomStringConvertible {
    package var shown: [Mirror.Child] { [] }
}

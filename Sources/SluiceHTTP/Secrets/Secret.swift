/// A password, token or key: a text that no description, log or dump shows.
///
/// ```swift
/// guard let token = Secret(environment: "API_TOKEN") else { throw Misconfiguration.noToken }
/// let shop = APIClient(baseURL: "https://shop.example") {
///     $0.requestInterceptors = [BearerToken(token)]
/// }
/// print(token)                            // REDACTED
/// ```
///
/// Whatever in Sluice takes a secret takes a `String` too, and keeps it as one of these. ``reveal()`` is the one way to the text, so
/// that a search finds every place that reads it. It is for secrets that would be shown by mistake; who can read the process's memory
/// can read them.
///
/// It is decoded from a plain string, as configuration files have it, and is not encodable: encode what ``reveal()`` gives where
/// it must be.
public struct Secret: Sendable, Hashable {
    private let text: String

    /// Makes a secret of a text.
    ///
    /// - Parameter text: The text as it is; nothing is trimmed.
    public init(_ text: String) {
        self.text = text
    }

    /// The text, to be used and not kept.
    public func reveal() -> String { text }

    /// Whether there is no text.
    public var isEmpty: Bool { text.isEmpty }

    /// Whether both are the same bytes, in a time that depends on their lengths alone.
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
    /// Makes a secret of a literal, for tests: one in a program is no secret.
    public init(stringLiteral value: String) {
        self.init(value)
    }
}

extension Secret: Decodable {
    /// Reads a secret from a string.
    ///
    /// - Parameter decoder: Any decoder.
    /// - Throws: A `DecodingError` without the value, where there is no string.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let text = try? container.decode(String.self) else {
            throw DecodingError.typeMismatch(
                Secret.self,
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "A secret is a string.")
            )
        }
        self.init(text)
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `REDACTED`, whatever the secret is.
    public var description: String { SecretRules.mark }

    /// `REDACTED`, whatever the secret is.
    public var debugDescription: String { description }

    /// Nothing: `dump` and failed assertions would show the secret.
    public var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }
}

/// What is taken where a secret is asked for: a ``Secret``, or a `String`, which is kept as one from then on.
public protocol SecretConvertible: Sendable {
    /// The secret.
    func asSecret() -> Secret
}

extension Secret: SecretConvertible {
    /// The secret itself.
    public func asSecret() -> Secret { self }
}

extension String: SecretConvertible {
    /// A secret of this text.
    public func asSecret() -> Secret { Secret(self) }
}

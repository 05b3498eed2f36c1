/// A body without its secrets.
public enum RedactedBody: Sendable, Hashable {
    /// A text without its secrets. Binary parts of a form are replaced by a note in parentheses.
    case text(String)
    /// Binary data, which was not searched.
    case binary
    /// A body that may contain secrets that cannot be located.
    case withheld(Reason)

    /// The reason why a body is withheld.
    public enum Reason: String, Sendable, Hashable, CustomStringConvertible {
        /// The body is longer than ``Redaction/bodyLimit``.
        case tooLong = "too long to look for secrets"
        /// The body is malformed or of an unknown type, and contains the name of a secret.
        case secret = "it may hold a secret"
        /// The body is compressed, so it was not searched.
        case encoded = "compressed"
        /// The body has a text type but cannot be decoded.
        case undecodable = "not the text that its type says"

        /// The reason in a few words.
        public var description: String { rawValue }
    }
}

/// A body as others may see it.
public enum RedactedBody: Sendable, Hashable {
    /// A text without its secrets. A form's parts that are no text are replaced by a note in parentheses.
    case text(String)
    /// Bytes that are no text, and have not been looked into.
    case binary
    /// A body that may hold secrets which cannot be told from the rest.
    case withheld(Reason)

    /// Why a body is withheld.
    public enum Reason: String, Sendable, Hashable, CustomStringConvertible {
        /// It is over ``Redaction/bodyLimit``.
        case tooLong = "too long to look for secrets"
        /// It is not of the form that its type says, or of none that is known, and holds the name of a secret.
        case secret = "it may hold a secret"
        /// It is compressed, so that nobody has looked into it.
        case encoded = "compressed"
        /// It is a text by its type but cannot be decoded.
        case undecodable = "not the text that its type says"

        /// The reason in a few words.
        public var description: String { rawValue }
    }
}

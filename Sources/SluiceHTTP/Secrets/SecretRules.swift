/// The rules that identify secrets by name and redact them from a text. Errors, descriptions and `Redaction` of Sluice
/// use them.
///
/// Redaction is a best effort: it misses a secret in a path or under an unusual name. Every function takes time linear
/// in the size of its input.
package struct SecretRules: Sendable, Hashable {
    /// The text that replaces a secret.
    package static let mark = "REDACTED"

    /// The header fields whose values are secret.
    package let headerNames: SecretNames
    /// The parameters whose values are secret: in queries, fragments and forms, and before `=` in any text.
    package let parameterNames: SecretNames
    /// The members whose values are secret: in JSON, and before `:` or `=` in any text.
    package let memberNames: SecretNames
    /// True to redact user names and passwords in URLs, and credentials after an authentication scheme.
    package let hidesCredentials: Bool

    package init(
        headerNames: SecretNames,
        parameterNames: SecretNames,
        memberNames: SecretNames,
        hidesCredentials: Bool
    ) {
        self.headerNames = headerNames
        self.parameterNames = parameterNames
        self.memberNames = memberNames
        self.hidesCredentials = hidesCredentials
    }

    /// The default rules: credentials, and values whose names usually denote secrets.
    package static let usual = SecretRules(
        headerNames: SecretNames(SecretNames.usualHeaders),
        parameterNames: SecretNames(SecretNames.usualMembers + SecretNames.usualParameters),
        memberNames: SecretNames(SecretNames.usualMembers),
        hidesCredentials: true
    )

    /// True if the rules redact nothing.
    package var isNone: Bool {
        !hidesCredentials && headerNames.isEmpty && parameterNames.isEmpty && memberNames.isEmpty
    }

    /// Redacts a text of any format.
    package func text(_ text: String) -> String {
        isNone ? text : SecretScanner.redacted(text, self)
    }

    /// Returns true if a word is the name of an authentication scheme, and thus not a secret.
    package static func isScheme(_ word: String) -> Bool {
        switch word.lowercased() {
        case "basic", "bearer", "digest", "negotiate", "ntlm", "dpop", "hoba", "aws4-hmac-sha256": true
        default: false
        }
    }

    /// Returns the text of an error without the values that encoders and decoders quote, since these may be secrets.
    package static func words(of error: any Error) -> String {
        let path = { (path: [any CodingKey]) in path.map(\.stringValue).joined(separator: ".") }
        return switch error {
        case EncodingError.invalidValue(let value, let context):
            "EncodingError: at “\(path(context.codingPath))” a \(type(of: value)) cannot be encoded."
        case DecodingError.dataCorrupted(let context):
            "DecodingError: at “\(path(context.codingPath))” the data is not valid."
        default: "\(error)"
        }
    }
}

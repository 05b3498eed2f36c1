/// What is secret by its name, and how it is taken out of a text: the part of Sluice's `Redaction` that errors and descriptions need too.
///
/// It is a net, not a wall: a secret in a path, or under a name nobody would suspect, passes. Each function takes time in proportion to
/// what it is given, whatever that holds.
package struct SecretRules: Sendable, Hashable {
    /// What stands in a secret's place.
    package static let mark = "REDACTED"

    /// Header fields whose values are secret.
    package let headerNames: SecretNames
    /// Parameters whose values are secret: in queries, fragments, forms, and behind `=` in any text.
    package let parameterNames: SecretNames
    /// Members whose values are secret: in JSON, and behind `:` or `=` in any text.
    package let memberNames: SecretNames
    /// Whether secret is what needs no name to be: user names in URLs, and credentials.
    package let hidesCredentials: Bool

    /// Makes rules.
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

    /// Credentials, and what has a name that secrets usually have.
    package static let usual = SecretRules(
        headerNames: SecretNames(SecretNames.usualHeaders),
        parameterNames: SecretNames(SecretNames.usualMembers + SecretNames.usualParameters),
        memberNames: SecretNames(SecretNames.usualMembers),
        hidesCredentials: true
    )

    /// Whether nothing at all is secret.
    package var isNone: Bool {
        !hidesCredentials && headerNames.isEmpty && parameterNames.isEmpty && memberNames.isEmpty
    }

    /// Takes what looks like a secret out of a text of any form.
    package func text(_ text: String) -> String {
        isNone ? text : SecretScanner.redacted(text, self)
    }

    /// Whether a word is the name of an authentication scheme, so that it is no secret itself.
    package static func isScheme(_ word: String) -> Bool {
        switch word.lowercased() {
        case "basic", "bearer", "digest", "negotiate", "ntlm", "dpop", "hoba", "aws4-hmac-sha256": true
        default: false
        }
    }

    /// What an error says, without the values that encoders and decoders quote: which of them are secret nobody can tell.
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

import SluiceHTTP

/// The secrets of a request and its response, and their removal before logging or recording.
///
/// ```swift
/// var redaction = Redaction.standard
/// redaction.memberNames.insert("iban")
/// redaction.url("https://ada:pw@example.com/?q=1&access_token=s3")
/// // https://REDACTED@example.com/?q=1&access_token=REDACTED
/// ```
///
/// A value is secret if its name is, wherever it occurs. Only known names are recognised, so the protection is not
/// complete: a secret in a path, or under a name that is not listed, is not removed. Each function takes linear time
/// for any input.
public struct Redaction: Sendable, Hashable {
    /// The text that replaces a secret.
    public static let mark = SecretRules.mark

    /// The header fields whose values are secret, in addition to those that a client declares secret.
    public var headerNames: Names
    /// The parameters whose values are secret: in queries, fragments, forms, and before `=` in any text.
    public var parameterNames: Names
    /// The members whose values are secret: in JSON, and before `:` or `=` in any text.
    public var memberNames: Names
    /// The maximum length of a body to search, in bytes; 1 MiB by default. A longer body is withheld.
    public var bodyLimit = 1 << 20
    /// True to hide secrets that have no name: user names in URLs, credentials, and the headers that a client declares
    /// secret.
    let hidesCredentials: Bool

    /// Creates a redaction that hides credentials and the values with these names.
    ///
    /// - Parameters:
    ///   - headerNames: The names of secret header fields.
    ///   - parameterNames: The names of secret parameters in queries and forms.
    ///   - memberNames: The names of secret members of JSON objects.
    public init(
        headerNames: Names = .headers,
        parameterNames: Names = .parameters,
        memberNames: Names = .members
    ) {
        self.init(headerNames, parameterNames, memberNames, hidesCredentials: true)
    }

    private init(_ headers: Names, _ parameters: Names, _ members: Names, hidesCredentials: Bool) {
        headerNames = headers
        parameterNames = parameters
        memberNames = members
        self.hidesCredentials = hidesCredentials
    }

    /// Hides credentials and the values with names that are usually secret.
    public static let standard = Redaction()

    /// Hides only the values with names that are added to it.
    public static let none = Redaction([], [], [], hidesCredentials: false)

    /// True if nothing is secret.
    var isNone: Bool { rules.isNone }

    /// The rules for searching text.
    var rules: SecretRules {
        SecretRules(
            headerNames: headerNames.names,
            parameterNames: parameterNames.names,
            memberNames: memberNames.names,
            hidesCredentials: hidesCredentials
        )
    }
}

extension Redaction.Names {
    /// Names of headers that hold secrets: `Authorization`, `Cookie`, `Set-Cookie`, `X-Api-Key` and many more.
    public static let headers = Self(SecretNames.usualHeaders)

    /// Names of JSON members that hold secrets: names that end with `token`, contain `password` or `secret`, and many
    /// more.
    public static let members = Self(SecretNames.usualMembers)

    /// Names of parameters that hold secrets: those of JSON members, and `key`, `code` and `sig`, which are common in
    /// JSON with other meanings.
    public static let parameters = members.union(Self(SecretNames.usualParameters))
}

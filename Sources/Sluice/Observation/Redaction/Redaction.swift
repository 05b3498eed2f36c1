import SluiceHTTP

/// What is secret in a request and its response, and how it is taken out before anybody else reads them.
///
/// ```swift
/// var redaction = Redaction.standard
/// redaction.memberNames.insert("iban")
/// redaction.url("https://ada:pw@example.com/?q=1&access_token=s3")
/// // https://REDACTED@example.com/?q=1&access_token=REDACTED
/// ```
///
/// Names decide: a value is secret if its name is, wherever it stands. It goes by names that are known, so it is a net, not a
/// wall: a secret in a path, or under a name nobody would suspect, passes. Each function takes time in proportion to
/// what it is given, whatever that holds.
public struct Redaction: Sendable, Hashable {
    /// What stands in a secret's place.
    public static let mark = SecretRules.mark

    /// Header fields whose values are secret, besides those that a client names as such.
    public var headerNames: Names
    /// Parameters whose values are secret: in queries, fragments, forms, and behind `=` in any text.
    public var parameterNames: Names
    /// Members whose values are secret: in JSON, and behind `:` or `=` in any text.
    public var memberNames: Names
    /// How long a body may be to be looked through, in bytes; a longer one is withheld. 1 MiB by default.
    public var bodyLimit = 1 << 20
    /// Whether secret is what needs no name to be: user names in URLs, credentials, and the headers a client names.
    let hidesCredentials: Bool

    /// Makes a redaction that hides credentials, and what has one of these names.
    ///
    /// - Parameters:
    ///   - headerNames: Of header fields.
    ///   - parameterNames: Of parameters in queries and forms.
    ///   - memberNames: Of members of JSON objects.
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

    /// Hides credentials and what has a name that secrets usually have.
    public static let standard = Redaction()

    /// Hides nothing but what has a name that is added to it.
    public static let none = Redaction([], [], [], hidesCredentials: false)

    /// Whether nothing at all is secret.
    var isNone: Bool { rules.isNone }

    /// What texts are read by.
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

    /// Names of JSON members that hold secrets: whatever ends in `token`, holds `password` or `secret`, and many more.
    public static let members = Self(SecretNames.usualMembers)

    /// Names of parameters that hold secrets: those of JSON members, and `key`, `code` and `sig`, which are common in
    /// JSON with other meanings.
    public static let parameters = members.union(Self(SecretNames.usualParameters))
}

import SluiceFoundation
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
/// A value is secret if its name is, wherever it occurs. Only known names are recognized, so the protection is not
/// complete: a secret in a path, or under a name that is not listed, is not removed. Each function takes linear time
/// for any input.
public struct Redaction: Sendable, Hashable {
    /// The text that replaces a secret.
    package static let mark = SecretRules.mark

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

    /// The redactor of documents, with these names.
    var document: DocumentRedactor { DocumentRedactor(rules, limit: bodyLimit) }

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

// MARK: - Names

extension Redaction {
    /// A set of names whose values are secret.
    ///
    /// Only letters and digits are compared, case-insensitively: `access_token`, `Access-Token` and `accessToken` are
    /// the same name. A `*` at the beginning or end matches any text, so `*token` matches every name that ends with it.
    /// `*-` at the beginning matches any words, so `*-pass` matches `db_pass` and `dbPass`, and not `compass`.
    /// For a name of several parts, such as `user[password]` or `user.password`, each part and the whole are compared.
    public struct Names: Sendable, Hashable, ExpressibleByArrayLiteral {
        private(set) var names: SecretNames

        /// Creates a set of names.
        public init(_ names: some Sequence<String>) {
            self.names = SecretNames(names)
        }

        /// Creates a set of names.
        public init(arrayLiteral elements: String...) {
            self.init(elements)
        }

        /// Adds a name.
        public mutating func insert(_ name: String) {
            names.insert(name)
        }

        /// Removes a name, which must be written as it was inserted, including stars.
        public mutating func remove(_ name: String) {
            names.remove(name)
        }

        package func union(_ other: Names) -> Names {
            var union = self
            union.names = names.union(other.names)
            return union
        }

        /// Returns true if values with the name are secret.
        package func contains(_ name: String) -> Bool { names.contains(name) }
    }
}

extension Redaction.Names {
    /// Names of headers that hold secrets: `Authorization`, `Cookie`, `Set-Cookie`, `X-Api-Key` and many more.
    public static let headers = Self(SecretNames.usualHeaders)

    /// Names of JSON members that hold secrets: names that end with `token`, contain `password` or `secret`, and many
    /// more.
    public static let members = {
        var members = Self(SecretNames.usualMembers)
        members.names = members.names.excluding(SecretNames(SecretNames.usualExemptions))
        return members
    }()

    /// Names of parameters that hold secrets: those of JSON members, and `key`, `code` and `sig`, which are common in
    /// JSON with other meanings.
    public static let parameters = members.union(Self(SecretNames.usualParameters))
}

// MARK: - URLs, headers and texts

extension Redaction {
    /// Removes the secrets from a URL: the user name and password, and secret parameters in path, query and fragment.
    ///
    /// A parameter is also removed if its value contains a secret, as a return URL may.
    ///
    /// - Parameter url: A URL, absolute or relative, valid or not.
    /// - Returns: The URL with `REDACTED` in place of the secrets; unchanged if it has none.
    public func url(_ url: String) -> String { rules.url(url) }

    /// Removes the secrets from header fields: the values of secret fields, and secrets within other values, such as
    /// the URL of a `Location`.
    ///
    /// - Parameters:
    ///   - headers: The fields.
    ///   - secretHeaders: Additional secret fields: ``ObservedRequest/secretHeaders``.
    /// - Returns: The same fields in the same order, with `REDACTED` in place of the secrets. The scheme of an
    ///   `Authorization` is kept.
    public func headers(_ headers: HTTPHeaders, secretHeaders: [HTTPHeaderName] = []) -> HTTPHeaders {
        document.headers(headers, secretHeaders: secretHeaders)
    }

    /// Removes likely secrets from any text, such as an error message.
    ///
    /// - Parameter text: The text.
    /// - Returns: The text with `REDACTED` in place of the values after secret names and authentication schemes, and of
    ///   user names in URLs.
    public func text(_ text: String) -> String {
        document.text(text)
    }
}

// MARK: - Bodies

extension Redaction {
    /// Removes the secrets from a body: secret members of JSON at any depth, secret fields of forms, and secret elements
    /// and attributes of XML and HTML.
    ///
    /// The format is that of the body itself, whatever its `Content-Type`. Strings, fields and texts that are documents
    /// are searched too. Any other body, or a malformed one, is withheld if it contains a secret name, and is unchanged
    /// otherwise.
    ///
    /// - Parameters:
    ///   - data: The body.
    ///   - contentType: Its `Content-Type`; nil if there is none.
    ///   - contentEncoding: Its `Content-Encoding` if it is still encoded, as a request's body is and a response's is
    ///     not. An encoded body is withheld.
    /// - Returns: The redacted body.
    public func body(_ data: Data, contentType: String?, contentEncoding: String? = nil) -> RedactedBody {
        switch document.body(data, contentType: contentType, contentEncoding: contentEncoding) {
        case .text(let text, _), .abridged(let text): .text(text)
        case .bytes(let form): .text(String(decoding: form, as: UTF8.self))
        case .binary: .binary
        case .withheld(let reason): .withheld(reason: reason.rawValue)
        }
    }
}

/// A body without its secrets.
public enum RedactedBody: Sendable, Hashable {
    /// A text without its secrets. Binary parts of a form are replaced by a note in parentheses.
    case text(String)
    /// Binary data, which was not searched.
    case binary
    /// A body that may contain secrets that cannot be located, and the reason in a few words.
    case withheld(reason: String)
}

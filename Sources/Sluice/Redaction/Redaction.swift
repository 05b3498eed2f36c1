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
/// A value is secret if its name is, wherever it occurs. Only known names are recognised, so the protection is not
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

        package var isEmpty: Bool { names.isEmpty }

        /// Adds a name.
        public mutating func insert(_ name: String) {
            names.insert(name)
        }

        /// Removes a name, which must be written as it was inserted, including stars.
        public mutating func remove(_ name: String) {
            names.remove(name)
        }

        /// Returns the union of these names and others.
        public func union(_ other: Names) -> Names {
            var union = self
            union.names = names.union(other.names)
            return union
        }

        /// Returns true if values with the name are secret.
        package func contains(_ name: String) -> Bool { names.contains(name) }
        func contains(_ name: [UInt8]) -> Bool { names.contains(name) }
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
        if isNone { return headers }
        var redacted = HTTPHeaders()
        for field in headers { redacted.append(field.name, value(of: field, secretHeaders: secretHeaders)) }
        return redacted
    }

    /// Removes likely secrets from any text, such as an error message.
    ///
    /// - Parameter text: The text.
    /// - Returns: The text with `REDACTED` in place of the values after secret names and authentication schemes, and of
    ///   user names in URLs.
    public func text(_ text: String) -> String {
        rules.text(text)
    }

    private func value(of field: HTTPHeaders.Field, secretHeaders: [HTTPHeaderName]) -> String {
        let isSecret =
            headerNames.contains(field.name.rawValue) || hidesCredentials && secretHeaders.contains(field.name)
        if isSecret {
            if field.value.isEmpty { return "" }
            let scheme = field.value.prefix { $0 != " " }
            let isShown = scheme.utf8.count < field.value.utf8.count && SecretRules.isScheme(String(scheme))
            return isShown ? "\(scheme) \(Self.mark)" : Self.mark
        }
        return Self.isLink(field.name) ? url(field.value) : text(field.value)
    }

    private static func isLink(_ name: HTTPHeaderName) -> Bool {
        name == .location || name == .referer || name == "Content-Location"
    }
}

// MARK: - Bodies

extension Redaction {
    /// Removes the secrets from a body: secret members of JSON at any depth, and secret fields of forms.
    ///
    /// Any other body, or a malformed one, is withheld if it contains a secret name, and is unchanged otherwise.
    ///
    /// - Parameters:
    ///   - data: The body.
    ///   - contentType: Its `Content-Type`; nil if there is none.
    ///   - contentEncoding: Its `Content-Encoding` if it is still encoded, as a request's body is and a response's is
    ///     not. An encoded body is withheld.
    /// - Returns: The redacted body.
    public func body(_ data: Data, contentType: String?, contentEncoding: String? = nil) -> RedactedBody {
        let isEncoded = contentEncoding.map { !$0.isEmpty && $0.lowercased() != "identity" } ?? false
        if isEncoded { return isNone ? .binary : .compressed }
        return body(data, contentType: contentType, depth: 0)
    }

    func body(_ data: Data, contentType: String?, depth: Int) -> RedactedBody {
        if data.count > bodyLimit, !isNone { return .tooLong }
        let type = contentType.flatMap(ContentType.init)
        if type?.type == "multipart", let boundary = type?["boundary"] {
            if let form = MultipartRedactor.redacted(data, boundary: boundary, depth: depth, self) {
                return .text(form)
            }
            return undetermined(data, type)
        }
        guard let text = Self.text(of: data, type) else { return undetermined(data, type) }
        if isNone { return .text(text) }
        if type?.essence == "application/x-www-form-urlencoded" {
            return .text(rules.form(text))
        }
        if let first = text.utf8.first(where: { $0 > 0x20 }), "{[\"".utf8.contains(first),
            let json = JSONRedactor.redacted(text, rules)
        {
            return .text(json)
        }
        return mayHoldSecret(Array(text.utf8)) ? .possiblySecret : .text(text)
    }

    /// Returns the result for a body that is not text or cannot be parsed.
    private func undetermined(_ data: Data, _ type: ContentType?) -> RedactedBody {
        if isNone { return String(validating: data, as: UTF8.self).map { .text($0) } ?? .binary }
        if mayHoldSecret(Array(data)) { return .possiblySecret }
        if type?.type == "multipart", let text = String(validating: data, as: UTF8.self) { return .text(text) }
        if Self.isCompressed(data) { return .compressed }
        return type?.isText == true ? .undecodable : .binary
    }

    /// Returns true if data begins like gzip, zlib or Zstandard (RFC 1952 §2.3.1, RFC 1950 §2.2, RFC 8878 §3.1.1).
    private static func isCompressed(_ data: Data) -> Bool {
        let starts: [[UInt8]] = [
            [0x1F, 0x8B], [0x28, 0xB5, 0x2F, 0xFD], [0x78, 1], [0x78, 0x5E], [0x78, 0x9C], [0x78, 0xDA],
        ]
        return starts.contains { data.starts(with: $0) }
    }

    /// Returns true if the bytes contain a secret name, or an escape sequence that could hide one.
    private func mayHoldSecret(_ bytes: [UInt8]) -> Bool {
        SecretScanner.containsSecretName(bytes, rules) || SecretScanner.containsSecret(bytes, rules)
            // Malformed JSON may contain a letter as an escape sequence.
            || bytes.contains(UInt8(ascii: "\\"))
                && String(decoding: bytes, as: UTF8.self).utf8.split(separator: UInt8(ascii: "\\"))
                    .contains { $0.starts(with: "u00".utf8) }
    }

    private static func text(of data: Data, _ type: ContentType?) -> String? {
        guard let text = decoded(data, type) else { return nil }
        // Text in any encoding has no control characters other than white space and escape.
        let isBinary = text.utf8.contains { $0 < 0x20 && !(9...13).contains($0) && $0 != 0x1B }
        return isBinary && type?.isText != true ? nil : text
    }

    private static func decoded(_ data: Data, _ type: ContentType?) -> String? {
        if let mark = ByteOrderMark(of: data) { return try? mark.charset.decode(data, from: mark.length) }
        if let label = type?.charset, let charset = Charset(label: label), charset != .utf8 {
            return try? charset.decode(data, from: 0)
        }
        return String(validating: data, as: UTF8.self)
    }
}

extension ContentType {
    /// True if content of this type is text.
    var isText: Bool {
        if type == "text" { return true }
        let kind = subtype.split(separator: "+").last ?? ""
        return type == "application"
            && ["json", "xml", "javascript", "x-www-form-urlencoded", "x-ndjson", "yaml", "toml", "graphql", "jsonl"]
                .contains(kind)
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

extension RedactedBody {
    /// The body is longer than ``Redaction/bodyLimit``.
    package static let tooLong = withheld(reason: "too long to look for secrets")
    /// The body is malformed or of an unknown type, and contains the name of a secret.
    package static let possiblySecret = withheld(reason: "it may contain a secret")
    /// The body is compressed, so it was not searched.
    package static let compressed = withheld(reason: "compressed")
    /// The body has a text type but cannot be decoded.
    package static let undecodable = withheld(reason: "declared as text, but cannot be decoded")
}

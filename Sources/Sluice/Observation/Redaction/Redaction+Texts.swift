import SluiceHTTP

extension Redaction {
    /// Takes the secrets out of a URL: the user name and password, and secret parameters in path, query and fragment.
    ///
    /// A parameter goes as well if its value holds a secret itself, as a URL to come back to may.
    ///
    /// - Parameter url: A URL, whole or relative, valid or not.
    /// - Returns: The URL with ``mark`` in their places; without secrets as it was.
    public func url(_ url: String) -> String { rules.url(url) }

    /// Takes the secrets out of header fields: the values of secret ones, and what is secret in the others, as in the URL of a
    /// `Location`.
    ///
    /// - Parameters:
    ///   - headers: The fields.
    ///   - secret: Fields that are secret too: ``ObservedRequest/secretHeaders``.
    /// - Returns: As many fields in the same order, with ``mark`` in the secrets' places. The scheme of an
    ///   `Authorization` stays.
    public func headers(_ headers: HTTPHeaders, and secret: [HTTPHeaderName] = []) -> HTTPHeaders {
        if isNone { return headers }
        var redacted = HTTPHeaders()
        for field in headers { redacted.append(field.name, value(of: field, and: secret)) }
        return redacted
    }

    /// Takes what looks like a secret out of a text of any form, as an error's sentence.
    ///
    /// - Parameter text: The text.
    /// - Returns: The text with ``mark`` in the place of what stands behind secret names and authentication schemes, and
    ///   of user names in URLs.
    public func text(_ text: String) -> String {
        rules.text(text)
    }

    private func value(of field: HTTPHeaders.Field, and secret: [HTTPHeaderName]) -> String {
        let isSecret = headerNames.contains(field.name.rawValue) || hidesCredentials && secret.contains(field.name)
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

import SluiceHTTP

extension Redaction {
    /// Removes the secrets from a URL: the user name and password, and secret parameters in path, query and fragment.
    ///
    /// A parameter is also removed if its value contains a secret, as a return URL may.
    ///
    /// - Parameter url: A URL, absolute or relative, valid or not.
    /// - Returns: The URL with ``mark`` in place of the secrets; unchanged if it has none.
    public func url(_ url: String) -> String { rules.url(url) }

    /// Removes the secrets from header fields: the values of secret fields, and secrets within other values, such as
    /// the URL of a `Location`.
    ///
    /// - Parameters:
    ///   - headers: The fields.
    ///   - secret: Additional secret fields: ``ObservedRequest/secretHeaders``.
    /// - Returns: The same fields in the same order, with ``mark`` in place of the secrets. The scheme of an
    ///   `Authorization` is kept.
    public func headers(_ headers: HTTPHeaders, and secret: [HTTPHeaderName] = []) -> HTTPHeaders {
        if isNone { return headers }
        var redacted = HTTPHeaders()
        for field in headers { redacted.append(field.name, value(of: field, and: secret)) }
        return redacted
    }

    /// Removes likely secrets from any text, such as an error message.
    ///
    /// - Parameter text: The text.
    /// - Returns: The text with ``mark`` in place of the values after secret names and authentication schemes, and of
    ///   user names in URLs.
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

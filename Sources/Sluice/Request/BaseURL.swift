import SluiceHTTP

/// An absolute URL taken apart once, so that a request only appends to it.
struct BaseURL: Sendable, Equatable {
    let scheme: String
    let authority: String
    /// Without a slash at its end.
    let path: String
    /// Without the question mark; nil if there is none.
    let query: String?

    /// Takes an absolute http or https URL apart (RFC 3986 §3); its fragment is dropped.
    static func parse(_ text: String) -> Result<BaseURL, SluiceError> {
        guard let schemeEnd = text.firstRange(of: "://") else {
            return .failure(.invalidURL("it is not absolute: write it with http:// or https://"))
        }
        let scheme = text[..<schemeEnd.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else {
            let name = String(scheme.prefix(16).filter { $0.isASCII && ($0.isLetter || $0.isNumber) })
            return .failure(
                SluiceError(
                    .unsupportedScheme,
                    "The scheme “\(name)” is not supported; use http or https.",
                    step: .building
                )
            )
        }
        var rest = text[schemeEnd.upperBound...]
        if let fragment = rest.firstIndex(of: "#") { rest = rest[..<fragment] }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        if let reason = flaw(of: authority) { return .failure(.invalidURL(reason)) }
        rest = rest[authority.endIndex...]
        let path = rest.prefix { $0 != "?" }
        rest = rest[path.endIndex...]
        return .success(
            BaseURL(
                scheme: scheme,
                authority: String(authority),
                path: PercentEncoding.completed(String(path.hasSuffix("/") ? path.dropLast() : path)),
                query: rest.isEmpty ? nil : PercentEncoding.completed(String(rest.dropFirst()))
            )
        )
    }

    private static func flaw(of authority: Substring) -> String? {
        if authority.isEmpty { return "it has no host" }
        if authority.contains("@") {
            return "it holds a user name; send credentials in an Authorization header instead"
        }
        if authority.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F || "\\\"<>^`{|}".utf8.contains($0) }) {
            return "its host has a character no host may have"
        }
        guard let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") else { return nil }
        guard let port = UInt16(authority[authority.index(after: colon)...]), port > 0 else {
            return "its port is not a number from 1 to 65535"
        }
        return authority[..<colon].isEmpty ? "it has no host" : nil
    }
}

extension SluiceError {
    /// An URL that cannot be used; the URL itself is left out, since it may hold secrets.
    static func invalidURL(_ reason: String) -> SluiceError {
        SluiceError(.invalidURL, "The URL is not valid: \(reason).", step: .building)
    }
}

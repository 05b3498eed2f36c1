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
        let url = URIReference(text)
        if let refusal = refusal(of: url) { return .failure(refusal) }
        let path = PercentEncoding.completed(url.path)
        return .success(
            BaseURL(
                scheme: url.scheme?.lowercased() ?? "",
                authority: url.authority ?? "",
                path: path.hasSuffix("/") ? String(path.dropLast()) : path,
                query: url.query.map(PercentEncoding.completed)
            )
        )
    }

    /// Why no request can go to a URL; nil if one can.
    static func refusal(of url: URIReference) -> SluiceError? {
        guard let scheme = url.scheme?.lowercased(), let authority = url.authority else {
            return .invalidURL("it is not absolute: write it with http:// or https://")
        }
        guard scheme == "http" || scheme == "https" else {
            return SluiceError(
                .unsupportedScheme,
                "The scheme “\(scheme.prefix(16))” is not supported; use http or https.",
                step: .building
            )
        }
        return Authority.flaw(of: authority).map(SluiceError.invalidURL)
    }
}

extension SluiceError {
    /// An URL that cannot be used; the URL itself is left out, since it may hold secrets.
    static func invalidURL(_ reason: String) -> SluiceError {
        SluiceError(.invalidURL, "The URL is not valid: \(reason).", step: .building)
    }
}

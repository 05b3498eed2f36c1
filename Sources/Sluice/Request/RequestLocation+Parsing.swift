import SluiceHTTP

extension RequestLocation {
    /// Parses an absolute http or https URL (RFC 3986 §3). Its fragment is removed.
    init(parsing text: String) throws(SluiceError) {
        try self.init(URIReference(text))
    }

    /// Creates a location from the parts of an absolute http or https URL.
    init(_ url: URIReference) throws(SluiceError) {
        guard let scheme = url.scheme?.lowercased(), let authority = url.authority else {
            throw .invalidURL("it is not absolute: write it with http:// or https://")
        }
        guard scheme == "http" || scheme == "https" else {
            throw SluiceError(
                .unsupportedScheme,
                "The scheme “\(scheme.prefix(16))” is not supported; use http or https.",
                step: .building
            )
        }
        if let flaw = Authority.flaw(of: authority) { throw .invalidURL(flaw) }
        self.scheme = scheme
        self.authority = authority
        path = PercentEncoding.completed(url.path)
        query = url.query.map(PercentEncoding.completed)
    }

    /// Resolves a reference against this location as the base URL (RFC 3986 §5).
    func resolving(_ reference: String) throws(SluiceError) -> RequestLocation {
        let base = URIReference(scheme: scheme, authority: authority, path: path, query: query)
        return try RequestLocation(URIReference(reference).resolved(against: base))
    }
}

extension SluiceError {
    /// Creates an error for a URL that is not valid. The URL is not included, because it may hold secrets.
    static func invalidURL(_ reason: String) -> SluiceError {
        SluiceError(.invalidURL, "The URL is not valid: \(reason).", step: .building)
    }
}

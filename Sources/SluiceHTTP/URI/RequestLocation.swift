/// The destination of a request: the parts of its URL, percent-encoded.
package struct RequestLocation: Sendable, Equatable {
    package var scheme: String
    package var authority: String
    /// Empty, or starting with a slash.
    package var path: String
    /// The query without its question mark; nil if there is none.
    package var query: String?
    /// True if the request's path, and not only the base URL, determined scheme and authority.
    package var isFromPath = false

    /// The path and query in the form of a request line.
    package var target: String {
        guard let query else { return path.isEmpty ? "/" : path }
        var target = ""
        target.reserveCapacity(path.utf8.count + 2 + query.utf8.count)
        target += path.isEmpty ? "/" : path
        target += "?"
        target += query
        return target
    }

    /// Replaces the host, and the scheme if the text has one.
    package mutating func move(to host: String) throws(SluiceError) {
        let origin = try RequestLocation(parsing: host.contains("://") ? host : "\(scheme)://\(host)")
        guard origin.path.isEmpty || origin.path == "/", origin.query == nil else {
            throw .invalidURL("the alternative host has a path or query")
        }
        scheme = origin.scheme
        authority = origin.authority
    }
}

extension RequestLocation {
    package func markedFromPath() -> RequestLocation {
        var location = self
        location.isFromPath = true
        return location
    }

    /// Appends a path, with one slash between, and appends its query to the existing query. Its fragment is removed.
    package func appending(_ reference: String) -> RequestLocation {
        var rest = reference.utf8[...]
        if let number = rest.firstIndex(of: UInt8(ascii: "#")) { rest = rest[..<number] }
        let question = rest.firstIndex(of: UInt8(ascii: "?"))
        let appended = rest[..<(question ?? rest.endIndex)]
        var location = self
        if let first = appended.first {
            if location.path.utf8.last == UInt8(ascii: "/") { location.path.removeLast() }
            if first != UInt8(ascii: "/") { location.path += "/" }
            location.path += PercentEncoding.completed(String(Substring(appended)))
        }
        if let question {
            let added = PercentEncoding.completed(String(Substring(rest[question...].dropFirst())))
            let parts = [query ?? "", added].filter { !$0.isEmpty }
            location.query = parts.joined(separator: "&")
        }
        return location
    }
}

// MARK: - Parsing

extension RequestLocation {
    /// Parses an absolute http or https URL (RFC 3986 §3). Its fragment is removed.
    package init(parsing text: String) throws(SluiceError) {
        try self.init(URIReference(text))
    }

    /// Creates a location from the parts of an absolute http or https URL.
    package init(_ url: URIReference) throws(SluiceError) {
        guard let scheme = url.scheme?.lowercased(), let authority = url.authority else {
            throw .invalidURL("it is not absolute; begin it with http:// or https://")
        }
        guard scheme == "http" || scheme == "https" else {
            throw SluiceError(
                .unsupportedScheme,
                "The scheme “\(scheme.prefix(16))” is not supported; use http or https.",
                step: .building
            )
        }
        if let problem = Authority.problem(in: authority) { throw .invalidURL(problem) }
        self.scheme = scheme
        self.authority = authority
        path = PercentEncoding.completed(url.path)
        query = url.query.map(PercentEncoding.completed)
    }

    /// Resolves a reference against this location as the base URL (RFC 3986 §5).
    package func resolving(_ reference: String) throws(SluiceError) -> RequestLocation {
        let base = URIReference(scheme: scheme, authority: authority, path: path, query: query)
        return try RequestLocation(URIReference(reference).resolved(against: base))
    }
}

extension SluiceError {
    /// Creates an error for a URL that is not valid. The URL is not included, because it may contain secrets.
    package static func invalidURL(_ reason: String) -> SluiceError {
        SluiceError(.invalidURL, "The URL is not valid: \(reason).", step: .building)
    }
}

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

    /// The origin: scheme, host and port (RFC 6454 §4).
    package var origin: HTTPOrigin { HTTPOrigin(scheme: scheme, authority: authority) }

    /// The path and query in the form of a request line.
    package var target: String {
        let path = path.isEmpty ? "/" : path
        return query.map { String(joining: path, "?", $0) } ?? path
    }

    /// Replaces the host, and the scheme if the text has one.
    package mutating func move(to host: String) throws(SluiceError) {
        let origin = try RequestLocation(parsing: host.contains("://") ? host : "\(scheme)://\(host)")
        guard origin.path.isEmpty || origin.path == "/", origin.query == nil else {
            throw .invalidURL("the alternative host “\(RequestLocation.redacted(host))” has a path or query")
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
    package mutating func append(_ reference: String) {
        var text = reference
        let isPath = text.withUTF8 { bytes in
            bytes.allSatisfy { $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "?") }
        }
        if isPath { return append(path: text) }
        var rest = text.utf8[...]
        if let number = rest.firstIndex(of: UInt8(ascii: "#")) { rest = rest[..<number] }
        let question = rest.firstIndex(of: UInt8(ascii: "?"))
        append(path: String(Substring(rest[..<(question ?? rest.endIndex)])))
        if let question {
            let added = PercentEncoding.completed(String(Substring(rest[question...].dropFirst())))
            query = [query ?? "", added].filter { !$0.isEmpty }.joined(separator: "&")
        }
    }

    private mutating func append(path appended: String) {
        guard let first = appended.utf8.first else { return }
        if path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        let slash = first == UInt8(ascii: "/") ? "" : "/"
        path = String(joining: path, slash, PercentEncoding.completed(appended))
    }
}

extension String {
    /// Joins the parts of a URL with one allocation.
    package init(joining first: String, _ second: String, _ third: String, _ fourth: String = "") {
        let count = first.utf8.count + second.utf8.count + third.utf8.count + fourth.utf8.count
        self.init(unsafeUninitializedCapacity: count) { buffer in
            var end = first.copy(to: buffer, at: 0)
            end = second.copy(to: buffer, at: end)
            end = third.copy(to: buffer, at: end)
            return fourth.copy(to: buffer, at: end)
        }
    }

    /// Copies the bytes to a position of a buffer that has room for them, and returns the position after them.
    private consuming func copy(to buffer: UnsafeMutableBufferPointer<UInt8>, at start: Int) -> Int {
        withUTF8 { buffer[start...].initialize(fromContentsOf: $0) }
    }
}

// MARK: - Parsing

extension RequestLocation {
    /// Parses an absolute http or https URL (RFC 3986 §3). Its fragment is removed.
    ///
    /// - Parameters:
    ///   - text: The URL.
    ///   - subject: The name of the URL in the error, which contains the URL without secrets.
    /// - Throws: ``SluiceError/Code/invalidURL`` or ``SluiceError/Code/unsupportedScheme``.
    package init(parsing text: String, as subject: String = "URL") throws(SluiceError) {
        if text.isEmpty { throw .invalidURL("it is empty; begin it with http:// or https://", in: subject) }
        try self.init(URIReference(text), as: "\(subject) “\(RequestLocation.redacted(text))”")
    }

    /// Creates a location from the parts of an absolute http or https URL.
    package init(_ url: URIReference, as subject: @autoclosure () -> String = "URL") throws(SluiceError) {
        guard let scheme = url.scheme?.lowercased(), let authority = url.authority else {
            throw .invalidURL("it is not absolute; begin it with http:// or https://", in: subject())
        }
        guard scheme == "http" || scheme == "https" else {
            throw SluiceError(
                .unsupportedScheme,
                "The \(subject()) is not valid: the scheme “\(scheme.prefix(16))” is not supported; use http or https.",
                step: .building
            )
        }
        if let problem = Authority.problem(in: authority) { throw .invalidURL(problem, in: subject()) }
        self.scheme = scheme
        self.authority = authority
        path = PercentEncoding.completed(url.path)
        query = url.query.map { PercentEncoding.completed($0) }
    }

    /// Resolves a reference against this location as the base URL (RFC 3986 §5).
    package func resolving(_ reference: String) throws(SluiceError) -> RequestLocation {
        let base = URIReference(scheme: scheme, authority: authority, path: path, query: query)
        let url = URIReference(reference).resolved(against: base)
        return try RequestLocation(url, as: "URL “\(RequestLocation.redacted(reference))”")
    }
}

extension SluiceError {
    /// Creates an error for a URL that is not valid.
    package static func invalidURL(_ reason: String, in subject: String = "URL") -> SluiceError {
        SluiceError(.invalidURL, "The \(subject) is not valid: \(reason).", step: .building)
    }
}

extension RequestLocation {
    /// Returns the beginning of a text that should be a URL, for an error: on one line, without user name, query,
    /// fragment and secret path parameters.
    package static func redacted(_ text: String) -> String {
        // Redacted first, because a password may contain an unencoded question mark.
        var scalars = SecretRules.usual.url(text).unicodeScalars.prefix { $0 != "?" && $0 != "#" }
        let mark = "//\(SecretRules.mark)".unicodeScalars
        if let at = scalars.lastIndex(of: "@"), !scalars[..<at].suffix(mark.count).elementsEqual(mark) {
            // Without a scheme, a user name is not recognized.
            scalars = (SecretRules.mark + String(scalars[at...])).unicodeScalars[...]
        }
        let isLong = scalars.count > 100
        let line = scalars.prefix(100).map { $0.properties.generalCategory == .control ? "?" : $0 }
        return String(String.UnicodeScalarView(line)) + (isLong ? "…" : "")
    }
}

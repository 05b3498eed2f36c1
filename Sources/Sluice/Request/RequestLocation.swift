import SluiceHTTP

/// The destination of a request: the parts of its URL, percent-encoded.
struct RequestLocation: Sendable, Equatable {
    var scheme: String
    var authority: String
    /// Empty, or starting with a slash.
    var path: String
    /// The query without its question mark; nil if there is none.
    var query: String?
    /// True if the path, and not only the base URL, determined scheme and authority.
    var isFromPath = false

    /// The path and query in the form of a request line.
    var target: String {
        guard let query else { return path.isEmpty ? "/" : path }
        var target = ""
        target.reserveCapacity(path.utf8.count + 2 + query.utf8.count)
        target += path.isEmpty ? "/" : path
        target += "?"
        target += query
        return target
    }

    /// Appends items to the query.
    mutating func add(_ parts: [QueryPart], _ encoder: URLEncodedFormEncoder) throws(SluiceError) {
        var text = Array((query ?? "").utf8)
        text.reserveCapacity(text.count + 32 * parts.count)
        var isAdding = false
        for part in parts {
            switch part {
            case .item(let name, let value):
                if !text.isEmpty { text.append(UInt8(ascii: "&")) }
                PercentEncoding.append(component: name, to: &text)
                if let value {
                    text.append(UInt8(ascii: "="))
                    PercentEncoding.append(component: value, to: &text)
                }
            case .encoded(let parameters):
                let items = try parameters.text(by: encoder)
                if items.isEmpty { continue }
                if !text.isEmpty { text.append(UInt8(ascii: "&")) }
                text += items.utf8
            }
            isAdding = true
        }
        if isAdding { query = String(decoding: text, as: UTF8.self) }
    }

    /// Replaces the host, and the scheme if the text has one.
    mutating func move(to host: String) throws(SluiceError) {
        let origin = try RequestLocation(parsing: host.contains("://") ? host : "\(scheme)://\(host)")
        guard origin.path.isEmpty || origin.path == "/", origin.query == nil else {
            throw .invalidURL("the alternative host has a path or query")
        }
        scheme = origin.scheme
        authority = origin.authority
    }
}

extension RequestDraft {
    /// Returns the location from base URL, path and host, without the query items.
    func location(for pipeline: Pipeline) throws(SluiceError) -> RequestLocation {
        var location = try unmovedLocation(for: pipeline)
        if let host { try location.move(to: host) }
        location.path = DotSegments.removing(from: location.path)
        return location
    }

    private func unmovedLocation(for pipeline: Pipeline) throws(SluiceError) -> RequestLocation {
        if isWholeURL { return try RequestLocation(parsing: path).markedFromPath() }
        let builder = options.urlBuilder ?? pipeline.configuration.urlBuilder
        switch builder.way {
        case .appending:
            let base = try base(for: pipeline)
            return base.appending(path)
        case .relative:
            return try base(for: pipeline).resolving(path).markedFromPath()
        case .custom(let build):
            let url: String
            do {
                url = try build(baseURL ?? pipeline.baseURL, path)
            } catch let error as SluiceError {
                throw error
            } catch {
                throw SluiceError(
                    .invalidURL,
                    "The URL could not be built.",
                    step: .building,
                    underlyingError: error
                )
            }
            return try RequestLocation(parsing: url).markedFromPath()
        }
    }

    /// Returns the base URL of the request, or the client's.
    func base(for pipeline: Pipeline) throws(SluiceError) -> RequestLocation {
        if let baseURL { return try RequestLocation(parsing: baseURL) }
        return try pipeline.base.get()
    }

    /// True if the path is a whole URL. The scheme's case does not matter (RFC 3986 §3.1).
    private var isWholeURL: Bool {
        let bytes = path.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return false
        }
        let scheme = path[..<colon].lowercased()
        return scheme == "http" || scheme == "https"
    }
}

extension RequestLocation {
    fileprivate func markedFromPath() -> RequestLocation {
        var location = self
        location.isFromPath = true
        return location
    }

    /// Appends a path, with one slash between, and appends its query to the existing query. Its fragment is removed.
    fileprivate func appending(_ reference: String) -> RequestLocation {
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
            let own = PercentEncoding.completed(String(Substring(rest[question...].dropFirst())))
            let parts = [query ?? "", own].filter { !$0.isEmpty }
            location.query = parts.joined(separator: "&")
        }
        return location
    }
}

// MARK: - Parsing

extension RequestLocation {
    /// Parses an absolute http or https URL (RFC 3986 §3). Its fragment is removed.
    init(parsing text: String) throws(SluiceError) {
        try self.init(URIReference(text))
    }

    /// Creates a location from the parts of an absolute http or https URL.
    init(_ url: URIReference) throws(SluiceError) {
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

// MARK: - Combination of base URL and path

/// A rule for combining base URL and path.
///
/// ```swift
/// let client = APIClient(baseURL: "https://api.example.com/v2") {
///     $0.urlBuilder = .relative
/// }
/// let request = client.codable.request("v1/users", as: [User].self)
///     .urlBuilder(URLBuilder { base, path in "\(base)/legacy.php?route=\(path)" })
/// ```
///
/// If the path is a whole URL, the rule is not used. The query items of the request are added to the resulting URL.
public struct URLBuilder: Sendable {
    enum Way: Sendable {
        case appending
        case relative
        case custom(@Sendable (_ base: String, _ path: String) throws -> String)
    }

    let way: Way

    private init(way: Way) {
        self.way = way
    }

    /// Creates a rule from a closure.
    ///
    /// - Parameter build: Called with the base URL and the path, both as written; returns an absolute URL. An error it
    ///   throws fails the request with ``SluiceError/Code/invalidURL``.
    public init(_ build: @escaping @Sendable (_ base: String, _ path: String) throws -> String) {
        way = .custom(build)
    }

    /// Appends the path to the base URL's path, with one slash between, and its query to the
    /// base URL's. This is the default.
    public static let appending = URLBuilder(way: .appending)
    /// Resolves the path against the base URL, as browsers resolve links (RFC 3986 §5).
    public static let relative = URLBuilder(way: .relative)
}

import SluiceFoundation
import SluiceHTTP

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
    enum Rule: Sendable {
        case appending
        case relative
        case custom(@Sendable (_ base: String, _ path: String) throws -> String)
    }

    let rule: Rule

    private init(rule: Rule) {
        self.rule = rule
    }

    /// Creates a rule from a closure.
    ///
    /// - Parameter build: Called with the base URL and the path, both as written; returns an absolute URL. An error it
    ///   throws fails the request with ``SluiceError/Code/invalidURL``.
    public init(_ build: @escaping @Sendable (_ base: String, _ path: String) throws -> String) {
        rule = .custom(build)
    }

    /// Appends the path to the base URL's path, with one slash between, and its query to the
    /// base URL's. This is the default.
    public static let appending = URLBuilder(rule: .appending)
    /// Resolves the path against the base URL, as browsers resolve links (RFC 3986 §5).
    public static let relative = URLBuilder(rule: .relative)
}

// MARK: - Building

extension RequestDraft {
    /// Returns the location from base URL, path and host, without the query items.
    func location(for pipeline: Pipeline) throws(SluiceError) -> RequestLocation {
        var location = try locationBeforeHostOverride(for: pipeline)
        if let host { try location.move(to: host) }
        location.path = DotSegments.removing(from: location.path)
        return location
    }

    private func locationBeforeHostOverride(for pipeline: Pipeline) throws(SluiceError) -> RequestLocation {
        if isWholeURL { return try RequestLocation(parsing: path).markedFromPath() }
        let builder = options.urlBuilder ?? pipeline.configuration.urlBuilder
        switch builder.rule {
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
        if let baseURL { return try RequestLocation(parsing: baseURL, as: "base URL") }
        return try pipeline.base.get()
    }

    /// True if the path is a whole URL. The scheme's case does not matter (RFC 3986 §3.1).
    private var isWholeURL: Bool {
        let bytes = path.utf8
        guard let first = bytes.first, first.asciiLowercased == UInt8(ascii: "h"),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8)
        else { return false }
        let scheme = path[..<colon].lowercased()
        return scheme == "http" || scheme == "https"
    }
}

extension RequestLocation {
    /// Appends items to the query.
    mutating func add(_ parts: [QueryPart], _ encoder: URLEncodedFormEncoder) throws(SluiceError) {
        var text = Array((query ?? "").utf8)
        text.reserveCapacity(text.count + 32 * parts.count)
        var isChanged = false
        var isRemoving = false
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
                let kept = parameters.removed.reduce(Array(items.utf8)) { $1.removed(from: $0) }
                if kept.isEmpty { continue }
                if !text.isEmpty { text.append(UInt8(ascii: "&")) }
                text += kept
            case .removal(let names):
                text = names.removed(from: text)
                isRemoving = true
            }
            isChanged = true
        }
        if isChanged { query = isRemoving && text.isEmpty ? nil : String(decoding: text, as: UTF8.self) }
    }
}

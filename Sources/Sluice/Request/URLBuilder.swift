import SluiceHTTP

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

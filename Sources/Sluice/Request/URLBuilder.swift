import SluiceHTTP

/// How base URL and path become one URL.
///
/// ```swift
/// let client = APIClient(baseURL: "https://api.example.com/v2") {
///     $0.urlBuilder = .relative
/// }
/// let request = client.codable.request("v1/users", as: [User].self)
///     .urlBuilder(URLBuilder { base, path in "\(base)/legacy.php?route=\(path)" })
/// ```
///
/// A path that is a whole URL is taken as it is and no builder is asked. Query items of the request are added to whatever
/// the builder gives.
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

    /// Makes a builder of a closure.
    ///
    /// - Parameter build: Gives an absolute URL of the base URL and the path, both as they were written. What it throws fails
    ///   the request with ``SluiceError/Code/invalidURL``.
    public init(_ build: @escaping @Sendable (_ base: String, _ path: String) throws -> String) {
        way = .custom(build)
    }

    /// Appends the path to the base URL's, with one slash between them, and its query to the base URL's: the default.
    public static let appending = URLBuilder(way: .appending)
    /// Resolves the path against the base URL as a browser resolves a link (RFC 3986 §5).
    public static let relative = URLBuilder(way: .relative)
}

import SluiceFoundation
import SluiceHTTP

/// A client for one API: it creates requests that share a base URL and a configuration.
///
/// ```swift
/// let github = APIClient(baseURL: "https://api.github.com") {
///     $0.headers["Accept"] = "application/vnd.github+json"
/// }
/// let user: User = try await github.get("users/apple").sender().value
/// ```
///
/// A client is a value and needs no shutdown. A base URL that is not valid fails each request with
/// ``SluiceError/Code/invalidURL``.
public struct APIClient: Sendable {
    /// Shared by all copies and by every request, which hold only a pointer to it.
    let pipeline: Pipeline

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - baseURL: An absolute http or https URL, to which the paths of requests are appended. It can be omitted if
    ///     every request has its own, as a ``Target`` does.
    ///   - configure: Called with the default configuration, to change it. An error it throws is rethrown.
    public init(baseURL: String = "", configure: (inout Configuration) throws -> Void) rethrows {
        var configuration = Configuration()
        try configure(&configuration)
        pipeline = Pipeline(baseURL: baseURL, configuration: configuration)
    }

    /// Creates a client with the default configuration.
    ///
    /// - Parameter baseURL: An absolute http or https URL, to which the paths of requests are appended.
    public init(baseURL: String = "") {
        self.init(baseURL: baseURL) { _ in }
    }

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - baseURL: An absolute http or https URL, to which the paths of requests are appended.
    ///   - configure: Called with the default configuration, to change it. An error it throws is rethrown.
    public init(baseURL: URL, configure: (inout Configuration) throws -> Void) rethrows {
        try self.init(baseURL: baseURL.absoluteString, configure: configure)
    }

    /// Creates a client with the default configuration.
    public init(baseURL: URL) {
        self.init(baseURL: baseURL.absoluteString)
    }

    /// Unavailable: the URL is optional.
    @available(*, unavailable, message: "Unwrap the URL, or pass its text.")
    public init(baseURL: URL?, configure: (inout Configuration) -> Void = { _ in }) {
        self.init()
    }

    /// The configuration that the client was created with.
    public var configuration: Configuration { pipeline.configuration }

    /// The configuration's clock, without a copy of the configuration.
    package var clock: any SluiceClock { pipeline.clock }

    init(pipeline: Pipeline) {
        self.pipeline = pipeline
    }

    /// Waits until the client's observers have received all events so far, for example before a
    /// report is written or in a test.
    public func observersCaughtUp() async {
        for observer in pipeline.steps.observers { await observer.deliverAll() }
    }
}

// MARK: - Description

extension APIClient: CustomStringConvertible, CustomReflectable {
    /// The client's base URL, without secrets.
    public var description: String {
        pipeline.baseURL.isEmpty
            ? "a client without a base URL" : "a client with the base URL \(SecretRules.usual.url(pipeline.baseURL))"
    }

    /// The children that `dump` shows: only the base URL, without secrets. ``configuration`` has everything else.
    public var customMirror: Mirror {
        Mirror(self, children: ["baseURL": SecretRules.usual.url(pipeline.baseURL)], displayStyle: .struct)
    }
}

// MARK: - Web services

/// An API as a type whose functions return requests.
///
/// ```swift
/// struct GitHubAPI: WebService {
///     let client: APIClient
///
///     func user(_ id: Int) -> APIRequest<User, GitHubError> {
///         server.get("user/\(id)")
///     }
///     func createGist(_ gist: NewGist) -> APIRequest<Gist, GitHubError> {
///         server.post("gists").json(gist)
///     }
///     func zen() -> APIRequest<String, GitHubError> {
///         server.string.get("zen")
///     }
/// }
///
/// let user = try await GitHubAPI(client: github).user(10_639_145).sender().value
/// ```
///
/// A path is used as it is. For a text in a path, expand a ``URITemplate``, which encodes it.
///
/// A body on a method without one, as in `server.get("users").json(user)`, does not compile.
public protocol WebService: Sendable {
    /// The client that sends the requests.
    var client: APIClient { get }
}

extension WebService {
    /// The client, as the start of the service's requests: `get`, `post` and the other methods.
    public var server: APIClient { client }
}

/// An API as a type with one client and static functions that return requests. A ``WebService`` is given its client,
/// which a test can replace.
///
/// ```swift
/// enum GitHubAPI: StaticWebService {
///     static let client = APIClient(baseURL: "https://api.github.com")
///
///     static func user(_ id: Int) -> APIRequest<User, GitHubError> {
///         server.get("user/\(id)")
///     }
/// }
///
/// let user = try await GitHubAPI.user(10_639_145).sender().value
/// ```
public protocol StaticWebService {
    /// The client that sends the requests.
    static var client: APIClient { get }
}

extension StaticWebService {
    /// The client, as the start of the service's requests: `get`, `post` and the other methods.
    public static var server: APIClient { client }
}

/// An API as a type whose functions return requests.
///
/// ```swift
/// struct GitHubAPI: WebService {
///     let client: APIClient
///
///     func user(_ name: String) -> APIRequest<User, GitHubError> {
///         server.get("users/\(name)")
///     }
///     func createGist(_ gist: NewGist) -> APIRequest<Gist, GitHubError> {
///         server.post("gists").json(gist)
///     }
///     func zen() -> APIRequest<String, GitHubError> {
///         server.string.get("zen")
///     }
/// }
///
/// let user = try await GitHubAPI(client: github).user("apple").sender().value
/// ```
///
/// A body on a method that has none, `server.get("users").json(user)`, does not compile.
public protocol WebService: Sendable {
    /// Where the requests are sent.
    var client: APIClient { get }
}

extension WebService {
    /// Where the service's functions begin: `get`, `post` and the other methods.
    public var server: APIClient { client }
}

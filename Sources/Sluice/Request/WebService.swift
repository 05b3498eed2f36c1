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
/// A body on a method without one, as in `server.get("users").json(user)`, does not compile.
public protocol WebService: Sendable {
    /// The client that sends the requests.
    var client: APIClient { get }
}

extension WebService {
    /// The client, as the start of the service's requests: `get`, `post` and the other methods.
    public var server: APIClient { client }
}

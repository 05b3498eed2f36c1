/// How requests use the client's ``APIClient/Configuration/cache``.
public struct Caching: Sendable {
    /// Where answers come from; the server by default.
    public var source = DataSource.server
    /// What makes two requests ask for the same of a ``DataSource``; method, URL and parameters by default.
    public var key = CacheKeyRule.methodURLParameters
    /// How long what is kept for a ``DataSource`` may be used; nil, the default, for as long as the store says.
    public var expiration: CacheExpiration?
    /// By what it can be removed together with others.
    public var tags: Set<String> = []
    /// Whose it is: a user's ID, say. No partition ever sees what is in another.
    ///
    /// Empty by default, which is nobody's in particular. Then what was got with credentials is given to requests with the same only, unless
    /// it is `public`: `Authorization`, `Cookie` and the client's ``APIClient/Configuration/secretHeaders``, its
    /// ``APIClient/Configuration/credentials`` and its cookie jar. A token that is renewed begins anew. A ``DataSource`` is asked before gates
    /// and interceptors, and cannot know what they would add: clients whose users differ by that alone need partitions.
    /// With a partition it is the app's word that counts.
    public var partition = ""
    /// How HTTP's own caching goes (RFC 9111); nil for none of it.
    public var http: HTTPCaching? = HTTPCaching()

    /// Makes the defaults: the server, and HTTP's caching.
    public init() {}
}

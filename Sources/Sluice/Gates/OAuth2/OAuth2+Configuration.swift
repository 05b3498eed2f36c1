import SluiceHTTP

extension OAuth2 {
    /// The settings of an ``OAuth2`` gate besides its grant and token URL.
    public struct Configuration: Sendable {
        /// The name by which requests opt out of the gate; `OAuth2` by default. Two gates in one client need two names.
        public var name = "OAuth2"
        /// The way in which a client with a secret authenticates itself; an `Authorization` header by default.
        public var authentication = ClientAuthentication.basic
        /// The origins that the token is sent to: `["https://api.example.com"]`. Nil, the default, for the
        /// origin of the client's base URL.
        ///
        /// Requests to other origins are admitted without a token. The token is sent to an http origin only if that
        /// origin is listed here, or if it is the base URL's and on the loopback interface.
        public var origins: [String]?
        /// The store that keeps the token; in memory by default.
        public var store: any TokenStore = MemoryTokenStore()
        /// The revocation endpoint (RFC 7009); nil, the default, for a server without one.
        public var revocationURL: String?
        /// The time before its expiry at which a token is replaced; 60 seconds by default, but at
        /// most a tenth of its lifetime.
        public var refreshMargin: Duration = .seconds(60)
        /// The limit on requests for tokens; 5 in 30 seconds by default.
        public var refreshLimit = RefreshLimit()
        /// The time limit of a request to the authorization server; 30 seconds by default.
        public var timeout: Duration = .seconds(30)
        /// True to treat a token without the type that RFC 6749 §5.1 requires as a Bearer token; false by default.
        public var acceptsMissingTokenType = false
        /// The client whose transport, connection settings, time-outs and clock are used for requests to the
        /// authorization server. Nothing else of it is used. Nil, the default, for the client of the request that needs
        /// the token. Without a request, as in ``OAuth2/signOut()``, nil means a client with default settings.
        public var client: APIClient?
        /// Returns the given number of random bytes, for states and verifiers. The default is the system's generator.
        public var randomBytes: @Sendable (_ count: Int) -> [UInt8] = { count in
            var generator = SystemRandomNumberGenerator()
            return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        }

        /// Creates a configuration with the defaults.
        public init() {}
    }

    /// The way in which a client authenticates itself to the authorization server (RFC 6749 §2.3.1).
    public enum ClientAuthentication: Sendable, Hashable {
        /// HTTP Basic, with id and secret form-encoded first.
        case basic
        /// `client_id` and `client_secret` in the body, for servers that do not support Basic.
        case body
    }

    /// The limit on requests to the authorization server, which prevents a loop where an API refuses every token.
    ///
    /// When the limit is reached, requests with an expired token fail with ``OAuth2Error/Code/tooManyRefreshes``. If an
    /// API refuses a token then, its response is returned as it is.
    public struct RefreshLimit: Sendable, Hashable {
        /// The number of requests, failures included.
        public var count: Int
        /// The time in which they are counted.
        public var interval: Duration

        /// Creates a limit; 5 requests in 30 seconds by default.
        public init(count: Int = 5, per interval: Duration = .seconds(30)) {
            self.count = count
            self.interval = interval
        }
    }
}

import SluiceHTTP

extension OAuth2 {
    /// What an ``OAuth2`` gate can be told besides its grant and token URL.
    public struct Configuration: Sendable {
        /// By what requests opt out of the gate; `OAuth2` by default. Two gates in one client need two names.
        public var name = "OAuth2"
        /// How a client that has a secret proves who it is; by an `Authorization` header by default.
        public var authentication = ClientAuthentication.basic
        /// Where the token is sent: `["https://api.example.com"]`. Nil, the default, for the origin of the client's base URL.
        ///
        /// Requests to anywhere else are admitted without a token. A token goes to an http origin only where it is named here;
        /// on the loopback interface it may be the base URL's too.
        public var origins: [String]?
        /// Where the token is kept; in memory by default.
        public var store: any TokenStore = MemoryTokenStore()
        /// Where tokens are revoked (RFC 7009); nil, the default, where the server cannot.
        public var revocationURL: String?
        /// How long before its end a token is replaced; a minute by default, but never more than a tenth of its lifetime.
        public var refreshMargin: Duration = .seconds(60)
        /// How often tokens may be asked for; 5 times in 30 seconds by default.
        public var refreshLimit = RefreshLimit()
        /// How long a request to the authorization server may take; 30 seconds by default.
        public var timeout: Duration = .seconds(30)
        /// Whether a token without a type, which RFC 6749 §5.1 demands, is taken for a Bearer; false by default.
        public var acceptsMissingTokenType = false
        /// The client whose transport and clock requests to the authorization server use, and nothing else of it; nil, the
        /// default, for that of the request which needs the token. Where there is no request, as in ``OAuth2/signOut()``, nil
        /// stands for a client of the defaults.
        public var client: APIClient?
        /// Gives so many random bytes for states and verifiers; the system's generator by default.
        public var randomBytes: @Sendable (_ count: Int) -> [UInt8] = { count in
            var generator = SystemRandomNumberGenerator()
            return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        }

        /// Makes a configuration of the defaults.
        public init() {}
    }

    /// How a client proves who it is to the authorization server (RFC 6749 §2.3.1).
    public enum ClientAuthentication: Sendable, Hashable {
        /// By HTTP Basic, with id and secret form-encoded first.
        case basic
        /// By `client_id` and `client_secret` in the body, for servers that know nothing else.
        case body
    }

    /// How often a gate may ask the authorization server for tokens, lest an API that refuses every one of them make it a loop.
    ///
    /// Beyond it an expired token fails requests with ``OAuth2Error/Code/tooManyRefreshes``, and the answer of an API that
    /// refuses one is left as it is.
    public struct RefreshLimit: Sendable, Hashable {
        /// How often, failures included.
        public var count: Int
        /// In which time.
        public var interval: Duration

        /// Makes a limit; 5 times in 30 seconds by default.
        public init(count: Int = 5, per interval: Duration = .seconds(30)) {
            self.count = count
            self.interval = interval
        }
    }
}

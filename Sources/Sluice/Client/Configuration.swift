import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if os(Linux)
import SluiceEngine
#else
import SluiceURLSession
#endif

extension APIClient {
    /// What all requests of a client share; each request can say otherwise where it has a modifier for it.
    public struct Configuration: Sendable {
        /// Headers of every request; a request's own of the same name replace them.
        ///
        /// `Authorization`, `Cookie` and `Proxy-Authorization` go to the base URL's origin only, and to hosts and base URLs that a
        /// request names by itself: not to where a whole URL leads that stands in a path's place.
        public var headers: HTTPHeaders = ["User-Agent": "Sluice"]
        /// Time-outs of each exchange with the server: 10 s to connect, 60 s without a byte, no limit in all.
        public var timeouts = Timeouts()
        /// Limits on a response: 64 KiB of headers, and 64 MiB of body, since the pipeline holds it in memory.
        public var limits = ResponseLimits(body: 64 << 20)
        /// Which responses are successes; any 2xx by default.
        public var validation = Validation()
        /// Which redirects are followed; up to 10 by default.
        public var redirects = RedirectPolicy()
        /// Where cookies are kept; nil, the default, neither keeps nor sends any.
        public var cookies: CookieJar?
        /// What a challenge of the base URL's origin is answered with; nil, the default, brings the 401.
        public var credentials: ChallengeCredentials?
        /// How servers are reached: TLS, proxies, names and addresses, versions of HTTP.
        public var connection = ConnectionOptions()
        /// Decodes models; strictly, as `JSONDecoder` does, unless it is replaced.
        public var modelDecoder: any DataDecoder = JSONDecoder()
        /// How the API wraps what it answers; nil, the default, where it does not.
        public var envelope: Envelope?
        /// Decodes the bodies of failed responses.
        public var errorDecoder: any DataDecoder = JSONDecoder()
        /// Encodes JSON bodies.
        public var encoder = JSONEncoder()
        /// Encodes queries and forms.
        public var formEncoder = URLEncodedFormEncoder()
        /// How base URL and path become one URL.
        public var urlBuilder = URLBuilder.appending
        /// Changes what an endpoint says of its request; nil by default.
        public var endpointMapping: EndpointMapping?
        /// Changes the request that was made of it, before any gate; nil by default.
        public var requestMapping: RequestMapping?
        /// What every request must meet before it is sent; all are satisfied at once but for what they need of each other.
        public var constraints: [any Constraint] = []
        /// What every request must pass before it is sent: first the gates that hold nothing, next to the constraints, then
        /// the others in this order.
        public var gates: [any Gate] = []
        /// What may change a request before it is sent, in this order.
        public var requestInterceptors: [any RequestInterceptor] = []
        /// What may change an outcome before anybody sees it, in this order.
        public var responseInterceptors: [any ResponseInterceptor] = []
        /// Which failed requests are sent again, and when; none by default.
        public var retry = RetryPolicy.none
        /// How many retries there may be in all, so that a server in trouble is not sent twice what it cannot answer once.
        public var retryBudget = RetryBudget()
        /// When a request that is slow to be answered is sent a second time; never by default.
        public var hedging = HedgingPolicy.none
        /// What takes part in every step, in this order, after the interceptors.
        public var plugins: [any Plugin] = []
        /// What is told of every step.
        public var observers: [any RequestObserver] = []
        /// Headers that hold secrets, besides `Authorization`, `Cookie` and `Proxy-Authorization`, and those of a ``CustomToken`` or
        /// ``SuppliedToken``: they are left out where a redirect, or a whole URL in a path's place, leads to another origin, and of what
        /// is logged.
        public var secretHeaders: [HTTPHeaderName] = []
        /// What time it is and how to wait: the system's clocks.
        public var time: any TimeSource = SystemTime()
        /// Where jitter comes from: 64 random bits at each call.
        public var randomness: @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
        /// Where responses and values are kept; nil, the default, keeps none. Clients may share one.
        public var cache: CacheStore?
        /// How requests use the cache: they ask the server, and what HTTP lets be kept is kept (RFC 9111), by default.
        public var caching = Caching()
        /// Which requests share one transfer with an equal one that is under way; none by default.
        public var sharing = RequestSharing.none
        /// What answers requests that have no stub of their own, where ``stubMode`` lets stubs answer; nil, the default, sends them.
        public var stub: Stub?
        /// Whether requests that have a stub are answered with it and not sent, unless a request says otherwise; never by default.
        public var stubMode = StubMode.never
        /// The engine: `SocketTransport` on Linux, URLSession on Apple platforms; by default one for all clients that set none.
        public var transport: any Transport = Configuration.platformTransport

        /// Gives the description of a request in place of the one its endpoint gives; what it throws fails the request.
        ///
        /// ```swift
        /// $0.endpointMapping = { endpoint, draft in
        ///     endpoint is GitHub ? draft.header("Accept", "application/vnd.github+json") : draft
        /// }
        /// ```
        public typealias EndpointMapping = @Sendable (any Endpoint, RequestDraft) throws -> RequestDraft

        /// Gives the request to send in place of the one that was made of its description; what it throws fails it.
        public typealias RequestMapping = @Sendable (HTTPRequest) throws -> HTTPRequest

        /// Makes a configuration of the defaults.
        public init() {}

        #if os(Linux)
        /// One for all clients that set none.
        private static let platformTransport = SocketTransport()
        #else
        private static let platformTransport = URLSessionTransport()
        #endif
    }
}

import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if os(Linux)
import SluiceCurl
#else
import SluiceURLSession
#endif

extension APIClient {
    /// What all requests of a client share; each request can say otherwise where it has a modifier for it.
    public struct Configuration: Sendable {
        /// Headers of every request; a request's own of the same name replace them.
        public var headers: HTTPHeaders = ["User-Agent": "Sluice"]
        /// Time-outs of each exchange with the server: 10 s to connect, 60 s without a byte, no limit in all.
        public var timeouts = Timeouts()
        /// Limits on a response: 64 KiB of headers, and 64 MiB of body, since the pipeline holds it in memory.
        public var limits = ResponseLimits(body: 64 << 20)
        /// Which responses are successes; any 2xx by default.
        public var validation = Validation()
        /// Which redirects are followed; up to 10 by default.
        public var redirects = RedirectPolicy()
        /// Decodes models.
        public var modelDecoder = JSONDecoder()
        /// Decodes the bodies of failed responses.
        public var errorDecoder = JSONDecoder()
        /// Encodes JSON bodies.
        public var encoder = JSONEncoder()
        /// What a request must pass before it is sent, in this order.
        public var gates: [any Gate] = []
        /// What may change a request before it is sent, in this order.
        public var requestInterceptors: [any RequestInterceptor] = []
        /// What may change an outcome before anybody sees it, in this order.
        public var responseInterceptors: [any ResponseInterceptor] = []
        /// The engine: libcurl on Linux, URLSession on Apple platforms.
        public var transport: any Transport = Configuration.platformTransport

        /// Makes a configuration of the defaults.
        public init() {}

        #if os(Linux)
        private static let platformTransport = CurlTransport()
        #else
        private static let platformTransport = URLSessionTransport()
        #endif
    }
}

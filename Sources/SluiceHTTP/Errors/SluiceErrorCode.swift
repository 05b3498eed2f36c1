extension SluiceError {
    /// The kinds of failure, in the order a request can meet them.
    ///
    ///     building      invalidURL · unsupportedScheme · invalidHeader · invalidMethod · buildingFailed · encodingFailed
    ///                   invalidConfiguration · hostRefused
    ///     connecting    cannotResolveHost · addressRefused · cannotConnect · tlsFailed · proxyFailed
    ///     sending       bodyUnavailable · bodyLengthMismatch · bodyNotReplayable
    ///     receiving     connectionLost · truncatedBody · invalidResponse · headersTooLarge · bodyTooLarge
    ///     following     tooManyRedirects · redirectLoop · redirectRefused
    ///     judging       unacceptableStatus · unacceptableContentType · validationFailed · envelopeFailed · decodingFailed
    ///     at any time   cancelled · timedOut · connectTimedOut · idleTimedOut · unsupported · internalFailure
    ///     at gates      gateFailed · rateLimited · queueFull · circuitOpen · authorizationRequired · authorizationFailed
    ///     user's steps  interceptorFailed
    ///     cookies       cookieFileFailed
    ///     several       chainTooLong · chainFailed · invalidGraph · dependencyFailed
    ///     in tests      stubUnavailable · stubExhausted · requestUnmatched · cassetteUnreadable · cassetteUnmatched
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name of the member.
        public let description: String

        /// Makes a code of one's own, for a transport or step outside the SDK.
        public init(_ name: String) {
            description = name
        }

        /// The URL cannot be parsed or joined.
        public static let invalidURL = Code("invalidURL")
        /// The scheme is neither http nor https.
        public static let unsupportedScheme = Code("unsupportedScheme")
        /// A header's name is no token, or its value holds CR, LF or NUL.
        public static let invalidHeader = Code("invalidHeader")
        /// The method is no token.
        public static let invalidMethod = Code("invalidMethod")
        /// A step of the user's that takes part in making the request threw.
        public static let buildingFailed = Code("buildingFailed")
        /// A body or query could not be encoded.
        public static let encodingFailed = Code("encodingFailed")
        /// What the client was configured with cannot be used: a proxy's address, a pin, a block of addresses.
        public static let invalidConfiguration = Code("invalidConfiguration")
        /// The host is not among those that requests may go to.
        public static let hostRefused = Code("hostRefused")
        /// The host leads to an address that requests may not connect to.
        public static let addressRefused = Code("addressRefused")
        /// The host's name does not resolve.
        public static let cannotResolveHost = Code("cannotResolveHost")
        /// The connection was refused or the host cannot be reached.
        public static let cannotConnect = Code("cannotConnect")
        /// The TLS handshake or the check of the certificate failed.
        public static let tlsFailed = Code("tlsFailed")
        /// The proxy cannot be resolved or reached, or refused.
        public static let proxyFailed = Code("proxyFailed")
        /// The request body's file or stream cannot be read.
        public static let bodyUnavailable = Code("bodyUnavailable")
        /// The request body gave more or fewer bytes than it had announced.
        public static let bodyLengthMismatch = Code("bodyLengthMismatch")
        /// The request body would have to be sent again but can be read only once.
        public static let bodyNotReplayable = Code("bodyNotReplayable")
        /// The connection closed or was reset before the response was whole.
        public static let connectionLost = Code("connectionLost")
        /// The connection closed before all of the announced body had come.
        public static let truncatedBody = Code("truncatedBody")
        /// What came is no valid HTTP: a bad status line, header, chunk or encoding.
        public static let invalidResponse = Code("invalidResponse")
        /// The response's head is over the limit.
        public static let headersTooLarge = Code("headersTooLarge")
        /// The response's body is over the limit.
        public static let bodyTooLarge = Code("bodyTooLarge")
        /// More redirects than allowed.
        public static let tooManyRedirects = Code("tooManyRedirects")
        /// A redirect led back to where the request had been.
        public static let redirectLoop = Code("redirectLoop")
        /// A redirect led to where it may not: from https to http, or to another scheme.
        public static let redirectRefused = Code("redirectRefused")
        /// The status is not among those the request accepts.
        public static let unacceptableStatus = Code("unacceptableStatus")
        /// The content type is not among those the request accepts.
        public static let unacceptableContentType = Code("unacceptableContentType")
        /// A validation closure of the user's threw.
        public static let validationFailed = Code("validationFailed")
        /// The body says itself, in its envelope, that the request failed.
        public static let envelopeFailed = Code("envelopeFailed")
        /// The body is not the model it should be.
        public static let decodingFailed = Code("decodingFailed")
        /// The caller cancelled.
        public static let cancelled = Code("cancelled")
        /// The whole request took longer than allowed, time spent in queues included.
        public static let timedOut = Code("timedOut")
        /// No connection came about in the time allowed.
        public static let connectTimedOut = Code("connectTimedOut")
        /// Nothing was sent or received for longer than allowed.
        public static let idleTimedOut = Code("idleTimedOut")
        /// The transport cannot do what was asked for.
        public static let unsupported = Code("unsupported")
        /// The engine failed in a way that neither side is to blame for, out of memory for example.
        public static let internalFailure = Code("internalFailure")
        /// An interceptor of the user's threw.
        public static let interceptorFailed = Code("interceptorFailed")
        /// A gate refused the request.
        public static let gateFailed = Code("gateFailed")
        /// As many requests wait already as may, at a gate or for the engine; the request was not sent.
        public static let queueFull = Code("queueFull")
        /// The file of a cookie jar cannot be read or written.
        public static let cookieFileFailed = Code("cookieFileFailed")
    }

    /// The steps of the pipeline, in their order.
    public enum Step: String, Sendable, Hashable {
        /// Making the request: URL, headers, body.
        case building
        /// Gates and constraints.
        case gate
        /// Request interceptors.
        case requestInterceptor
        /// The HTTP cache or an explicit data source.
        case cache
        /// The engine and the network.
        case transport
        /// Following a redirect, or trying again.
        case recovery
        /// Response interceptors.
        case responseInterceptor
        /// Validation of status, content type and body.
        case validation
        /// Writing a download to its file, or reading and writing that of a cookie jar.
        case file
        /// Making the model from the body.
        case serialization
    }
}

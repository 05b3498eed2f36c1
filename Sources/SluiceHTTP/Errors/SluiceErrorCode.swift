extension SluiceError {
    /// The kind of a failure. Frequent kinds, by the step at which they occur; others are declared with their feature:
    ///
    ///     building      invalidURL · unsupportedScheme · invalidHeader · invalidMethod · buildingFailed
    ///                   encodingFailed · invalidConfiguration · hostRefused
    ///     gates         gateFailed · rateLimited · queueFull · circuitOpen · authorizationRequired
    ///                   authorizationFailed
    ///     connecting    cannotResolveHost · addressRefused · cannotConnect · tlsFailed · proxyFailed
    ///     sending       bodyUnavailable · bodyLengthMismatch · bodyNotReplayable
    ///     receiving     connectionLost · truncatedBody · invalidResponse · headersTooLarge · bodyTooLarge
    ///     redirects     tooManyRedirects · redirectLoop · redirectRefused
    ///     validation    unacceptableStatus · unacceptableContentType · validationFailed · envelopeFailed
    ///                   decodingFailed
    ///     at any time   cancelled · timedOut · connectTimedOut · idleTimedOut · unsupported
    ///                   internalFailure · interceptorFailed
    ///     files         cookieFileFailed · secretUnavailable
    ///     composition   chainTooLong · chainFailed · invalidGraph · dependencyFailed
    ///     in tests      stubUnavailable · stubExhausted · requestUnmatched · cassetteUnreadable · cassetteUnmatched
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name of the code, such as `timedOut`.
        public let description: String

        /// Creates a custom code, for a transport or step outside the library.
        public init(_ name: String) {
            description = name
        }

        /// The URL cannot be parsed or joined.
        public static let invalidURL = Code("invalidURL")
        /// The URL's scheme is neither http nor https.
        public static let unsupportedScheme = Code("unsupportedScheme")
        /// A header name is not a token, or a header value contains a control character other than a tab.
        public static let invalidHeader = Code("invalidHeader")
        /// The method is not a token, or it takes no body and the task of a target has one.
        public static let invalidMethod = Code("invalidMethod")
        /// User code that takes part in building the request threw an error.
        public static let buildingFailed = Code("buildingFailed")
        /// A body or query could not be encoded.
        public static let encodingFailed = Code("encodingFailed")
        /// A value of the client's configuration cannot be used, such as a proxy address, a pin or an address block.
        public static let invalidConfiguration = Code("invalidConfiguration")
        /// The host is not among those that requests may go to.
        public static let hostRefused = Code("hostRefused")
        /// The host resolves to an address that requests may not connect to.
        public static let addressRefused = Code("addressRefused")
        /// The host name does not resolve.
        public static let cannotResolveHost = Code("cannotResolveHost")
        /// The connection was refused, or the host cannot be reached.
        public static let cannotConnect = Code("cannotConnect")
        /// The TLS handshake or the certificate check failed.
        public static let tlsFailed = Code("tlsFailed")
        /// The proxy cannot be resolved or reached, or it refused the request.
        public static let proxyFailed = Code("proxyFailed")
        /// The request body's file or stream cannot be read.
        public static let bodyUnavailable = Code("bodyUnavailable")
        /// The request body has more or fewer bytes than announced.
        public static let bodyLengthMismatch = Code("bodyLengthMismatch")
        /// The request body would have to be sent again but can be read only once.
        public static let bodyNotReplayable = Code("bodyNotReplayable")
        /// The connection closed or was reset before the response was complete.
        public static let connectionLost = Code("connectionLost")
        /// The connection closed before the announced body was complete.
        public static let truncatedBody = Code("truncatedBody")
        /// The received data is not valid HTTP: a bad status line, header, chunk or encoding.
        public static let invalidResponse = Code("invalidResponse")
        /// The response's head exceeds the limit, or the request's head that of HTTP/2.
        public static let headersTooLarge = Code("headersTooLarge")
        /// The response's body exceeds the limit.
        public static let bodyTooLarge = Code("bodyTooLarge")
        /// The request was redirected more often than allowed.
        public static let tooManyRedirects = Code("tooManyRedirects")
        /// A redirect led back to a URL that the request had already visited.
        public static let redirectLoop = Code("redirectLoop")
        /// A redirect is not allowed: it leads from https to http, to another scheme, or to another origin with a body, or the
        /// policy's `decide` closure refused it.
        public static let redirectRefused = Code("redirectRefused")
        /// The status is not among those the request accepts.
        public static let unacceptableStatus = Code("unacceptableStatus")
        /// The content type is not among those the request accepts.
        public static let unacceptableContentType = Code("unacceptableContentType")
        /// A user's validation closure threw an error.
        public static let validationFailed = Code("validationFailed")
        /// The envelope of the body reports that the request failed.
        public static let envelopeFailed = Code("envelopeFailed")
        /// The body could not be decoded as the expected model.
        public static let decodingFailed = Code("decodingFailed")
        /// The caller cancelled the request.
        public static let cancelled = Code("cancelled")
        /// The whole request took longer than allowed, including time spent in queues.
        public static let timedOut = Code("timedOut")
        /// No connection was established within the allowed time.
        public static let connectTimedOut = Code("connectTimedOut")
        /// Nothing was sent or received for longer than allowed.
        public static let idleTimedOut = Code("idleTimedOut")
        /// The transport does not support a requested option.
        public static let unsupported = Code("unsupported")
        /// The engine failed for an internal reason, such as lack of memory, or a HAR file cannot be written.
        public static let internalFailure = Code("internalFailure")
        /// A user's interceptor threw an error.
        public static let interceptorFailed = Code("interceptorFailed")
        /// A gate refused the request.
        public static let gateFailed = Code("gateFailed")
        /// The maximum number of requests already waits, at a gate or for the engine. The request was not sent.
        public static let queueFull = Code("queueFull")
        /// The file of a cookie jar cannot be read or written.
        public static let cookieFileFailed = Code("cookieFileFailed")

        private static let codesBeforeSending: Set<Code> = [
            .invalidURL, .unsupportedScheme, .invalidHeader, .invalidMethod, .cannotResolveHost, .cannotConnect,
            .tlsFailed, .proxyFailed, .connectTimedOut, .unsupported, .queueFull, .hostRefused, .addressRefused,
            .invalidConfiguration,
        ]

        /// True for a failure of a transport that has sent nothing of the request.
        package var isBeforeSending: Bool { Self.codesBeforeSending.contains(self) }
    }

    /// The steps of the pipeline, in their order.
    public enum Step: Sendable, Hashable {
        /// Building the request: URL, headers, body.
        case building
        /// Gates and constraints.
        case gate
        /// Request interceptors.
        case requestInterceptor
        /// The HTTP cache or an explicit data source.
        case cache
        /// The engine and the network.
        case transport
        /// Redirects and retries.
        case recovery
        /// Response interceptors.
        case responseInterceptor
        /// Validation of status, content type and body.
        case validation
        /// Writing a download to its file, or accessing the file of a cookie jar.
        case file
        /// Decoding the model from the body.
        case serialization
    }
}

// MARK: - Error matching

// Forms of matching an error that cannot work. Each is unavailable, and its message states a form that works.
//
// A `do` whose `catch` clauses are not exhaustive must rethrow. Where it rethrows a typed error as `any Error` in a
// function with a loop or a `var`, Swift 6.3 crashes or does not end. No type of error can prevent that, so patterns for
// codes are unavailable: a `switch` in a single `catch` must be exhaustive.

/// Unavailable. A code is compared in a single `catch`.
@available(
    *,
    unavailable,
    message:
        "Compare the code: catch { switch error.code { case .timedOut: … default: throw error } }, or case .failure(let error) where error.code == .timedOut."
)
public func ~= (code: SluiceError.Code, error: any Error) -> Bool { false }

extension Error {
    /// Unavailable, because the type of the error has none.
    @available(
        *,
        unavailable,
        message:
            "The type of this error has no code. In a closure an error is any Error: write \"do throws(APIError) {\" or \"catch let error as APIError\"."
    )
    public var code: SluiceError.Code { .unsupported }

    /// Unavailable, because the type of the error has none.
    @available(
        *,
        unavailable,
        message:
            "The type of this error has no status. In a closure an error is any Error: write \"do throws(APIError) {\" or \"catch let error as APIError\"."
    )
    public var status: HTTPStatus? { nil }

    /// Unavailable, because the type of the error has none.
    @available(
        *,
        unavailable,
        message:
            "The type of this error has no isCancellation. In a closure an error is any Error: write \"do throws(APIError) {\" or \"catch let error as APIError\"."
    )
    public var isCancellation: Bool { false }
}

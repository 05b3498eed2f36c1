import SluiceHTTP

/// A type that takes part in every step of a request. Interceptors and observers each cover one step.
///
/// ```swift
/// struct Signature: Plugin {
///     func prepare(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest { … }
/// }
/// ```
///
/// Plugins run after the interceptors, in the order given. First each plugin prepares the request, then each is
/// notified that it will be sent. When the response has arrived, each is notified before each may change the outcome.
/// These four functions are called for each attempt. Finally each is notified of the model or of the error. The context
/// has the request's ``RequestContext/endpoint``, ``RequestContext/userInfo`` and ``RequestContext/tags``.
/// All functions have a default implementation that does nothing.
public protocol Plugin: Sendable, _PluginSignatures {
    /// Returns the request to send in place of this one. An error fails the request.
    func prepare(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest

    /// Called before a request is sent. Must not block.
    func willSend(_ request: HTTPRequest, context: RequestContext)

    /// True to receive informational responses; false by default. They cost nothing if no plugin receives them.
    var receivesInformational: Bool { get }

    /// Called when an informational response, such as 100 or 103, arrives before the final one. Must not block.
    ///
    /// - Parameters:
    ///   - head: Status and headers.
    ///   - context: The context of the request.
    func didReceive(informational head: HTTPResponse, context: RequestContext)

    /// Called with the outcome of a request. Must not block.
    func didReceive(_ outcome: TransportOutcome, context: RequestContext)

    /// Returns the outcome to use in place of this one.
    func process(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome

    /// Called once at the end of a request, with its model or its error model, as the caller gets them. Must not block.
    ///
    /// ```swift
    /// func didFinish(_ result: Result<any Sendable, any Error>, context: RequestContext) {
    ///     switch result {
    ///     case .success(let user as User): log.info("\(user.name) has signed in.")
    ///     case .failure(let error as ShopError): log.warning("\(error.message)")
    ///     default: break
    ///     }
    /// }
    /// ```
    ///
    /// Responses that a ``DataSource`` takes from the cache have no other calls before this one. Not called for a
    /// request that could not be built, or for a streamed response, which has no model.
    ///
    /// - Parameters:
    ///   - result: The model of the request's type; the ``DownloadedFile`` of a download, unless it is decoded; or the
    ///     error of the request's error type, also for a cancellation.
    ///   - context: The context of the last attempt.
    func didFinish(_ result: Result<any Sendable, any Error>, context: RequestContext)
}

extension Plugin {
    /// Returns the request unchanged.
    public func prepare(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest { request }
    /// Does nothing.
    public func willSend(_ request: HTTPRequest, context: RequestContext) {}
    /// False.
    public var receivesInformational: Bool { false }
    /// Does nothing.
    public func didReceive(informational head: HTTPResponse, context: RequestContext) {}
    /// Does nothing.
    public func didReceive(_ outcome: TransportOutcome, context: RequestContext) {}
    /// Returns the outcome unchanged.
    public func process(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome { outcome }
    /// Does nothing.
    public func didFinish(_ result: Result<any Sendable, any Error>, context: RequestContext) {}
}

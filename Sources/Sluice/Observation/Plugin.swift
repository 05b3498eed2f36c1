import SluiceHTTP

/// Takes part in every step of a request at one place, where interceptors and observers each have one of their own.
///
/// ```swift
/// struct Signature: Plugin {
///     func prepare(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest { … }
/// }
/// ```
///
/// Plugins come after the interceptors, in the order given: each prepares the request, then each is told that it will be sent, and
/// when the response is there each is told, before each may change it. All have a default that does nothing.
public protocol Plugin: Sendable {
    /// Gives the request to send in place of this one; what it throws fails the request.
    func prepare(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest

    /// Takes note of a request that is about to be sent; must not block.
    func willSend(_ request: HTTPRequest, context: RequestContext)

    /// True to be told of informational responses; false by default. Those nobody wants cost nothing.
    var wantsInformational: Bool { get }

    /// Takes note of an informational response, 100 or 103 for example, that came before the final one; must not block.
    ///
    /// - Parameters:
    ///   - head: Status and headers.
    ///   - context: The request it answers.
    func didReceive(informational head: HTTPResponse, context: RequestContext)

    /// Takes note of what came of it; must not block.
    func didReceive(_ outcome: TransportOutcome, context: RequestContext)

    /// Gives the outcome that goes on in place of this one.
    func process(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome
}

extension Plugin {
    /// The request as it is.
    public func prepare(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest { request }
    /// Does nothing.
    public func willSend(_ request: HTTPRequest, context: RequestContext) {}
    /// False.
    public var wantsInformational: Bool { false }
    /// Does nothing.
    public func didReceive(informational head: HTTPResponse, context: RequestContext) {}
    /// Does nothing.
    public func didReceive(_ outcome: TransportOutcome, context: RequestContext) {}
    /// The outcome as it is.
    public func process(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome { outcome }
}

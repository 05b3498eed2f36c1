import SluiceHTTP

/// A permit that a gate hands out when it admits a request. It is released with the outcome of the request.
///
/// A permit is released exactly once, whatever happens to the request: success, failure, cancellation or another
/// attempt. The outcome is that of the transport: response interceptors and plugins do not change it.
///
/// If the response comes from the cache, the permit is released with one of these outcomes:
/// - A request that was not sent: a failure of step ``SluiceError/Step/cache`` and code
///   ``SluiceError/Code/answeredByCache``.
/// - A stale response in place of that of a failed server: the failure of the server.
/// - A redirect of the server to a URL that the cache answers: the redirect.
public struct Permit: Sendable {
    /// Changes the request just before it is sent, after all interceptors, for example to add a token.
    public typealias RequestModifier = @Sendable (inout HTTPRequest) -> Void

    /// The gate's decision about an outcome.
    public enum Decision: Sendable, Hashable {
        /// The outcome stands.
        case settled
        /// The gate has removed the cause of the failure, and the request should be sent again. A request is sent again
        /// at most once for each gate, and only if its body can be sent again.
        case replay
    }

    private enum Release: Sendable {
        case none
        case synchronous(@Sendable (TransportOutcome) -> Decision)
        case asynchronous(@Sendable (TransportOutcome) async -> Void)
    }

    let modifyRequest: RequestModifier?
    private let release: Release

    /// Creates a permit with nothing to release.
    ///
    /// - Parameter modifyRequest: Called with the request before it is sent, to change it.
    public init(modifyRequest: RequestModifier? = nil) {
        self.modifyRequest = modifyRequest
        release = .none
    }

    /// Creates a permit that is released asynchronously.
    ///
    /// - Parameter onRelease: Called once, with the outcome of the request.
    public init(onRelease: @escaping @Sendable (TransportOutcome) async -> Void) {
        modifyRequest = nil
        release = .asynchronous(onRelease)
    }

    /// Creates a permit that is released synchronously.
    ///
    /// - Parameters:
    ///   - modifyRequest: Called with the request before it is sent, to change it.
    ///   - onOutcome: Called once, with the outcome of the request, on any thread. Returns the decision. It must not
    ///     block.
    public init(modifyRequest: RequestModifier? = nil, onOutcome: @escaping @Sendable (TransportOutcome) -> Decision) {
        self.modifyRequest = modifyRequest
        release = .synchronous(onOutcome)
    }

    /// True if the release is asynchronous.
    var isAsynchronous: Bool {
        if case .asynchronous = release { true } else { false }
    }

    /// Releases a permit whose release is not asynchronous.
    func releaseImmediately(_ outcome: TransportOutcome) -> Decision {
        if case .synchronous(let onOutcome) = release { onOutcome(outcome) } else { .settled }
    }

    func release(_ outcome: TransportOutcome) async -> Decision {
        guard case .asynchronous(let release) = release else { return releaseImmediately(outcome) }
        await release(outcome)
        return .settled
    }
}

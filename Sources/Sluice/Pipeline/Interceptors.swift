import SluiceHTTP

/// Changes a request after the gates have admitted it and before it is sent.
public protocol RequestInterceptor: Sendable {
    /// Returns the request to send in place of this one.
    ///
    /// - Parameters:
    ///   - request: The request from the previous interceptors.
    ///   - context: The original request, its attempt, tags, route and client.
    /// - Returns: The request to send.
    /// - Throws: Any error. A ``SluiceError`` fails the request as it is, any other as the underlying error of
    ///   ``SluiceError/Code/interceptorFailed``.
    func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest
}

/// A request interceptor that never suspends. A client whose interceptors are all adapters needs no task
/// for each request.
///
/// ```swift
/// struct Tenant: RequestAdapter {
///     let id: String
///     func adapt(_ request: inout HTTPRequest, context: RequestContext) { request.headers["X-Tenant"] = id }
/// }
/// ```
public protocol RequestAdapter: RequestInterceptor {
    /// Changes the request in place. Must not block.
    ///
    /// - Parameters:
    ///   - request: The request from the previous interceptors.
    ///   - context: The original request, its attempt, tags, route and client.
    /// - Throws: Any error. It fails the request as an error of ``RequestInterceptor/intercept(_:context:)`` does.
    func adapt(_ request: inout HTTPRequest, context: RequestContext) throws
}

extension RequestAdapter {
    /// Returns the adapted request.
    public func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
        var request = request
        try adapt(&request, context: context)
        return request
    }
}

extension SluiceError {
    /// Creates an error from one that a request interceptor or a plugin threw. Its text names the types only, because the error may hold secrets.
    static func interceptor(_ error: any Error, _ step: String, _ request: HTTPRequest) -> SluiceError {
        if let error = error as? SluiceError { return error.with(step: .requestInterceptor, request: request) }
        // A request that the interceptor sent has failed in an interceptor.
        if let error = (error as? APIError)?.error, error.code == .interceptorFailed {
            return error.with(step: .requestInterceptor, request: request)
        }
        return SluiceError(
            .interceptorFailed,
            "The \(step) failed with \(type(of: error)).",
            step: .requestInterceptor,
            request: request,
            underlyingError: error
        )
    }
}

/// A limit on interceptors and plugins that run within one another, because their own requests pass interceptors too.
///
/// Without it, an interceptor whose requests pass it again would send requests without end.
final class InterceptorNesting: Sendable {
    private static let limit = 16
    /// The innermost work of interceptors that the current task belongs to.
    @TaskLocal private static var current: InterceptorNesting?

    private let outer: InterceptorNesting?
    /// The limits of which the intercepted request holds slots.
    private let limits: [ObjectIdentifier]
    /// False once the work has ended. Tasks that it has started may go on.
    private let isActive = Locked(true)

    private init(in outer: InterceptorNesting?, holding limits: [ObjectIdentifier]) {
        self.outer = outer
        self.limits = limits
    }

    /// True if the interceptors of a request would be nested too deeply.
    static var isAtLimit: Bool {
        var depth = 0
        var level = innermostActive
        while let active = level {
            depth += 1
            level = active.outer?.firstActive
        }
        return depth >= limit
    }

    /// The innermost work of interceptors that the current task belongs to and that has not ended.
    static var innermostActive: InterceptorNesting? { current?.firstActive }

    /// True if an intercepted request holds a slot of a limit, and its interceptors have not ended.
    var holdsSlots: Bool { holdsSlot { !$0.isEmpty } }

    /// Returns true if an intercepted request holds a slot of the gate, and its interceptors have not ended.
    func holdsSlot(of gate: any Gate) -> Bool {
        holdsSlot { !$0.isEmpty && $0.contains(ObjectIdentifier(gate as AnyObject)) }
    }

    private func holdsSlot(_ isHeld: ([ObjectIdentifier]) -> Bool) -> Bool {
        var level = firstActive
        while let active = level {
            if isHeld(active.limits) { return true }
            level = active.outer?.firstActive
        }
        return false
    }

    /// This level, or the next one outside it that has not ended.
    private var firstActive: InterceptorNesting? {
        var level = self
        while !level.isActive.withLock({ $0 }) {
            guard let outer = level.outer else { return nil }
            level = outer
        }
        return level
    }

    /// Throws an error if interceptors are nested too deeply.
    static func check() throws(SluiceError) {
        if isAtLimit {
            throw SluiceError(
                .interceptorFailed,
                "The requests that an interceptor sends pass the same interceptor again. Give them a tag, and return requests with that tag unchanged."
            )
        }
    }

    /// Performs the work of interceptors.
    ///
    /// - Parameters:
    ///   - limits: The limits of which the intercepted request holds slots. Requests that the work sends need no slots of them, because the
    ///     intercepted request waits for the work and transfers nothing meanwhile.
    ///   - work: The work.
    /// - Returns: Its result.
    /// - Throws: Its error.
    static func deepened<Value>(
        holding limits: [ObjectIdentifier],
        _ work: () async throws -> Value
    ) async rethrows -> Value {
        let level = InterceptorNesting(in: innermostActive, holding: limits)
        defer { level.isActive.withLock { $0 = false } }
        return try await $current.withValue(level) { try await work() }
    }
}

/// Changes an outcome before validation. It may turn a success into a failure and vice versa.
public protocol ResponseInterceptor: Sendable {
    /// Returns the outcome to use in place of this one.
    ///
    /// - Parameters:
    ///   - outcome: The outcome from the previous interceptors.
    ///   - context: The original request, its attempt, tags, route and client.
    /// - Returns: The new outcome.
    func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome
}

/// A response interceptor that never suspends.
public protocol OutcomeAdapter: ResponseInterceptor {
    /// Changes the outcome in place. Must not block.
    ///
    /// - Parameters:
    ///   - outcome: The outcome from the previous interceptors.
    ///   - context: The original request, its attempt, tags, route and client.
    func adapt(_ outcome: inout TransportOutcome, context: RequestContext)
}

extension OutcomeAdapter {
    /// Returns the adapted outcome.
    public func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome {
        var outcome = outcome
        adapt(&outcome, context: context)
        return outcome
    }
}

// MARK: - Trusted origins

/// The origins that a secret may be sent to: scheme, host and port (RFC 6454 §4).
enum TrustedOrigins: Sendable {
    /// The origin of each client's base URL.
    case baseURL
    case origins([HTTPOrigin])
    /// One of the URLs is not valid.
    case invalid(SluiceError)

    /// Creates the origins of absolute URLs, whose paths are ignored.
    init(_ urls: [String]) {
        do throws(SluiceError) {
            self = .origins(try urls.map { url throws(SluiceError) in try RequestLocation(parsing: url).origin })
        } catch {
            self = .invalid(error)
        }
    }

    /// Returns true if a client's request goes to one of the origins; nil if the client's base URL is not valid.
    func include(_ request: HTTPRequest, of pipeline: Pipeline) -> Bool? {
        switch self {
        case .invalid: return false
        case .origins(let origins):
            return origins.contains { $0.scheme == request.scheme && $0.authority == request.authority }
                || origins.contains(request.origin)
        case .baseURL:
            guard case .success(let base) = pipeline.base else { return nil }
            // The fast path, because both are usually equal as text.
            return request.authority == base.authority && request.scheme == base.scheme
                || request.origin == base.origin
        }
    }
}

import SluiceHTTP

/// A type that can change the request and the outcome of each attempt, and is notified of the final model or error. It
/// has no part in gates, cache or validation. Interceptors and observers each have one of these functions.
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

    /// Called once for each attempt, before the HTTP cache is asked and the request is sent. Must not block.
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

// MARK: - Plugin declarations

// Functions of plugins and properties of observers that have a name of ours and another signature. They would compile
// and never be called, because the requirements have defaults. Each is therefore a requirement too, with a type that is
// inferred from the declaration: unless it is the default, only an unavailable check is left, which says what to write.

/// The functions that a ``Plugin`` cannot have: they have other parameters than those that are called.
public protocol _PluginSignatures {
    /// The type of a parameter `target`; `Never` without such a function.
    associatedtype _PluginTarget = Never
    /// The result of a function that prepares in place; `Never` without such a function.
    associatedtype _PreparedInPlace = Never
    /// The result of a function that processes any error; `Bool` without such a function.
    associatedtype _ProcessedAnyError = Bool
    /// The result of a function that receives a finished error; `Bool` without such a function.
    associatedtype _FinishedAPIError = Bool

    /// Never called.
    func prepare(_ request: HTTPRequest, target: _PluginTarget) async throws -> HTTPRequest
    /// Never called.
    func willSend(_ request: HTTPRequest, target: _PluginTarget)
    /// Never called.
    func didReceive(_ outcome: TransportOutcome, target: _PluginTarget)
    /// Never called.
    func process(_ outcome: TransportOutcome, target: _PluginTarget) async -> TransportOutcome
    /// Never called.
    @_disfavoredOverload
    func prepare(_ request: inout HTTPRequest, context: RequestContext) async throws -> _PreparedInPlace
    /// Never called.
    @_disfavoredOverload
    func process(_ outcome: Result<ServerResponse, any Error>, context: RequestContext) async -> _ProcessedAnyError
    /// Never called.
    @_disfavoredOverload
    func didFinish(_ result: Result<any Sendable, APIError>, context: RequestContext) -> _FinishedAPIError

    /// Checks the parameters `target`.
    static func _check(target: _PluginTarget.Type)
    /// Checks that no function prepares in place.
    static func _check(preparedInPlace: _PreparedInPlace.Type)
    /// Checks that no function processes any error.
    static func _check(processedAnyError: _ProcessedAnyError.Type)
    /// Checks that no function receives a finished error of one type.
    static func _check(finishedAPIError: _FinishedAPIError.Type)
}

extension _PluginSignatures {
    /// Never called.
    @_disfavoredOverload
    public func prepare(_ request: HTTPRequest, target: _PluginTarget) async throws -> HTTPRequest { request }
    /// Never called.
    @_disfavoredOverload
    public func willSend(_ request: HTTPRequest, target: _PluginTarget) {}
    /// Never called.
    @_disfavoredOverload
    public func didReceive(_ outcome: TransportOutcome, target: _PluginTarget) {}
    /// Never called.
    @_disfavoredOverload
    public func process(_ outcome: TransportOutcome, target: _PluginTarget) async -> TransportOutcome { outcome }

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message:
            "Write \"context: RequestContext\" in place of \"target\": a function with another label is never called."
    )
    public static func _check(target: _PluginTarget.Type) {}

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message: "Write \"prepare(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest\"."
    )
    public static func _check(preparedInPlace: _PreparedInPlace.Type) {}

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message:
            "Write \"process(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome\", whose error is a SluiceError."
    )
    public static func _check(processedAnyError: _ProcessedAnyError.Type) {}

    /// Unavailable: the message says what to write.
    @available(
        *,
        unavailable,
        message: "Write \"didFinish(_ result: Result<any Sendable, any Error>, context: RequestContext)\"."
    )
    public static func _check(finishedAPIError: _FinishedAPIError.Type) {}
}

extension _PluginSignatures where _PluginTarget == Never {
    /// Nothing has another label.
    public static func _check(target: Never.Type) {}
}

extension _PluginSignatures where _PreparedInPlace == Never {
    /// Never called.
    @_disfavoredOverload
    public func prepare(_ request: inout HTTPRequest, context: RequestContext) async throws -> Never {
        throw SluiceError(.interceptorFailed, "Plugins do not change a request in place.")
    }
    /// Nothing prepares in place.
    public static func _check(preparedInPlace: Never.Type) {}
}

extension _PluginSignatures where _ProcessedAnyError == Bool {
    /// Never called.
    @_disfavoredOverload
    public func process(_ outcome: Result<ServerResponse, any Error>, context: RequestContext) async -> Bool { false }
    /// Nothing processes any error.
    public static func _check(processedAnyError: Bool.Type) {}
}

extension _PluginSignatures where _FinishedAPIError == Bool {
    /// Never called.
    @_disfavoredOverload
    public func didFinish(_ result: Result<any Sendable, APIError>, context: RequestContext) -> Bool { false }
    /// Nothing receives an error of one type.
    public static func _check(finishedAPIError: Bool.Type) {}
}

/// A type with ``RequestObserver/interests`` of any type.
public protocol _ObserverInterests {
    /// The declared type.
    associatedtype _Interests = RequestEvent.Kinds
    /// The declared value.
    var interests: _Interests { get }
}

extension RequestObserver where _Interests == RequestEvent.Kinds {
    /// All events.
    public var interests: RequestEvent.Kinds { .all }
}

extension RequestObserver where _Interests == [RequestEvent.Kinds] {
    /// The declared kinds.
    public var interests: RequestEvent.Kinds {
        let declared: [RequestEvent.Kinds] = interests
        return RequestEvent.Kinds(declared)
    }
}

extension RequestObserver {
    /// Unavailable: the property has another type.
    @available(*, unavailable, message: "Declare \"var interests: RequestEvent.Kinds\", as in \"[.began, .finished]\".")
    public var interests: RequestEvent.Kinds { .all }
}

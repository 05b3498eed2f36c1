import SluiceFoundation
import SluiceHTTP

/// The information about a request that gates and interceptors receive.
public struct RequestContext: Sendable {
    /// The number of the attempt, starting at 1.
    public let attempt: Int
    /// The time left for the request, or the time limit of the attempt if it is shorter; nil for no limit.
    private let total: Duration?
    let call: Call

    init(attempt: Int, within total: Duration?, of call: Call) {
        self.attempt = attempt
        self.total = total
        self.call = call
    }

    /// The request as it was given to the pipeline.
    public var request: HTTPRequest { call.requestAsBuilt }

    /// The time-outs and limits of the attempt's transfers.
    public var transfer: TransferContext {
        var transfer = call.transfer
        transfer.timeouts.total = total
        return transfer
    }

    /// The time-outs and limits of the transfers of a request that interceptors have prepared, with the time-outs that
    /// they have set. Their total time ends with that of the attempt at the latest.
    func transfer(
        of request: HTTPRequest,
        _ onInformational: (@Sendable (HTTPResponse) -> Void)? = nil
    ) -> TransferContext {
        var transfer = call.transfer
        transfer.timeouts.total = total
        transfer.onInformational = onInformational
        if !request.timeoutChanges.isEmpty {
            transfer.timeouts = transfer.timeouts.changed(by: request)
            transfer.timeouts.total = [transfer.timeouts.total, total].compactMap(\.self).min()
        }
        // The body of a stream arrives after the attempt, so its transfer alone ends with the total time, of which gates
        // and interceptors may have used a part.
        if call.sink != nil, let deadline = call.deadline, let total = transfer.timeouts.total {
            let left = max(.zero, call.client.pipeline.clock.now.duration(to: deadline))
            // The error of a time-out has the total time as it was set, unless it was really used.
            if left + .milliseconds(10) < total { transfer.timeouts.total = left }
        }
        return transfer
    }

    /// Creates a context to test a gate or an interceptor with.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - transfer: Time-outs and limits.
    ///   - tags: The request's tags.
    ///   - endpoint: The endpoint that the request was created from; nil for its path.
    ///   - userInfo: The request's own values.
    ///   - client: The client that sends the request.
    ///   - attempt: The number of the attempt, starting at 1.
    public init(
        request: HTTPRequest,
        transfer: TransferContext = TransferContext(),
        tags: Set<String> = [],
        endpoint: (any Endpoint)? = nil,
        userInfo: [String: any Sendable] = [:],
        client: APIClient = APIClient(),
        attempt: Int = 1
    ) {
        var draft = RequestDraft(method: request.method, path: request.path)
        draft.tags = tags
        draft.options.endpoint = endpoint
        draft.options.userInfo = userInfo
        let call = Call(request, draft, transfer, .none, by: client, on: client.configuration.transport)
        self.init(attempt: attempt, within: transfer.timeouts.total, of: call)
    }

    /// The tags that the request was given.
    public var tags: Set<String> { call.draft.tags }
    /// The endpoint that the request was created from: a target, a template, a URL or a path.
    ///
    /// ```swift
    /// if case Shop.user(let id) = context.endpoint { … }
    /// ```
    public var endpoint: any Endpoint { call.draft.options.endpoint ?? call.draft.path }
    /// Unavailable: see ``endpoint``.
    @available(*, unavailable, renamed: "endpoint")
    public var target: any Endpoint { endpoint }
    /// The values that the request was given: ``ModifiableRequest/userInfo(_:_:)``.
    public var userInfo: [String: any Sendable] { call.draft.options.userInfo }
    /// The client that sends the request. Steps can use it to send requests themselves.
    public var client: APIClient { call.client }
    /// The ID of the request, unique in the process and the same for all its attempts.
    public var id: RequestID { call.id }
    /// The route that requests of the same kind share: ``ModifiableRequest/route(_:)``.
    public var route: String { call.draft.route ?? RoutePattern.route(of: call.draft.path) }
    /// The moment by which the request must end, including later attempts, on the client's ``SluiceClock``; nil without
    /// a total time-out and a ``Deadline``. Steps that wait on behalf of the request need not watch it: the request
    /// ends on its own, and its task is cancelled.
    public var deadline: ContinuousClock.Instant? { call.deadline }

    var bypasses: [GateBypass] { call.bypasses }

    /// The number of attempts that got further with the response than all before them.
    var progress: Int { call.progress }

    /// False if another attempt would repeat a request that has taken effect: a POST that a server has answered with a
    /// redirect to its result.
    var mayBeRepeated: Bool { call.draft.options.isIdempotent == true || !call.hasTakenEffect }

    /// Returns a value that is created once for all attempts of the request, for example a key or a trace.
    ///
    /// - Parameters:
    ///   - key: The key of the value. Begin it with a prefix of your own to avoid collisions.
    ///   - makeDefault: Creates the value if none of that type is stored under the key.
    /// - Returns: The value.
    public func value<Value: Sendable>(forKey key: String, default makeDefault: () -> Value) -> Value {
        call.value(forKey: key, default: makeDefault)
    }
}

// MARK: - Reflection

// Descriptions and mirrors for `print` and `dump`: body lengths and model types, never their contents.

extension ServerResponse: CustomReflectable, RedactedMirror {
    /// All properties without the contents of the body, which may be secret.
    package var shown: [Mirror.Child] {
        [
            ("request", request), ("head", head), ("body", body.summary), ("trailers", trailers), ("metrics", metrics),
            ("source", source),
        ]
    }
}

extension RequestContext: CustomStringConvertible, CustomReflectable, RedactedMirror {
    /// The request and the number of the attempt.
    public var description: String { "attempt \(attempt) of \(request)" }

    /// The request, the attempt and the tags, without internal state.
    package var shown: [Mirror.Child] { [("request", request), ("attempt", attempt), ("tags", tags.sorted())] }
}

extension Data {
    /// The number of bytes, as text that does not reveal the contents.
    var summary: String { "\(count) bytes" }
}

extension Result {
    /// The type of the model or of the error, as text.
    var summary: String {
        switch self {
        case .success: "a \(Success.self)"
        case .failure: "a failure of the type \(Failure.self)"
        }
    }
}

// MARK: - Requests that are not sent yet

// Query values and bodies may be secret, and are omitted.

extension RequestDraft: CustomStringConvertible, CustomReflectable, RedactedMirror {}

extension CustomStringConvertible where Self: ModifiableRequest {
    /// The method and the path or URL, without secrets.
    public var description: String { "\(draft.method) \(SecretRules.usual.url(draft.path))" }
}

extension RedactedMirror where Self: CustomStringConvertible & ModifiableRequest {
    /// The method, the path without secrets, and the names of everything else.
    package var shown: [Mirror.Child] {
        var children: [Mirror.Child] = [
            ("method", draft.method), ("path", SecretRules.usual.url(draft.path)), ("headers", draft.headers),
        ]
        if !draft.query.isEmpty { children.append(("query", draft.query.flatMap(\.names))) }
        if let body = draft.body { children.append(("body", body.contentType ?? "without a type")) }
        if !draft.tags.isEmpty { children.append(("tags", draft.tags.sorted())) }
        if let failure = draft.options.failure { children.append(("failure", failure)) }
        return children
    }
}

extension QueryPart: RedactedMirror {
    /// The names without their values.
    var names: [String] {
        switch self {
        case .item(let name, _): [name]
        case .encoded(let parameters): parameters.names
        case .removal: []
        }
    }

    var shown: [Mirror.Child] { [("names", names)] }
}

extension RequestParameters: RedactedMirror {
    /// The names without their values, or the value's type if the names are only known after encoding.
    var names: [String] { (value as? Parameters)?.names ?? ["\(type(of: value))"] }

    var shown: [Mirror.Child] { [("names", names)] }
}

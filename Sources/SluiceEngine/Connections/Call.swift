#if os(Linux)
import SluiceHTTP

/// A connection, as a request that it carries sees it.
protocol RequestCarrier: AnyObject, Sendable {
    /// Takes a request off the wire, on the loop: its caller has left.
    ///
    /// Nothing is waited for: a task's cancellation calls this from under a lock that the loop may need to wake the task.
    func abandon(_ call: Call)
    /// Takes more of the body that is sent.
    func bodyHasMore(of call: Call)
    /// Creates the pipe for a body that does not come at once.
    func makePipe(for call: Call) -> ResponsePipe
}

/// One request from its caller's point of view: answered once, by the engine or by its own cancellation, whichever comes first.
package final class Call: Sendable {
    package typealias Completion = @Sendable (Result<TransportResponse, SluiceError>) -> Void

    private enum Stage {
        /// Without a connection, or between two.
        case waiting
        case running(any RequestCarrier)
        case answered
        case cancelled
        /// Another call carries it on, by HTTP/1.1.
        case replaced(Call)
    }

    let request: HTTPRequest
    let origin: HTTPOrigin
    let plan: ConnectionPlan
    let context: TransferContext
    let upload: UploadSource
    let pool: ConnectionPool
    /// The moment of the call, at which the total time begins.
    let started: MonotonicTime
    /// The moment at which the body had been prepared.
    let queued = MonotonicTime.now
    /// The moment at which the request must have ended.
    let deadline: MonotonicTime
    private let cookies: CookieExchange?
    private let completion: Completion
    private let credentials: ChallengeCredentials?
    private let state: Locked<State>

    private struct State {
        var stage = Stage.waiting
        var attempt = Attempt()
        var authentication: CallAuthentication?
    }

    /// True if the request may answer challenges; only then is anything asked of `authentication`.
    let hasCredentials: Bool

    /// The attempts so far. Only the connection that has the call touches it.
    struct Attempt: Sendable {
        /// Times that the request was sent again since its connection had died unanswered.
        var resends = 0
        /// True once the server has contradicted the Expect field (417).
        var omitsExpect = false
        /// The body, once it has been opened: a stream that can be read only once goes along.
        var body: UploadBody?
        /// The connection that sends a body in pieces.
        var sender: (any RequestCarrier)?
        /// The moment at which the first attempt had its slot, once a challenge has ended that.
        var began: MonotonicTime?
    }

    init(
        _ request: HTTPRequest,
        upload: UploadSource,
        context: TransferContext,
        plan: ConnectionPlan,
        origin: HTTPOrigin,
        pool: ConnectionPool,
        started: MonotonicTime,
        credentials: ChallengeCredentials? = nil,
        completion: @escaping Completion
    ) {
        self.request = request
        self.upload = upload
        self.context = context
        self.plan = plan
        self.origin = origin
        self.pool = pool
        self.started = started
        self.completion = completion
        self.credentials = credentials
        cookies = CookieExchange(context.cookies, for: request)
        deadline = context.timeouts.total.map { started + $0 } ?? .distantFuture
        let authentication = CallAuthentication(request, upload, credentials, plan.proxy)
        hasCredentials = authentication != nil
        state = Locked(unchecked: State(authentication: authentication))
    }

    // MARK: Credentials

    /// True if the request goes without its body, to be asked for credentials before that is read.
    var holdsBodyBack: Bool {
        hasCredentials && state.withLockUnchecked { $0.authentication?.holdsBodyBack ?? false }
    }

    /// Returns the value of `Authorization` for the request that is about to be sent; nil for none. Each attempt asks for its own.
    func authorization() -> String? { authorization(ofProxy: false) }

    /// Returns the value of `Proxy-Authorization` for a request that an HTTP proxy passes on; nil for none.
    func proxyAuthorization() -> String? { authorization(ofProxy: true) }

    private func authorization(ofProxy isOfProxy: Bool) -> String? {
        guard hasCredentials else { return nil }
        return state.withLockUnchecked {
            $0.authentication?.fieldValue(ofProxy: isOfProxy, in: pool.protectionSpaces)
        }
    }

    /// Returns the fields that go out with the request's own. Each attempt asks for its own.
    func addedFields() -> HTTPHeaders {
        var fields = HTTPHeaders()
        if let cookies = cookieHeader() { fields.append(.cookie, value: cookies) }
        if let authorization = authorization() { fields.append(.authorization, authorization) }
        return fields
    }

    /// Takes the head of a response that may be a challenge.
    ///
    /// - Parameter head: The final head of a response, of any status.
    /// - Returns: True if the request has to be sent again, with its body from the start; the response is not the caller's then.
    func answer(challenge head: HTTPResponse) -> Bool {
        guard hasCredentials else { return false }
        return state.withLockUnchecked { $0.authentication?.takes(head, in: pool.protectionSpaces) ?? false }
    }

    /// Takes what the head of the caller's response says of the credentials: they were let in, and by which nonce they are next.
    func takeAuthenticationInfo(of head: HTTPResponse) {
        guard hasCredentials else { return }
        state.withLockUnchecked { $0.authentication?.takeAcceptance(of: head, in: pool.protectionSpaces) }
    }

    /// Returns the value of the `Cookie` field for an attempt that begins now; nil for no field.
    func cookieHeader() -> FieldValue? { cookies?.header() }

    /// Stores the cookies that a response sets; called with each head but the informational ones.
    func takeCookies(of head: HTTPResponse) { cookies?.take(head) }

    /// Reads or changes what is known of the attempts.
    func withAttempt<Value>(_ body: (inout Attempt) -> Value) -> Value {
        state.withLockUnchecked { body(&$0.attempt) }
    }

    /// Has the connection that sends the body take what there is of it now.
    func bodyHasMore() {
        let (next, sender): (Call?, (any RequestCarrier)?) = state.withLockUnchecked { state in
            if case .replaced(let call) = state.stage { return (call, nil) }
            return (nil, state.attempt.sender)
        }
        next?.bodyHasMore()
        sender?.bodyHasMore(of: self)
    }

    /// The name of the server in errors: host and port, or the path of the unix-domain socket.
    var serverName: String { plan.unixSocket.map { "the socket “\($0)”" } ?? request.authority }

    /// The way by a proxy; nil for none.
    var route: ProxyRoute? { ProxyRoute(plan, to: origin) }

    /// The form in which the request names its target.
    var target: RequestWriter.Target {
        guard plan.proxy != nil, route?.passage == .absoluteForm else { return .origin }
        return .absolute(proxyAuthorization: proxyAuthorization())
    }

    /// Notes the connection that is about to send the request; returns false if the request was cancelled, and must not be sent.
    func begin(on connection: any RequestCarrier) -> Bool {
        state.withLockUnchecked { state in
            guard case .waiting = state.stage else { return false }
            state.stage = .running(connection)
            return true
        }
    }

    /// Notes that the request has no connection any more and will get another; returns false if it was cancelled.
    func beginAgain() -> Bool {
        state.withLockUnchecked { state in
            guard case .running = state.stage else { return false }
            state.stage = .waiting
            return true
        }
    }

    /// Sends the request by HTTP/1.1, which its server wants for it (RFC 9113 §7); its body has been taken back.
    func beginByHTTP1() {
        let next = Call(
            request,
            upload: upload,
            context: context,
            plan: plan.speaking(.http1),
            origin: origin,
            pool: pool,
            started: started,
            credentials: credentials,
            completion: completion
        )
        let isWanted = state.withLockUnchecked { state in
            guard case .running = state.stage else { return false }
            state.stage = .replaced(next)
            let body = state.attempt.body.take()
            next.withAttempt { $0.body = body }
            return true
        }
        if isWanted { pool.begin(next) }
    }

    /// Answers the caller unless it has been answered.
    func answer(_ result: Result<TransportResponse, SluiceError>) {
        let isFirst = state.withLockUnchecked { state in
            switch state.stage {
            case .waiting, .running:
                state.stage = .answered
                return true
            case .answered, .cancelled, .replaced: return false
            }
        }
        if isFirst { completion(result) }
    }

    /// Orders what was written before the answer, where the thread sanitizer sees it.
    func synchronize() {
        state.synchronize()
    }

    /// Fails the request unless it has been answered.
    func fail(_ error: SluiceError, response: HTTPResponse? = nil) {
        answer(.failure(error.with(request: request, response: response)))
    }

    /// Answers the caller with a cancellation unless it has been answered, and takes the request off the wire first.
    func cancel() {
        let before = state.withLockUnchecked { state in
            let before = state.stage
            switch before {
            case .waiting, .running: state.stage = .cancelled
            case .answered, .cancelled, .replaced: break
            }
            return before
        }
        switch before {
        case .waiting: pool.withdraw(self)
        case .running(let connection): connection.abandon(self)
        case .replaced(let next): return next.cancel()
        case .answered, .cancelled: return
        }
        completion(.failure(SluiceError.cancelled.with(request: request)))
    }

    /// The error for a request whose time is up.
    func timeoutError(at now: MonotonicTime) -> SluiceError {
        if let total = context.timeouts.total, deadline <= now {
            return SluiceError(.timedOut, "The request took longer than the \(total) allowed in all.")
        }
        let idle = context.timeouts.idle ?? .zero
        return SluiceError(.idleTimedOut, "Nothing was sent or received for \(idle); the server may be stuck.")
    }
}
#endif

#if os(Linux)
import SluiceHTTP

/// The connection that carries a request.
protocol RequestCarrier: AnyObject, Sendable {
    /// Resets a request whose caller has left, on the loop.
    ///
    /// Must not wait for a lock: a task's cancellation calls this under a lock that the loop may need to resume the task.
    func abandon(_ call: Call)
    /// Sends more of the request body.
    func bodyHasMore(of call: Call)
    /// Creates the pipe for a response body that does not arrive at once.
    func makePipe(for call: Call) -> ResponsePipe
}

/// One request of a caller. It is answered exactly once, by the engine or by its cancellation.
package final class Call: Sendable {
    package typealias Completion = @Sendable (Result<TransportResponse, SluiceError>) -> Void

    private enum Stage {
        /// No connection yet, or between two connections.
        case waiting
        case running(any RequestCarrier)
        case answered
        case cancelled
        /// Replaced by another call, which uses HTTP/1.1.
        case replaced(Call)
    }

    let request: HTTPRequest
    let origin: HTTPOrigin
    let plan: ConnectionPlan
    let context: TransferContext
    let upload: UploadSource
    let pool: ConnectionPool
    let started: MonotonicTime
    /// The time at which the body was prepared.
    let queued = MonotonicTime.now
    /// The time by which the request must have ended.
    let deadline: MonotonicTime
    private let cookies: RequestCookies?
    private let completion: Completion
    private let credentials: ChallengeCredentials?
    private let state: Locked<State>

    private struct State {
        var stage = Stage.waiting
        var attempt = Attempt()
        var authentication: CallAuthentication?
    }

    /// True if the request may answer challenges.
    let hasCredentials: Bool

    /// The state that carries over between attempts. Only the current connection of the call changes it.
    struct Attempt: Sendable {
        /// The number of times that the request was sent again after its connection died without a response.
        var resends = 0
        /// The number of times that servers refused the request while they processed others.
        var refusals = 0
        /// True once the server has refused the Expect field (417).
        var omitsExpect = false
        /// The rewound body of the previous attempt, for the next one.
        var body: UploadBody?
        /// The connection that sends the body in pieces.
        var sender: (any RequestCarrier)?
        /// The start of the first attempt, if a challenge has ended it.
        var began: MonotonicTime?

        mutating func countResend() -> Int {
            resends += 1
            return resends
        }
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
        cookies = RequestCookies(context.cookies, for: request, by: plan)
        deadline = context.timeouts.total.map { started + $0 } ?? .distantFuture
        let authentication = CallAuthentication(request, upload, credentials, plan.proxy)
        hasCredentials = authentication != nil
        state = Locked(unchecked: State(authentication: authentication))
    }

    /// True if the start of the request calls no code of the user, so that any thread may start it.
    var startsWithoutUserCode: Bool {
        if case .stream = upload { return false }
        if case .report = plan.tls.pins?.mode { return false }
        return true
    }

    /// True if the request may be sent again although the server may have processed it (RFC 9110 §9.2.2).
    var isIdempotent: Bool { request.method.isIdempotent && context.isRepeatable }

    // MARK: Credentials

    /// True if the request is sent without its body, to receive a challenge first.
    var holdsBodyBack: Bool {
        hasCredentials && state.withLockUnchecked { $0.authentication?.holdsBodyBack ?? false }
    }

    /// Returns the value of `Authorization` for the next attempt, or nil for none. Call it once per attempt.
    func authorization() -> String? { authorization(forProxy: false) }

    /// Returns the value of `Proxy-Authorization` for a request that an HTTP proxy forwards, or nil for none.
    func proxyAuthorization() -> String? { authorization(forProxy: true) }

    private func authorization(forProxy isForProxy: Bool) -> String? {
        guard hasCredentials else { return nil }
        return state.withLockUnchecked {
            $0.authentication?.fieldValue(forProxy: isForProxy, in: pool.protectionSpaces)
        }
    }

    /// Returns the fields to add to the request. Call it once per attempt.
    func addedFields() -> HTTPHeaders {
        var fields = HTTPHeaders()
        if let cookies = cookieHeader() { fields.append(.cookie, value: cookies) }
        if let authorization = authorization() { fields.append(.authorization, authorization) }
        return fields
    }

    /// Processes the head of a response that may be a challenge.
    ///
    /// - Parameter head: The final head of a response, with any status.
    /// - Returns: True if the request must be sent again with its whole body, and the response discarded.
    func processChallenge(in head: HTTPResponse) -> Bool {
        guard hasCredentials else { return false }
        return state.withLockUnchecked { $0.authentication?.processHead(head, in: pool.protectionSpaces) ?? false }
    }

    /// Records the acceptance of the credentials and the next nonce from the head of the caller's response.
    func recordAuthentication(of head: HTTPResponse) {
        guard hasCredentials else { return }
        state.withLockUnchecked { $0.authentication?.recordAcceptance(of: head, in: pool.protectionSpaces) }
    }

    /// Returns the value of the `Cookie` field for the next attempt, or nil for no field.
    func cookieHeader() -> FieldValue? { cookies?.header() }

    /// Stores the cookies that a response sets. Call it with each head except informational ones.
    func storeCookies(of head: HTTPResponse) { cookies?.store(head) }

    /// Reads or changes the state of the attempts.
    func withAttempt<Value>(_ body: (inout Attempt) -> Value) -> Value {
        state.withLockUnchecked { body(&$0.attempt) }
    }

    /// Notifies the connection that sends the body that more of it is available.
    func bodyHasMore() {
        let (next, sender): (Call?, (any RequestCarrier)?) = state.withLockUnchecked { state in
            if case .replaced(let call) = state.stage { return (call, nil) }
            return (nil, state.attempt.sender)
        }
        next?.bodyHasMore()
        sender?.bodyHasMore(of: self)
    }

    /// The name of the server in error messages: host and port, or the path of the unix-domain socket.
    var serverName: String { plan.serverName(of: request) }

    /// The route through a proxy, or nil for none.
    var route: ProxyRoute? { ProxyRoute(plan, to: origin) }

    var target: RequestWriter.Target {
        guard plan.proxy != nil, route?.mode == .absoluteForm else { return .origin }
        return .absolute(proxyAuthorization: proxyAuthorization())
    }

    /// Records the connection that will send the request. Returns false if the request was cancelled and must not be sent.
    func begin(on connection: any RequestCarrier) -> Bool {
        state.withLockUnchecked { state in
            guard case .waiting = state.stage else { return false }
            state.stage = .running(connection)
            return true
        }
    }

    /// Records that the request has no connection again, before it is sent on another. Returns false if it was cancelled.
    func returnToWaiting() -> Bool {
        state.withLockUnchecked { state in
            guard case .running = state.stage else { return false }
            state.stage = .waiting
            return true
        }
    }

    /// Sends the request again with HTTP/1.1, which the server requires for it (RFC 9113 §7). Its body has been rewound.
    func resendOverHTTP1() {
        let next = Call(
            request,
            upload: upload,
            context: context,
            plan: plan.with(.http1),
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

    /// Answers the caller, unless the request has already been answered.
    func answer(_ result: Result<TransportResponse, SluiceError>) {
        let (isFirst, body): (Bool, UploadBody?) = state.withLockUnchecked { state in
            switch state.stage {
            case .waiting, .running:
                state.stage = .answered
                return (true, state.attempt.body.take())
            case .answered, .cancelled, .replaced: return (false, nil)
            }
        }
        body?.close()
        if isFirst { completion(result) }
    }

    /// Keeps a rewound body for the next attempt. Closes it if there will be none, because the request has ended.
    func keepBody(_ body: UploadBody) {
        let isKept = state.withLockUnchecked { state in
            switch state.stage {
            case .waiting, .running:
                state.attempt.body = body
                return true
            case .answered, .cancelled, .replaced: return false
            }
        }
        if !isKept { body.close() }
    }

    /// True if the request was cancelled before it was answered.
    var isCancelled: Bool {
        state.withLockUnchecked { state in
            if case .cancelled = state.stage { return true }
            return false
        }
    }

    /// Takes the lock once, so that the thread sanitizer orders writes before the answer before the caller's reads.
    func synchronize() {
        state.synchronize()
    }

    /// Fails the request, unless it has already been answered.
    func fail(_ error: SluiceError) {
        answer(.failure(error.with(request: request)))
    }

    /// Cancels the request, unless it has already been answered. Removes it from its connection or from the pool first.
    func cancel() {
        let (before, body): (Stage, UploadBody?) = state.withLockUnchecked { state in
            let before = state.stage
            switch before {
            case .waiting, .running:
                state.stage = .cancelled
                return (before, state.attempt.body.take())
            case .answered, .cancelled, .replaced: return (before, nil)
            }
        }
        body?.close()
        switch before {
        case .waiting: pool.removeWaiting(self)
        case .running(let connection): connection.abandon(self)
        case .replaced(let next): return next.cancel()
        case .answered, .cancelled: return
        }
        completion(.failure(SluiceError.cancelled.with(request: request)))
    }

    /// Returns the error for a request whose deadline has passed.
    func timeoutError(at now: MonotonicTime) -> SluiceError {
        if let total = context.timeouts.total, deadline <= now {
            let shown = total.textRoundedUp
            return SluiceError(.timedOut, "The request exceeded the total time-out of \(shown).")
        }
        let idle = context.timeouts.idle ?? .zero
        return SluiceError(
            .idleTimedOut,
            "Nothing was sent or received for \(idle.textRoundedUp). The server may be stuck."
        )
    }
}

extension ConnectionPlan {
    /// Returns the name of the server in error messages: host and port, or the path of the unix-domain socket.
    func serverName(of request: HTTPRequest) -> String {
        unixSocket.map { "the socket “\($0)”" } ?? request.authority
    }
}
#endif

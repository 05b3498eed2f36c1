#if os(Linux)
import SluiceHTTP

/// One request from its caller's point of view: answered once, by the engine or by its own cancellation, whichever comes first.
package final class Call: Sendable {
    package typealias Completion = @Sendable (Result<TransportResponse, SluiceError>) -> Void

    private enum Stage {
        /// Without a connection, or between two.
        case waiting
        case running(Connection)
        case answered
        case cancelled
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
    private let completion: Completion
    private let state = Locked(unchecked: State())

    private struct State {
        var stage = Stage.waiting
        var attempt = Attempt()
    }

    /// The attempts so far. Only the connection that has the call touches it.
    struct Attempt: Sendable {
        /// Times that the request was sent again since its connection had died unanswered.
        var resends = 0
        /// True once the server has contradicted the Expect field (417).
        var omitsExpect = false
        /// The body, once it has been opened: a stream that can be read only once goes along.
        var body: UploadBody?
        /// The connection that sends a body in pieces.
        var sender: Connection?
    }

    init(
        _ request: HTTPRequest,
        upload: UploadSource,
        context: TransferContext,
        plan: ConnectionPlan,
        origin: HTTPOrigin,
        pool: ConnectionPool,
        started: MonotonicTime,
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
        deadline = context.timeouts.total.map { started + $0 } ?? .distantFuture
    }

    /// Reads or changes what is known of the attempts.
    func withAttempt<Value>(_ body: (inout Attempt) -> Value) -> Value {
        state.withLockUnchecked { body(&$0.attempt) }
    }

    /// Has the connection that sends the body take what there is of it now.
    func bodyHasMore() {
        withAttempt { $0.sender }?.bodyHasMore()
    }

    /// The name of the server in errors: host and port, or the path of the unix-domain socket.
    var serverName: String { plan.unixSocket.map { "the socket “\($0)”" } ?? request.authority }

    /// Notes the connection that is about to send the request; returns false if the request was cancelled, and must not be sent.
    func begin(on connection: Connection) -> Bool {
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

    /// Answers the caller unless it has been answered.
    func answer(_ result: Result<TransportResponse, SluiceError>) {
        let isFirst = state.withLockUnchecked { state in
            switch state.stage {
            case .waiting, .running:
                state.stage = .answered
                return true
            case .answered, .cancelled: return false
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
            case .answered, .cancelled: break
            }
            return before
        }
        switch before {
        case .waiting: pool.withdraw(self)
        case .running(let connection): connection.abandon(self)
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

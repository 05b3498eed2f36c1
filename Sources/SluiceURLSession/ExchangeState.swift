import SluiceHTTP

/// What is known of one exchange, and what each event leads to: a value, without a socket, a lock or a clock.
///
///     waiting ──head──▶ receiving ──end──▶ done
///        └──────── failure, cancellation ────▲
struct ExchangeState: Sendable {
    typealias Instant = ContinuousClock.Instant

    enum Phase: Sendable, Equatable {
        /// The head of the final response has not come.
        case waiting
        /// The caller has the head; the body is coming.
        case receiving
        case done
    }

    /// What is to be done about an event.
    enum Action: Sendable {
        case none
        /// Give the caller the head.
        case answer(HTTPResponse)
        /// Give the reader the chunk.
        case deliver
        /// Tell the reader that the body is whole.
        case finish(TransferMetrics)
        /// Give the caller the head and tell the reader that there is no body to come.
        case answerAndFinish(HTTPResponse, TransferMetrics)
        /// Tell the caller, or else the reader, and stop the task.
        case fail(SluiceError)
        /// Stop the task; nobody is to be told.
        case stop
    }

    let request: HTTPRequest
    let context: TransferContext
    let started: Instant
    private(set) var phase = Phase.waiting
    private(set) var head: HTTPResponse?
    /// What the body must come to, where the head says so.
    private(set) var announced: Int64?
    private(set) var metrics = TransferMetrics()
    /// When the last byte went or came; nil while the silence is not the server's.
    private var lastActivity: Instant?
    private var isHeldBack = false

    init(request: HTTPRequest, context: TransferContext, started: Instant) {
        self.request = request
        self.context = context
        self.started = started
    }

    /// The task has begun; from now on a silence is the server's.
    mutating func begin(at now: Instant) {
        lastActivity = now
    }

    /// A head has come, of the final response or of an informational one.
    mutating func receive(_ response: HTTPResponse, at now: Instant) -> Action {
        touch(now)
        guard phase == .waiting else { return .none }
        let isFinal = response.status.class != .informational || response.status == 101
        guard isFinal else { return .none }
        if metrics.firstByte == .zero { metrics.firstByte = now - started }
        head = response
        guard response.size <= context.limits.headers else {
            return end(with: .headersTooLarge(limit: context.limits.headers))
        }
        announced = response.bodyLength(of: request.method)
        if let limit = context.limits.body, let announced, announced > limit {
            return end(with: .bodyTooLarge(limit: limit))
        }
        phase = .receiving
        return .answer(response)
    }

    /// Bytes of the body have come.
    mutating func receive(bytes count: Int, at now: Instant) -> Action {
        touch(now)
        guard phase == .receiving, count > 0 else { return .none }
        metrics.bytesReceived += Int64(count)
        if let limit = context.limits.body, metrics.bytesReceived > limit {
            return end(with: .bodyTooLarge(limit: limit))
        }
        return .deliver
    }

    /// Bytes of the request's body have gone.
    mutating func send(bytes count: Int64, at now: Instant) {
        touch(now)
        metrics.bytesSent += count
    }

    /// The reader has enough, or wants more; a silence in between is not the server's.
    ///
    /// - Returns: Whether that is a change.
    mutating func hold(_ isHeldBack: Bool, at now: Instant) -> Bool {
        guard phase != .done, self.isHeldBack != isHeldBack else { return false }
        self.isHeldBack = isHeldBack
        touch(now)
        return true
    }

    /// The session knows better than the exchange what the transfer took.
    mutating func measure(_ measure: (inout TransferMetrics) -> Void) {
        guard phase != .done else { return }
        measure(&metrics)
    }

    /// The task has ended well; `response` is what it says to have got.
    mutating func complete(_ response: HTTPResponse?, at now: Instant) -> Action {
        // Foundation on Linux does not announce a 3xx that leads nowhere, and loses its body.
        let unannounced = phase == .waiting ? response.map { receive($0, at: now) } : nil
        switch (phase, unannounced) {
        case (.waiting, _):
            return end(with: .noHead)
        case (.receiving, .answer(let head)):
            return .answerAndFinish(head, finish(at: now))
        case (.receiving, _):
            if let announced, metrics.bytesReceived < announced { return end(with: .truncated) }
            return .finish(finish(at: now))
        case (.done, _):
            return unannounced ?? .none
        }
    }

    private mutating func finish(at now: Instant) -> TransferMetrics {
        phase = .done
        metrics.total = now - started
        return metrics
    }

    /// The exchange fails, unless it is over.
    mutating func fail(_ error: SluiceError) -> Action {
        phase == .done ? .none : end(with: error)
    }

    /// The reader has left.
    mutating func abandon() -> Action {
        guard phase != .done else { return .none }
        phase = .done
        return .stop
    }

    private mutating func touch(_ now: Instant) {
        if lastActivity != nil { lastActivity = now }
    }

    private mutating func end(with error: SluiceError) -> Action {
        phase = .done
        return .fail(error.with(request: request, response: head))
    }
}

// MARK: Time

extension ExchangeState {
    /// When to look at the time again; nil when there is no limit to it.
    func deadline(after now: Instant) -> Instant? {
        guard phase != .done else { return nil }
        let total = context.timeouts.total.map { started + $0 }
        guard let idle = context.timeouts.idle else { return total }
        let silence = isHeldBack ? now + idle : (lastActivity ?? now) + idle
        return total.map { min($0, silence) } ?? silence
    }

    /// It has become later: fails the exchange where the total time is over.
    mutating func checkTotalTime(at now: Instant) -> Action {
        guard phase != .done, let total = context.timeouts.total, started + total <= now else { return .none }
        return end(with: SluiceError(.timedOut, "The request took longer than the \(total) allowed in all."))
    }

    /// It has become later, and all that had come has been received: fails the exchange where nothing has for too long.
    mutating func checkSilence(at now: Instant) -> Action {
        guard phase != .done, !isHeldBack, let idle = context.timeouts.idle, let lastActivity,
            lastActivity + idle <= now
        else { return .none }
        return end(
            with: SluiceError(
                .idleTimedOut,
                "Nothing was sent or received for \(idle); the server may be stuck or cannot be reached."
            )
        )
    }
}

extension HTTPResponse {
    /// The head's size as HTTP/1.1 writes it, but for the reason, which is not known.
    fileprivate var size: Int {
        "HTTP/1.1 200\r\n\r\n".utf8.count + headers.byteCount
    }
}

extension SluiceError {
    fileprivate static func headersTooLarge(limit: Int) -> SluiceError {
        SluiceError(.headersTooLarge, "The response's head is over the limit of \(limit) bytes.")
    }

    fileprivate static var noHead: SluiceError {
        SluiceError(.connectionLost, "The server closed the connection without an answer.")
    }

    fileprivate static var truncated: SluiceError {
        SluiceError(.truncatedBody, "The connection closed before the whole body had come.")
    }
}

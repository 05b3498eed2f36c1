import SluiceHTTP

/// The state machine of one transfer: a value without a socket, a lock or a clock.
///
///     waiting ──head──▶ receiving ──end──▶ done
///        └──────── failure, cancellation ────▲
struct TransferState: Sendable {
    typealias Instant = ContinuousClock.Instant

    enum Phase: Sendable, Equatable {
        /// The head of the final response has not been received.
        case waiting
        /// The caller has received the head; the body is arriving.
        case receiving
        case done
    }

    /// The action that an event requires.
    enum Action: Sendable {
        case none
        /// Return the head to the caller.
        case answer(HTTPResponse)
        /// Pass the chunk to the reader.
        case deliver
        /// Tell the reader that the body is complete.
        case finish(TransferMetrics)
        /// Return the head to the caller, with an empty body.
        case answerAndFinish(HTTPResponse, TransferMetrics)
        /// Pass the error to the caller, or to the reader if the caller has the head, and stop the task.
        case fail(SluiceError)
        /// Stop the task. Neither the caller nor the reader is notified.
        case stop
    }

    let request: HTTPRequest
    let context: TransferContext
    let started: Instant
    private(set) var phase = Phase.waiting
    private(set) var head: HTTPResponse?
    /// The announced length of the body, if the head has one.
    private(set) var announced: Int64?
    private(set) var metrics = TransferMetrics()
    /// The time of the last sent or received byte; nil before the task has started.
    private var lastActivity: Instant?
    private var isSuspended = false
    /// True while the source of the request's body provides nothing.
    private var awaitsSource = false
    /// The number of bytes of the body that the session has delivered.
    private var received: Int64 = 0

    init(request: HTTPRequest, context: TransferContext, started: Instant) {
        self.request = request
        self.context = context
        self.started = started
    }

    /// Starts the idle time-out when the task has started.
    mutating func begin(at now: Instant) {
        lastActivity = now
    }

    /// Handles the head of a final or an informational response.
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

    /// Handles received bytes of the response's body.
    mutating func receive(bytes count: Int, at now: Instant) -> Action {
        touch(now)
        guard phase == .receiving, count > 0 else { return .none }
        received += Int64(count)
        metrics.bytesReceived = received
        if let limit = context.limits.body, received > limit {
            return end(with: .bodyTooLarge(limit: limit))
        }
        return .deliver
    }

    /// Handles sent bytes of the request's body.
    mutating func send(bytes count: Int64, at now: Instant) {
        touch(now)
        metrics.bytesSent += count
    }

    /// Counts the bytes of the request's body from the start.
    mutating func beginUploadAgain(at now: Instant) {
        touch(now)
        metrics.bytesSent = 0
    }

    /// Begins or ends a wait for the source of the request's body, during which the idle time-out does not run.
    mutating func setAwaitsSource(_ awaitsSource: Bool, at now: Instant) {
        self.awaitsSource = awaitsSource
        touch(now)
    }

    /// Changes the suspension of the transfer. The idle time-out does not run while the transfer is suspended.
    ///
    /// - Returns: True if the state has changed.
    mutating func setSuspended(_ isSuspended: Bool, at now: Instant) -> Bool {
        guard phase != .done, self.isSuspended != isSuspended else { return false }
        self.isSuspended = isSuspended
        touch(now)
        return true
    }

    /// Updates the metrics with measurements of the session, which are more precise. Its count of received bytes includes
    /// framing, so that it is used only for a body that the session has decoded.
    mutating func measure(_ measure: (inout TransferMetrics) -> Void) {
        guard phase != .done else { return }
        measure(&metrics)
        if !isDecoded { metrics.bytesReceived = received }
    }

    private var isDecoded: Bool { head?.headers.contains(.contentEncoding) == true }

    /// Handles the successful end of the task. `response` is the task's final response.
    mutating func complete(_ response: HTTPResponse?, at now: Instant) -> Action {
        // Foundation on Linux does not report a 3xx without a valid target before its end, and loses its body.
        let unannounced = phase == .waiting ? response.map { receive($0, at: now) } : nil
        switch (phase, unannounced) {
        case (.waiting, _):
            return end(with: .noHead)
        case (.receiving, .answer(let head)):
            return .answerAndFinish(head, finish(at: now))
        case (.receiving, _):
            if let announced, received < announced { return end(with: .truncated) }
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

    /// Fails the transfer, unless it is over.
    mutating func fail(_ error: SluiceError) -> Action {
        phase == .done ? .none : end(with: error)
    }

    /// Handles the release of the body by the reader.
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

// MARK: - Time-outs

extension TransferState {
    /// Returns the time of the next time-out check; nil if there is no time-out.
    func deadline(after now: Instant) -> Instant? {
        guard phase != .done else { return nil }
        let total = context.timeouts.total.map { started + $0 }
        guard let idle = context.timeouts.idle else { return total }
        let silence = isSuspended || awaitsSource ? now + idle : (lastActivity ?? now) + idle
        return total.map { min($0, silence) } ?? silence
    }

    /// Fails the transfer if the total time has passed.
    mutating func checkTotalTime(at now: Instant) -> Action {
        guard phase != .done, let total = context.timeouts.total, started + total <= now else { return .none }
        return end(with: SluiceError(.timedOut, "The request exceeded the total time-out of \(total)."))
    }

    /// Fails the transfer if the idle time has passed. Call only after all pending events have been handled.
    mutating func checkSilence(at now: Instant) -> Action {
        guard phase != .done, !isSuspended, !awaitsSource, let idle = context.timeouts.idle, let lastActivity,
            lastActivity + idle <= now
        else { return .none }
        return end(
            with: SluiceError(
                .idleTimedOut,
                "Nothing was sent or received for \(idle). The server may be stuck or unreachable."
            )
        )
    }
}

extension HTTPResponse {
    /// The head's size in HTTP/1.1 format without the reason phrase, which is not known.
    fileprivate var size: Int {
        "HTTP/1.1 200\r\n\r\n".utf8.count + headers.byteCount
    }
}

extension SluiceError {
    fileprivate static func headersTooLarge(limit: Int) -> SluiceError {
        SluiceError(.headersTooLarge, "The response's head exceeds the limit of \(limit) bytes.")
    }

    fileprivate static var noHead: SluiceError {
        SluiceError(.connectionLost, "The server closed the connection without sending a response.")
    }

    fileprivate static var truncated: SluiceError {
        SluiceError(.truncatedBody, "The connection closed before the complete body was received.")
    }
}

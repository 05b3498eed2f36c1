import Foundation
import SluiceHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A transfer in progress. Connects the caller, the session's task, the reader of the body and the clock.
///
/// All decisions are made by ``TransferState``: each event is passed to it under the lock, and the resulting action is
/// performed after the lock is released. Tasks and continuations may call back at any time, so no action may run under
/// the lock.
final class SessionTransfer: Sendable {
    typealias Outcome = Result<TransportResponse, SluiceError>
    private typealias Instant = ContinuousClock.Instant

    /// The number of buffered response bytes at which the task is suspended.
    private static let highWater = 256 << 10

    private struct Parts {
        var state: TransferState
        var caller: UnsafeContinuation<Outcome, Never>?
        var pipe: ResponsePipe?
        var task: URLSessionTask?
        var openStream: Payload.OpenStream?
        /// The tasks that read the request's body and watch the time-outs.
        var sideTasks: [Task<Void, Never>] = []
    }

    private let parts: Locked<Parts>
    let credentials: ChallengeCredentials?
    private let message: URLRequest
    private let body: UploadBody
    private let session: Session
    private let priority: RequestPriority
    private let progress: TransferMeter.Reporter?

    init(
        request: HTTPRequest,
        message: URLRequest,
        body: UploadBody,
        context: TransferContext,
        credentials: ChallengeCredentials?,
        session: Session,
        started: ContinuousClock.Instant
    ) {
        let state = TransferState(request: request, context: context, started: started)
        parts = Locked(Parts(state: state))
        self.credentials = credentials
        self.message = message
        self.body = body
        self.session = session
        priority = context.priority
        progress = context.meter?.begin(uploading: body.length)
    }

    /// Sends the request and waits for the head of the response.
    func run() async -> Outcome {
        defer { parts.synchronize() }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { caller in
                let (isOver, request) = parts.withLock { parts in
                    if parts.state.phase != .done { parts.caller = caller }
                    return (parts.state.phase == .done, parts.state.request)
                }
                if isOver { return caller.resume(returning: .failure(.cancelled.with(request: request))) }
                startTimeouts()
                start()
            }
        } onCancel: {
            fail(.cancelled)
        }
    }

    private func start() {
        switch body {
        case .none: launch(.none)
        case .data(let data): launch(.data(data))
        case .file(let url, _): launch(.file(url))
        case .stream(let stream, let length): startStream(stream, length: length)
        }
    }

    /// Creates and starts the task, unless the transfer is over.
    func launch(_ payload: Payload) {
        session.withTasks { [self] in
            guard parts.withLock({ $0.state.phase != .done }) else { return }
            if case .stream(let open) = payload { parts.withLock { $0.openStream = open } }
            let task = session.makeTask(for: self, message, payload)
            if priority != .normal { task.priority = priority.ofTask }
            let isOver = parts.withLock { parts in
                parts.task = task
                parts.state.begin(at: .now)
                return parts.state.phase == .done
            }
            if isOver { session.stop(task) } else { task.resume() }
        }
    }

    /// Registers a task that is cancelled when the transfer ends.
    func register(_ sideTask: Task<Void, Never>) {
        let isOver = parts.withLock { parts in
            if parts.state.phase != .done { parts.sideTasks.append(sideTask) }
            return parts.state.phase == .done
        }
        if isOver { sideTask.cancel() }
    }

    private func startTimeouts() {
        guard parts.withLock({ $0.state.deadline(after: .now) != nil }) else { return }
        register(
            Task { [weak self] in
                while let deadline = self?.parts.withLock({ $0.state.deadline(after: .now) }) {
                    do { try await Task.sleep(until: deadline, clock: .continuous) } catch { return }
                    await self?.checkTime()
                }
            }
        )
    }

    private func checkTime() async {
        handle { $0.checkTotalTime(at: $1) }
        // Checked after pending events, because on a busy machine received bytes may still be in the queue.
        await withUnsafeContinuation { continuation in
            session.enqueue { [self] in
                handle { $0.checkSilence(at: $1) }
                continuation.resume()
            }
        }
    }
}

// MARK: - Events

extension SessionTransfer {
    func receive(_ response: HTTPURLResponse) {
        let head = HTTPResponse(response)
        handle { $0.receive(head, at: $1) }
    }

    func receive(_ data: Data) {
        handle(data) { $0.receive(bytes: data.count, at: $1) }
        if let progress { progress.received(parts.withLock { $0.state.metrics.bytesReceived }) }
    }

    func sent(_ count: Int64) {
        let sent = parts.withLock { parts in
            parts.state.send(bytes: count, at: .now)
            return parts.state.metrics.bytesSent
        }
        progress?.sent(sent)
    }

    func complete(_ response: HTTPURLResponse?, _ error: (any Error)?) {
        // A completed task need not be cancelled. The head is converted once.
        let hasHead = parts.withLock { parts in
            parts.task = nil
            return parts.state.head != nil
        }
        let head = hasHead ? nil : response.map { HTTPResponse($0) }
        handle { state, now in
            guard let error else { return state.complete(head, at: now) }
            let failure = URLFailure(error)
            return state.fail(failure.error(host: state.request.authority, hasHead: state.head != nil))
        }
    }

    func fail(_ error: SluiceError) {
        handle { state, _ in state.fail(error) }
    }

    func measure(_ measure: (inout TransferMetrics) -> Void) {
        parts.withLock { $0.state.measure(measure) }
    }

    /// Counts the bytes of the request's body from the start, because the session sends it again.
    func beginUploadAgain() {
        parts.withLock { $0.state.beginUploadAgain(at: .now) }
        progress?.sent(0)
    }

    /// Stops the idle time-out while the source of the request's body provides nothing.
    func setAwaitsSource(_ awaitsSource: Bool) {
        parts.withLock { $0.state.setAwaitsSource(awaitsSource, at: .now) }
    }

    /// True if the request's body can be sent again.
    var canSendAgain: Bool { parts.withLock { $0.state.request.body.isReplayable } }

    func openBodyStream() -> InputStream? {
        parts.withLock { $0.openStream }?()
    }

    /// Refuses a redirect by calling `refuse`.
    func refuseRedirect(_ refuse: () -> Void) {
        #if canImport(FoundationNetworking)
        // Foundation on Linux traps if a redirect is refused after its task was cancelled. A task is cancelled only
        // after the transfer is over, which cannot happen while the lock is held.
        parts.withLock { parts in
            if parts.state.phase != .done { refuse() }
        }
        #else
        refuse()
        #endif
    }
}

// MARK: - Actions

extension SessionTransfer {
    private func handle(_ chunk: Data? = nil, _ event: (inout TransferState, Instant) -> TransferState.Action) {
        let action = parts.withLock { event(&$0.state, .now) }
        switch action {
        case .none:
            break
        case .answer(let head):
            answer(head)
        case .deliver:
            if let chunk { deliver(chunk) }
        case .finish(let metrics):
            end(stoppingTask: false).pipe?.finish(.success(metrics))
        case .answerAndFinish(let head, let metrics):
            let response = TransportResponse(head: head, body: ResponseBody(metrics: metrics))
            end(stoppingTask: false).caller?.resume(returning: .success(response))
        case .fail(let error):
            let (caller, pipe) = end(stoppingTask: true)
            caller?.resume(returning: .failure(error))
            pipe?.finish(.failure(error))
        case .stop:
            _ = end(stoppingTask: true)
        }
    }

    private func answer(_ head: HTTPResponse) {
        if let progress { progress.expected(parts.withLock { $0.state.announced }) }
        let pipe = ResponsePipe(
            highWater: SessionTransfer.highWater,
            onDemand: { [weak self] in self?.session.enqueue { [weak self] in self?.resume() } },
            onAbandon: { [weak self] in self?.handle { state, _ in state.abandon() } }
        )
        let body = ResponseBody(ResponsePipe.Reader(pipe))
        let caller: UnsafeContinuation<Outcome, Never>? = parts.withLock { parts in
            // If the transfer has ended meanwhile, the code that ended it resumes the caller.
            guard parts.state.phase != .done else { return nil }
            parts.pipe = pipe
            return parts.caller.take()
        }
        caller?.resume(returning: .success(TransportResponse(head: head, body: body)))
    }

    private func deliver(_ chunk: Data) {
        guard let pipe = parts.withLock({ $0.pipe }), pipe.write(chunk) else { return }
        setSuspended(true)?.suspendTransfer()
    }

    /// Resumes the task when the reader needs data. Runs in order with the task's events, so that it cannot overtake
    /// the suspension that it ends.
    private func resume() {
        setSuspended(false)?.resumeTransfer()
    }

    /// Updates the suspension state. Returns the task if the state has changed.
    private func setSuspended(_ isSuspended: Bool) -> URLSessionTask? {
        parts.withLock { parts in
            parts.state.setSuspended(isSuspended, at: .now) ? parts.task : nil
        }
    }

    /// Releases the task and all tasks that support it. Returns the caller and the pipe, which must still receive the
    /// outcome.
    private func end(stoppingTask: Bool) -> (caller: UnsafeContinuation<Outcome, Never>?, pipe: ResponsePipe?) {
        let (task, sideTasks, caller, pipe) = parts.withLock { parts in
            defer {
                parts.openStream = nil
                parts.sideTasks = []
            }
            return (parts.task, parts.sideTasks, parts.caller.take(), parts.pipe.take())
        }
        for sideTask in sideTasks { sideTask.cancel() }
        if stoppingTask, let task { session.stop(task) }
        return (caller, pipe)
    }
}

extension URLSessionTask {
    #if canImport(FoundationNetworking)
    /// Does nothing: on Linux, suspending a task ends its transfer, and resuming it sends the request again.
    fileprivate func suspendTransfer() {}
    /// Does nothing, like ``suspendTransfer()``.
    fileprivate func resumeTransfer() {}
    #else
    fileprivate func suspendTransfer() { suspend() }
    fileprivate func resumeTransfer() { resume() }
    #endif
}

extension RequestPriority {
    /// The priority on the scale of `URLSession`, from 0 to 1.
    fileprivate var ofTask: Float {
        switch self {
        case .low: URLSessionTask.lowPriority
        case .normal: URLSessionTask.defaultPriority
        case .high: URLSessionTask.highPriority
        }
    }
}

// MARK: - Transfer state

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
        #if !canImport(FoundationNetworking)
        if let type = response.headers[.contentType], type.lowercased().hasPrefix("multipart/x-mixed-replace") {
            let text = "URLSession removes the boundaries of a response of the type \(type)."
            return end(with: SluiceError(.unsupported, text))
        }
        #endif
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
        // The clock cannot wait for longer than some centuries.
        let longest = Duration.seconds(Int64(1) << 31)
        let total = context.timeouts.total.map { started + min($0, longest) }
        guard let idle = context.timeouts.idle.map({ min($0, longest) }) else { return total }
        let silence = isSuspended || awaitsSource ? now + idle : (lastActivity ?? now) + idle
        return total.map { min($0, silence) } ?? silence
    }

    /// Fails the transfer if the total time has passed.
    mutating func checkTotalTime(at now: Instant) -> Action {
        guard phase != .done, let total = context.timeouts.total, started + total <= now else { return .none }
        return end(with: SluiceError(.timedOut, "The request exceeded the total time-out of \(total.textRoundedUp)."))
    }

    /// Fails the transfer if the idle time has passed. Call only after all pending events have been handled.
    mutating func checkSilence(at now: Instant) -> Action {
        guard phase != .done, !isSuspended, !awaitsSource, let idle = context.timeouts.idle, let lastActivity,
            lastActivity + idle <= now
        else { return .none }
        return end(
            with: SluiceError(
                .idleTimedOut,
                "Nothing was sent or received for \(idle.textRoundedUp). The server may be stuck or unreachable."
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

import Foundation
import SluiceHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request on its way: joins the caller, the session's task, the reader of the body and the clock.
///
/// Decides nothing: each event goes to the ``ExchangeState`` under the lock, and what comes of it is done after the lock
/// has been given back, since a task calls its delegate, and a continuation its caller, whenever they like.
final class Exchange: Sendable {
    typealias Answer = Result<TransportResponse, SluiceError>
    private typealias Instant = ContinuousClock.Instant

    /// Bytes of a response that may wait to be read before the task is held back.
    private static let highWater = 256 << 10

    private struct Parts {
        var state: ExchangeState
        var caller: UnsafeContinuation<Answer, Never>?
        var pipe: ResponsePipe?
        var task: URLSessionTask?
        var openStream: Payload.OpenStream?
        /// What reads the request's body, and what watches the time.
        var sideTasks: [Task<Void, Never>] = []
    }

    private let parts: Locked<Parts>
    /// What to answer a challenge with.
    let credentials: ChallengeCredentials?
    private let message: URLRequest
    private let body: UploadBody
    private let session: Session
    private let priority: RequestPriority
    /// Where the transfer tells how far it is.
    private let run: TransferMeter.Run?

    init(
        request: HTTPRequest,
        message: URLRequest,
        body: UploadBody,
        context: TransferContext,
        credentials: ChallengeCredentials?,
        session: Session,
        started: ContinuousClock.Instant
    ) {
        let state = ExchangeState(request: request, context: context, started: started)
        parts = Locked(Parts(state: state))
        self.credentials = credentials
        self.message = message
        self.body = body
        self.session = session
        priority = context.priority
        run = context.meter?.begin(uploading: body.length)
    }

    /// Sends the request and waits for the head of the response.
    func run() async -> Answer {
        defer { parts.synchronize() }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { caller in
                let (isOver, request) = parts.withLock { parts in
                    if parts.state.phase != .done { parts.caller = caller }
                    return (parts.state.phase == .done, parts.state.request)
                }
                if isOver { return caller.resume(returning: .failure(.cancelled.with(request: request))) }
                watchTime()
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

    /// Makes the task and lets it run, unless the exchange is over already.
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

    /// Keeps a task that is to end with the exchange.
    func keep(_ sideTask: Task<Void, Never>) {
        let isOver = parts.withLock { parts in
            if parts.state.phase != .done { parts.sideTasks.append(sideTask) }
            return parts.state.phase == .done
        }
        if isOver { sideTask.cancel() }
    }

    private func watchTime() {
        guard parts.withLock({ $0.state.deadline(after: .now) != nil }) else { return }
        keep(
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
        // Behind the events that wait for their turn, so that a busy machine is not taken for a silent server.
        await withUnsafeContinuation { continuation in
            session.inTurn { [self] in
                handle { $0.checkSilence(at: $1) }
                continuation.resume()
            }
        }
    }
}

// MARK: Events

extension Exchange {
    func receive(_ response: HTTPURLResponse) {
        let head = HTTPResponse(response)
        handle { $0.receive(head, at: $1) }
    }

    func receive(_ data: Data) {
        handle(data) { $0.receive(bytes: data.count, at: $1) }
        tellReceived()
    }

    private func tellReceived() {
        if let run { run.received(parts.withLock { $0.state.metrics.bytesReceived }) }
    }

    func sent(_ count: Int64) {
        let sent = parts.withLock { parts in
            parts.state.send(bytes: count, at: .now)
            return parts.state.metrics.bytesSent
        }
        run?.sent(sent)
    }

    func complete(_ response: HTTPURLResponse?, _ error: (any Error)?) {
        let head = response.map { HTTPResponse($0) }
        // A task that is over needs no stopping.
        parts.withLock { $0.task = nil }
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

    /// Whether the request's body can be sent a second time.
    var canSendAgain: Bool { parts.withLock { $0.state.request.body.isReplayable } }

    func openBodyStream() -> InputStream? {
        parts.withLock { $0.openStream }?()
    }

    /// Refuses to follow a redirect, by way of `refuse`.
    func refuseRedirect(_ refuse: () -> Void) {
        #if canImport(FoundationNetworking)
        // Foundation on Linux traps where a redirect is refused after its task was cancelled. A task is cancelled only
        // once the exchange is over, and cannot become so while the lock is held.
        parts.withLock { parts in
            if parts.state.phase != .done { refuse() }
        }
        #else
        refuse()
        #endif
    }
}

// MARK: Actions

extension Exchange {
    private func handle(_ chunk: Data? = nil, _ event: (inout ExchangeState, Instant) -> ExchangeState.Action) {
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
        if let run { run.expects(parts.withLock { $0.state.announced }) }
        let pipe = ResponsePipe(
            highWater: Exchange.highWater,
            onDemand: { [weak self] in self?.session.inTurn { [weak self] in self?.goOn() } },
            onAbandon: { [weak self] in self?.handle { state, _ in state.abandon() } }
        )
        let body = ResponseBody(ResponsePipe.Reader(pipe))
        let caller: UnsafeContinuation<Answer, Never>? = parts.withLock { parts in
            // Who ended the exchange meanwhile answers the caller too.
            guard parts.state.phase != .done else { return nil }
            parts.pipe = pipe
            return parts.caller.take()
        }
        caller?.resume(returning: .success(TransportResponse(head: head, body: body)))
    }

    private func deliver(_ chunk: Data) {
        guard let pipe = parts.withLock({ $0.pipe }), pipe.write(chunk) else { return }
        hold(true)?.suspendTransfer()
    }

    /// The reader wants more. Runs in turn with the task's events, so that it never overtakes the hold that it ends.
    private func goOn() {
        hold(false)?.resumeTransfer()
    }

    /// The task, where it has to be told.
    private func hold(_ isHeldBack: Bool) -> URLSessionTask? {
        parts.withLock { parts in
            parts.state.hold(isHeldBack, at: .now) ? parts.task : nil
        }
    }

    /// Lets go of all that the exchange held; those who have to be told are left to the one who ended it.
    private func end(stoppingTask: Bool) -> (caller: UnsafeContinuation<Answer, Never>?, pipe: ResponsePipe?) {
        let (task, sideTasks, caller, pipe) = parts.withLock { parts in
            let held = (parts.task, parts.sideTasks, parts.caller.take(), parts.pipe.take())
            parts.openStream = nil
            parts.sideTasks = []
            return held
        }
        for sideTask in sideTasks { sideTask.cancel() }
        if stoppingTask, let task { session.stop(task) }
        return (caller, pipe)
    }
}

extension URLSessionTask {
    #if canImport(FoundationNetworking)
    /// Does nothing: to suspend a task is to end its transfer there, and to resume it sends the request once more.
    fileprivate func suspendTransfer() {}
    /// Does nothing either.
    fileprivate func resumeTransfer() {}
    #else
    fileprivate func suspendTransfer() { suspend() }
    fileprivate func resumeTransfer() { resume() }
    #endif
}

extension RequestPriority {
    /// As `URLSession` counts it, between 0 and 1.
    fileprivate var ofTask: Float {
        switch self {
        case .low: URLSessionTask.lowPriority
        case .normal: URLSessionTask.defaultPriority
        case .high: URLSessionTask.highPriority
        }
    }
}

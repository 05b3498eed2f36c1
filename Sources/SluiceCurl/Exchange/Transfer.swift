#if os(Linux)
import SluiceEngine
import SluiceHTTP

/// One request on its way, as the calling task sees it; the engine's side of it is an `Exchange`.
///
/// The caller is answered once: by the engine, or by its own cancellation, whichever comes first.
final class Transfer: Sendable {
    typealias Answer = Result<TransportResponse, SluiceError>

    typealias Completion = @Sendable (Answer) -> Void

    private enum State {
        case idle
        case waiting(Completion)
        case answered
        case cancelled
    }

    let request: HTTPRequest
    let origin: HTTPOrigin
    let upload: UploadSource
    let context: TransferContext
    /// What to answer a challenge with; those for another origin are none.
    let credentials: ChallengeCredentials?
    /// How the server is reached.
    let plan: ConnectionPlan
    let lane: Lane
    /// When the caller asked for it, which is when the total time begins.
    let started: MonotonicTime
    /// When its body had been prepared.
    let queued = MonotonicTime.now
    private let mailbox: EngineMailbox
    private let state = Locked(State.idle)

    init(
        request: HTTPRequest,
        upload: UploadSource,
        context: TransferContext,
        lane: Lane,
        mailbox: EngineMailbox,
        started: MonotonicTime = .now
    ) throws(SluiceError) {
        self.request = request
        origin = request.origin
        self.upload = upload
        self.context = context
        credentials = try context.credentials(for: request)
        do {
            plan = try context.connection.plan(for: origin)
        } catch {
            throw error.with(request: request)
        }
        self.lane = lane
        self.mailbox = mailbox
        self.started = started
    }

    /// Hands the request to the engine and waits for the head of the response.
    func run() async -> Answer {
        defer { state.synchronize() }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                begin { continuation.resume(returning: $0) }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Hands the request to the engine.
    func begin(_ completion: @escaping Completion) {
        let isCancelled = state.withLock { state in
            if case .cancelled = state { return true }
            state = .waiting(completion)
            return false
        }
        if isCancelled {
            completion(.failure(.cancelled.with(request: request)))
        } else {
            mailbox.post(.start(self))
        }
    }

    /// Answers the caller, on the engine's thread, if it has not left meanwhile.
    func answer(_ answer: Answer) {
        let completion: Completion? = state.withLock { state in
            guard case .waiting(let completion) = state else { return nil }
            state = .answered
            return completion
        }
        completion?(answer)
    }

    /// Makes the pipe that the rest of the response's body comes through.
    func makePipe() -> ResponsePipe {
        ResponsePipe(
            highWater: lane.configuration.responseBuffer,
            onDemand: { [self] in mailbox.post(.resumeReceiving(self)) },
            onAbandon: { [self] in mailbox.post(.cancel(self)) }
        )
    }

    /// Asks the engine to go on sending, after the body had run dry.
    func resumeSending() {
        mailbox.post(.resumeSending(self))
    }

    /// What to say when the transfer's time is up: the total time's end, or else too long a silence.
    func timeout(at now: MonotonicTime) -> SluiceError {
        if let total = context.timeouts.total, started + total <= now {
            return SluiceError(.timedOut, "The request took longer than the \(total) allowed in all.")
        }
        let idle = context.timeouts.idle ?? .zero
        return SluiceError(.idleTimedOut, "Nothing was sent or received for \(idle); the server may be stuck.")
    }

    /// Answers the caller with a cancellation, unless it has been answered, and stops the engine's work.
    func cancel() {
        let completion: Completion? = state.withLock { state in
            switch state {
            case .idle:
                state = .cancelled
                return nil
            case .waiting(let completion):
                state = .cancelled
                return completion
            case .answered, .cancelled:
                return nil
            }
        }
        guard let completion else { return }
        completion(.failure(.cancelled.with(request: request)))
        mailbox.post(.cancel(self))
    }
}
#endif

import SluiceFoundation
import SluiceHTTP

/// Decides if a request is sent again after an outcome.
struct Retry: Sendable {
    enum Decision: Equatable {
        case finish
        case again(after: Duration)
    }

    /// The conditions for the decision, in addition to the outcome.
    struct Circumstances {
        /// The number of the attempt, starting at 1, without hedged attempts.
        var attempt: Int
        /// The time since the request began or, for a download, since it last received bytes.
        var elapsed: Duration
        /// The rest of the total time; nil if it is not limited.
        var left: Duration?
        /// True if the request may be sent more than once, by its own option or its method.
        var isIdempotent: Bool
        /// True if the request's own option says that it must not be sent more than once.
        var isDeclaredUnsafe = false
        /// The request as it was sent; nil for that of the outcome.
        var sent: SentRequest?
        /// The current date, for a `Retry-After` that is a date.
        var date: Date
        /// 64 random bits.
        var random: UInt64
    }

    let policy: RetryPolicy

    /// Decides without the retry budget.
    func decision(_ outcome: TransportOutcome, _ circumstances: Circumstances) -> Decision {
        guard isRetried(outcome, circumstances.attempt), mayBeRepeated(outcome, circumstances) else { return .finish }
        var delay = policy.backoff.delay(before: circumstances.attempt, random: circumstances.random)
        var spread = Duration.zero
        if let headers = outcome.responseHead?.headers,
            let requested = RetryAfter.delay(in: headers, now: circumstances.date)
        {
            // A retry before the requested time would fail again.
            guard requested <= policy.maximumRetryAfter else { return .finish }
            delay = requested
            spread = policy.backoff.spread(after: requested)
        }
        if let limit = policy.maximumElapsedTime {
            guard circumstances.elapsed + delay <= limit else { return .finish }
            spread = min(spread, limit - circumstances.elapsed - delay)
        }
        if let left = circumstances.left {
            guard delay < left else { return .finish }
            // The attempt keeps at least half of the time.
            spread = min(spread, (left - delay) / 2)
        }
        return .again(after: delay + spread * Backoff.fraction(circumstances.random))
    }

    /// Returns true if the policy retries such an outcome. Checked first, because it is usually false.
    func isRetried(_ outcome: TransportOutcome, _ attempt: Int) -> Bool {
        guard attempt < policy.maximumAttempts else { return false }
        switch outcome {
        case .failure(let error) where error.isCancellation: return false
        // The cache answered, so another attempt would get the same response, unless the server has sent it just now.
        case .success(let response) where response.isServedFromCache && !response.isShared: return false
        default: break
        }
        let isRetried =
            switch outcome {
            case .success(let response): policy.statuses.contains(response.head.status)
            // Nothing has been sent, and the gate would begin its work again.
            case .failure(let error) where error.step == .gate: false
            case .failure(let error): policy.codes.contains(error.code) && !error.isLasting
            }
        guard let shouldRetry = policy.shouldRetry else { return isRetried }
        return shouldRetry(RetryProposal(outcome: outcome, attempt: attempt, isRetried: isRetried))
    }

    private func mayBeRepeated(_ outcome: TransportOutcome, _ circumstances: Circumstances) -> Bool {
        let sent = circumstances.sent ?? outcome.request.map { SentRequest($0) }
        if let sent, !sent.isReplayable { return false }
        if circumstances.isIdempotent { return true }
        return !circumstances.isDeclaredUnsafe && (sent?.hasKey == true || sent?.wasReceivable == false)
    }
}

/// The properties of a request, as it was sent, that determine if it may be sent again.
struct SentRequest: Sendable {
    let isIdempotent: Bool
    let isReplayable: Bool
    /// True if it has an `Idempotency-Key`.
    let hasKey: Bool
    /// False if no server can have received it, because there was no connection to one.
    let wasReceivable: Bool

    init(_ request: HTTPRequest, wasReceivable: Bool = true) {
        self.wasReceivable = wasReceivable
        isIdempotent = request.method.isIdempotent
        isReplayable = request.body.isReplayable
        hasKey = request.headers.contains("Idempotency-Key")
    }
}

extension SluiceError {
    /// True if a transport reports that there was no connection to the server.
    var isWithoutConnection: Bool {
        step == .transport && response == nil && [.cannotResolveHost, .cannotConnect].contains(code)
    }
}

extension TransportOutcome {
    /// The request as it was last sent.
    var request: HTTPRequest? {
        switch self {
        case .success(let response): response.request
        case .failure(let error): error.request
        }
    }

    /// Keeps the response in the error that a response interceptor or plugin has returned in its place, unless the error
    /// is that of another request.
    mutating func keep(responseOf received: TransportOutcome, to requests: HTTPRequest...) {
        guard case .success(let response) = received, case .failure(let error) = self, !error.isCancellation else {
            return
        }
        // An interceptor sees the request as it was built. Later interceptors and redirects may have changed its URL.
        if let url = error.request?.url, !(requests + [response.request]).contains(where: { $0.url == url }) { return }
        self = .failure(error.replacing(response))
    }

    /// The head of the response; nil if none was received.
    var responseHead: HTTPResponse? {
        switch self {
        case .success(let response): response.head
        case .failure(let error): error.response
        }
    }
}

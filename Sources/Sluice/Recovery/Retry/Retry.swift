import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Whether an outcome is the last word, or the request is sent again.
struct Retry: Sendable {
    enum Decision: Equatable {
        case finish
        case again(after: Duration)
    }

    /// What it depends on besides the outcome.
    struct Circumstances {
        /// Which attempt it was, from 1, hedged ones not counted.
        var attempt: Int
        /// Since the request began.
        var elapsed: Duration
        /// Until its total time is up; nil where there is no end.
        var left: Duration?
        /// Whether it may be sent more than once: by its method, or its own word.
        var isIdempotent: Bool
        /// The time of day, for a `Retry-After` that is a date.
        var date: Date
        /// 64 random bits.
        var random: UInt64
    }

    let policy: RetryPolicy

    /// Decides without asking the budget.
    func decision(_ outcome: TransportOutcome, _ circumstances: Circumstances) -> Decision {
        guard isRetried(outcome, circumstances.attempt), mayBeRepeated(outcome, circumstances) else { return .finish }
        var delay = policy.backoff.delay(before: circumstances.attempt, random: circumstances.random)
        if let headers = outcome.responseHead?.headers,
            let wish = RetryAfter.delay(in: headers, now: circumstances.date)
        {
            // Sooner than the server asks is no use, and later than the caller has patience for is none either.
            guard wish <= policy.longestRetryAfter else { return .finish }
            delay = wish
        }
        if let limit = policy.maximumElapsedTime, circumstances.elapsed + delay > limit { return .finish }
        if let left = circumstances.left, delay >= left { return .finish }
        return .again(after: delay)
    }

    /// Whether the policy is for such an outcome, which it is asked first, since it nearly never is.
    func isRetried(_ outcome: TransportOutcome, _ attempt: Int) -> Bool {
        guard attempt < policy.maximumAttempts else { return false }
        switch outcome {
        case .failure(let error) where error.isCancellation: return false
        // Nobody has been asked whose answer could be another next time.
        case .success(let response) where response.isUnasked: return false
        default: break
        }
        let isRetried =
            switch outcome {
            case .success(let response): policy.statuses.contains(response.head.status)
            case .failure(let error): policy.codes.contains(error.code)
            }
        guard let decides = policy.decides else { return isRetried }
        return decides(RetryProposal(outcome: outcome, attempt: attempt, isRetried: isRetried))
    }

    private func mayBeRepeated(_ outcome: TransportOutcome, _ circumstances: Circumstances) -> Bool {
        let sent = outcome.request
        if let sent, !sent.body.isReplayable { return false }
        return circumstances.isIdempotent || sent?.headers.contains("Idempotency-Key") == true
    }
}

extension TransportOutcome {
    /// The request as it was sent last.
    var request: HTTPRequest? {
        switch self {
        case .success(let response): response.request
        case .failure(let error): error.request
        }
    }

    /// The head of the response, where there was one.
    var responseHead: HTTPResponse? {
        switch self {
        case .success(let response): response.head
        case .failure(let error): error.response
        }
    }
}

import SluiceHTTP

/// Keeps the first of several verdicts and resumes the waiting task with it.
final class FirstVerdict: Sendable {
    private struct State {
        var verdict: ConformanceFailure??
        var waiter: CheckedContinuation<ConformanceFailure?, Never>?
    }

    private let state = Locked(State())

    func give(_ verdict: ConformanceFailure?) {
        let waiter: CheckedContinuation<ConformanceFailure?, Never>? = state.withLock { state in
            guard state.verdict == nil else { return nil }
            state.verdict = .some(verdict)
            return state.waiter.take()
        }
        waiter?.resume(returning: verdict)
    }

    var value: ConformanceFailure? {
        get async {
            defer { state.synchronize() }
            return await withCheckedContinuation { continuation in
                let verdict: ConformanceFailure?? = state.withLock { state in
                    if state.verdict == nil { state.waiter = continuation }
                    return state.verdict
                }
                if let verdict { continuation.resume(returning: verdict) }
            }
        }
    }
}

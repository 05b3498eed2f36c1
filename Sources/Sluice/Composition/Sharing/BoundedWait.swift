import SluiceHTTP

/// Waits for a shared transfer until a deadline. The transfer continues for callers that have more time.
final class BoundedWait: Sendable {
    private struct State {
        var completion: (@Sendable (Landing) -> Void)?
        var timer: Task<Void, Never>?
    }

    private let leaving = DeferredStop()
    private let state: Locked<State>

    /// Creates a wait.
    ///
    /// - Parameter completion: Called once, with the outcome of the transfer, or with a time-out.
    init(_ completion: @escaping @Sendable (Landing) -> Void) {
        state = Locked(State(completion: completion))
    }

    /// Starts the wait.
    ///
    /// - Parameters:
    ///   - limit: The time to wait.
    ///   - time: The clock that measures it.
    ///   - request: The request of the waiting caller.
    ///   - join: Joins the transfer, and returns an action that leaves it.
    /// - Returns: An action by which the caller leaves early.
    func begin(
        within limit: Duration,
        on time: any TimeSource,
        for request: HTTPRequest,
        _ join: (@escaping @Sendable (Landing) -> Void) -> Flight<Landing>.Stop
    ) -> Flight<Landing>.Stop {
        guard limit > .zero else {
            finish(with: .late(request))
            return {}
        }
        let timer = Task { [self] in
            do { try await time.sleep(for: limit) } catch { return }
            if finish(with: .late(request)) { leaving.stop() }
        }
        state.withLock { $0.timer = timer }
        leaving.decide(join { [self] in finish(with: $0) })
        return { [self] in leaving.stop() }
    }

    @discardableResult
    private func finish(with landing: Landing) -> Bool {
        let before = state.withLock { state in
            defer { state = State() }
            return state
        }
        before.timer?.cancel()
        before.completion?(landing)
        return before.completion != nil
    }
}

extension Landing {
    fileprivate static func late(_ request: HTTPRequest) -> Landing {
        let error = SluiceError(
            .timedOut,
            "The request's deadline passed; the answer to an equal one, which it shares, had not come.",
            request: request
        )
        return Landing(.failure(error))
    }
}

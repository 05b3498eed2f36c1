import SluiceHTTP

extension OAuth2 {
    /// Runs the steps that the state asks for, until the work ends.
    ///
    /// - Parameters:
    ///   - work: The number of the work.
    ///   - step: The first step.
    ///   - client: The client whose transport and clock to use.
    /// - Returns: The outcome; nil if the work was cancelled.
    func carryOut(_ work: Int, _ step: TokenState.Step, by client: APIClient) async -> TokenState.Outcome? {
        let endpoint = TokenEndpoint(tokenURL, grant, configuration, by: client)
        let time = client.pipeline.time
        var step = step
        while true {
            switch step {
            case .load:
                let result = await stored { try await $0.load() }
                step = advance { $0.loaded(result, work: work, at: Moment(time)) }
            case .save(let token):
                let result = await stored { try await $0.save(token) }
                step = advance { $0.saved(result, work: work, at: Moment(time)) }
            case .forget:
                // If this fails, the stored token is refused once more after the next start, which does no harm.
                _ = await stored { try await $0.delete() }
                step = advance { $0.forgot(work: work, at: Moment(time)) }
            case .refresh(let token):
                let result = await endpoint.token(.refresh(token))
                step = advance { $0.received(result, work: work, at: Moment(time)) }
            case .request:
                let result = await endpoint.token(.grant)
                step = advance { $0.received(result, work: work, at: Moment(time)) }
            case .finish(let outcome): return outcome
            case .stop: return nil
            }
        }
    }

    /// Applies an event to the state. Resumes all waiters if the work has ended.
    func advance(_ event: (inout TokenState) -> TokenState.Step) -> TokenState.Step {
        let (step, isTurn, waiters) = desk.withLock { desk -> (TokenState.Step, Bool, [Desk.Waiter]) in
            let isTurn = desk.state.work?.isTurn ?? false
            let step = event(&desk.state)
            guard case .finish = step else { return (step, isTurn, []) }
            desk.task = nil
            return (step, isTurn, desk.takeWaiters())
        }
        guard case .finish(let outcome) = step, !waiters.isEmpty else { return step }
        let landing: Landing =
            switch outcome {
            case _ where isTurn: .again
            case .admitted(let credential): .admitted(credential)
            case .failed(let error): .failed(SluiceError(error))
            }
        for waiter in waiters { waiter.resume(returning: landing) }
        return step
    }

    /// Calls the token store.
    func stored<Value: Sendable>(
        _ work: (any TokenStore) async throws -> Value
    ) async -> Result<Value, OAuth2Error> {
        do {
            return .success(try await work(configuration.store))
        } catch {
            // The text of other errors may quote the token.
            let detail = (error as? TokenStoreError)?.description
            return .failure(OAuth2Error(.storeFailed, detail, underlyingError: error))
        }
    }
}

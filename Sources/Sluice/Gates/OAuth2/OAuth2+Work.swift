import SluiceHTTP

extension OAuth2 {
    /// Does what the state says, step by step, to the end.
    ///
    /// - Parameters:
    ///   - work: Which work it is.
    ///   - step: The first step.
    ///   - client: Whose transport and clock to use.
    /// - Returns: What came of it; nil if it was given up.
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
                // What is left there is refused once more after the next start, and no worse.
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

    /// Tells the state what has happened, and all who wait what has come of it.
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

    /// Asks the store.
    func stored<Value: Sendable>(
        _ work: (any TokenStore) async throws -> Value
    ) async -> Result<Value, OAuth2Error> {
        do {
            return .success(try await work(configuration.store))
        } catch {
            // Others' errors may quote the token.
            let detail = (error as? TokenStoreError)?.description
            return .failure(OAuth2Error(.storeFailed, detail, underlyingError: error))
        }
    }
}

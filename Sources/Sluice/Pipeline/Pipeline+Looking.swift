import SluiceHTTP

extension Pipeline {
    /// Looks up stored responses, in memory and then in storage, before a task is created.
    ///
    /// - Parameters:
    ///   - lookup: The lookup to perform.
    ///   - exchange: The exchange that ends if a stored response can be used.
    ///   - steps: The steps of the exchange.
    ///   - caller: Runs the steps that follow.
    ///   - otherwise: Called when no stored response can be used as it is.
    /// - Returns: An action that stops the lookup and the steps that follow.
    func begin(
        _ lookup: CacheLookup,
        _ exchange: DirectExchange,
        _ steps: DirectExchange.Steps,
        _ caller: @escaping CallerContext,
        otherwise: @escaping @Sendable () async -> Void
    ) -> Flight<Landing>.Stop {
        let (sending, attempt, transfer) = (steps.context.sending, steps.context.attempt, steps.context.transfer)
        if let hit = lookup.immediateResponse(within: transfer.limits) {
            sending.tell(.cached, attempt) { .cached(hit) }
            return exchange.end(with: .success(hit))
        }
        let stop = DeferredStop()
        // Only a task can enforce a total time-out.
        let isLooking =
            transfer.timeouts.total == nil
            && lookup.look(within: transfer.limits) { [self] hit, found in
                caller { [self] in
                    if let hit {
                        sending.tell(.cached, attempt) { .cached(hit) }
                        return stop.decide(exchange.end(with: .success(hit)))
                    }
                    if stop.isStopped { return stop.decide(exchange.end(with: .failure(.cancelled))) }
                    sending.note(found: found, for: lookup.key)
                    let task = startedTask(otherwise)
                    stop.decide { task.cancel() }
                }
            }
        if isLooking { return { stop.stop() } }
        let task = startedTask(otherwise)
        return { task.cancel() }
    }
}

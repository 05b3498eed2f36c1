import SluiceHTTP

extension Pipeline {
    /// Looks at what is kept, in memory and then in storage, before there is a task.
    ///
    /// - Parameters:
    ///   - lookup: What to look for.
    ///   - exchange: What ends with what is kept.
    ///   - steps: Its steps.
    ///   - caller: Runs what follows.
    ///   - otherwise: What to do where nothing kept answers the request as it is.
    /// - Returns: What stops it.
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
        // Only a task can be timed.
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

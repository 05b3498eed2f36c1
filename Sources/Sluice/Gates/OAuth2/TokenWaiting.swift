import SluiceFoundation
import SluiceHTTP

// MARK: - Waiting for a token

extension OAuth2 {
    /// The token state and the tasks that wait for it, under one lock.
    ///
    /// This is no ``SingleFlight``, because a refresh outlives its last waiter, later requests then join it, and the
    /// waiters for a sign-in or sign-out try again instead of getting its value.
    struct SharedState {
        var state: TokenState
        var waiters: [Int: Waiter<WaitResult>] = [:]
        /// The task that obtains a token, while it can be cancelled.
        var task: Task<Void, Never>?
        var answered = AnsweredRequests()
        /// The lock of a store that other processes share. It is held while work may replace the token, and then until
        /// the new token is saved: the store holds a spent refresh token until then.
        var lock: (any TokenLock)?
        /// The clients whose drain waits until the new token is saved.
        var savingClients: Set<ObjectIdentifier> = []
        /// True while a call of the store reads, saves or deletes the token, also for work that was cancelled.
        var isCallingStore = false
        /// The calls that follow, in their order.
        var storeWaiters: [Waiter<Bool>] = []

        /// Returns the task that saves the token, if a client does not wait for it yet.
        mutating func beginWaitForSave(by client: ObjectIdentifier) -> Task<Void, Never>? {
            guard let save = lock?.backgroundSave, savingClients.insert(client).inserted else { return nil }
            return save
        }

        /// Returns the next task that saves the token; nil at the end of the wait.
        mutating func nextWaitForSave(by client: ObjectIdentifier) -> Task<Void, Never>? {
            if let save = lock?.backgroundSave { return save }
            savingClients.remove(client)
            return nil
        }

        /// True if requests use the token of a piece of work while the store saves it in the background, as earlier work could not save it.
        func isSavingInBackground(for work: Int, at date: Date) -> Bool {
            state.isWorking(work) && state.work?.hasReceived == false && state.isUsable(at: date)
                && lock?.backgroundSave != nil
        }

        /// Returns the lock of the store if the work that needed it has ended, to release it outside of this one.
        mutating func takeLock() -> (any TokenLock)? {
            state.isUnsaved ? nil : lock.take()
        }

        /// Returns the lock of the store for a piece of work; nil if the work has ended, as the lock is that of other work then.
        func heldLock(for work: Int) -> (any TokenLock)? { state.isWorking(work) ? lock : nil }

        /// Ends a call of the store. Returns the next one, which begins with it.
        mutating func endStoreCall() -> Waiter<Bool>? {
            isCallingStore = !storeWaiters.isEmpty
            return isCallingStore ? storeWaiters.removeFirst() : nil
        }

        /// Removes a call of the store that waits. Returns nil if it has begun.
        mutating func removeStoreWaiter(_ id: Int) -> Waiter<Bool>? {
            storeWaiters.firstIndex { $0.id == id }.map { storeWaiters.remove(at: $0) }
        }

        mutating func takeWaiters() -> [Waiter<WaitResult>] {
            defer { waiters = [:] }
            return Array(waiters.values)
        }
    }

    /// The time for which requests wait for a new token although the old one can still be used.
    static let patience = Duration.seconds(2)

    /// The result that a waiter is resumed with.
    enum WaitResult: Sendable {
        case admitted(Credential)
        case failed(SluiceError)
        /// A sign-in or sign-out has ended. The waiter requests a credential again.
        case retry
        case cancelled
    }

    /// Waits for a credential. Starts to obtain one if no task does so.
    ///
    /// - Parameters:
    ///   - client: The client whose transport and clock to use.
    ///   - request: The request that needs the credential; nil if there is none.
    /// - Returns: The credential.
    /// - Throws: The failure that all waiters get, or a cancellation.
    func credential(by client: APIClient, for request: RequestContext?) async throws(SluiceError) -> Credential {
        let deadline = request?.deadline ?? Deadline.current?.instant
        while true {
            let result = await shared.wait(cancelled: WaitResult.cancelled) { waiter in
                requestCredential(waiter, by: client, for: request)
            } leave: { id in
                leave(id, by: deadline, on: client.pipeline.clock)
            }
            switch result {
            case .admitted(let credential): return credential
            case .failed(let error): throw error
            case .cancelled: throw .cancelled
            case .retry: continue
            }
        }
    }

    private func requestCredential(_ waiter: Waiter<WaitResult>, by client: APIClient, for request: RequestContext?) {
        let moment = ClockReading(client.pipeline.clock)
        let answer: TokenState.Answer? = shared.withLock { shared in
            if Task.isCancelled { return nil }
            let answer = shared.state.credentialRequested(at: moment)
            switch answer {
            case .waiting, .begin: shared.waiters[waiter.id] = waiter
            case .admitted, .refused: break
            }
            return answer
        }
        switch answer {
        case .waiting: break
        case .begin(let work, let step): begin(work, step, by: client, for: request)
        case .admitted(let credential): waiter.resume(returning: .admitted(credential))
        case .refused(let error): waiter.resume(returning: .failed(SluiceError(error)))
        case nil: waiter.resume(returning: .cancelled)
        }
    }

    /// Removes a waiter, and cancels the work if no other waiter is left.
    private func leave(
        _ id: Int,
        by deadline: ContinuousClock.Instant?,
        on clock: any SluiceClock
    ) -> Waiter<WaitResult>? {
        let hasTimedOut = deadline.map { $0 <= clock.now } ?? false
        let date = clock.date
        let (waiter, task, lock) = shared.withLock {
            shared -> (Waiter<WaitResult>?, Task<Void, Never>?, (any TokenLock)?) in
            guard let waiter = shared.waiters.removeValue(forKey: id) else { return (nil, nil, nil) }
            let isUnwanted = shared.state.leave(hasTimedOut: hasTimedOut, at: date)
            return isUnwanted ? (waiter, shared.task.take(), shared.takeLock()) : (waiter, nil, nil)
        }
        task?.cancel()
        withExtendedLifetime(lock) {}
        return waiter
    }

    private func begin(_ work: Int, _ step: TokenState.Step, by client: APIClient, for request: RequestContext?) {
        // A store may send requests through the client. They must not wait for the token that they help to obtain.
        let bypass = GateBypass(from: self, for: request)
        // A drain waits for the work also after its last waiter has left, as the server may have replaced the refresh token. It does not
        // cancel the work, which may serve other clients: only the last waiter does. A request for a token ends by its own time-out.
        let task = client.pipeline.running.start(isNeeded: true, isShared: true) { [self] in
            // The first request's deadline does not apply to the others that wait. Requests for
            // tokens have their own time-out.
            await Deadline.$current.withValue(nil) {
                // Cancelled when the work ends.
                async let _ = endWait(for: work, by: client.pipeline.clock)
                _ = await bypass.whileActive { await run(work, step, by: client) }
            }
            await waitForSave(by: client.pipeline.running)
        }
        if let task, let needing = request?.client.pipeline.running, needing !== client.pipeline.running {
            // A drain of the client whose request needs the token waits as well.
            _ = needing.start(isNeeded: true, isShared: true) { await task.value }
        }
        let isWanted = shared.withLock { shared in
            guard shared.state.isWorking(work) else { return false }
            shared.task = task
            return true
        }
        if !isWanted { task?.cancel() }
    }

    /// Resumes the waiters of work that takes long with the current token, as soon as that can be used.
    private func endWait(for work: Int, by clock: any SluiceClock) async {
        while (try? await clock.sleep(for: Self.patience)) != nil {
            let (credential, waiters) = shared.withLock { shared -> (Credential?, [Waiter<WaitResult>]) in
                guard let credential = shared.state.endWait(for: work, at: clock.date) else { return (nil, []) }
                return (credential, shared.takeWaiters())
            }
            guard let credential else { continue }
            return waiters.forEach { $0.resume(returning: .admitted(credential)) }
        }
    }

    /// Waits while the store saves a token in the background that it could not save at once. Requests use the token meanwhile,
    /// but a drain of the client ends only then. One wait serves all work of a client. It keeps a gate that the program has released
    /// until then, so that the new token is not lost.
    private func waitForSave(by client: RunningRequests) async {
        var save = shared.withLock { $0.beginWaitForSave(by: ObjectIdentifier(client)) }
        while let running = save {
            await running.value
            save = shared.withLock { $0.nextWaitForSave(by: ObjectIdentifier(client)) }
        }
    }

    /// Waits until no other work runs, and starts work that blocks other work.
    ///
    /// - Returns: The number of the work, for ``endExclusiveWork(_:)``.
    func beginExclusiveWork() async -> Int {
        while true {
            let work = shared.withLock { $0.state.beginExclusiveWork() }
            if let work { return work }
            // A cancellation does not end the wait: a sign-out must take place.
            _ = await shared.wait(cancelled: WaitResult.cancelled) { waiter in
                let isWaiting = shared.withLock { shared in
                    guard shared.state.join() else { return false }
                    shared.waiters[waiter.id] = waiter
                    return true
                }
                if !isWaiting { waiter.resume(returning: .retry) }
            } leave: { _ in
                nil
            }
        }
    }

    func endExclusiveWork(_ work: Int) {
        let (waiters, lock) = shared.withLock { shared in
            shared.state.endExclusiveWork(work)
            return (shared.takeWaiters(), shared.takeLock())
        }
        withExtendedLifetime(lock) {}
        for waiter in waiters { waiter.resume(returning: .retry) }
    }
}

// MARK: - Obtaining a token

extension OAuth2 {
    /// Runs the steps that the state asks for, until the work ends.
    ///
    /// - Parameters:
    ///   - work: The number of the work.
    ///   - step: The first step.
    ///   - client: The client whose transport and clock to use.
    /// - Returns: The outcome; nil if the work was cancelled.
    func run(_ work: Int, _ step: TokenState.Step, by client: APIClient) async -> Result<Credential, OAuth2Error>? {
        var step = step
        while true {
            switch step {
            case .finish(let outcome): return outcome
            case .stop: return nil
            default: step = await next(after: step, of: work, by: client)
            }
        }
    }

    /// Runs one step.
    ///
    /// Not inlined: the compiler would repeat the loop after each suspension point.
    @inline(never)
    private func next(after step: TokenState.Step, of work: Int, by client: APIClient) async -> TokenState.Step {
        let clock = client.pipeline.clock
        switch step {
        case .load:
            let result = await callStore(for: work, clock) { try await $0.load() }
            return advance { $0.loaded(result, work: work, at: ClockReading(clock)) }
        case .save(let token):
            // Another attempt would let requests wait for a store that is away.
            let result: Result<Void, OAuth2Error> =
                if shared.withLock({ $0.isSavingInBackground(for: work, at: clock.date) }) {
                    .failure(OAuth2Error(.storeFailed, "the token could not be saved yet"))
                } else {
                    await callStore(for: work, clock) { try await $0.save(token) }
                }
            return advance { $0.saved(result, work: work, at: ClockReading(clock)) }
        case .delete:
            // A failure is harmless: the server refuses the stored token once more after the next start.
            let result = await callStore(for: work, clock) { try await $0.delete() }
            return advance { $0.deleted(result, work: work, at: ClockReading(clock)) }
        case .lock:
            let result: Result<Token?, OAuth2Error> =
                if let failure = await lockStore(for: work, clock) {
                    .failure(failure)
                } else {
                    await callStore(for: work, clock) { try await $0.load() }
                }
            return advance { $0.locked(result, work: work, at: ClockReading(clock)) }
        case .refresh(let token):
            if let step = lockAgain(for: work, clock) { return step }
            let permission = await callStore(for: work, clock) {
                try await ($0 as? any TokenLock)?.willSend(refreshToken: token)
            }
            if case .failure(let error) = permission {
                if error.underlyingError is TokenLockExpired { return advance { $0.lockEnds(work: work) } }
                return advance { $0.notSent(error, work: work, at: ClockReading(clock)) }
            }
            let result = await endpoint(by: client).token(.refresh(token))
            if case .failure = result {
                _ = await callStore(for: work, clock) { await ($0 as? any TokenLock)?.refreshFailed() }
            }
            return advance { $0.received(result, work: work, at: ClockReading(clock)) }
        case .request:
            if let step = lockAgain(for: work, clock) { return step }
            let result = await endpoint(by: client).token(.grant)
            return advance { $0.received(result, work: work, at: ClockReading(clock)) }
        case .finish, .stop: return step
        }
    }

    private func endpoint(by client: APIClient) -> TokenEndpoint {
        TokenEndpoint(tokenURL, grant, configuration, by: client)
    }

    /// Applies an event to the state. Resumes all waiters if the work has ended.
    func advance(_ event: (inout TokenState) -> TokenState.Step) -> TokenState.Step {
        let (step, isExclusive, waiters, lock) = shared.withLock {
            shared -> (TokenState.Step, Bool, [Waiter<WaitResult>], (any TokenLock)?) in
            let isExclusive = shared.state.work?.isExclusive ?? false
            let step = event(&shared.state)
            guard case .finish = step else { return (step, isExclusive, [], nil) }
            shared.task = nil
            return (step, isExclusive, shared.takeWaiters(), shared.takeLock())
        }
        withExtendedLifetime(lock) {}
        guard case .finish(let outcome) = step, !waiters.isEmpty else { return step }
        let waitResult: WaitResult =
            switch outcome {
            case _ where isExclusive: .retry
            case .success(let credential): .admitted(credential)
            case .failure(let error): .failed(SluiceError(error))
            }
        for waiter in waiters { waiter.resume(returning: waitResult) }
        return step
    }

    /// Takes the lock of a store that other processes may share. It is released when the work has ended.
    ///
    /// - Returns: The failure; nil if the lock is held, if the store needs none, or if the work has ended.
    func lockStore(for work: Int, _ clock: any SluiceClock) async -> OAuth2Error? {
        let timeout = configuration.timeout
        guard let store = configuration.store as? any SharedTokenStore,
            shared.withLock({ $0.state.isWorking(work) && $0.lock?.isHeld(for: timeout) != true })
        else { return nil }
        // Released first: the store gives the lock to one owner.
        dropLock(for: work)
        // Not one of the calls that follow each other: work that was cancelled may wait for the lock until the next work releases it.
        switch await storeResult(for: work, { _ in try await store.lock(timeout: timeout, on: clock) }) {
        case .failure(let error): return error
        case .success(let lock):
            // Work that was cancelled meanwhile releases the lock here.
            shared.withLock { if $0.state.isWorking(work) { $0.lock = lock } }
            return nil
        }
    }

    /// Releases a lock that may expire before the server has answered a request for a token.
    ///
    /// - Returns: The step that locks the store again; nil if the lock is held for long enough, or if the store needs none.
    private func lockAgain(for work: Int, _ clock: any SluiceClock) -> TokenState.Step? {
        let timeout = configuration.timeout
        guard configuration.store is any SharedTokenStore,
            shared.withLock({ $0.heldLock(for: work)?.isHeld(for: timeout) != true })
        else { return nil }
        dropLock(for: work)
        return advance { $0.lockEnds(work: work) }
    }

    /// Releases the lock of the store, outside of the lock of the state. Has no effect for work that has ended.
    private func dropLock(for work: Int) {
        shared.withLockReleasing { $0.state.isWorking(work) ? $0.lock.take() : nil }
    }

    /// Calls the token store, through its lock while this gate holds it for the work. The calls of a gate follow each other. Work that has
    /// ended, as by its cancellation, calls nothing.
    func callStore<Value: Sendable>(
        for work: Int,
        _ clock: any SluiceClock,
        _ body: (any TokenStore) async throws -> Value
    ) async -> Result<Value, OAuth2Error> {
        guard await waitForStore(clock) else {
            return .failure(OAuth2Error(.storeFailed, "an earlier call of the token store has not ended in time"))
        }
        defer { shared.withLock { $0.endStoreCall() }?.resume(returning: true) }
        guard shared.withLock({ $0.state.isWorking(work) }) else { return .failure(OAuth2Error(.storeFailed)) }
        return await storeResult(for: work, body)
    }

    /// Waits until no other call of the store runs. Returns false if that takes longer than the gate's time-out.
    private func waitForStore(_ clock: any SluiceClock) async -> Bool {
        var timer: Task<Void, Never>?
        defer { timer?.cancel() }
        // A cancellation does not end the wait: a sign-out must take place, and other work that is cancelled ends with its turn.
        return await shared.wait(cancelled: false) { waiter in
            let isFirst = shared.withLock { shared in
                if shared.isCallingStore {
                    shared.storeWaiters.append(waiter)
                    return false
                }
                shared.isCallingStore = true
                return true
            }
            if isFirst { return waiter.resume(returning: true) }
            let id = waiter.id
            timer = Task { [shared, timeout = configuration.timeout] in
                do { try await clock.sleep(for: timeout) } catch { return }
                shared.withLock { $0.removeStoreWaiter(id) }?.resume(returning: false)
            }
        } leave: { _ in
            nil
        }
    }

    /// Returns the result of a call of the token store, or of its lock while this gate holds it for the work.
    private func storeResult<Value: Sendable>(
        for work: Int,
        _ body: (any TokenStore) async throws -> Value
    ) async -> Result<Value, OAuth2Error> {
        do {
            let store: any TokenStore = shared.withLock { $0.heldLock(for: work) } ?? configuration.store
            return .success(try await body(store))
        } catch let error as TokenLockExpired {
            dropLock(for: work)
            let detail = "another process has replaced or locked the token meanwhile"
            return .failure(OAuth2Error(.storeFailed, detail, underlyingError: error))
        } catch let error as RefreshInterrupted {
            let detail = "another process has sent the refresh token and not saved a new one, so it is probably spent"
            return .failure(OAuth2Error(.authorizationRequired, detail, underlyingError: error))
        } catch {
            // The text of other errors may quote the token.
            let detail = (error as? TokenStoreError)?.description
            return .failure(OAuth2Error(.storeFailed, detail, underlyingError: error))
        }
    }
}

#if os(Linux)
import CLinux
import SluiceFoundation
import SluiceHTTP
import SluiceLibc

/// An open connection of HTTP/1.1 to a server, plain or TLS, which carries one request after another.
///
/// It belongs to one loop for its lifetime. A request starts on the calling thread, under the lock of the connection, so a small request
/// is written without a thread switch. Everything else runs on the loop. The loop never waits for the lock. If the lock is held, the loop
/// skips the connection, and the holder of the lock gives it another turn.
package final class Connection: LoopHandler, RequestCarrier {
    struct State {
        var isOpen = true
        var stream: SocketStream
        var transaction: HTTP1Transaction?
        var output = OutputQueue()
        /// Received bytes that precede the next input.
        var rest: [UInt8] = []
        /// True if `rest` contains more than an incomplete line.
        var hasUnparsedRest = false
        /// True while the socket accepts no more output.
        var isBlocked = false
        /// The message of a failed write. Input that the server sent before is still read.
        var writeFailure: String?
        var requests = 0
        var idleSince: MonotonicTime
        /// The time for which the server allows the connection to be idle; nil if it does not limit it.
        var idleTime: Duration?
    }

    let pool: ConnectionPool
    let group: ConnectionPool.State.GroupID
    private let registration: LoopRegistration
    private let descriptor: Int32
    let remoteAddress: String
    private let timings: ConnectionTimings
    /// The time during which the connection takes requests.
    let life: ConnectionLife
    /// The pin failure to report, in the report-only mode.
    private let pinFailure: TLSFailure?
    private let state: ConnectionLock<State>

    /// Creates a connection from a connected socket.
    init(_ dialed: DialedSocket, from dial: Dial, in pool: ConnectionPool, _ group: ConnectionPool.State.GroupID) {
        self.pool = pool
        self.group = group
        registration = LoopRegistration(loop: dial.loop, registration: dialed.registration)
        descriptor = dialed.descriptor
        remoteAddress = dialed.remoteAddress
        timings = dialed.timings
        life = ConnectionLife(since: dial.began, lifetime: pool.configuration.connectionLifetime, tls: dialed.tls)
        pinFailure = dialed.tls?.pinFailure
        state = ConnectionLock(
            State(stream: SocketStream(descriptor, dialed.tls, hasHungUp: dialed.hasHungUp), idleSince: .now)
        )
    }

    /// Sets the timer of a connection that may never carry a request.
    func start(on thread: LoopThread) {
        var effects = Effects()
        state.withLock { setTimer(&$0, &effects, now: thread.now) }
        perform(&effects, on: thread)
    }

    // MARK: Beginning

    /// Sends a request on this connection, from any thread.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - caller: The thread of a loop, if the caller runs on one.
    /// - Returns: False if the connection has died since it was last used. Nothing was sent then.
    func begin(_ call: Call, on caller: LoopThread?) -> Bool {
        let thread = registration.runs(on: caller) ? caller : nil
        let now = MonotonicTime.now
        var effects = Effects()
        let isAlive = state.withLock { state in
            // A connection that was open before the request is one that the server may have closed meanwhile.
            let isFresh = state.requests == 0 && life.isDialed(for: call, connected: state.idleSince, at: now)
            guard state.isOpen, !life.isOver(at: now, isFresh: isFresh),
                isFresh || idleDeadline(state, isLenient: true) > now && state.stream.hasNoInput()
            else {
                close(&state, &effects)
                return false
            }
            guard call.begin(on: self) else {
                // The request was cancelled before it started. Close a connection that was opened only for this request.
                state.idleSince = now
                effects.release = !isFresh
                if isFresh { close(&state, &effects) }
                return true
            }
            state.requests += 1
            let (isReused, began) = (!isFresh, call.hasCredentials ? call.withAttempt { $0.began } : nil)
            let transaction = HTTP1Transaction(
                call,
                on: self,
                isReused: isReused,
                began: began ?? (isReused ? now : max(life.dialed, call.queued)),
                timings: isReused ? ConnectionTimings() : timings,
                now: now
            )
            state.transaction = transaction
            if case .stream = call.upload { call.withAttempt { $0.sender = self } }
            transaction.start(&state.output, now: now)
            push(&state, transaction, now: now, limit: Transaction.inlineBody, &effects)
            setTimer(&state, &effects, now: now)
            return true
        }
        perform(&effects, on: thread)
        if let pinFailure, isAlive, case .report(let report) = call.plan.tls.pins?.mode { report(pinFailure) }
        return isAlive
    }

    /// Sends more of the request body, on the loop.
    func bodyHasMore(of call: Call) {
        registration.loop.post { [self] in ready(0, on: $0) }
    }

    // MARK: Turns

    package func ready(_ events: UInt32, on thread: LoopThread) {
        locked(events, on: thread) { state, effects, events in turn(events, &state, &effects, on: thread) }
    }

    package func deadlinePassed(on thread: LoopThread) {
        locked(0, on: thread) { state, effects, missed in
            self.state.removeDeadline()
            // Events that were missed while the lock was held come before a time-out.
            if missed != 0 { turn(missed, &state, &effects, on: thread) }
            expire(&state, &effects, on: thread)
            setTimer(&state, &effects, now: thread.now)
        }
    }

    /// Runs one turn under the lock. If the lock is held, the holder gives the connection another turn.
    private func locked(
        _ events: UInt32,
        on thread: LoopThread,
        _ body: (inout State, inout Effects, UInt32) -> Void
    ) {
        var effects = Effects()
        if state.withLockIfAvailable(events, { body(&$0, &effects, $1) }) { perform(&effects, on: thread) }
    }

    private func turn(_ events: UInt32, _ state: inout State, _ effects: inout Effects, on thread: LoopThread) {
        if events & EPOLLOUT.rawValue != 0 { state.isBlocked = false }
        state.stream.recordEvents(events)
        effects.abandoned = self.state.takeAbandoned()
        for call in effects.abandoned {
            guard let transaction = state.transaction, transaction.call === call else { continue }
            fail(&state, transaction, .cancelled, &effects)
        }
        guard state.isOpen else { return }
        guard let transaction = state.transaction else {
            watchIdle(&state, &effects, on: thread)
            return setTimer(&state, &effects, now: thread.now)
        }
        push(&state, transaction, now: thread.now, limit: SocketStream.turnBytes, &effects)
        if state.transaction === transaction { pull(&state, transaction, &effects, on: thread) }
        if state.transaction === transaction {
            // A 100 (Continue) response may have been received.
            push(&state, transaction, now: thread.now, limit: SocketStream.turnBytes, &effects)
        }
        setTimer(&state, &effects, now: thread.now)
    }

    /// Closes an idle connection that has received bytes or the end of the stream.
    private func watchIdle(_ state: inout State, _ effects: inout Effects, on thread: LoopThread) {
        guard state.stream.mayRead else { return }
        switch state.stream.read(into: thread.scratch) {
        case .wouldBlock: break
        case .bytes, .end, .failed:
            close(&state, &effects)
            effects.leavesPool = true
        }
    }

    private func expire(_ state: inout State, _ effects: inout Effects, on thread: LoopThread) {
        guard state.isOpen else { return }
        let now = thread.now
        guard let transaction = state.transaction else {
            if idleDeadline(state) <= now {
                close(&state, &effects)
                effects.leavesPool = true
            }
            return
        }
        guard transaction.deadline(hasOutput: !state.output.isEmpty) <= now else { return }
        if case .waitsForContinue = transaction.sending, transaction.call.deadline > now {
            transaction.stopWaitingForContinue()
            return push(&state, transaction, now: now, limit: SocketStream.turnBytes, &effects)
        }
        if transaction.hasLargeBody || state.isBlocked, transaction.call.deadline > now {
            // The server may have received what the kernel still had.
            state.stream.updateAcknowledgement(at: now)
            transaction.lastActivity = max(transaction.lastActivity, state.stream.lastAcknowledgement)
            if transaction.deadline(hasOutput: !state.output.isEmpty) > now { return }
        }
        let mayResend = transaction.resendReason != nil && transaction.call.deadline > now
        // The rest of a discarded response is not worth a longer wait.
        if mayResend { return resend(&state, transaction, &effects) }
        let isSilent = transaction.isReused && transaction.sending == .sent && transaction.firstByte == nil
        // The kernel of a server that is only slow has acknowledged the request.
        if isSilent, state.stream.hasUnacknowledged { effects.unansweredSince = transaction.began }
        fail(&state, transaction, transaction.call.timeoutError(at: now), &effects)
    }

    /// Returns the time at which an idle connection closes. With `isLenient`, a timer that is late by a second is allowed for, but not beyond
    /// the time after which the server closes the connection.
    private func idleDeadline(_ state: State, isLenient: Bool = false) -> MonotonicTime {
        let usual = pool.idleTimeout.bounded + (isLenient ? .seconds(1) : .zero)
        return min(life.end, state.idleSince + min(usual, state.idleTime ?? usual))
    }

    /// Sets the timer to the current deadline, unless it fires before that anyway.
    private func setTimer(_ state: inout State, _ effects: inout Effects, now: MonotonicTime) {
        guard state.isOpen else { return }
        let deadline = state.transaction?.deadline(hasOutput: !state.output.isEmpty) ?? idleDeadline(state)
        if self.state.moveDeadline(to: deadline, at: now) { effects.setsTimer = true }
    }

    // MARK: Writing

    private func push(
        _ state: inout State,
        _ transaction: HTTP1Transaction,
        now: MonotonicTime,
        limit: Int,
        _ effects: inout Effects
    ) {
        var left = limit
        while !state.isBlocked, state.writeFailure == nil {
            transaction.fill(&state.output, now: now)
            if transaction.hasBodyFailed, state.output.isEmpty {
                let error = transaction.bodyFailure ?? Engine.unavailable
                return fail(&state, transaction, error, &effects)
            }
            if state.output.isEmpty {
                // The end of a body may be known only after its last byte has been written.
                if transaction.sending == .sent { transaction.recordSendEnd() }
                return
            }
            if left <= 0 {
                effects.wantsTurn = true
                return
            }
            switch state.stream.write(state.output) {
            case .bytes(let count):
                state.output.consume(count)
                transaction.hasWritten = true
                if transaction.sending == .sent, state.output.isEmpty {
                    transaction.recordSendEnd()
                    if transaction.hasLargeBody { state.stream.updateAcknowledgement(at: now) }
                }
                transaction.lastActivity = now
                left -= count
            case .wouldBlock:
                state.isBlocked = true
                state.stream.updateAcknowledgement(at: now)
            case .end, .failed:
                state.writeFailure = state.stream.lastFailure
                state.output.removeAll()
                transaction.stopSending()
                state.stream.outputFailed()
                effects.wantsTurn = true
            }
        }
    }

    // MARK: Reading

    private func pull(
        _ state: inout State,
        _ transaction: HTTP1Transaction,
        _ effects: inout Effects,
        on thread: LoopThread
    ) {
        let now = thread.now
        var output = SocketStream.turnBytes
        var input = SocketStream.turnBytes
        if state.hasUnparsedRest || transaction.hasUndecoded, !transaction.isPaused {
            state.hasUnparsedRest = false
            let status = processRest(&state, transaction, &output, now)
            guard handle(status, &state, transaction, &effects, now) else { return }
        }
        while state.stream.mayRead, !transaction.isPaused, !state.hasUnparsedRest, input > 0 {
            let (moved, status) = readOnce(&state, transaction, &output, on: thread)
            switch moved {
            case .wouldBlock where state.writeFailure == nil || transaction.hasWritten: continue
            case .bytes(let count):
                transaction.lastActivity = now
                // Many small reads take as long as a few large ones.
                input -= max(count, SocketStream.leastReadCost)
                guard handle(status, &state, transaction, &effects, now) else { return }
            case .end(let isClean): return inputEnded(&state, transaction, isClean: isClean, &effects, now)
            // No response can be expected to a request of which nothing was sent.
            case .wouldBlock, .failed: return connectionLost(&state, transaction, lossError(state), &effects)
            }
        }
        transaction.flush()
        takeAnswer(of: transaction, &effects)
        let hasMore = state.stream.mayRead || state.hasUnparsedRest || transaction.hasUndecoded
        if hasMore, !transaction.isPaused { effects.wantsTurn = true }
    }

    /// Reads once and processes the received bytes.
    private func readOnce(
        _ state: inout State,
        _ transaction: HTTP1Transaction,
        _ output: inout Int,
        on thread: LoopThread
    ) -> (SocketStream.IOResult, Transaction.Status) {
        if state.rest.isEmpty, let wanted = transaction.largeRead {
            var moved = SocketStream.IOResult.wouldBlock
            let piece = thread.buffers.piece(upTo: wanted) { buffer in
                let (count, last) = state.stream.fill(buffer)
                moved = last
                return count
            }
            guard let piece, !piece.isEmpty else { return (moved, .needsInput) }
            return (.bytes(piece.count), transaction.take(piece))
        }
        let moved = state.stream.read(into: thread.scratch)
        guard case .bytes(let count) = moved else { return (moved, .needsInput) }
        let bytes = UnsafeRawBufferPointer(rebasing: thread.scratch[..<count])
        if !state.rest.isEmpty {
            state.rest.append(contentsOf: bytes)
            return (moved, processRest(&state, transaction, &output, thread.now))
        }
        var position = 0
        let status = transaction.process(bytes, from: &position, budget: &output, now: thread.now)
        if position < count { state.rest = Array(bytes[position...]) }
        return (moved, status)
    }

    private func processRest(
        _ state: inout State,
        _ transaction: HTTP1Transaction,
        _ output: inout Int,
        _ now: MonotonicTime
    ) -> Transaction.Status {
        var position = 0
        let status = state.rest.withUnsafeBytes { bytes in
            transaction.process(bytes, from: &position, budget: &output, now: now)
        }
        if position == state.rest.count { state.rest = [] } else { state.rest.removeFirst(position) }
        return status
    }

    /// Acts on the status after a piece of input. Returns true if more may be read.
    private func handle(
        _ status: Transaction.Status,
        _ state: inout State,
        _ transaction: HTTP1Transaction,
        _ effects: inout Effects,
        _ now: MonotonicTime
    ) -> Bool {
        switch status {
        case .needsInput: return true
        case .blocked:
            state.hasUnparsedRest = !state.rest.isEmpty
            transaction.flush()
            takeAnswer(of: transaction, &effects)
            if !transaction.isPaused { effects.wantsTurn = true }
            return false
        case .complete:
            complete(&state, transaction, &effects, now)
            return false
        case .failed(let error):
            if transaction.resendReason != nil {
                resend(&state, transaction, &effects)
            } else {
                fail(&state, transaction, error, &effects)
            }
            return false
        }
    }

    // MARK: Ends

    private func complete(
        _ state: inout State,
        _ transaction: HTTP1Transaction,
        _ effects: inout Effects,
        _ now: MonotonicTime
    ) {
        // Squid 5 keeps the connection open after it has refused a large body, and never reads the next request.
        let isDenied = transaction.call.route?.mode == .absoluteForm && (transaction.head?.status.rawValue ?? 0) >= 400
        let mayBeStuck = transaction.hasLargeBody && (transaction.resendReason != nil || isDenied)
        let isReusable =
            !mayBeStuck && transaction.parser.isReusable && transaction.sending == .sent && state.output.isEmpty
            && state.rest.isEmpty
            && !state.stream.hasHungUp && !life.isOver(at: now)
            && (state.stream.tls?.hasPendingInput != true || state.stream.hasNoInput())
            && !transaction.call.request.headers.connectionOptions.contains("close")
        if transaction.resendReason != nil {
            guard isReusable, state.stream.hasNoInput() else { return resend(&state, transaction, &effects) }
            return sendAgain(&state, transaction, &effects, now)
        }
        transaction.finish(now: now, remoteAddress: remoteAddress)
        takeAnswer(of: transaction, &effects)
        effects.bodyEnd = transaction.takeBodyEnd()
        state.transaction = nil
        effects.release = isReusable
        state.idleSince = now
        state.idleTime = transaction.parser.idleTime ?? state.idleTime
        if !isReusable { close(&state, &effects) }
    }

    /// Handles the end of the stream from the server.
    private func inputEnded(
        _ state: inout State,
        _ transaction: HTTP1Transaction,
        isClean: Bool,
        _ effects: inout Effects,
        _ now: MonotonicTime
    ) {
        if transaction.parser.hasBegun {
            // Without close_notify, an attacker may have truncated the body (RFC 8446 §6.1). After a failed write, a reset looks like an end.
            // The response of a server that refuses an upload is complete enough.
            let mayBeReset = state.writeFailure != nil && transaction.head?.status.class == .success
            if !isClean || mayBeReset, transaction.parser.length == .untilClose, transaction.head != nil {
                let flaw: ResponseSyntaxError = isClean ? .closedInBody : .closedWithoutNotice
                return fail(&state, transaction, flaw.error, &effects)
            }
            _ = handle(transaction.end(), &state, transaction, &effects, now)
            return
        }
        let proxy = transaction.call.route.flatMap { $0.mode == .absoluteForm ? $0.proxy.address : nil }
        let peer = proxy.map { "The proxy at \($0)" } ?? "The server at \(transaction.call.serverName)"
        let text = "\(peer) closed the connection without sending a response."
        let error = state.writeFailure == nil ? SluiceError(.connectionLost, text) : lossError(state)
        connectionLost(&state, transaction, error, &effects)
    }

    /// Handles the loss of the connection: sends the request again on another connection if possible, and fails it otherwise.
    ///
    /// A server may close an idle connection at any time. The server may have processed the request, so only an idempotent request is sent
    /// again (RFC 9110 §9.2.2).
    private func connectionLost(
        _ state: inout State,
        _ transaction: HTTP1Transaction,
        _ error: SluiceError,
        _ effects: inout Effects
    ) {
        let call = transaction.call
        if transaction.resendReason != nil { return resend(&state, transaction, &effects) }
        guard transaction.isReused, !transaction.parser.hasBegun else {
            return fail(&state, transaction, error, &effects)
        }
        guard call.isIdempotent || !transaction.hasWritten else {
            return fail(&state, transaction, .closedBeforeResponse, &effects)
        }
        guard call.withAttempt({ $0.countResend() }) <= 3 else { return fail(&state, transaction, error, &effects) }
        resend(&state, transaction, &effects)
    }

    /// Sends a request again on the connection that received the challenge.
    private func sendAgain(
        _ state: inout State,
        _ transaction: HTTP1Transaction,
        _ effects: inout Effects,
        _ now: MonotonicTime
    ) {
        guard transaction.rewindBody() else { return fail(&state, transaction, .bodyNotRewound, &effects) }
        let next = HTTP1Transaction(repeating: transaction, now: now)
        state.requests += 1
        state.transaction = next
        next.start(&state.output, now: now)
        effects.wantsTurn = true
        push(&state, next, now: now, limit: Transaction.inlineBody, &effects)
    }

    /// Sends a request again on another connection.
    private func resend(_ state: inout State, _ transaction: HTTP1Transaction, _ effects: inout Effects) {
        guard transaction.rewindBody() else { return fail(&state, transaction, .bodyNotRewound, &effects) }
        effects.resend = transaction.call
        state.transaction = nil
        close(&state, &effects)
    }

    private func fail(
        _ state: inout State,
        _ transaction: HTTP1Transaction,
        _ error: SluiceError,
        _ effects: inout Effects
    ) {
        transaction.fail(error)
        takeAnswer(of: transaction, &effects)
        effects.bodyEnd = transaction.takeBodyEnd()
        state.transaction = nil
        effects.release = false
        close(&state, &effects)
    }

    /// Takes the answer for the caller, if there is one. A turn may deliver the head and then fail, for example because the request body
    /// cannot be read. The answer with the head remains.
    private func takeAnswer(of transaction: HTTP1Transaction, _ effects: inout Effects) {
        if let answer = transaction.takeAnswer() { effects.answer = (transaction.call, answer) }
    }

    private func close(_ state: inout State, _ effects: inout Effects) {
        guard state.isOpen else { return }
        state.isOpen = false
        // Another thread may be about to return the connection to the pool, which then removes it.
        life.retire()
        state.stream.tls?.close()
        state.output.removeAll()
        (state.stream.tls, state.rest) = (nil, [])
        pool.engine.descriptors.close(descriptor)
        effects.isClosed = true
    }

    /// Resets the request of a caller that has left.
    func abandon(_ call: Call) {
        state.abandon(call)
        registration.loop.post { [self] in ready(0, on: $0) }
    }

    /// Closes a connection that the pool has removed from its idle connections.
    func closeIdle() {
        var effects = Effects()
        state.withLock { state in
            if state.transaction == nil { close(&state, &effects) }
        }
        perform(&effects, on: nil)
    }

    private func lossError(_ state: State) -> SluiceError {
        let call = state.transaction?.call
        let (cause, host) = (state.writeFailure ?? state.stream.lastFailure, call?.serverName ?? "")
        // With TLS 1.3, a missing or refused client certificate is only reported after the handshake.
        if let failure = state.stream.tls?.failure {
            if let route = call?.route, route.mode == .absoluteForm { return route.error(of: failure) }
            return failure.error(host: host)
        }
        return SluiceError(.connectionLost, "The connection to \(host) was lost: \(cause).")
    }

    // MARK: Effects

    /// The effects of a turn, which are performed after the lock is released.
    private struct Effects {
        var answer: (call: Call, result: Result<TransportResponse, SluiceError>)?
        /// The requests whose callers have left. They are kept until the lock is released, because their end may release objects of the user.
        var abandoned: [Call] = []
        var bodyEnd: Transaction.BodyEnd?
        /// Set if the request's slot is released. True if the connection can be reused.
        var release: Bool?
        var resend: Call?
        /// The start of a request on a reused connection that timed out before the server had acknowledged it.
        var unansweredSince: MonotonicTime?
        var isClosed = false
        /// True if the connection was idle and must be removed from the pool.
        var leavesPool = false
        var setsTimer = false
        var wantsTurn = false
    }

    private func perform(_ effects: inout Effects, on thread: LoopThread?) {
        if thread == nil {
            let missed = state.takeMissedEvents()
            if missed != 0 { registration.loop.post { [self] in ready(missed, on: $0) } }
        }
        if effects.isClosed {
            registration.unregister(on: thread)
            pool.closed(.http1(self), on: thread)
        } else {
            if effects.setsTimer { registration.setTimer(at: self.state.deadline, on: thread) }
            if effects.wantsTurn { registration.runAgain(self, on: thread) }
        }
        if effects.leavesPool { pool.remove(.http1(self), on: thread) }
        if let time = effects.unansweredSince { pool.closeIdle(of: group, since: time) }
        if let isReusable = effects.release { pool.release(isReusable ? .http1(self) : nil, of: group, on: thread) }
        if let call = effects.resend { pool.resend(call, in: group, on: thread) }
        // Deliver last, so that the caller's next request finds the connection and the slot free.
        if let answer = effects.answer.take() { answer.call.answer(answer.result) }
        if let end = effects.bodyEnd { end.pipe.finish(end.result, trailers: end.trailers) }
        withExtendedLifetime(effects.abandoned) {}
    }

    /// Creates the pipe for a body that does not arrive at once.
    func makePipe(for call: Call) -> ResponsePipe {
        ResponsePipe(
            highWater: pool.configuration.responseBufferSize,
            onDemand: { [self] in
                state.withLock { state in
                    if let transaction = state.transaction, transaction.call === call { transaction.resume(now: .now) }
                }
                let missed = state.takeMissedEvents()
                registration.loop.post { [self] in ready(missed, on: $0) }
            },
            onAbandon: { [self] in abandon(call) }
        )
    }
}
#endif

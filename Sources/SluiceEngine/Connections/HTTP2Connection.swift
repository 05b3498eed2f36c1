#if os(Linux)
import CLinux
import CNghttp2
import SluiceHTTP
import SluiceLibc
import Synchronization

/// An open connection of HTTP/2, which carries concurrent requests (RFC 9113).
///
/// It belongs to one loop for its lifetime. A request starts on the calling thread, under the lock of the connection. If few requests are
/// active, it is written at once, otherwise together with others in the next turn. As with ``Connection``, no loop waits for the lock.
final class HTTP2Connection: LoopHandler, RequestCarrier {
    /// The maximum number of active requests, including the new one, at which the calling thread writes the request itself.
    private static let directStreams = 2

    private struct State {
        var isOpen = true
        var stream: SocketStream
        let session: HTTP2Session
        var output = OutputQueue()
        /// True while the socket accepts no more output.
        var isBlocked = false
        /// True once the connection has left the pool and takes no further request.
        var isRetired = false
        /// The maximum number of concurrent requests that the pool knows of. Nil before input from the server has arrived.
        var capacity: Int?
        /// The message of a failed write. Input that the server sent before is still read.
        var writeFailure: String?
        var requests = 0
        var idleSince: MonotonicTime
        var liveness: HTTP2Liveness
        /// True while a requested turn will write the submitted requests.
        var awaitsTurn = false
        /// False if no response can be expected, because output has failed before any request was sent.
        var mayBeAnswered: Bool { writeFailure == nil || session.activeStreams.contains(where: \.hasWritten) }
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
    /// True if a body that had nothing to send may have more.
    private let bodiesHaveMore = Atomic(false)

    /// Creates a connection from a connected socket, or returns nil if memory is short.
    init?(_ dialed: DialedSocket, from dial: Dial, in pool: ConnectionPool, _ group: ConnectionPool.State.GroupID) {
        let now = MonotonicTime.now
        guard let session = HTTP2Session(at: now) else { return nil }
        self.pool = pool
        self.group = group
        registration = LoopRegistration(loop: dial.loop, registration: dialed.registration)
        descriptor = dialed.descriptor
        remoteAddress = dialed.remoteAddress
        timings = dialed.timings
        life = ConnectionLife(since: dial.began, lifetime: pool.configuration.connectionLifetime, tls: dialed.tls)
        pinFailure = dialed.tls?.pinFailure
        state = ConnectionLock(
            State(
                stream: SocketStream(descriptor, dialed.tls, hasHungUp: dialed.hasHungUp),
                session: session,
                idleSince: now,
                liveness: HTTP2Liveness(interval: pool.configuration.pingInterval, at: now)
            )
        )
    }

    /// Requests a turn that sends the settings, if no request has sent them before.
    func start(on thread: LoopThread) {
        registration.runAgain(self, on: thread)
    }

    // MARK: Beginning

    /// Sends a request on this connection, from any thread.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - caller: The thread of a loop, if the caller runs on one.
    /// - Returns: False if the connection currently takes no further request. Nothing was sent then.
    func begin(_ call: Call, on caller: LoopThread?) -> Bool {
        let thread = registration.runs(on: caller) ? caller : nil
        let now = MonotonicTime.now
        var effects = HTTP2Effects()
        let isBegun = state.withLock { state in
            guard state.isOpen, !state.isRetired, !state.liveness.isSuspect, state.session.hasRoom else {
                if state.isOpen, state.session.isExhausted { retire(&state, &effects) }
                return false
            }
            if state.session.count > 0, state.liveness.suspect(at: now, if: state.stream.isRetransmitting) {
                effects.wantsTurn = true
                return false
            }
            let isFresh = state.requests == 0 && life.isDialed(for: call, connected: state.idleSince, at: now)
            // The loop may not have seen that the server has closed an idle connection.
            let input = state.session.count > 0 || isFresh ? .none : state.stream.unreadInput()
            let isTooOld = state.session.count == 0 && !isFresh && idleDeadline(state) + .seconds(1) <= now
            guard !life.isOver(at: now, isFresh: isFresh), input != .end, !isTooOld else {
                retire(&state, &effects)
                return false
            }
            if input == .bytes { state.stream.mayRead = true }
            guard call.begin(on: self) else {
                // The request was cancelled before it started.
                effects.released = 1
                return true
            }
            state.requests += 1
            let (isReused, began) = (!isFresh, call.hasCredentials ? call.withAttempt { $0.began } : nil)
            let stream = HTTP2Stream(
                call,
                on: self,
                isReused: isReused,
                began: began ?? (isReused ? now : max(life.dialed, call.queued)),
                timings: isReused ? ConnectionTimings() : timings,
                now: now
            )
            if state.session.count == 0 { stream.enlargeWindow() }
            var (head, hasBody) = stream.start(now: now)
            guard state.session.submit(stream, &head, hasBody: hasBody) else {
                stream.body.close()
                _ = call.returnToWaiting()
                retire(&state, &effects)
                return false
            }
            if case .stream = call.upload { call.withAttempt { $0.sender = self } }
            state.liveness.begin(isFirst: state.session.count == 1, at: now)
            if thread == nil, input == .none, !state.awaitsTurn, state.session.count <= HTTP2Connection.directStreams {
                push(&state, limit: Transaction.inlineBody, now: now, &effects)
                // A stream may have failed before its head was sent.
                if state.session.hasTouched { effects.wantsTurn = true }
            } else if !state.awaitsTurn {
                state.awaitsTurn = true
                effects.wantsTurn = true
            }
            setTimer(for: stream, &state, &effects, now: now)
            return true
        }
        perform(effects, on: thread)
        if let pinFailure, isBegun, case .report(let report) = call.plan.tls.pins?.mode { report(pinFailure) }
        return isBegun
    }

    /// Sends more of the request body, on the loop.
    func bodyHasMore(of call: Call) {
        bodiesHaveMore.store(true, ordering: .sequentiallyConsistent)
        registration.loop.post { [self] in ready(0, on: $0) }
    }

    // MARK: Turns

    func ready(_ events: UInt32, on thread: LoopThread) {
        locked(events, on: thread) { state, effects, events in turn(events, &state, &effects, on: thread) }
    }

    func deadlinePassed(on thread: LoopThread) {
        locked(0, on: thread) { state, effects, missed in
            self.state.removeDeadline()
            // Events that were missed while the lock was held come before a time-out.
            if missed != 0 { turn(missed, &state, &effects, on: thread) }
            expire(&state, &effects, on: thread)
            push(&state, limit: SocketStream.turnBytes, now: thread.now, &effects)
            if state.session.hasTouched { effects.wantsTurn = true }
            setTimer(for: nil, &state, &effects, now: thread.now)
            state.session.forEach { setTimer(for: $0, &state, &effects, now: thread.now) }
        }
    }

    /// Runs one turn under the lock. If the lock is held, the holder gives the connection another turn.
    private func locked(
        _ events: UInt32,
        on thread: LoopThread,
        _ body: (inout State, inout HTTP2Effects, UInt32) -> Void
    ) {
        var effects = HTTP2Effects()
        if state.withLockIfAvailable(events, { body(&$0, &effects, $1) }) { perform(effects, on: thread) }
    }

    private func turn(_ events: UInt32, _ state: inout State, _ effects: inout HTTP2Effects, on thread: LoopThread) {
        if events & EPOLLOUT.rawValue != 0 { state.isBlocked = false }
        // The descriptor of a closed connection may belong to another one.
        if state.isOpen { state.stream.recordEvents(events) }
        state.awaitsTurn = false
        if state.liveness.takeSuspicion() { (effects.capacity, effects.isSuspect) = (0, true) }
        effects.abandoned = self.state.takeAbandoned()
        for call in effects.abandoned {
            guard let stream = state.session.stream(of: call) else { continue }
            state.liveness.requestCancelled(began: stream.submitted)
            fail(stream, .cancelled, &state, &effects, thread.now)
        }
        guard state.isOpen || state.session.count > 0 else { return }
        if bodiesHaveMore.exchange(false, ordering: .sequentiallyConsistent) {
            state.session.forEach { stream in
                guard stream.isDeferred else { return }
                state.session.resume(stream)
                stream.stopWaitingForBody(now: thread.now)
                setTimer(for: stream, &state, &effects, now: thread.now)
            }
        }
        pull(&state, &effects, on: thread)
        push(&state, limit: SocketStream.turnBytes, now: thread.now, &effects)
        // While producing output, nghttp2 may have found an error.
        processTouchedStreams(&state, &effects, now: thread.now)
        if state.isOpen, let failure = state.session.failure {
            connectionLost(&state, failure, isProtocolError: true, &effects, thread.now)
        }
        setTimer(for: nil, &state, &effects, now: thread.now)
    }

    // MARK: Writing and reading

    private func push(_ state: inout State, limit: Int, now: MonotonicTime, _ effects: inout HTTP2Effects) {
        var left = limit
        defer {
            if limit - left >= Transaction.inlineBody { state.stream.updateAcknowledgement(at: now) }
        }
        while state.isOpen, !state.isBlocked, state.writeFailure == nil {
            state.session.fill(&state.output, upTo: Transaction.inlineBody, at: now)
            if state.output.isEmpty { return }
            if left <= 0 {
                effects.wantsTurn = true
                return
            }
            switch state.stream.write(state.output) {
            case .bytes(let count):
                state.output.consume(count)
                left -= count
            case .wouldBlock: state.isBlocked = true
            case .end, .failed:
                state.writeFailure = state.stream.lastFailure
                state.session.recordUnsent(state.output.count)
                state.output.removeAll()
                state.stream.outputFailed()
                effects.wantsTurn = true
                retire(&state, &effects)
            }
        }
    }

    private func pull(_ state: inout State, _ effects: inout HTTP2Effects, on thread: LoopThread) {
        let now = thread.now
        var input = SocketStream.turnBytes
        var output = SocketStream.turnBytes
        state.session.decodeMore(budget: &output, at: now)
        // Reading goes on when nothing more can be decoded in the turn. The windows limit what arrives.
        while state.stream.mayRead, input > 0 {
            switch state.stream.read(into: thread.scratch) {
            case .wouldBlock where state.mayBeAnswered: continue
            case .bytes(let count):
                input -= max(count, SocketStream.leastReadCost)
                // If the connection was suspect, the pool may use it again.
                if state.liveness.recordInput(at: now) { _ = effects.report(state.session) }
                state.session.receive(.init(rebasing: thread.scratch[..<count]), budget: &output, at: now)
                processTouchedStreams(&state, &effects, now: now)
                if let failure = state.session.failure {
                    return connectionLost(&state, failure, isProtocolError: true, &effects, now)
                }
                applySessionChanges(&state, &effects, now)
                guard state.isOpen else { return }
            case .end:
                processTouchedStreams(&state, &effects, now: now)
                return connectionLost(&state, nil, &effects, now)
            case .wouldBlock, .failed:
                let error = lossError(state)
                processTouchedStreams(&state, &effects, now: now)
                return connectionLost(&state, error, &effects, now)
            }
        }
        processTouchedStreams(&state, &effects, now: now)
        let hasMore = state.stream.mayRead || state.session.undecoded.contains { !$0.isPaused }
        if hasMore { effects.wantsTurn = true }
    }

    /// Passes a GOAWAY or a changed limit on concurrent requests to the pool, with requests that were submitted but cannot be written.
    private func applySessionChanges(_ state: inout State, _ effects: inout HTTP2Effects, _ now: MonotonicTime) {
        var excess = state.session.count
        if state.session.isGoingAway {
            retire(&state, &effects)
            if state.session.goAwayReason != nil { state.liveness.serverFailed(at: now) }
        } else if state.session.capacity != state.capacity {
            state.capacity = effects.report(state.session)
            excess -= state.session.capacity
        } else {
            return
        }
        for stream in state.session.unwritten(excess).reversed() {
            resend(stream, &state, &effects, now)
        }
        if state.session.isGoingAway, state.session.count == 0 { close(&state, &effects) }
    }

    /// Processes the streams that have received something.
    private func processTouchedStreams(_ state: inout State, _ effects: inout HTTP2Effects, now: MonotonicTime) {
        let touched = state.session.takeTouched()
        if !touched.isEmpty { state.liveness.recordProgress() }
        for stream in touched where state.session.contains(stream) {
            if stream.hasBodyFailed {
                fail(stream, stream.bodyFailure ?? Engine.unavailable, &state, &effects, now)
                continue
            }
            switch stream.outcome() {
            case .complete? where stream.resendReason != nil: repeatRequest(stream, &state, &effects, now)
            case .complete?:
                stream.finish(now: now, remoteAddress: remoteAddress)
                deliver(stream, &state, &effects, now)
            case .failed(let error)?: fail(stream, error, &state, &effects, now)
            case .needsInput?, .blocked?, nil:
                if stream.isClosed, !stream.hasEnded {
                    handleEarlyClose(stream, &state, &effects, now)
                } else {
                    stream.flush()
                    if let answer = stream.takeAnswer() { effects.answers.append((stream.call, answer)) }
                }
            }
        }
    }

    // MARK: Ends of streams

    /// Fails a request and resets its stream.
    private func fail(
        _ stream: HTTP2Stream,
        _ error: SluiceError,
        _ state: inout State,
        _ effects: inout HTTP2Effects,
        _ now: MonotonicTime
    ) {
        stream.fail(error)
        deliver(stream, &state, &effects, now)
    }

    /// Delivers the outcome of a stream to its caller, and releases its slot.
    private func deliver(
        _ stream: HTTP2Stream,
        _ state: inout State,
        _ effects: inout HTTP2Effects,
        _ now: MonotonicTime
    ) {
        if let answer = stream.takeAnswer() { effects.answers.append((stream.call, answer)) }
        if let end = stream.takeBodyEnd() { effects.bodyEnds.append(end) }
        removeStream(stream, &state, &effects, now)
        effects.released += 1
    }

    /// Removes a stream, and closes the connection if it is retired and has no other.
    private func removeStream(
        _ stream: HTTP2Stream,
        _ state: inout State,
        _ effects: inout HTTP2Effects,
        _ now: MonotonicTime
    ) {
        state.session.remove(stream)
        if !stream.isClosed, !state.awaitsTurn {
            state.awaitsTurn = true
            effects.wantsTurn = true
        }
        guard state.session.count == 0 else { return }
        state.idleSince = now
        if state.isRetired { close(&state, &effects) }
        effects.leavesLoop = !state.isOpen
    }

    /// Handles a stream that was closed before its response was complete, by the server or because the response is malformed.
    private func handleEarlyClose(
        _ stream: HTTP2Stream,
        _ state: inout State,
        _ effects: inout HTTP2Effects,
        _ now: MonotonicTime
    ) {
        if stream.closeCode == NGHTTP2_REFUSED_STREAM.rawValue, stream.head == nil {
            // The server has not processed the request (RFC 9113 §8.7).
            return resend(stream, &state, &effects, now)
        }
        if stream.closeCode == NGHTTP2_HTTP_1_1_REQUIRED.rawValue, stream.head == nil,
            stream.call.plan.httpVersion == .automatic
        {
            guard stream.rewindBody() else { return fail(stream, .bodyNotRewound, &state, &effects, now) }
            effects.downgrades.append(stream.call)
            removeStream(stream, &state, &effects, now)
            effects.released += 1
            return
        }
        fail(stream, state.session.error(ofClosed: stream), &state, &effects, now)
    }

    /// Sends a request again, on this connection or another. Fails it after too many attempts.
    ///
    /// The error is nil if the server has refused the request, which it may do often while it processes others, or before it was written.
    private func resend(
        _ stream: HTTP2Stream,
        after error: SluiceError? = nil,
        _ state: inout State,
        _ effects: inout HTTP2Effects,
        _ now: MonotonicTime
    ) {
        let makesProgress = error == nil && (state.session.processesRequests || !stream.hasWritten)
        let mayRepeat = stream.call.withAttempt { attempt in
            if makesProgress { attempt.refusals += 1 } else { attempt.resends += 1 }
            return attempt.refusals <= 30 && attempt.resends <= 3
        }
        if mayRepeat { return repeatRequest(stream, &state, &effects, now) }
        fail(stream, error ?? stream.refusal(goAway: state.session.goAwayReason), &state, &effects, now)
    }

    /// Sends a request again, on this connection or another.
    private func repeatRequest(
        _ stream: HTTP2Stream,
        _ state: inout State,
        _ effects: inout HTTP2Effects,
        _ now: MonotonicTime
    ) {
        guard stream.rewindBody() else { return fail(stream, .bodyNotRewound, &state, &effects, now) }
        effects.resends.append(stream.call)
        removeStream(stream, &state, &effects, now)
    }

    // MARK: Ends of the connection

    /// Removes the connection from the pool, so that it takes no further requests.
    private func retire(_ state: inout State, _ effects: inout HTTP2Effects) {
        guard !state.isRetired else { return }
        state.isRetired = true
        effects.leavesPool = true
        if state.session.count == 0 { close(&state, &effects) }
    }

    /// Handles the loss of the connection: sends requests again if possible, and fails the others.
    /// The error is nil if the server has closed the connection. After a protocol error, requests that were written are not sent again.
    private func connectionLost(
        _ state: inout State,
        _ error: SluiceError?,
        isProtocolError: Bool = false,
        _ effects: inout HTTP2Effects,
        _ now: MonotonicTime
    ) {
        retire(&state, &effects)
        // Bytes that the socket does not accept now are never written.
        if !state.isBlocked, state.writeFailure == nil { state.stream.writeAtOnce(&state.output) }
        state.isBlocked = !state.output.isEmpty
        state.session.recordUnsent(state.output.count)
        for stream in state.session.activeStreams {
            stream.isClosed = true
            // The whole response has been received, and only waits to be decoded.
            if stream.hasEnded, stream.failure == nil, stream.hasUndecoded { continue }
            let failure = error ?? stream.earlyCloseError(goAway: state.session.goAwayReason)
            if stream.mayBeRepeated(afterProtocolError: isProtocolError) {
                resend(stream, after: failure, &state, &effects, now)
            } else {
                fail(stream, stream.failure ?? failure, &state, &effects, now)
            }
        }
        close(&state, &effects)
    }

    private func close(_ state: inout State, _ effects: inout HTTP2Effects) {
        guard state.isOpen else { return }
        state.isOpen = false
        retire(&state, &effects)
        state.session.close()
        if state.writeFailure == nil, !state.isBlocked {
            state.session.fill(&state.output, upTo: Transaction.inlineBody, at: .now)
            if !state.output.isEmpty { _ = state.stream.write(state.output) }
        }
        state.stream.tls?.close()
        (state.stream.tls, state.stream.mayRead) = (nil, false)
        state.output.removeAll()
        pool.engine.descriptors.close(descriptor)
        effects.isClosed = true
        // Responses that wait to be decoded need further turns and the timer.
        if state.session.count == 0 { effects.leavesLoop = true } else { effects.wantsTurn = true }
    }

    /// Resets the stream of a request whose caller has left.
    func abandon(_ call: Call) {
        state.abandon(call)
        registration.loop.post { [self] in ready(0, on: $0) }
    }

    /// Closes a connection that the pool has removed from its idle connections.
    func closeIdle() {
        var effects = HTTP2Effects()
        state.withLock { state in
            state.isRetired = true
            if state.session.count == 0 { close(&state, &effects) }
        }
        perform(effects, on: nil)
    }

    private func lossError(_ state: State) -> SluiceError {
        let cause = state.writeFailure ?? state.stream.lastFailure
        let host = state.session.activeStreams.first?.call.serverName ?? ""
        // With TLS 1.3, a missing or refused client certificate is only reported after the handshake.
        if let failure = state.stream.tls?.failure { return failure.error(host: host) }
        return SluiceError(.connectionLost, "The connection to \(host) was lost: \(cause).")
    }

    private func expire(_ state: inout State, _ effects: inout HTTP2Effects, on thread: LoopThread) {
        let now = thread.now
        if state.isOpen {
            state.stream.updateAcknowledgement(at: now)
            state.session.forEach { $0.recordAcknowledgement(on: state.stream) }
        }
        for stream in state.session.activeStreams where stream.expiration <= now {
            if case .waitsForContinue = stream.sending, stream.call.deadline > now {
                stream.stopWaitingForContinue()
                state.session.resume(stream)
                continue
            }
            if !state.isRetired, state.liveness.requestTimedOut(began: stream.submitted, at: now) {
                // The server has been silent since the request, or for a second. Do not send others until it responds.
                (effects.capacity, effects.isSuspect) = (0, true)
            }
            fail(stream, stream.call.timeoutError(at: now), &state, &effects, now)
        }
        guard state.isOpen else { return }
        if state.session.forgetLearned(at: now) { applySessionChanges(&state, &effects, now) }
        state.liveness.recordAcknowledgement(on: state.stream)
        switch state.liveness.step(awaitsResponse: state.session.count > 0, at: now) {
        case .nothing: break
        case .ping: state.session.ping(at: now)
        case .lost:
            return connectionLost(&state, state.session.goAwayReason == nil ? .unresponsive : nil, &effects, now)
        }
        if state.session.count == 0, idleDeadline(state) <= now { retire(&state, &effects) }
    }

    private func idleDeadline(_ state: State) -> MonotonicTime {
        min(life.end, state.idleSince + pool.idleTimeout)
    }

    /// Sets the timer to the earlier deadline of the connection and of one stream, unless it fires before them anyway.
    /// Deadlines of streams usually move to a later time, so the other streams are only checked when the timer fires.
    private func setTimer(
        for stream: HTTP2Stream?,
        _ state: inout State,
        _ effects: inout HTTP2Effects,
        now: MonotonicTime
    ) {
        var deadline = stream?.expiration ?? .distantFuture
        if state.isOpen {
            let isIdle = state.session.count == 0
            deadline = min(deadline, state.liveness.deadline(awaitsResponse: !isIdle), state.session.learnedEnd)
            if isIdle { deadline = min(deadline, idleDeadline(state)) }
        }
        if self.state.moveDeadline(to: deadline, at: now) { effects.setsTimer = true }
    }

    // MARK: Effects

    private func perform(_ effects: HTTP2Effects, on thread: LoopThread?) {
        if thread == nil {
            let missed = state.takeMissedEvents()
            if missed != 0 { registration.loop.post { [self] in ready(missed, on: $0) } }
        }
        if effects.leavesLoop {
            registration.unregister(on: thread)
        } else if effects.setsTimer {
            registration.setTimer(at: self.state.deadline, on: thread)
        }
        if effects.isClosed { pool.closed(.http2(self), on: thread) }
        if effects.wantsTurn { registration.runAgain(self, on: thread) }
        if effects.leavesPool { pool.remove(.http2(self), on: thread) }
        pool.setCapacity(of: self, effects, on: thread)
        if effects.released > 0 { pool.releaseStreams(effects.released, of: self, on: thread) }
        for call in effects.resends { pool.resend(call, leaving: .http2(self), in: group, on: thread) }
        for call in effects.downgrades { call.resendOverHTTP1() }
        // Deliver last, so that the caller's next request finds the connection and the slot free.
        for (call, result) in effects.answers { call.answer(result) }
        for end in effects.bodyEnds { end.pipe.finish(end.result, trailers: end.trailers) }
        withExtendedLifetime(effects.abandoned) {}
    }

    /// Creates the pipe for a body that does not arrive at once.
    func makePipe(for call: Call) -> ResponsePipe {
        ResponsePipe(
            highWater: pool.configuration.responseBufferSize,
            onDemand: { [self] in
                var effects = HTTP2Effects()
                state.withLock { state in
                    guard let stream = state.session.stream(of: call) else { return }
                    let now = MonotonicTime.now
                    stream.resume(now: now)
                    state.session.returnCredit(stream.takeCredit(), to: stream, at: now)
                    setTimer(for: stream, &state, &effects, now: now)
                    effects.wantsTurn = true
                }
                perform(effects, on: nil)
            },
            onAbandon: { [self] in abandon(call) },
            schedule: { [registration] resume in registration.loop.post { _ in resume() } }
        )
    }
}
#endif

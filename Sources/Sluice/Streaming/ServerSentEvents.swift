import SluiceFoundation
import SluiceHTTP

/// The events of a server, received over one or more connections (WHATWG HTML §9.2).
///
/// ```swift
/// for try await event in shop.stream("prices").serverSentEvents() {
///     print(event.type, event.data)
/// }
/// ```
///
/// The first call of `next()` sends the request. It sends `Accept: text/event-stream` and `Cache-Control: no-cache`
/// unless the request sets these headers, and the response is not stored. When the response ends or fails, the request
/// is sent again with the last event ID in `Last-Event-ID`, after the delay that the server requests: see
/// ``Reconnection``. A response with status 204 ends the events. Any other status than 200, and any other content type
/// than `text/event-stream`, fails them.
public struct ServerSentEvents<ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    let request: StreamRequest<ErrorModel>
    let reconnection: Reconnection
    let limit: Int
    private let restarts = EventStreamRestarts()

    init(request: StreamRequest<ErrorModel>, reconnection: Reconnection, limit: Int) {
        self.request = request
        self.reconnection = reconnection
        self.limit = limit
    }

    /// Creates an iterator. The first call of its `next()` sends the request.
    public func makeAsyncIterator() -> some AsyncIteratorProtocol<ServerSentEvent, ErrorModel> {
        Iterator(signals: SignalIterator(self, restarts))
    }

    /// Iterates over the events.
    private struct Iterator: AsyncIteratorProtocol {
        var signals: SignalIterator<ErrorModel>

        /// Returns the next event, or nil at the end and after an error.
        mutating func next(isolation actor: isolated (any Actor)?) async throws(ErrorModel) -> ServerSentEvent? {
            while let signal = try await signals.next(isolation: actor) {
                if case .event(let event) = signal { return event }
            }
            return nil
        }
    }

    /// The events together with the comments of the server, and the beginnings and ends of connections.
    ///
    /// ```swift
    /// for try await signal in prices.signals {
    ///     switch signal {
    ///     case .event(let event): print(event.data)
    ///     case .disconnected(let error?, let delay): print("\(error) Trying again in \(delay).")
    ///     case .connected, .comment, .disconnected: break
    ///     }
    /// }
    /// ```
    ///
    /// Each loop over them has its own connections, as each loop over the events has.
    public var signals: some AsyncSequence<ServerSentSignal, ErrorModel> & Sendable {
        ServerSentSignals(events: self, restarts: restarts)
    }

    /// The data of the events, decoded.
    ///
    /// ```swift
    /// let answer = ai.stream("chat").post(.json(prompt)).serverSentEvents()
    /// for try await chunk in answer.decoded(as: Chunk.self, until: "[DONE]") { print(chunk.text) }
    /// ```
    ///
    /// Data that cannot be decoded ends the loop with the error model of the request, created from
    /// ``SluiceError/Code/decodingFailed``. To skip it, decode each event with ``ServerSentEvent/decoded(as:by:)``.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - end: The data with which the server ends the events; nil, the default, for none. It is not decoded. What follows is
    ///     read for up to a second, so that the connection can be used again. If the response ends without it, the values end as well.
    ///   - decoder: The decoder to use; nil, the default, for that of the client.
    /// - Returns: The values. Each loop over them has its own connections, as each loop over the events has.
    public func decoded<Value: Decodable & Sendable>(
        as type: Value.Type = Value.self,
        until end: String? = nil,
        by decoder: (any DataDecoder)? = nil
    ) -> some AsyncSequence<Value, ErrorModel> & Sendable {
        DecodedEvents<Value, ErrorModel>(events: self, restarts: restarts, end: end, decoder: decoder)
    }

    /// Closes the connection of each loop over these events, and connects again at once with the last event ID.
    ///
    /// A loop that waits before it reconnects stops waiting. A loop that handles an event first receives the other
    /// events of the chunk that it has read, and then connects again. Later events that the server has already sent are
    /// lost, unless the server sends them again. Has no effect on a loop that has not begun or has ended, and on a
    /// request that cannot be repeated: see ``Reconnection``. Can be called from any thread.
    public func restart() {
        restarts.restart()
    }
}

/// A part of an event stream: ``ServerSentEvents/signals``.
public enum ServerSentSignal: Sendable {
    /// A connection has begun: the head of its response.
    case connected(HTTPResponse)
    /// An event.
    case event(ServerSentEvent)
    /// A comment, without its colon and the space that follows it. Servers send comments to keep connections alive.
    case comment(String)
    /// A connection has ended, or could not be made. The error is nil if the server ended the response, or if
    /// ``ServerSentEvents/restart()`` did. The next connection begins after the delay.
    case disconnected(SluiceError?, reconnectingAfter: Duration)
}

private struct ServerSentSignals<ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    let events: ServerSentEvents<ErrorModel>
    let restarts: EventStreamRestarts

    func makeAsyncIterator() -> SignalIterator<ErrorModel> { SignalIterator(events, restarts) }
}

private struct DecodedEvents<Value: Decodable & Sendable, ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    let events: ServerSentEvents<ErrorModel>
    let restarts: EventStreamRestarts
    let end: String?
    let decoder: (any DataDecoder)?

    func makeAsyncIterator() -> Iterator {
        Iterator(signals: SignalIterator(events, restarts), request: events.request, end: end, decoder: decoder)
    }

    struct Iterator: AsyncIteratorProtocol {
        /// Nil after the end and after an error, so that the connection is closed.
        var signals: SignalIterator<ErrorModel>?
        let request: StreamRequest<ErrorModel>
        let end: String?
        let decoder: (any DataDecoder)?

        mutating func next(isolation actor: isolated (any Actor)?) async throws(ErrorModel) -> Value? {
            while let signal = try await signals?.next(isolation: actor) {
                guard case .event(let event) = signal else { continue }
                if let end, event.data.hasBytes(of: end) {
                    signals?.finish()
                    break
                }
                do throws(SluiceError) {
                    return try event.decoded(as: Value.self, by: decoder)
                } catch {
                    let error = signals?.failed(error) ?? error
                    signals = nil
                    throw request.model(of: StreamFailure(error: error))
                }
            }
            signals = nil
            return nil
        }
    }
}

/// Connects, reads and reconnects.
private struct SignalIterator<ErrorModel: ErrorSerializable>: AsyncIteratorProtocol {
    private let request: StreamRequest<ErrorModel>
    private let limit: Int
    private let restarts: EventStreamRestarts
    private let canBeSentAgain: Bool
    private var state: ReconnectionState
    private var parser: ServerSentEventParser
    private var retry: Duration?
    private var body: StreamedBody?
    /// The delay before the next connection.
    private var delay: Duration?
    /// The number of restarts so far; nil before the first call of `next()`.
    private var restartCount: Int?
    private var isOver = false
    /// The time at which the last connection was begun.
    private var connecting: ContinuousClock.Instant?
    /// The number of cancellations of all requests before the wait for the next connection.
    private var cancellations = 0

    init(_ events: ServerSentEvents<ErrorModel>, _ restarts: EventStreamRestarts) {
        request = events.request.askingForEvents()
        limit = events.limit
        self.restarts = restarts
        canBeSentAgain = events.request.canBeSentAgain
        state = ReconnectionState(canBeSentAgain ? events.reconnection : .none)
        parser = ServerSentEventParser(lastEventID: request.draft.headers[.lastEventID] ?? "", limit: limit)
    }

    /// Returns the next signal, or nil at the end and after an error.
    mutating func next(isolation actor: isolated (any Actor)?) async throws(ErrorModel) -> ServerSentSignal? {
        do throws(StreamFailure) {
            while !isOver {
                if restartCount == nil { restartCount = restarts.count }
                var failure: StreamFailure?
                do throws(StreamFailure) {
                    if let delay { try await wait(for: delay) }
                    if let signal = try await received() { return signal }
                } catch {
                    failure = error
                }
                if !isOver, let signal = try disconnect(after: failure) { return signal }
            }
            return nil
        } catch {
            isOver = true
            body = nil
            throw request.model(of: error)
        }
    }

    /// Ends the events. The connection can be used again if the response ends soon.
    mutating func finish() {
        isOver = true
        body?.finish()
        body = nil
    }

    /// Ends the current connection with the error of an event. Returns the error with the request and the response added.
    func failed(_ error: SluiceError) -> SluiceError { body?.failed(error) ?? error }

    /// Returns the next signal of the current connection, or nil at its end. Connects first if there is no connection.
    private mutating func received() async throws(StreamFailure) -> ServerSentSignal? {
        guard let body else {
            parser = ServerSentEventParser(lastEventID: parser.lastEventID, limit: limit)
            let id = parser.lastEventID
            connecting = request.client.pipeline.clock.now
            let connected = await unlessRestarted { [request] in
                await Result.of { () async throws(StreamFailure) in try await request.openEvents(after: id) }
            }
            guard let connected else { return nil }
            body = try connected.get()
            isOver = body == nil
            return body.map { .connected($0.response.head) }
        }
        do throws(SluiceError) {
            while true {
                switch try parser.nextItem() {
                case .event(var event):
                    state.signalArrived()
                    event.decoder.shared = request.client.pipeline.modelDecoder
                    return .event(event)
                case .comment(let comment):
                    state.signalArrived()
                    return .comment(comment)
                case nil: break
                }
                let chunk = await unlessRestarted {
                    await Result.of { () async throws(SluiceError) in try await body.next(isolation: nil) }
                }
                guard let chunk, let chunk = try chunk.get() else { return nil }
                parser.append(chunk)
            }
        } catch {
            throw StreamFailure(error: body.failed(error))
        }
    }

    /// Ends the current connection. Returns the signal that says when the next one begins, or nil if there is none.
    private mutating func disconnect(after failure: StreamFailure?) throws(StreamFailure) -> ServerSentSignal? {
        let hasBegun = body != nil
        body = nil
        cancellations = request.client.pipeline.running.cancellations
        retry = parser.reconnectionTime ?? retry
        if canBeSentAgain, let restartCount, restartCount != restarts.count, failure?.error.isCancellation != true {
            self.restartCount = restarts.count
            delay = nil
            return .disconnected(nil, reconnectingAfter: .zero)
        }
        let options = request.draft.options
        let configuration = request.client.pipeline.configuration
        if let failure, failure.error.code == .timedOut, let total = request.ownTotalTime {
            // The limit of an attempt ends with the head, and gates and interceptors have limits of their own. After the total time,
            // the next connection would last no longer.
            let hasOtherLimit =
                (options.retry ?? configuration.retry).attemptTimeout != nil
                || [.gate, .requestInterceptor].contains(failure.error.step)
            let time = connecting.map { $0.duration(to: configuration.clock.now) } ?? .zero
            if hasBegun || !hasOtherLimit || time >= total { throw failure }
        }
        let decision = state.decision(
            after: failure?.error,
            retry: retry,
            retryAfter: failure?.error.response.flatMap {
                RetryAfter.delay(in: $0.headers, now: configuration.clock.date)
            },
            random: configuration.randomness(),
            timeLeft: Deadline.earliest(request.draft.options.deadline)?.timeLeft(on: configuration.clock)
        )
        switch decision {
        case .finish:
            isOver = true
            return nil
        case .fail(let error):
            throw failure ?? StreamFailure(error: error)
        case .wait(let delay):
            self.delay = delay
            return .disconnected(failure?.error, reconnectingAfter: delay)
        }
    }

    /// Waits before the next connection, unless the events are restarted.
    private mutating func wait(for delay: Duration) async throws(StreamFailure) {
        let clock = request.client.pipeline.configuration.clock
        let hasWaited = await unlessRestarted { (try? await clock.sleep(for: delay)) != nil }
        let isCancelled = request.client.pipeline.running.cancellations != cancellations
        if hasWaited == false || isCancelled || Task.isCancelled { throw StreamFailure(error: .cancelled) }
        self.delay = nil
        restartCount = restarts.count
    }

    /// Runs work. Returns nil, and cancels the work, if the events are restarted before it is done.
    private func unlessRestarted<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value? {
        guard canBeSentAgain, let restartCount else { return await work() }
        return await restarts.value(of: work, unlessAfter: restartCount)
    }
}

/// The restarts of an event stream, which interrupt what its loops wait for.
private final class EventStreamRestarts: Sendable {
    private struct State {
        var count = 0
        var number = 0
        var waiting: [Int: Task<Void, Never>] = [:]
    }

    private let state = Locked(State())

    /// The number of restarts so far.
    var count: Int { state.withLock { $0.count } }

    func restart() {
        let waiting = state.withLock { state in
            state.count += 1
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for task in waiting { task.cancel() }
    }

    /// Runs work in a task that a restart cancels.
    ///
    /// - Parameters:
    ///   - work: The work.
    ///   - known: The number of restarts that the caller knows.
    /// - Returns: The value; nil if there has been another restart.
    func value<Value: Sendable>(
        of work: @escaping @Sendable () async -> Value,
        unlessAfter known: Int
    ) async -> Value? {
        let value = Locked<Value?>(nil)
        let task = Task {
            let result = await work()
            value.withLock { $0 = result }
        }
        let number = state.withLock { state -> Int? in
            guard state.count == known else { return nil }
            state.number += 1
            state.waiting[state.number] = task
            return state.number
        }
        await withTaskCancellationHandler {
            if number == nil { task.cancel() }
            await task.value
        } onCancel: {
            task.cancel()
        }
        let isRestarted = state.withLock { state in
            if let number { state.waiting[number] = nil }
            return state.count != known
        }
        return isRestarted ? nil : value.withLock { $0 }
    }
}

extension StreamRequest {
    /// The events of a server, received over one or more connections.
    ///
    /// - Parameters:
    ///   - reconnection: The reconnection policy; that of a browser by default. With ``Reconnection/none`` the events
    ///     end with the response.
    ///   - limit: The maximum size of an event's data, and of each line, in bytes; 1 MiB by default.
    /// - Returns: The events. Iterating over them sends the request.
    public func serverSentEvents(
        reconnection: Reconnection = .standard,
        limit: Int = 1 << 20
    ) -> ServerSentEvents<ErrorModel> {
        ServerSentEvents(request: self, reconnection: reconnection, limit: limit)
    }

    /// The total time-out that the request or the client's `requestMapping` sets; nil for none.
    fileprivate var ownTotalTime: Duration? {
        let timeouts = draft.options.timeouts.applied(to: Timeouts())
        return ((try? draft.build(for: client.pipeline)).map(timeouts.changed) ?? timeouts).total
    }

    /// True if the request may be sent again: it is idempotent and its body is replayable.
    fileprivate var canBeSentAgain: Bool {
        guard draft.options.isIdempotent ?? draft.method.isIdempotent else { return false }
        // Replayability is a property of the encoded body. A body that cannot be encoded fails later, when it is sent.
        return draft.body == nil || (try? httpRequest())?.body.isReplayable ?? true
    }

    fileprivate func askingForEvents() -> StreamRequest {
        modified { draft in
            if !draft.headers.contains("Accept") { draft.headers["Accept"] = "text/event-stream" }
            // The Fetch Standard sends `no-cache` for the cache mode `no-store` of an event source.
            if !draft.headers.contains("Cache-Control") { draft.headers["Cache-Control"] = "no-cache" }
            // The response to another method still invalidates stored ones.
            if draft.method.isSafe { draft.options.caching.change { $0.http = nil } }
        }
    }

    /// Sends the request and returns the response body, or nil if the server responded with 204 (No Content).
    fileprivate func openEvents(after id: String) async throws(StreamFailure) -> StreamedBody? {
        let request = header(.lastEventID, id.isEmpty ? nil : id)
        let body = try await request.begun { head throws(SluiceError) in
            if head.status == .noContent { return }
            guard head.status == .ok else {
                let reason = "The server responded with status \(head.status), but an event stream requires status 200."
                throw SluiceError(.unacceptableStatus, reason, step: .validation)
            }
            guard head.headers[.contentType].flatMap(ContentType.init)?.essence == "text/event-stream" else {
                let type = head.headers[.contentType].map { "is “\($0.printable)”, not" } ?? "is missing, instead of"
                let reason = "The response is not an event stream: its content type \(type) text/event-stream."
                throw SluiceError(.unacceptableContentType, reason, step: .validation)
            }
        }
        guard body.response.head.status == .noContent else { return body }
        // Read the body to its end, so that observers are notified of it.
        _ = try? await body.next(isolation: nil)
        return nil
    }
}

// MARK: - Reconnection

/// A policy for reconnecting to an event stream after it ends or fails.
///
/// ```swift
/// let quick = Reconnection(delay: .seconds(1), maximumAttempts: 3)
/// for try await event in request.serverSentEvents(reconnection: quick) { … }
/// ```
///
/// Only requests that can be repeated reconnect. The method must be idempotent (RFC 9110 §9.2.2) or the request must be
/// marked with ``ModifiableRequest/idempotent(_:)``, and the body must be replayable.
public struct Reconnection: Sendable, Hashable {
    /// The delay before reconnecting, until the server sends the field `retry`.
    public var delay: Duration
    /// The limits of the delay that the server requests with the field `retry`. A shorter or longer one is replaced by
    /// the limit. The upper limit applies to a `Retry-After` too.
    public var delayLimits: ClosedRange<Duration>
    /// The additional delay after a connection failed or was lost.
    public var backoff: Backoff
    /// The maximum number of consecutive reconnections that fail or are lost without an event or a comment. Those that
    /// the server ends do not count.
    public var maximumAttempts: Int
    /// The response statuses after which the client reconnects; none by default, as the standard requires. It does not
    /// reconnect before the time that a `Retry-After` requires, up to the limit of ``delayLimits``.
    public var statuses: Set<HTTPStatus>

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - delay: The delay until the server sends another value; 3 seconds by default.
    ///   - delayLimits: The limits of the server's value; half a second to 5 minutes by default.
    ///   - backoff: The additional delay after failures; by default a random delay of at most 1 second, doubled after
    ///     each further failure up to 30 seconds.
    ///   - maximumAttempts: The maximum number of consecutive reconnections that fail; 10 by default. With 0, the events
    ///     end with the response.
    ///   - statuses: The response statuses after which the client reconnects; none by default.
    public init(
        delay: Duration = .seconds(3),
        delayLimits: ClosedRange<Duration> = .milliseconds(500) ... .seconds(300),
        backoff: Backoff = Backoff(base: .seconds(1)),
        maximumAttempts: Int = 10,
        statuses: Set<HTTPStatus> = []
    ) {
        self.delay = delay
        self.delayLimits = delayLimits
        self.backoff = backoff
        self.maximumAttempts = maximumAttempts
        self.statuses = statuses
    }

    /// The behavior of a browser: waits 3 seconds or the delay that the server requests, longer after failures. It
    /// reconnects without end to a server that ends its responses, and gives up after 10 consecutive failures.
    public static let standard = Reconnection()
    /// No reconnection: the events end with the response.
    public static let none = Reconnection(maximumAttempts: 0)
}

struct ReconnectionState: Sendable {
    /// The action to take after a connection ends.
    enum Decision: Sendable {
        /// Reconnect after this delay.
        case wait(Duration)
        /// End the events without an error.
        case finish
        case fail(SluiceError)
    }

    /// The policy, or ``Reconnection/none`` for a request that cannot be sent again.
    let policy: Reconnection
    /// The number of failed connections since the last sign of the server.
    private var attempts = 0

    init(_ policy: Reconnection) {
        self.policy = policy
    }

    /// Resets the number of attempts after an event or a comment arrived.
    mutating func signalArrived() {
        attempts = 0
    }

    /// Decides how to continue after a connection (WHATWG HTML §9.2.3).
    ///
    /// - Parameters:
    ///   - failure: The error that ended the connection or prevented it; nil if the server closed it.
    ///   - retry: The delay that the server requested with the field `retry`.
    ///   - retryAfter: The delay that the response of a failure requests.
    ///   - random: 64 random bits.
    ///   - timeLeft: The time until the deadline; nil if there is none.
    /// - Returns: The action to take.
    mutating func decision(
        after failure: SluiceError?,
        retry: Duration?,
        retryAfter: Duration? = nil,
        random: UInt64,
        timeLeft: Duration? = nil
    ) -> Decision {
        guard policy.maximumAttempts > 0 else { return failure.map(Decision.fail) ?? .finish }
        let limits = policy.delayLimits
        var delay = max(.zero, retry.map { min(max($0, limits.lowerBound), limits.upperBound) } ?? policy.delay).bounded
        if let failure {
            guard isTransient(failure), attempts < policy.maximumAttempts else { return .fail(failure) }
            attempts += 1
            if let retryAfter { delay = max(delay, min(retryAfter, limits.upperBound)) }
            if let refusal = failure.underlyingError as? GateRefusal {
                delay = max(delay, refusal.retryAfter?.bounded ?? .zero)
            }
            delay += policy.backoff.delay(before: attempts, random: random)
        } else {
            attempts = 0
        }
        if let timeLeft, timeLeft <= delay { return .fail(failure ?? .noTimeToReconnect) }
        return .wait(delay)
    }

    private func isTransient(_ failure: SluiceError) -> Bool {
        if failure.code == .unacceptableStatus, let status = failure.response?.status {
            return policy.statuses.contains(status)
        }
        // These are temporary, as a server that does not answer is.
        if failure.underlyingError is GateRefusal { return true }
        if let error = failure.underlyingError as? OAuth2Error {
            return [.unreachable, .storeFailed, .tooManyRefreshes].contains(error.code)
        }
        return RetryPolicy.transientCodes.contains(failure.code) && !failure.isLasting
    }
}

extension SluiceError {
    fileprivate static var noTimeToReconnect: SluiceError {
        SluiceError(
            .timedOut,
            "The event stream ended, and its deadline passes before the next connection.",
            step: .recovery
        )
    }
}

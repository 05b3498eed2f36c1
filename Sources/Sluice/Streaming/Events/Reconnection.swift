import SluiceHTTP

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
    /// The limits of the delay that the server requests. A shorter or longer one is replaced by the limit.
    public var delayLimits: ClosedRange<Duration>
    /// The additional delay after a connection failed or was lost.
    public var backoff: Backoff
    /// The maximum number of consecutive connections that fail or are lost without an event or a comment. Those that
    /// the server ends do not count.
    public var maximumAttempts: Int
    /// The response statuses after which the client reconnects; none by default, as the standard requires.
    public var statuses: Set<HTTPStatus>

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - delay: The delay until the server sends another value; 3 seconds by default.
    ///   - delayLimits: The limits of the server's value; half a second to 5 minutes by default.
    ///   - backoff: The additional delay after failures; by default a random delay of at most 1 second, doubled after
    ///     each further failure up to 30 seconds.
    ///   - maximumAttempts: The maximum number of consecutive connections that fail; 10 by default. With 0, the events
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

/// The reconnection state of an event stream.
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
    ///   - retry: The delay that the server requested.
    ///   - random: 64 random bits.
    ///   - timeLeft: The time until the deadline; nil if there is none.
    /// - Returns: The action to take.
    mutating func decision(
        after failure: SluiceError?,
        retry: Duration?,
        random: UInt64,
        timeLeft: Duration? = nil
    ) -> Decision {
        guard policy.maximumAttempts > 0 else { return failure.map(Decision.fail) ?? .finish }
        let limits = policy.delayLimits
        var delay = max(.zero, retry.map { min(max($0, limits.lowerBound), limits.upperBound) } ?? policy.delay)
        if let failure {
            guard isTransient(failure), attempts < policy.maximumAttempts else { return .fail(failure) }
            attempts += 1
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
        return RetryPolicy.transientCodes.contains(failure.code)
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

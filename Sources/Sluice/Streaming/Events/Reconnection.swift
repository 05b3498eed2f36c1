import SluiceHTTP

/// Whether, when and how often a stream of events is asked for again after it has ended or was lost.
///
/// ```swift
/// let quick = Reconnection(delay: .seconds(1), maximumAttempts: 3)
/// for try await event in request.serverSentEvents(reconnection: quick) { … }
/// ```
///
/// Only a request that can be sent again is: by a method that is idempotent (RFC 9110 §9.2.2), or that says so itself with
/// ``ModifiableRequest/idempotent(_:)``, and with a body that can be read twice.
public struct Reconnection: Sendable, Hashable {
    /// How long to wait, until the server says something else with the field `retry`.
    public var delay: Duration
    /// How much longer to wait after a connection was lost, or did not come about, or brought no event.
    public var backoff: Backoff
    /// How many connections may be tried for each other until one brings an event.
    public var maximumAttempts: Int
    /// Statuses that may pass, after which it connects again; none by default, as the standard has it.
    public var statuses: Set<HTTPStatus>

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - delay: The wait until the server says something else; 3 seconds by default.
    ///   - backoff: What is added to it after failures; by default up to a second at random, doubled with each up to 30 seconds.
    ///   - maximumAttempts: How many connections in a row may bring no event; 10 by default.
    ///   - statuses: Statuses that may pass; none by default.
    public init(
        delay: Duration = .seconds(3),
        backoff: Backoff = Backoff(base: .seconds(1)),
        maximumAttempts: Int = 10,
        statuses: Set<HTTPStatus> = []
    ) {
        self.delay = delay
        self.backoff = backoff
        self.maximumAttempts = maximumAttempts
        self.statuses = statuses
    }

    /// As a browser does it: after 3 seconds or when the server says, longer after failures, up to 10 times in a row.
    public static let standard = Reconnection()
    /// The events end where the response does.
    public static let none = Reconnection(maximumAttempts: 0)
}

/// What is known of the connections that have brought, or have not brought, a stream of events.
struct ReconnectionState: Sendable {
    /// What to do where a connection is over.
    enum Decision: Sendable {
        case wait(Duration)
        case finish
        case fail(SluiceError)
    }

    /// The policy, or ``Reconnection/none`` for a request that cannot be sent again.
    let policy: Reconnection
    /// Connections tried since the last event.
    private var attempts = 0

    init(_ policy: Reconnection) {
        self.policy = policy
    }

    /// Learns that an event has arrived.
    mutating func eventArrived() {
        attempts = 0
    }

    /// Decides what follows a connection (WHATWG HTML §9.2.3).
    ///
    /// - Parameters:
    ///   - failure: Why it was lost, or did not come about; nil where the server has ended it.
    ///   - retry: How long the server has said to wait.
    ///   - random: 64 random bits.
    /// - Returns: What to do.
    mutating func decision(after failure: SluiceError?, retry: Duration?, random: UInt64) -> Decision {
        guard policy.maximumAttempts > 0 else { return failure.map(Decision.fail) ?? .finish }
        if let failure, !isPassing(failure) { return .fail(failure) }
        guard attempts < policy.maximumAttempts else {
            return .fail(failure ?? .noEvents(policy.maximumAttempts))
        }
        attempts += 1
        let delay = max(.zero, retry ?? policy.delay)
        if failure == nil, attempts == 1 { return .wait(delay) }
        return .wait(delay + policy.backoff.delay(before: attempts, random: random))
    }

    private func isPassing(_ failure: SluiceError) -> Bool {
        if failure.code == .unacceptableStatus, let status = failure.response?.status {
            return policy.statuses.contains(status)
        }
        return RetryPolicy.passingCodes.contains(failure.code)
    }
}

extension SluiceError {
    fileprivate static func noEvents(_ attempts: Int) -> SluiceError {
        SluiceError(
            .connectionLost,
            "The server has ended the stream of events again and again: \(attempts) connections in a row brought no event."
        )
    }
}

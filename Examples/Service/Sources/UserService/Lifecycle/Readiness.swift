import ServiceLifecycle
import Sluice
import Synchronization

/// Decides if the service takes requests: after the client is warm, and until the service ends.
///
/// As the last service of a group it ends first, so that a load balancer sends no more requests before the server closes its port.
public final class Readiness: Service {
    /// The phases of the service, in their order.
    public enum Phase: Sendable, Hashable {
        /// The client fetches a token and opens a connection.
        case starting
        /// The service takes requests.
        case ready
        /// The service ends. Requests that have arrived are still answered.
        case ending
    }

    private let current = Mutex(Phase.starting)
    private let delay: Duration
    private let clock: any SluiceClock
    private let warmUp: @Sendable () async -> Void

    /// Creates the readiness of a service.
    ///
    /// - Parameters:
    ///   - delay: The time between the end of the readiness and that of the server, in which a load balancer notices it.
    ///   - clock: The clock that measures the delay.
    ///   - warmUp: Prepares the service. Returns also if it fails, because a service without its upstream still reports errors.
    public init(
        delay: Duration = .zero,
        clock: any SluiceClock = SystemClock(),
        warmUp: @escaping @Sendable () async -> Void
    ) {
        self.delay = delay
        self.clock = clock
        self.warmUp = warmUp
    }

    /// The present phase.
    public var phase: Phase { current.withLock { $0 } }

    /// Warms the client, and waits for the end of the service.
    public func run() async throws {
        try await withGracefulShutdownHandler {
            await cancelWhenGracefulShutdown(warmUp)
            current.withLock { if $0 == .starting { $0 = .ready } }
            try await gracefulShutdown()
        } onGracefulShutdown: { [self] in
            current.withLock { $0 = .ending }
        }
        if delay > .zero { try await clock.sleep(for: delay) }
    }
}

extension APIClient {
    /// Fetches a token and opens a connection to the upstream, so that the first caller waits for neither.
    ///
    /// - Parameter limit: The longest wait, within which a failure is tried again.
    /// - Returns: True if the upstream has answered, whatever the status.
    @discardableResult
    public func warmUp(within limit: Duration) async -> Bool {
        let response = await data.request("").method(.head).validate(.none)
            .retry(RetryPolicy(maximumAttempts: 10, backoff: Backoff(base: .milliseconds(100), limit: .seconds(1))))
            .timeout(total: limit).sender().response
        return response.status != nil
    }
}

import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Counts requests by route: their number, outcomes, durations by phase, and bytes transferred.
///
/// ```swift
/// let metrics = RequestMetrics()
/// let client = APIClient(baseURL: url) { $0.observers = [metrics] }
/// …
/// print(metrics.snapshot())                             // a table
/// let text = metrics.snapshot().openMetrics             // for Prometheus
/// let slow = metrics.snapshot().routes.filter { ($0.latency.percentile(99) ?? .zero) > .seconds(1) }
/// ```
///
/// By default a request costs one event and a few hundred nanoseconds; more expensive details are optional. A route
/// takes about 20 KiB, and the number of routes is limited.
public final class RequestMetrics: RequestObserver, ImmediateObserver {
    /// Optional details. Each adds several events to every request.
    public struct Details: OptionSet, Sendable, Hashable {
        /// The bits of the set, one per detail.
        public let rawValue: UInt8

        /// Creates a set from its bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Counts the requests in flight: ``Snapshot/inFlight``. Adds one event per request.
        public static let inFlight = Details(rawValue: 1)
        /// Measures the time that attempts wait for gates: ``Phases/gates``. Adds two events per gate and attempt.
        public static let gates = Details(rawValue: 2)
    }

    /// The ends of requests, retries and redirects, and the events that the optional details need.
    public let interests: RequestEvent.Kinds
    private let details: Details
    private let time: any TimeSource
    private let ledger: Locked<MetricsLedger>

    /// Creates empty metrics.
    ///
    /// - Parameters:
    ///   - details: The optional details to count; none by default.
    ///   - maximumRoutes: The maximum number of routes; 1,000 by default. Further routes are counted together as
    ///     `other`.
    ///   - time: The clock that dates the snapshots.
    public init(details: Details = [], maximumRoutes: Int = 1000, time: any TimeSource = SystemTime()) {
        self.details = details
        self.time = time
        var interests: RequestEvent.Kinds = [.finished, .retrying, .redirected]
        if details.contains(.inFlight) { interests.insert(.began) }
        if details.contains(.gates) { interests.insert(.gates) }
        self.interests = interests
        ledger = Locked(MetricsLedger(maximumRoutes: maximumRoutes, since: time.date))
    }

    /// Counts an event.
    public func observe(_ event: RequestEvent, of request: ObservedRequest) {
        switch event {
        case .finished(.success(let response)):
            ledger.withLock { $0.finish(request, response) }
        case .finished(.failure(let error)):
            ledger.withLock { $0.finish(request, error) }
        case .retrying:
            ledger.withLock { $0.retry(request) }
        case .hedging:
            ledger.withLock { $0.hedge(request) }
        case .redirected:
            ledger.withLock { $0.redirect(request) }
        case .began:
            ledger.withLock { $0.inFlight += 1 }
        case .waiting:
            ledger.withLock { $0.gates.begin(request) }
        case .admitted, .refused:
            ledger.withLock { $0.gates.end(request) }
        case .sending, .informational, .received, .cached:
            break
        }
    }

    /// Counts events that were dropped, so that readers know how incomplete the metrics are.
    public func missed(_ count: Int) {
        ledger.withLock { $0.miss(count) }
    }

    /// Returns the metrics counted since the creation or the last ``reset()``.
    public func snapshot() -> Snapshot {
        let date = time.date
        return ledger.withLock { $0.snapshot(at: date, hasInFlight: details.contains(.inFlight)) }
    }

    /// Resets the metrics. The number of requests in flight is kept.
    public func reset() {
        let date = time.date
        ledger.withLock { $0.reset(since: date) }
    }
}

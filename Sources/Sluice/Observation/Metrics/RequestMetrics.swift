import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Counts requests by route: how many, how they ended, how long they and their parts took, and how many bytes they moved.
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
/// A request costs it one event and some hundred nanoseconds; what costs more has to be asked for. A route
/// takes some 20 KiB, and there is a bound to how many it tells apart.
public final class RequestMetrics: RequestObserver, ImmediateObserver {
    /// What is counted only when asked for, since each request then brings several events more.
    public struct Details: OptionSet, Sendable, Hashable {
        /// A bit a detail.
        public let rawValue: UInt8

        /// Makes a set of bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// How many requests there are right now: ``Snapshot/inFlight``. One event more a request.
        public static let inFlight = Details(rawValue: 1)
        /// How long attempts wait for gates: ``Phases/gates``. Two events more a gate and attempt.
        public static let gates = Details(rawValue: 2)
    }

    /// Only how requests end, and what few of them do: being tried again and redirected.
    public let interests: RequestEvent.Kinds
    private let details: Details
    private let time: any TimeSource
    private let ledger: Locked<MetricsLedger>

    /// Makes metrics that have counted nothing yet.
    ///
    /// - Parameters:
    ///   - details: What else to count; nothing by default.
    ///   - maximumRoutes: How many routes are told apart; 1,000 by default. Those that come later are counted together as `other`.
    ///   - time: What dates the snapshots.
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

    /// Counts events that it was not told of, so that a reader knows how far the figures fall short.
    public func missed(_ count: Int) {
        ledger.withLock { $0.miss(count) }
    }

    /// What has been counted since the beginning or the last ``reset()``.
    public func snapshot() -> Snapshot {
        let date = time.date
        return ledger.withLock { $0.snapshot(at: date, hasInFlight: details.contains(.inFlight)) }
    }

    /// Begins anew; requests in flight stay counted as such.
    public func reset() {
        let date = time.date
        ledger.withLock { $0.reset(since: date) }
    }
}

import Metrics
import Sluice
import Synchronization

/// Counts and times the requests of a client in a backend of swift-metrics.
///
/// ```swift
/// let client = APIClient(baseURL: url) { $0.observers = [MetricsObserver()] }
/// ```
///
/// | metric | |
/// |---|---|
/// | `http_client_requests_total` | a counter of the requests that ended |
/// | `http_client_request_duration_seconds` | a timer of the same, from the start to the end, with pauses and all attempts |
/// | `http_client_retries_total` | a counter of further attempts |
///
/// Each has the dimensions `method`, `host` and `status`. The status is a class, such as `2xx`; `none` without a response, and `cache`
/// for a request that the cache answered without the server. Methods that HTTP does not define are `other`, as are the hosts beyond a
/// limit, so that the number of series has a limit too: 9 methods, 7 statuses and the hosts, multiplied.
public final class MetricsObserver: RequestObserver {
    private struct Series: Hashable {
        let label: String
        let method: String
        let host: String
        let status: String

        var dimensions: [(String, String)] { [("method", method), ("host", host), ("status", status)] }
    }

    private struct State {
        var hosts: Set<String> = []
        var counters: [Series: Counter] = [:]
        var timers: [Series: Timer] = [:]
    }

    private static let methods: Set<HTTPMethod> = [.get, .head, .post, .put, .delete, .patch, .options, .trace]

    private let factory: any MetricsFactory
    private let maximumHosts: Int
    private let state = Mutex(State())

    /// Creates an observer.
    ///
    /// - Parameters:
    ///   - factory: The backend; by default that of the `MetricsSystem`.
    ///   - maximumHosts: The number of hosts with a series of their own, 100 by default.
    public init(factory: any MetricsFactory = MetricsSystem.factory, maximumHosts: Int = 100) {
        self.factory = factory
        self.maximumHosts = maximumHosts
    }

    /// The ends of requests, and further attempts.
    public var interests: RequestEvent.Kinds { [.retrying, .finished] }

    /// Counts an event.
    public func observe(_ event: RequestEvent, of request: ObservedRequest) {
        switch event {
        case .retrying(after: _, let outcome): counter("http_client_retries_total", outcome, request).increment()
        case .finished(let outcome):
            counter("http_client_requests_total", outcome, request).increment()
            timer("http_client_request_duration_seconds", outcome, request)
                .recordNanoseconds(nanoseconds(request.elapsed))
        default: break
        }
    }

    private func counter(_ label: String, _ outcome: TransportOutcome, _ request: ObservedRequest) -> Counter {
        state.withLock { state in
            let series = series(label, outcome, request, &state.hosts)
            if let counter = state.counters[series] { return counter }
            let counter = Counter(label: label, dimensions: series.dimensions, factory: factory)
            state.counters[series] = counter
            return counter
        }
    }

    private func timer(_ label: String, _ outcome: TransportOutcome, _ request: ObservedRequest) -> Timer {
        state.withLock { state in
            let series = series(label, outcome, request, &state.hosts)
            if let timer = state.timers[series] { return timer }
            let timer = Timer(
                label: label,
                dimensions: series.dimensions,
                preferredDisplayUnit: .seconds,
                factory: factory
            )
            state.timers[series] = timer
            return timer
        }
    }

    private func series(
        _ label: String,
        _ outcome: TransportOutcome,
        _ request: ObservedRequest,
        _ hosts: inout Set<String>
    ) -> Series {
        Series(
            label: label,
            method: Self.methods.contains(request.method) ? request.method.rawValue : "other",
            host: host(of: outcome, &hosts),
            status: status(of: outcome)
        )
    }

    /// Returns the host of the request, `none` for a request that could not be built, and `other` beyond the limit.
    private func host(of outcome: TransportOutcome, _ hosts: inout Set<String>) -> String {
        let request: HTTPRequest? =
            switch outcome {
            case .success(let response): response.request
            case .failure(let error): error.request
            }
        guard let host = request?.origin.host else { return "none" }
        if hosts.contains(host) { return host }
        guard hosts.count < maximumHosts else { return "other" }
        hosts.insert(host)
        return host
    }

    private func status(of outcome: TransportOutcome) -> String {
        if case .success(let response) = outcome, case .cache(let info) = response.source, !info.isRevalidated {
            return "cache"
        }
        guard let code = outcome.status?.rawValue, (100..<600).contains(code) else { return "none" }
        return "\(code / 100)xx"
    }

    private func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}

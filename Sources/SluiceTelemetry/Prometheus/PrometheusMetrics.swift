import Sluice
import SluiceFoundation
import SluiceHTTP

/// Counts requests, and writes a page that Prometheus reads.
///
/// ```swift
/// let prometheus = PrometheusMetrics()
/// let client = APIClient(baseURL: "https://api.example.com") { $0.observers = [prometheus] }
/// …
/// let page = prometheus.page(accept: request.headers["Accept"])
/// ```
///
/// Durations are histograms, whose buckets add up over the instances of a service. Their labels are the method, the host, the route, the class of the status and
/// the version of the protocol. One value may serve several clients.
///
/// A route is the one set with ``ModifiableRequest/route(_:)``, or the text of the URI template, or the path without the parts that look like an ID. The number of
/// series is limited. Requests beyond the limit share the series whose method, host and route are `other`.
public final class PrometheusMetrics: RequestObserver, ImmediateObserver {
    /// A page for Prometheus to scrape.
    public struct Page: Sendable, Equatable {
        /// The value of the header `Content-Type`.
        public let contentType: String
        /// The text, or the protobuf messages.
        public let body: Data
    }

    /// The bounds of the buckets that the semantic conventions of OpenTelemetry recommend, from 5 ms to 10 s.
    public static let standardBuckets: [Duration] = BucketCounts.conventionalBounds.map { .seconds($0) }

    private let ledger: Locked<PrometheusLedger>
    private let isNative: Bool

    /// Creates metrics without requests.
    ///
    /// - Parameters:
    ///   - buckets: The upper bounds of the buckets of durations, in any order. Those that are not positive are ignored.
    ///   - isNative: True to count durations in native histograms too, which a server gets that accepts protobuf. Prometheus reads them from version 2.40 on, with
    ///     `--enable-feature=native-histograms`.
    ///   - maximumSeries: The maximum number of histograms of whole requests, and of histograms of phases; 2,000 each by default. A series takes about 500 bytes,
    ///     and a native histogram 10 KiB at most.
    public init(
        buckets: [Duration] = PrometheusMetrics.standardBuckets,
        isNative: Bool = false,
        maximumSeries: Int = 2000
    ) {
        let bounds = Set(buckets.map { $0 / .seconds(1) }.filter { $0 > 0 }).sorted()
        self.isNative = isNative
        ledger = Locked(PrometheusLedger(bounds: bounds, isNative: isNative, maximumSeries: maximumSeries))
    }

    /// Returns the metrics in the best format that the server accepts.
    ///
    /// - Parameter accept: The header `Accept` of the server's request; nil for the text format 0.0.4, which all versions of Prometheus read. OpenMetrics 1.0 is
    ///   supported too, and protobuf if the histograms are native.
    /// - Returns: A page, with its content type.
    public func page(accept: String? = nil) -> Page {
        // A copy, so that requests do not wait until the series are sorted.
        let families = ledger.withLock { $0 }.families
        let format = PrometheusFormat.best(for: accept ?? "", hasProtobuf: isNative)
        return Page(contentType: format.contentType, body: format.encoded(families))
    }

    /// The events that are counted.
    public var interests: RequestEvent.Kinds { [.began, .redirected, .retrying, .finished] }

    /// Counts an event, on the thread of the request.
    public func observe(_ event: RequestEvent, of request: ObservedRequest) {
        switch event {
        case .began(let sent):
            let target = PrometheusTarget(request, host: sent.origin.authority)
            ledger.withLock { $0.begin(request.id, target) }
        case .redirected: ledger.withLock { $0.count(\.redirects, of: request.id) }
        case .retrying: ledger.withLock { $0.count(\.retries, of: request.id) }
        case .hedging: ledger.withLock { $0.count(\.hedges, of: request.id) }
        case .finished(let outcome):
            let result = PrometheusResult(outcome, after: request.elapsed)
            ledger.withLock { ledger in
                // A request that could not be built has not begun.
                ledger.finish(request.id, result) { PrometheusTarget(request, host: "") }
            }
        default: break
        }
    }
}

/// The labels that a request has from its beginning.
struct PrometheusTarget: Hashable, Sendable {
    let method: String
    let host: String
    let route: String

    /// The labels of all requests beyond the limit.
    static let other = PrometheusTarget(method: "other", host: "other", route: "other")

    init(method: String, host: String, route: String) {
        self.method = method
        self.host = host
        self.route = route
    }

    /// Returns the labels of a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - host: The host and the port, which may follow a user name.
    init(_ request: ObservedRequest, host: String) {
        let name = request.method.rawValue
        self.init(
            method: HTTPConventions.knownMethods.contains(name) ? name : "other",
            host: host.utf8.lastIndex(of: UInt8(ascii: "@")).map { String(host[$0...].dropFirst()) } ?? host,
            route: request.route
        )
    }
}

/// The end of a request: the labels that it adds, and the quantities.
struct PrometheusResult: Sendable {
    /// The class of the status, `2xx`; `cancelled`, or `error` without a status.
    let status: String
    /// The version of the protocol, `1.1` or `2`; empty without a response.
    let version: String
    /// The name of the error's code; nil for a success.
    let failure: String?
    let seconds: Double
    var metrics = TransferMetrics()

    init(_ outcome: TransportOutcome, after elapsed: Duration) {
        seconds = elapsed / .seconds(1)
        switch outcome {
        case .success(let response):
            status = Self.name(of: response.status)
            version = Self.number(of: response.head.version)
            failure = nil
            metrics = response.metrics
        case .failure(let error):
            status = error.isCancellation ? "cancelled" : error.response.map { Self.name(of: $0.status) } ?? "error"
            version = error.response.map { Self.number(of: $0.version) } ?? ""
            failure = error.code.description
        }
    }

    private static func name(of status: HTTPStatus) -> String {
        switch status.class {
        case .informational: "1xx"
        case .success: "2xx"
        case .redirection: "3xx"
        case .clientError: "4xx"
        case .serverError: "5xx"
        case .unknown: "other"
        }
    }

    private static func number(of version: HTTPVersion) -> String {
        switch version {
        case .http1_0: "1.0"
        case .http1_1: "1.1"
        case .http2: "2"
        case .http3: "3"
        default: "other"
        }
    }
}

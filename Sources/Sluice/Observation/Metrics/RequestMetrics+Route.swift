import SluiceHTTP

extension RequestMetrics {
    /// The metrics of the requests with one method and route.
    public struct Route: Sendable, Hashable, Codable {
        /// The method of the request as it was created; empty for the entry that counts all other routes together.
        public let method: String
        /// The route that requests of the same kind share, ``ModifiableRequest/route(_:)``; `other` for routes beyond
        /// the limit.
        public let route: String
        /// The number of requests that ended.
        public var requests = 0
        /// The number of attempts: one for each request that was built, and one for each retry and hedge. Redirects are
        /// not counted.
        public var attempts = 0
        /// The number of attempts that followed a failed one.
        public var retries = 0
        /// The number of attempts that ran in parallel with a slow one.
        public var hedges = 0
        /// The number of redirects that were followed.
        public var redirects = 0
        /// The number of failures by the name of their ``SluiceError/Code``, including cancellations.
        public var failures: [String: Int] = [:]
        /// The number of final responses by status class.
        public var statuses = Statuses()
        /// The number of body bytes sent for the final response.
        public var bytesSent: Int64 = 0
        /// The number of body bytes transferred for the final response.
        public var bytesReceived: Int64 = 0
        /// The time from the beginning of a request to its end, including gates, retries and redirects, with or without
        /// a response. Cancelled requests are left out.
        public var latency = LatencyHistogram()
        /// The phases of the last exchange.
        public var phases = Phases()

        /// Creates a route with all counts at zero.
        public init(method: String, route: String) {
            self.method = method
            self.route = route
        }

        static let other = Route(method: "", route: "other")

        /// The method and the route: `GET users/{}`.
        public var name: String { method.isEmpty ? route : "\(method) \(route)" }
        /// The number of failed requests, without cancelled ones.
        public var failureCount: Int {
            failures.reduce(0) { $1.key == SluiceError.Code.cancelled.description ? $0 : $0 &+ $1.value }
        }

        /// Adds the counts of another route.
        public mutating func merge(_ other: Route) {
            requests &+= other.requests
            attempts &+= other.attempts
            retries &+= other.retries
            hedges &+= other.hedges
            redirects &+= other.redirects
            failures.merge(other.failures) { $0 &+ $1 }
            statuses.merge(other.statuses)
            bytesSent &+= other.bytesSent
            bytesReceived &+= other.bytesReceived
            latency.merge(other.latency)
            phases.merge(other.phases)
        }

        mutating func finish(after nanoseconds: UInt64, _ response: ServerResponse) {
            requests &+= 1
            attempts &+= 1
            latency.record(nanoseconds: nanoseconds)
            statuses.count(response.head.status)
            count(response.metrics)
        }

        mutating func finish(after nanoseconds: UInt64, _ error: SluiceError) {
            requests &+= 1
            attempts &+= error.step == .building ? 0 : 1
            failures[error.code.description, default: 0] += 1
            if let status = error.response?.status { statuses.count(status) }
            // A cancelled request says nothing about the server's latency.
            if !error.isCancellation { latency.record(nanoseconds: nanoseconds) }
        }

        /// Counts the phases and the bytes of a transfer. Phases that did not occur are left out.
        mutating func count(_ metrics: TransferMetrics) {
            bytesSent &+= metrics.bytesSent
            bytesReceived &+= metrics.bytesReceived
            // A stub or a stored response involves no transfer.
            guard metrics.total > .zero else { return }
            let queued = metrics.queued.nanoseconds
            let lookedUp = metrics.nameLookup.nanoseconds
            let connected = metrics.connect.nanoseconds
            let secured = metrics.tls.nanoseconds
            let firstByte = metrics.firstByte.nanoseconds
            let total = metrics.total.nanoseconds
            phases.queue.record(nanoseconds: queued)
            if connected > 0 {
                phases.nameLookup.record(nanoseconds: lookedUp)
                phases.connect.record(nanoseconds: connected - min(connected, lookedUp))
                if secured > 0 { phases.tls.record(nanoseconds: secured - min(secured, connected)) }
            }
            phases.wait.record(nanoseconds: firstByte - min(firstByte, max(connected, secured)))
            phases.download.record(nanoseconds: total - min(total, firstByte))
        }
    }

    /// The number of responses by status class.
    public struct Statuses: Sendable, Hashable, Codable {
        /// The number of 2xx responses.
        public var success = 0
        /// The number of 3xx responses.
        public var redirection = 0
        /// The number of 4xx responses.
        public var clientError = 0
        /// The number of 5xx responses.
        public var serverError = 0
        /// The number of other responses.
        public var other = 0

        /// Creates a value with all counts at zero.
        public init() {}

        mutating func count(_ status: HTTPStatus) {
            switch status.class {
            case .success: success &+= 1
            case .redirection: redirection &+= 1
            case .clientError: clientError &+= 1
            case .serverError: serverError &+= 1
            case .informational, .unknown: other &+= 1
            }
        }

        mutating func merge(_ other: Statuses) {
            success &+= other.success
            redirection &+= other.redirection
            clientError &+= other.clientError
            serverError &+= other.serverError
            self.other &+= other.other
        }
    }

    /// The durations of the phases of requests. A request counts only in the phases that it had.
    public struct Phases: Sendable, Hashable, Codable {
        /// The time spent waiting for gates, per attempt; recorded only with ``Details/gates``.
        public var gates = LatencyHistogram()
        /// The time in the engine's queue.
        public var queue = LatencyHistogram()
        /// The time to resolve the host name, for new connections.
        public var nameLookup = LatencyHistogram()
        /// The time to connect, for new connections.
        public var connect = LatencyHistogram()
        /// The time of the TLS handshake, for new connections.
        public var tls = LatencyHistogram()
        /// The time from the connection to the first byte of the response: sending the request, and the server's
        /// processing.
        public var wait = LatencyHistogram()
        /// The time from the first byte to the last.
        public var download = LatencyHistogram()

        /// Creates empty phases.
        public init() {}

        /// All phases with their names, in chronological order.
        public var all: [(name: String, histogram: LatencyHistogram)] {
            [
                ("gates", gates), ("queue", queue), ("nameLookup", nameLookup), ("connect", connect), ("tls", tls),
                ("wait", wait), ("download", download),
            ]
        }

        mutating func merge(_ other: Phases) {
            gates.merge(other.gates)
            queue.merge(other.queue)
            nameLookup.merge(other.nameLookup)
            connect.merge(other.connect)
            tls.merge(other.tls)
            wait.merge(other.wait)
            download.merge(other.download)
        }
    }
}

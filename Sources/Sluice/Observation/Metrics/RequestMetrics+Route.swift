import SluiceHTTP

extension RequestMetrics {
    /// What the requests of one method and route came to.
    public struct Route: Sendable, Hashable, Codable {
        /// The method of the request as it was made; empty where all others are counted together.
        public let method: String
        /// What requests of this kind have in common, ``ModifiableRequest/route(_:)``; `other` for those beyond the bound.
        public let route: String
        /// Requests that ended.
        public var requests = 0
        /// Times they set out for the server: once each, and once more for each retry and hedge; redirects are not counted.
        public var attempts = 0
        /// Attempts after one that had failed.
        public var retries = 0
        /// Attempts next to one that took too long.
        public var hedges = 0
        /// Redirects that were followed.
        public var redirects = 0
        /// Failures by the name of their ``SluiceError/Code``, cancellations included.
        public var failures: [String: Int] = [:]
        /// Last responses by the class of their status.
        public var statuses = Statuses()
        /// Body bytes sent for the last response.
        public var bytesSent: Int64 = 0
        /// Body bytes of the last response as they travelled.
        public var bytesReceived: Int64 = 0
        /// From the beginning of a request to its end, gates, retries and redirects included, with a response or without; cancelled
        /// requests are left out.
        public var latency = LatencyHistogram()
        /// The parts of the last exchange.
        public var phases = Phases()

        /// Makes an account of nothing.
        public init(method: String, route: String) {
            self.method = method
            self.route = route
        }

        static let other = Route(method: "", route: "other")

        /// `GET users/{}`
        public var name: String { method.isEmpty ? route : "\(method) \(route)" }
        /// How many requests failed, for any reason but that they were cancelled.
        public var failureCount: Int {
            failures.reduce(0) { $1.key == SluiceError.Code.cancelled.description ? $0 : $0 &+ $1.value }
        }

        /// Adds what another account holds.
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
            // What its user did not wait for says nothing of the server.
            if !error.isCancellation { latency.record(nanoseconds: nanoseconds) }
        }

        /// Counts what a transfer took and moved; the parts it had none of are left out.
        mutating func count(_ metrics: TransferMetrics) {
            bytesSent &+= metrics.bytesSent
            bytesReceived &+= metrics.bytesReceived
            // A stub or a stored response was never transferred.
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

    /// How often each class of statuses was the answer.
    public struct Statuses: Sendable, Hashable, Codable {
        /// 2xx
        public var success = 0
        /// 3xx
        public var redirection = 0
        /// 4xx
        public var clientError = 0
        /// 5xx
        public var serverError = 0
        /// Anything else.
        public var other = 0

        /// Makes an account of nothing.
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

    /// How long the parts of requests took, each of those that had that part.
    public struct Phases: Sendable, Hashable, Codable {
        /// Waiting for gates, in each attempt; only if ``Details/gates`` was asked for.
        public var gates = LatencyHistogram()
        /// Waiting in the engine's queue.
        public var queue = LatencyHistogram()
        /// Resolving the host's name; of new connections, as the next two.
        public var nameLookup = LatencyHistogram()
        /// Connecting.
        public var connect = LatencyHistogram()
        /// The TLS handshake.
        public var tls = LatencyHistogram()
        /// From the connection to the first byte of the response: sending the request, and the server's time.
        public var wait = LatencyHistogram()
        /// From the first byte to the last.
        public var download = LatencyHistogram()

        /// Makes an account of nothing.
        public init() {}

        /// All of them with their names, in the order they happen.
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

import SluiceFoundation

extension HAR {
    /// One exchange: a request that was sent and its outcome. A repeated attempt and a redirect that is followed are
    /// exchanges of their own.
    ///
    /// Fields that the format does not define begin with an underscore in the file: `_requestID`, `_attempt`, `_hop`,
    /// `_route`, `_fromRetry`, `_hedged`, `_gates`, `_error`.
    public struct Entry: Sendable, Hashable, Codable {
        /// The ID of the page that the entry belongs to.
        public var pageref: String?
        /// The time at which the exchange began.
        public var startedDateTime: Date
        /// The total time in milliseconds: the sum of the timings.
        public var time: Double
        /// The request that was sent.
        public var request: Request
        /// The response; status 0 if none was received.
        public var response: Response
        /// The durations of the phases.
        public var timings: Timings
        /// The server's address without port.
        public var serverIPAddress: String?
        /// The ID of the connection, or the server's port if no ID is known.
        public var connection: String?
        /// A comment.
        public var comment: String?
        /// The ID shared by all exchanges of one request.
        public var requestID: Int?
        /// The number of the attempt, starting at 1.
        public var attempt: Int?
        /// The number of redirects followed before this exchange, within the attempt.
        public var redirectCount: Int?
        /// The route that requests of the same kind share.
        public var route: String?
        /// True if the exchange repeats a failed attempt.
        public var isFromRetry: Bool?
        /// True if the exchange ran in parallel with a slow attempt.
        public var isHedged: Bool?
        /// The milliseconds spent at each gate, by its name.
        public var gates: [Wait]?
        /// The reason why there is no response, or why it was not accepted.
        public var error: String?

        private enum CodingKeys: String, CodingKey {
            case pageref, startedDateTime, time, request, response, cache, timings, serverIPAddress, connection, comment
            case requestID = "_requestID"
            case attempt = "_attempt"
            case redirectCount = "_hop"
            case route = "_route"
            case isFromRetry = "_fromRetry"
            case isHedged = "_hedged"
            case gates = "_gates"
            case error = "_error"
        }

        /// A time spent waiting.
        public struct Wait: Sendable, Hashable, Codable {
            /// The name of the gate.
            public var name: String
            /// The duration in milliseconds.
            public var time: Double

            package init(name: String, time: Double) {
                self.name = name
                self.time = time
            }
        }

        /// Creates an entry whose total time is the sum of its timings.
        ///
        /// - Parameters:
        ///   - startedDateTime: The time at which the exchange began.
        ///   - request: The request that was sent.
        ///   - response: The response.
        ///   - timings: The durations of the phases.
        package init(
            startedDateTime: Date,
            request: Request,
            response: Response = Response(),
            timings: Timings = Timings()
        ) {
            self.startedDateTime = startedDateTime
            self.request = request
            self.response = response
            self.timings = timings
            time = timings.total
        }

        /// Decodes an entry.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            pageref = try container.decodeIfPresent(String.self, forKey: .pageref)
            startedDateTime = try container.date(forKey: .startedDateTime)
            request = try container.decode(Request.self, forKey: .request)
            response = try container.decodeIfPresent(Response.self, forKey: .response) ?? Response()
            timings = try container.decodeIfPresent(Timings.self, forKey: .timings) ?? Timings()
            time = try container.positive(forKey: .time) ?? timings.total
            serverIPAddress = try container.decodeIfPresent(String.self, forKey: .serverIPAddress)
            connection = try container.text(forKey: .connection)
            comment = try container.decodeIfPresent(String.self, forKey: .comment)
            // Other programs may use these fields with another meaning.
            requestID = try? container.integer(forKey: .requestID)
            attempt = try? container.integer(forKey: .attempt)
            redirectCount = try? container.integer(forKey: .redirectCount)
            route = try? container.decodeIfPresent(String.self, forKey: .route)
            isFromRetry = try? container.decodeIfPresent(Bool.self, forKey: .isFromRetry)
            isHedged = try? container.decodeIfPresent(Bool.self, forKey: .isHedged)
            gates = try? container.decodeIfPresent([Wait].self, forKey: .gates)
            error = try? container.decodeIfPresent(String.self, forKey: .error)
        }

        /// Encodes the entry.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeIfPresent(pageref, forKey: .pageref)
            try container.encode(HARDate.text(of: startedDateTime), forKey: .startedDateTime)
            try container.encode(time, forKey: .time)
            try container.encode(request, forKey: .request)
            try container.encode(response, forKey: .response)
            try container.encode([String: String](), forKey: .cache)
            try container.encode(timings, forKey: .timings)
            try container.encodeIfPresent(serverIPAddress, forKey: .serverIPAddress)
            try container.encodeIfPresent(connection, forKey: .connection)
            try container.encodeIfPresent(comment, forKey: .comment)
            try container.encodeIfPresent(requestID, forKey: .requestID)
            try container.encodeIfPresent(attempt, forKey: .attempt)
            try container.encodeIfPresent(redirectCount, forKey: .redirectCount)
            try container.encodeIfPresent(route, forKey: .route)
            try container.encodeIfPresent(isFromRetry, forKey: .isFromRetry)
            try container.encodeIfPresent(isHedged, forKey: .isHedged)
            try container.encodeIfPresent(gates, forKey: .gates)
            try container.encodeIfPresent(error, forKey: .error)
        }
    }

    /// The durations of the phases of an exchange, in milliseconds. Phases that do not apply are nil, and -1 in the
    /// file.
    public struct Timings: Sendable, Hashable, Codable {
        /// The time before the exchange started: waiting for gates and for a connection.
        public var blocked: Double?
        /// The time to resolve the host name.
        public var dns: Double?
        /// The time to connect, including the TLS handshake.
        public var connect: Double?
        /// The time of the TLS handshake, which `connect` includes.
        public var ssl: Double?
        /// The time to send the request.
        public var send: Double
        /// The time to the first byte of the response.
        public var wait: Double
        /// The time to receive the response.
        public var receive: Double

        private enum CodingKeys: String, CodingKey {
            case blocked, dns, connect, ssl, send, wait, receive
        }

        /// Creates timings.
        ///
        /// - Parameters:
        ///   - blocked: The time before the exchange started.
        ///   - dns: The time to resolve the host name.
        ///   - connect: The time to connect, including the TLS handshake.
        ///   - ssl: The time of the TLS handshake.
        ///   - send: The time to send the request.
        ///   - wait: The time to the first byte of the response.
        ///   - receive: The time to receive the response.
        package init(
            blocked: Double? = nil,
            dns: Double? = nil,
            connect: Double? = nil,
            ssl: Double? = nil,
            send: Double = 0,
            wait: Double = 0,
            receive: Double = 0
        ) {
            self.blocked = blocked
            self.dns = dns
            self.connect = connect
            self.ssl = ssl
            self.send = send
            self.wait = wait
            self.receive = receive
        }

        /// The sum of all phases, with `ssl` counted once.
        package var total: Double {
            (blocked ?? 0) + (dns ?? 0) + (connect ?? 0) + send + wait + receive
        }

        /// Decodes timings.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            blocked = try container.positive(forKey: .blocked)
            dns = try container.positive(forKey: .dns)
            connect = try container.positive(forKey: .connect)
            ssl = try container.positive(forKey: .ssl)
            send = try container.positive(forKey: .send) ?? 0
            wait = try container.positive(forKey: .wait) ?? 0
            receive = try container.positive(forKey: .receive) ?? 0
        }

        /// Encodes the timings.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(blocked ?? -1, forKey: .blocked)
            try container.encode(dns ?? -1, forKey: .dns)
            try container.encode(connect ?? -1, forKey: .connect)
            try container.encode(ssl ?? -1, forKey: .ssl)
            try container.encode(send, forKey: .send)
            try container.encode(wait, forKey: .wait)
            try container.encode(receive, forKey: .receive)
        }
    }
}

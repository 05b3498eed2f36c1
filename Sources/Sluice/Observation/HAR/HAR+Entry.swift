#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension HAR {
    /// One exchange: a request that was sent and what came of it. An attempt that is repeated and a redirect that is followed are
    /// exchanges of their own.
    ///
    /// What the format has no name for begins with an underscore in the file: `_requestID`, `_attempt`, `_hop`, `_route`, `_fromRetry`,
    /// `_hedged`, `_gates`, `_error`.
    public struct Entry: Sendable, Hashable, Codable {
        /// The ID of the page it belongs to.
        public var pageref: String?
        /// When it began.
        public var startedDateTime: Date
        /// Milliseconds in all: the sum of the timings.
        public var time: Double
        /// What was sent.
        public var request: Request
        /// What came back; status 0 if nothing did.
        public var response: Response
        /// Where the time went.
        public var timings: Timings
        /// The server's address without port.
        public var serverIPAddress: String?
        /// What tells the connection from others; the server's port where nothing better is known.
        public var connection: String?
        /// A remark.
        public var comment: String?
        /// What all exchanges of one request have in common.
        public var requestID: Int?
        /// Which attempt of the request it is, from 1.
        public var attempt: Int?
        /// How many redirects had been followed in this attempt.
        public var hop: Int?
        /// What requests of its kind have in common.
        public var route: String?
        /// Whether it repeats an attempt that failed.
        public var isFromRetry: Bool?
        /// Whether it began next to an attempt that took too long.
        public var isHedged: Bool?
        /// Milliseconds spent at each gate, by its name.
        public var gates: [Wait]?
        /// Why there is no response, or why it was not accepted.
        public var error: String?

        private enum CodingKeys: String, CodingKey {
            case pageref, startedDateTime, time, request, response, cache, timings, serverIPAddress, connection, comment
            case requestID = "_requestID"
            case attempt = "_attempt"
            case hop = "_hop"
            case route = "_route"
            case isFromRetry = "_fromRetry"
            case isHedged = "_hedged"
            case gates = "_gates"
            case error = "_error"
        }

        /// A time that was spent waiting.
        public struct Wait: Sendable, Hashable, Codable {
            /// What for.
            public var name: String
            /// Milliseconds.
            public var time: Double

            /// Makes one.
            public init(name: String, time: Double) {
                self.name = name
                self.time = time
            }
        }

        /// Makes an entry that took as long as its timings.
        ///
        /// - Parameters:
        ///   - startedDateTime: When it began.
        ///   - request: What was sent.
        ///   - response: What came back.
        ///   - timings: Where the time went.
        public init(
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

        /// Reads an entry.
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
            // Other programs may mean something else by these.
            requestID = try? container.integer(forKey: .requestID)
            attempt = try? container.integer(forKey: .attempt)
            hop = try? container.integer(forKey: .hop)
            route = try? container.decodeIfPresent(String.self, forKey: .route)
            isFromRetry = try? container.decodeIfPresent(Bool.self, forKey: .isFromRetry)
            isHedged = try? container.decodeIfPresent(Bool.self, forKey: .isHedged)
            gates = try? container.decodeIfPresent([Wait].self, forKey: .gates)
            error = try? container.decodeIfPresent(String.self, forKey: .error)
        }

        /// Writes the entry.
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
            try container.encodeIfPresent(hop, forKey: .hop)
            try container.encodeIfPresent(route, forKey: .route)
            try container.encodeIfPresent(isFromRetry, forKey: .isFromRetry)
            try container.encodeIfPresent(isHedged, forKey: .isHedged)
            try container.encodeIfPresent(gates, forKey: .gates)
            try container.encodeIfPresent(error, forKey: .error)
        }
    }
}

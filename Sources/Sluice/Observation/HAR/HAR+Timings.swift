extension HAR {
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
        public init(
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
        public var total: Double {
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

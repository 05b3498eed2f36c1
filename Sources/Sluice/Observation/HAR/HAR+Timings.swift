extension HAR {
    /// Where an exchange's time went, in milliseconds; nil for what it had none of, -1 in the file.
    public struct Timings: Sendable, Hashable, Codable {
        /// Waiting before anything was done: for gates, and for a connection.
        public var blocked: Double?
        /// Resolving the host's name.
        public var dns: Double?
        /// Connecting, the TLS handshake included.
        public var connect: Double?
        /// The TLS handshake, which `connect` includes.
        public var ssl: Double?
        /// Sending the request.
        public var send: Double
        /// Waiting for the response's first byte.
        public var wait: Double
        /// Receiving the response.
        public var receive: Double

        private enum CodingKeys: String, CodingKey {
            case blocked, dns, connect, ssl, send, wait, receive
        }

        /// Makes timings.
        ///
        /// - Parameters:
        ///   - blocked: Waiting before anything was done.
        ///   - dns: Resolving the host's name.
        ///   - connect: Connecting, the TLS handshake included.
        ///   - ssl: The TLS handshake.
        ///   - send: Sending the request.
        ///   - wait: Waiting for the response's first byte.
        ///   - receive: Receiving the response.
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

        /// The sum of all, with `ssl` counted once.
        public var total: Double {
            (blocked ?? 0) + (dns ?? 0) + (connect ?? 0) + send + wait + receive
        }

        /// Reads timings.
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

        /// Writes the timings.
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

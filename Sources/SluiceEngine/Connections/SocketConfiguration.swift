#if os(Linux)
extension SocketTransport {
    /// The limits and times of a transport.
    public struct Configuration: Sendable, Hashable {
        /// Transfers to one origin at a time; further ones wait their turn. 128 by default.
        public var maximumTransfersPerHost = 128
        /// Transfers in all at a time; further ones wait, and hosts take turns. 512 by default.
        public var maximumTransfers = 512
        /// Transfers that may wait for a slot; further ones fail at once with ``SluiceError/Code/queueFull``, and nothing of them is
        /// sent. 16,384 by default. 0 lets none wait.
        public var maximumWaitingTransfers = 16_384
        /// True to ask for gzip, deflate, br and zstd, and to decode them, as by default.
        public var decompressesResponses = true
        /// Bytes of a response that may wait to be read before the engine stops taking more; 256 KiB by default.
        public var responseBuffer = 256 << 10
        /// The time for which an idle connection is kept open; 90 seconds by default.
        ///
        /// Less than servers and load balancers keep theirs open, it spares requests that meet a connection that is just being closed.
        public var idleConnectionTimeout = Duration.seconds(90)
        /// The age from which a connection is not used again; nil, the default, for any age.
        ///
        /// With a limit new connections find out when a name has moved to other addresses.
        public var connectionLifetime: Duration?
        /// The silence after which a server of HTTP/2 that owes an answer is asked whether it is there, and again as long for its answer.
        package var pingInterval = Duration.seconds(10)

        /// Creates a configuration of the defaults.
        public init() {}
    }
}
#endif

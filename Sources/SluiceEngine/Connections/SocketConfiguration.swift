#if os(Linux)
extension SocketTransport {
    /// The limits and time-outs of a transport.
    public struct Configuration: Sendable, Hashable {
        /// The maximum number of concurrent transfers to one origin. Further transfers wait. 128 by default.
        public var maximumTransfersPerHost = 128
        /// The maximum number of concurrent transfers in total. Further transfers wait, and hosts take turns. 512 by default.
        public var maximumTransfers = 512
        /// The maximum number of transfers that wait for a slot. Further transfers fail at once with ``SluiceError/Code/queueFull``, and
        /// nothing of them is sent. 16,384 by default. With 0, no transfer waits.
        public var maximumWaitingTransfers = 16_384
        /// True to request and decode gzip, deflate, br and zstd. True by default.
        public var decompressesResponses = true
        /// The number of unread response bytes above which the engine stops reading from the connection. 256 KiB by default.
        public var responseBuffer = 256 << 10
        /// The time for which an idle connection is kept open. 90 seconds by default.
        ///
        /// A value below the idle time-out of servers and load balancers avoids requests on connections that are being closed.
        public var idleConnectionTimeout = Duration.seconds(90)
        /// The age from which a connection takes no further request. Nil, the default, for no limit.
        ///
        /// With a limit, new connections pick up changes of the addresses of a name.
        public var connectionLifetime: Duration?
        /// The time without input from an HTTP/2 server that owes a response before a PING is sent, and the time allowed for its answer.
        package var pingInterval = Duration.seconds(10)

        /// Creates a configuration with the default values.
        public init() {}
    }
}
#endif

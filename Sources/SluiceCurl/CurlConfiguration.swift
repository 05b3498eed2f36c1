#if os(Linux)
import SluiceEngine

extension CurlTransport {
    /// How a transport uses the engine.
    public struct Configuration: Sendable, Hashable {
        /// Transfers to one origin at a time; further ones wait their turn. 128 by default.
        public var maximumTransfersPerHost = 128
        /// Transfers in all at a time; further ones wait, and hosts take turns. 512 by default.
        public var maximumTransfers = 512
        /// Transfers that may wait for a slot; further ones fail at once with ``SluiceError/Code/queueFull``, and nothing of them is
        /// sent. 16,384 by default: a line as long as that is served in seconds by a server that is well, and one that is not does
        /// not fill the memory. 0 lets none wait.
        public var maximumWaitingTransfers = 16_384
        /// Whether to ask for gzip, deflate, br and zstd, as far as libcurl has them, and to decode them. True by default.
        public var decompressesResponses = true
        /// Bytes of a response that may wait to be read before the engine stops taking more; 256 KiB by default.
        public var responseBuffer = 256 << 10

        /// How long a connection may be idle and still be used again, in whole seconds, rounded up; 90 by default.
        ///
        /// Less than servers and load balancers keep theirs open, it spares requests that meet a connection that is just being closed.
        /// Connections are kept for all transports of the process together, and one with a shorter time may end those of others too.
        public var idleConnectionTimeout = Duration.seconds(90)
        /// How old a connection may be and still be used again, in whole seconds, rounded up; nil, the default, for any age.
        ///
        /// With a limit new connections find out when a name has moved to other addresses.
        public var connectionLifetime: Duration?

        /// Makes a configuration of the defaults.
        public init() {}

        /// Makes a configuration of what holds for the transport that this one stands in for.
        package init(_ other: SocketTransport.Configuration) {
            maximumTransfersPerHost = other.maximumTransfersPerHost
            maximumTransfers = other.maximumTransfers
            maximumWaitingTransfers = other.maximumWaitingTransfers
            decompressesResponses = other.decompressesResponses
            responseBuffer = other.responseBuffer
            idleConnectionTimeout = other.idleConnectionTimeout
            connectionLifetime = other.connectionLifetime
        }
    }
}

extension Duration {
    /// Rounded up, from none to what libcurl takes.
    var wholeSeconds: Int {
        let (seconds, rest) = components
        return Int(min(max(0, seconds), Int64(Int32.max) - 1)) + (seconds >= 0 && rest > 0 ? 1 : 0)
    }
}
#endif

#if os(Linux)
extension CurlTransport {
    /// How a transport uses the engine.
    public struct Configuration: Sendable, Hashable {
        /// Transfers to one origin at a time; further ones wait their turn. 128 by default.
        public var maximumTransfersPerHost = 128
        /// Transfers in all at a time; further ones wait, and hosts take turns. 512 by default.
        public var maximumTransfers = 512
        /// Whether to ask for gzip, deflate, br and zstd, as far as libcurl has them, and to decode them. True by default.
        public var decompressesResponses = true
        /// Bytes of a response that may wait to be read before the engine stops taking more; 256 KiB by default.
        public var responseBuffer = 256 << 10

        /// Makes a configuration of the defaults.
        public init() {}
    }
}
#endif

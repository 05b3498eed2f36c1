import Sluice

/// A collector's address for one signal, and how to send to it.
public struct OTLPCollector: Sendable {
    /// The whole URL, such as `http://localhost:4318/v1/traces`.
    public var url: String
    /// The encoding; protobuf by default.
    public var format = OTLPFormat.protobuf
    /// Header fields of each export, such as a key of the collector's owner. Their values are treated as secrets.
    public var headers: HTTPHeaders = [:]
    /// The time limit of an export; 10 seconds by default.
    public var timeout = Duration.seconds(10)
    /// True to compress bodies with gzip.
    public var isCompressed = false
    /// The authorities and the client's certificate for a collector with https.
    public var tls = TLSConfiguration()

    /// Creates the address of a collector.
    public init(url: String) {
        self.url = url
    }
}

#if os(Linux)
import SluiceHTTP
import SluiceLibc

/// A connected socket, its TLS stream, and the timings of the connection setup.
package struct DialedSocket {
    package let descriptor: Int32
    /// The registration whose handler the receiver replaces.
    package let registration: LoopThread.Registration
    let remoteAddress: String
    package let tls: TLSStream?
    let timings: ConnectionTimings
    /// True if the server has closed its side.
    package let hasHungUp: Bool
}

extension Dial {
    /// The server to connect to, and the way to it.
    package struct Destination: Sendable {
        let plan: ConnectionPlan
        let origin: HTTPOrigin
        /// The host and port in error texts about addresses.
        let authority: String
        /// The name of the server in other error texts.
        let serverName: String
        /// The route through a proxy, or nil for none.
        let route: ProxyRoute?
        /// The protocols that are offered in TLS (RFC 7301).
        let protocols: [String]

        /// Creates a destination. By default, the protocols are those of the HTTP versions of the plan.
        package init(
            plan: ConnectionPlan,
            origin: HTTPOrigin,
            authority: String,
            serverName: String,
            route: ProxyRoute?,
            protocols: [String]? = nil
        ) {
            self.plan = plan
            self.origin = origin
            self.authority = authority
            self.serverName = serverName
            self.route = route
            self.protocols = protocols ?? plan.httpVersion.protocols
        }
    }

    /// An address or a path that a socket connects to.
    enum Target {
        case address(SocketAddress)
        /// The path of a unix-domain socket.
        case unix(String)
    }

    /// The current stage of the connected socket.
    enum Stage {
        case connecting
        case proxyTLS(TLSStream)
        /// The proxy's handshake.
        case tunnel
        case tls(TLSStream)
    }

    struct Attempt {
        let index: Int
        let descriptor: Int32
        let registration: LoopThread.Registration
        let target: Target
        /// True once the socket is readable or closed. The loop reports this only once.
        var hasInput = false
        /// True once the server has closed its side.
        var hasHungUp = false
    }
}

/// The handler of one attempt's socket.
final class DialAttempt: LoopHandler {
    let dial: Dial
    let index: Int

    init(dial: Dial, index: Int) {
        self.dial = dial
        self.index = index
    }

    func ready(_ events: UInt32, on thread: LoopThread) {
        dial.attemptReady(index, events, on: thread)
    }
}

extension Dial.State {
    /// True once a socket has connected and the handshakes use it.
    var isConnected: Bool {
        if case .connecting = stage { false } else { true }
    }

    /// The address of the socket on which TLS with the origin is being set up.
    var addressInTLS: IPAddress? {
        guard case .tls = stage, case .address(let address)? = attempts.values.first?.target else { return nil }
        return address.address
    }

    /// Removes and returns the TLS stream for requests, if any.
    mutating func takeTLS() -> TLSStream? {
        let outer = proxyTLS.take()
        tunnel = nil
        defer { stage = .connecting }
        if case .tls(let stream) = stage { return stream }
        return outer
    }
}

extension HTTPVersionPolicy {
    /// The protocols that are offered in TLS (RFC 7301).
    var protocols: [String] {
        switch self {
        case .automatic: ["h2", "http/1.1"]
        case .http1: ["http/1.1"]
        case .http2PriorKnowledge: ["h2"]
        }
    }
}

extension Dial.Target {
    /// The address family, as socket(2) takes it.
    var family: Int32 {
        switch self {
        case .address(let address): address.family
        case .unix: AF_UNIX
        }
    }

    var description: String {
        switch self {
        case .address(let address): address.description
        case .unix(let path): path
        }
    }

    /// Starts to connect. Returns -1 with `errno` set unless the connection is established at once.
    func connect(_ descriptor: Int32) -> Int32 {
        switch self {
        case .address(let address):
            return address.withSockaddr { SluiceLibc.connect(descriptor, $0, $1) }
        case .unix(let path):
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
            return withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    SluiceLibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }
    }
}
#endif

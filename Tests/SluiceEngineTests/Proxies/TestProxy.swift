#if os(Linux)
import CSSL
import Foundation
import SluiceHTTP

@testable import SluiceEngine

/// A proxy at a port of 127.0.0.1 that runs a script, with or without TLS.
final class TestProxy: Sendable {
    typealias Script = @Sendable (TestProxyClient) -> Void

    private let listener: TestListener

    /// Starts a proxy. A connection ends with its script.
    init(_ certificate: TestCertificate? = nil, _ script: @escaping Script) throws {
        guard let certificate else {
            listener = try TestListener { script(TestProxyClient(descriptor: $0, tls: nil)) }
            return
        }
        let server = try TestTLSServer(certificate)
        listener = try TestListener { descriptor in
            server.serve(descriptor) { connection in
                if connection.isOpen { script(TestProxyClient(descriptor: descriptor, tls: connection)) }
            }
        }
    }

    /// Creates a proxy that tunnels every CONNECT to a port, and passes its head to a closure.
    convenience init(
        _ certificate: TestCertificate? = nil,
        tunnelingTo port: Int,
        _ note: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
        try self.init(certificate) { client in
            guard let head = client.readHead() else { return }
            note(head)
            client.write("HTTP/1.1 200 Connection established\r\nX-Proxy: tunnel\r\n\r\n")
            client.relay(to: port)
        }
    }

    var port: Int { listener.port }
    var address: String { "127.0.0.1:\(listener.port)" }
    /// The number of connections so far.
    var connections: Int { listener.connections }
    /// The number of connections whose script has not ended.
    var openConnections: Int { listener.openConnections }

    /// Closes every connection, and accepts no more.
    func stop() { listener.stop() }
}

/// A client of a proxy, as the proxy sees it on the connection's thread.
struct TestProxyClient {
    let descriptor: Int32
    let tls: TestTLSConnection?

    /// Reads some bytes; nil if the client has closed the connection.
    func read(upTo count: Int = 16_384) -> [UInt8]? {
        if let tls { return tls.read(count) }
        var bytes = [UInt8](repeating: 0, count: count)
        let received = recv(descriptor, &bytes, count, 0)
        return received > 0 ? Array(bytes.prefix(received)) : nil
    }

    /// Reads a number of bytes; nil if the client closes the connection before.
    func read(exactly count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard let more = read(upTo: count - bytes.count) else { return nil }
            bytes += more
        }
        return bytes
    }

    /// Reads the head of a request; nil if the client closes the connection before its end.
    func readHead() -> String? {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard let byte = read(upTo: 1) else { return nil }
            head += byte
        }
        return String(decoding: head, as: UTF8.self)
    }

    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        if let tls { return tls.write(bytes) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    @discardableResult
    func write(_ text: String) -> Bool { write(Array(text.utf8)) }

    /// Reads until the client closes the connection.
    func waitForEnd() {
        while read() != nil {}
    }

    /// Forwards bytes between the client and a port of 127.0.0.1 until one of them closes.
    func relay(to port: Int) {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(server) }
        guard let address = sockaddr_in(loopbackPort: port) else { return }
        let isConnected = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return }
        let origin = TestProxyClient(descriptor: server, tls: nil)
        while true {
            // Bytes that TLS has decrypted do not make a socket readable.
            let hasPending = tls.map { SSL_pending($0.ssl) > 0 } ?? false
            var ends = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: server, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&ends, 2, hasPending ? 0 : -1) >= 0 else { return }
            if hasPending || ends[0].revents != 0 {
                guard let bytes = read(), origin.write(bytes) else { return }
            }
            if ends[1].revents != 0 {
                guard let bytes = origin.read(), write(bytes) else { return }
            }
        }
    }
}

extension sockaddr_in {
    fileprivate init?(loopbackPort port: Int) {
        guard let port = UInt16(exactly: port) else { return nil }
        self.init()
        sin_family = sa_family_t(AF_INET)
        sin_port = port.bigEndian
        sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    }
}

extension TransferContext {
    /// A context for HTTP/1.1 through a proxy, which trusts the tests' authority.
    static func by(_ proxy: Proxy, connect: Duration = .seconds(60)) throws -> TransferContext {
        let root = try TestCertificates.shared.get().root
        var context = TransferContext.http1(
            TLSConfiguration(trust: .only(root.source)),
            timeouts: Timeouts(connect: connect)
        )
        context.connection.proxy = .always(proxy)
        return context
    }
}
#endif

#if os(Linux)
import CSSL
import Foundation
import SluiceHTTP

@testable import SluiceEngine

/// A server for HTTP/1.1 over TLS at a port of 127.0.0.1.
///
/// It answers with the method, the path and the length of the body. Special paths: `/echo` returns the body. `/close` announces
/// that the connection closes, and `/leave` closes it unannounced. `/notified` and `/cut` have a body that ends with the
/// connection, with and without a TLS close_notify.
final class TestHTTPSServer: Sendable {
    private struct Seen: Sendable {
        var requests: [String] = []
        var resumptions: [Bool] = []
    }

    private let listener: TestListener
    private let seen: Locked<Seen>

    init(_ certificate: TestCertificate) throws {
        let tls = try TestTLSServer(certificate)
        let seen = Locked(Seen())
        self.seen = seen
        listener = try TestListener { descriptor in
            tls.serve(descriptor) { connection in
                guard connection.isOpen else { return }
                seen.withLock { $0.resumptions.append(SSL_session_reused(connection.ssl) == 1) }
                TestHTTPSServer.serve(connection, seen)
            }
        }
    }

    var port: Int { listener.port }
    /// The method and path of each request.
    var requests: [String] { seen.withLock { $0.requests } }
    /// One element for each successful handshake; true if it resumed a session.
    var resumptions: [Bool] { seen.withLock { $0.resumptions } }
    /// The number of connections so far.
    var connections: Int { listener.connections }
    /// The number of open connections.
    var openConnections: Int { listener.openConnections }

    /// Creates a request to this server.
    func request(
        _ path: String,
        method: HTTPMethod = .get,
        host: String = "127.0.0.1",
        body: RequestBody = .none
    ) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "https", authority: "\(host):\(listener.port)", path: path, body: body)
    }

    private static func serve(_ connection: TestTLSConnection, _ seen: Locked<Seen>) {
        var input = Data()
        while let (line, body) = next(connection, &input) {
            seen.withLock { $0.requests.append(line) }
            let isEcho = line.hasSuffix(" /echo")
            let content = isEcho ? body : Data("\(line) \(body.count)".utf8)
            let path = line.split(separator: " ").last ?? ""
            switch path {
            case "/notified", "/cut":
                connection.write("HTTP/1.1 200 OK\r\n\r\nuntil the end")
                if path == "/notified" { connection.shutdown() }
                return
            default:
                let closes = path == "/close" ? "Connection: close\r\n" : ""
                let head = "HTTP/1.1 200 OK\r\nContent-Length: \(content.count)\r\n\(closes)\r\n"
                guard connection.write(Array(head.utf8) + content) else { return }
                if path == "/close" || path == "/leave" { return connection.shutdown() }
            }
        }
    }

    /// Reads a request. Returns its method and path, and its body; nil at the end.
    private static func next(_ connection: TestTLSConnection, _ input: inout Data) -> (String, Data)? {
        let end = Data("\r\n\r\n".utf8)
        while input.range(of: end) == nil {
            guard let more = connection.read() else { return nil }
            input.append(contentsOf: more)
        }
        guard let border = input.range(of: end) else { return nil }
        let lines = String(decoding: input[..<border.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let length = lines.first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst("content-length:".count).trimmingCharacters(in: .whitespaces)) }
        var body = Data(input[border.upperBound...])
        while body.count < length ?? 0 {
            guard let more = connection.read() else { return nil }
            body.append(contentsOf: more)
        }
        input = Data(body.dropFirst(length ?? 0))
        let parts = lines[0].split(separator: " ")
        return ("\(parts.first ?? "") \(parts.dropFirst().first ?? "")", Data(body.prefix(length ?? 0)))
    }
}
#endif

import Foundation

/// An nginx with a Unix domain socket, an HTTP/2 port without TLS, and ports that close connections early.
///
/// `/echo` returns method, host and protocol, `/away` redirects to another host, and `/drop` closes the connection.
final class NetworkNginx {
    static var canRun: Bool { RealServer.canRun("nginx") }

    private let process: NginxProcess
    let http2Port: Int
    /// A port that closes a connection after a second of idleness.
    let shortIdlePort: Int
    /// A port that closes a connection after three requests.
    let limitedPort: Int
    /// A port that answers `Active connections: N`, with that of the question among them.
    let statusPort: Int
    let socket: String
    let http2Socket: String

    init() throws {
        // The path of a socket must be short.
        let folder = URL(filePath: "/tmp/sluice-\(UUID().uuidString.prefix(8))")
        http2Port = try RealServer.freePort()
        shortIdlePort = try RealServer.freePort()
        limitedPort = try RealServer.freePort()
        statusPort = try RealServer.freePort()
        socket = folder.appending(path: "http.sock").path
        http2Socket = folder.appending(path: "http2.sock").path
        let locations = """
            location /echo { return 200 "$request_method $host $server_protocol"; }
            location /away { return 302 http://elsewhere.test/echo; }
            location /drop { return 444; }
            """
        process = try NginxProcess(
            in: folder,
            http: """
                add_header X-Connection $connection always;
                server { listen unix:\(socket); \(locations) }
                server { listen unix:\(http2Socket) http2; \(locations) }
                server { listen 127.0.0.1:\(http2Port) http2; \(locations) }
                server { listen 127.0.0.1:\(shortIdlePort); keepalive_timeout 1s; \(locations) }
                server { listen 127.0.0.1:\(limitedPort); keepalive_requests 3; \(locations) }
                server { listen 127.0.0.1:\(statusPort); location / { stub_status; } }
                """
        )
    }
}

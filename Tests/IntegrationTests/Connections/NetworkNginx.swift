import Foundation

/// An nginx with a unix-domain socket, a port of HTTP/2 without TLS, and ports that keep connections only for a little while.
///
/// `/echo` answers with method, host and protocol, `/away` redirects to another host, and `/drop` closes the connection.
final class NetworkNginx {
    static var canRun: Bool { RealServer.canRun("nginx") }

    private var server: Process?
    private let directory: URL
    let http2Port: Int
    /// Closes a connection after a second of idleness.
    let impatientPort: Int
    /// Closes a connection after three requests.
    let countingPort: Int
    /// The same by HTTP/2.
    let countingHTTP2Port: Int

    var socket: String { directory.appending(path: "http.sock").path }

    init() throws {
        // A socket's path must be short.
        directory = URL(filePath: "/tmp/sluice-\(UUID().uuidString.prefix(8))")
        http2Port = try RealServer.freePort()
        impatientPort = try RealServer.freePort()
        countingPort = try RealServer.freePort()
        countingHTTP2Port = try RealServer.freePort()
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try Data(configuration.utf8).write(to: directory.appending(path: "nginx.conf"))
        try Data(locations.utf8).write(to: directory.appending(path: "locations.conf"))
        let arguments = ["-p", directory.path, "-c", "nginx.conf", "-e", "stderr"]
        server = try RealServer.start("nginx", arguments, until: "start worker process")
    }

    deinit {
        server?.terminate()
        server?.waitUntilExit()
        try? FileManager.default.removeItem(at: directory)
    }

    private let locations = """
        location /echo { return 200 "$request_method $host $server_protocol"; }
        location /away { return 302 http://elsewhere.test/echo; }
        location /drop { return 444; }
        """

    private var configuration: String {
        """
        \(getuid() == 0 ? "user root;" : "")
        worker_processes 1;
        daemon off;
        pid nginx.pid;
        error_log stderr notice;
        events { worker_connections 512; }
        http {
            access_log off;
            default_type text/plain;
            client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
            uwsgi_temp_path uwsgi; scgi_temp_path scgi;
            add_header X-Connection $connection always;
            server { listen unix:\(socket); include locations.conf; }
            server { listen 127.0.0.1:\(http2Port) http2; include locations.conf; }
            server { listen 127.0.0.1:\(impatientPort); keepalive_timeout 1s; include locations.conf; }
            server { listen 127.0.0.1:\(countingPort); keepalive_requests 3; include locations.conf; }
            server { listen 127.0.0.1:\(countingHTTP2Port) http2; keepalive_requests 3; include locations.conf; }
        }
        """
    }
}

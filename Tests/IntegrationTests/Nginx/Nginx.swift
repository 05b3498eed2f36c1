import Foundation

/// An nginx on 127.0.0.1 with three ports: HTTP/2 over TLS, HTTP/1.1 over TLS, and plain HTTP/1.1.
///
/// Its certificate is self-signed and valid for `localhost` only.
final class Nginx {
    static var canRun: Bool { RealServer.canRun("nginx", "openssl") }

    private let process: NginxProcess
    let http2Port: Int
    let tlsPort: Int
    let plainPort: Int

    var directory: URL { process.folder }
    /// The certificate to trust.
    var certificateFile: String { directory.appending(path: "certificate.pem").path }
    var http2URL: String { "https://localhost:\(http2Port)" }
    var tlsURL: String { "https://localhost:\(tlsPort)" }
    var plainURL: String { "http://localhost:\(plainPort)" }

    init() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "sluice-nginx-\(UUID().uuidString)")
        http2Port = try RealServer.freePort()
        tlsPort = try RealServer.freePort()
        plainPort = try RealServer.freePort()
        let files = directory.appending(path: "files")
        for folder in ["held", "private", "put", "slow", "slower", "stale"] {
            let folder = files.appending(path: folder)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        try Data(#"{"id":1,"name":"Ada"}"#.utf8).write(to: files.appending(path: "user.json"))
        try Data(repeating: UInt8(ascii: "a"), count: 1 << 20).write(to: files.appending(path: "large.txt"))
        try Data("ada:{PLAIN}pw\n".utf8).write(to: directory.appending(path: "passwords"))
        try Data(Nginx.locations.utf8).write(to: directory.appending(path: "locations.conf"))
        try CertificateAuthority.createSelfSigned(
            "certificate",
            subject: "localhost",
            names: "DNS:localhost",
            in: directory
        )
        process = try NginxProcess(
            in: directory,
            http: """
                log_format brief '$server_protocol $status $http_if_none_match';
                root files;
                client_max_body_size 64m;
                gzip on; gzip_types text/plain; gzip_min_length 100;
                ssl_certificate certificate.pem; ssl_certificate_key certificate.key;
                add_header X-Connection $connection always;
                add_header X-Protocol $server_protocol always;
                server { listen 127.0.0.1:\(http2Port) ssl http2; include locations.conf; }
                server { listen 127.0.0.1:\(tlsPort) ssl; include locations.conf; }
                server { listen 127.0.0.1:\(plainPort); include locations.conf; }
                """
        )
    }

    private static let locations = """
        location /put/ { dav_methods PUT; }
        location /slow/ { limit_rate 4m; }
        location /slower/ { limit_rate 1m; }
        # Stops after 2 MiB, unless a part is requested.
        location /held/ { gzip off; limit_rate_after 2m; if ($http_range = "") { limit_rate 1k; } }
        location /stale/ { add_header Cache-Control max-age=0; access_log stale.log brief; }
        location = /cookies/show { return 200 "$http_cookie"; }
        location = /cookies/end { add_header Set-Cookie "lasting=; Max-Age=0; Path=/"; return 200 "ended"; }
        location = /cookies/set {
            add_header Set-Cookie "session=s1; Path=/";
            add_header Set-Cookie "lasting=l1; Max-Age=3600; Path=/";
            add_header Set-Cookie "hidden=h1; Path=/hidden; HttpOnly";
            add_header Set-Cookie "elsewhere=e1; Path=/elsewhere";
            return 200 "set";
        }
        location /private/ { dav_methods PUT; auth_basic "private"; auth_basic_user_file passwords; }
        """
}

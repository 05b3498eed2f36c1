import Foundation

/// An nginx with a port for each way in which TLS can be wrong, or right in a special manner.
final class TLSServer {
    enum Site: String, CaseIterable {
        case right, expired, early, wrongName, selfSigned, stranger, old, new, strict, chained
    }

    let folder: URL
    let authority: CertificateAuthority
    private var server: Process?
    private var ports: [Site: Int] = [:]

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "sluice-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        authority = try CertificateAuthority("Root", in: folder)
        let stranger = try CertificateAuthority("Stranger", in: folder)
        let middle = try authority.authority("Middle")
        let name = "DNS:localhost"
        try authority.sign("right", subject: "right", names: "\(name),IP:127.0.0.1")
        try authority.sign("expired", subject: "expired", names: name, dates: ("20200101000000Z", "20200201000000Z"))
        try authority.sign("early", subject: "early", names: name, dates: ("20480101000000Z", "20480201000000Z"))
        try authority.sign("wrongName", subject: "wrongName", names: "DNS:other.example,DNS:third.example")
        try stranger.sign("stranger", subject: "stranger", names: name)
        try middle.sign("chained", subject: "chained", names: name)
        try authority.sign("client", subject: "client")
        try stranger.sign("foreign", subject: "foreign")
        try RealServer.run(
            "openssl",
            "req",
            "-x509",
            "-days",
            "3",
            "-subj",
            "/CN=selfSigned",
            "-addext",
            "subjectAltName=\(name)",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-keyout",
            path("selfSigned.key"),
            "-out",
            path("selfSigned.pem")
        )
        let chain = try [path("chained.pem"), middle.certificate].map {
            try String(contentsOfFile: $0, encoding: .utf8)
        }
        try Data(chain.joined(separator: "\n").utf8).write(to: folder.appending(path: "chained.pem"))
        for site in Site.allCases { ports[site] = try RealServer.freePort() }
        try Data(configuration.utf8).write(to: folder.appending(path: "nginx.conf"))
        let arguments = ["-p", folder.path, "-c", "nginx.conf", "-e", "stderr"]
        server = try RealServer.start("nginx", arguments, until: "start worker process")
    }

    deinit {
        server?.terminate()
        server?.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    func url(_ site: Site, host: String = "localhost") -> String { "https://\(host):\(ports[site] ?? 0)" }

    func path(_ file: String) -> String { folder.appending(path: file).path }

    /// The pin of a certificate's key.
    func pin(_ name: String) throws -> String { try CertificateAuthority.pin(of: path("\(name).pem")) }

    private func block(_ site: Site) -> String {
        let own = FileManager.default.fileExists(atPath: path("\(site.rawValue).pem")) ? site.rawValue : "right"
        let more =
            switch site {
            case .old: "ssl_protocols TLSv1.1; ssl_ciphers DEFAULT@SECLEVEL=0;"
            case .new: "ssl_protocols TLSv1.2;"
            case .strict: "ssl_verify_client on; ssl_client_certificate Root.pem;"
            default: ""
            }
        return """
            server {
                listen 127.0.0.1:\(ports[site] ?? 0) ssl; ssl_certificate \(own).pem; ssl_certificate_key \(own).key;
                \(more)
                location / { return 200 "$ssl_protocol $ssl_client_s_dn"; }
            }
            """
    }

    private var configuration: String {
        """
        \(getuid() == 0 ? "user root;" : "")
        worker_processes 1;
        daemon off;
        pid nginx.pid;
        error_log stderr notice;
        events { worker_connections 256; }
        http {
            access_log off;
            ssl_protocols TLSv1.2 TLSv1.3;
            default_type text/plain;
            client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
            uwsgi_temp_path uwsgi; scgi_temp_path scgi;
            \(Site.allCases.map(block).joined(separator: "\n"))
        }
        """
    }
}

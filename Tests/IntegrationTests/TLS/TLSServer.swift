import Foundation

/// An nginx with a port for each way in which TLS is invalid, or valid in a special way.
final class TLSServer {
    enum Site: String, CaseIterable {
        case right, expired, early, wrongName, selfSigned, untrusted, old, new, strict, chained
    }

    let authority: CertificateAuthority
    private let process: NginxProcess
    private let ports: [Site: Int]

    var folder: URL { process.folder }

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        authority = try CertificateAuthority("Root", in: folder)
        let untrusted = try CertificateAuthority("Stranger", in: folder)
        let middle = try authority.authority("Middle")
        let name = "DNS:localhost"
        try authority.sign("right", subject: "right", names: "\(name),IP:127.0.0.1")
        try authority.sign("expired", subject: "expired", names: name, dates: ("20200101000000Z", "20200201000000Z"))
        try authority.sign("early", subject: "early", names: name, dates: ("20480101000000Z", "20480201000000Z"))
        try authority.sign("wrongName", subject: "wrongName", names: "DNS:other.example,DNS:third.example")
        try untrusted.sign("untrusted", subject: "untrusted", names: name)
        try middle.sign("chained", subject: "chained", names: name)
        try authority.sign("client", subject: "client")
        try untrusted.sign("foreign", subject: "foreign")
        try CertificateAuthority.createSelfSigned("selfSigned", subject: "selfSigned", names: name, in: folder)
        let chain = try [authority.path("chained.pem"), middle.certificate].map {
            try String(contentsOfFile: $0, encoding: .utf8)
        }
        try Data(chain.joined(separator: "\n").utf8).write(to: folder.appending(path: "chained.pem"))
        var ports: [Site: Int] = [:]
        for site in Site.allCases { ports[site] = try RealServer.freePort() }
        self.ports = ports
        let sites = ports.map { site, port in TLSServer.block(site, port, in: folder) }
        process = try NginxProcess(in: folder, http: "ssl_protocols TLSv1.2 TLSv1.3;\n\(sites.joined(separator: "\n"))")
    }

    func url(_ site: Site, host: String = "localhost") -> String { "https://\(host):\(ports[site] ?? 0)" }

    func path(_ file: String) -> String { folder.appending(path: file).path }

    /// Returns the pin of a certificate's key.
    func pin(_ name: String) throws -> String { try CertificateAuthority.pin(of: path("\(name).pem")) }

    private static func block(_ site: Site, _ port: Int, in folder: URL) -> String {
        let hasOwn = FileManager.default.fileExists(atPath: folder.appending(path: "\(site.rawValue).pem").path)
        let own = hasOwn ? site.rawValue : "right"
        let more =
            switch site {
            case .old: "ssl_protocols TLSv1.1; ssl_ciphers DEFAULT@SECLEVEL=0;"
            case .new: "ssl_protocols TLSv1.2;"
            case .strict: "ssl_verify_client on; ssl_client_certificate Root.pem;"
            default: ""
            }
        return """
            server {
                listen 127.0.0.1:\(port) ssl; ssl_certificate \(own).pem; ssl_certificate_key \(own).key;
                \(more)
                location / { return 200 "$ssl_protocol $ssl_client_s_dn"; }
            }
            """
    }
}

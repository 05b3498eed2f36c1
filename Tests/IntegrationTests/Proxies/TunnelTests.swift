#if os(Linux)
import Foundation
import Sluice
import SluiceTesting
import XCTest

/// TLS through proxies to nginx.
final class TunnelTests: XCTestCase {
    private var nginx: Nginx!

    override func setUpWithError() throws {
        try XCTSkipUnless(ProxyServer.canRun && Nginx.canRun, "python3, nginx or openssl is not installed")
        nginx = try Nginx()
    }

    override func tearDown() {
        nginx = nil
    }

    private func client(_ proxy: Proxy, url: String? = nil) -> APIClient {
        APIClient(baseURL: url ?? nginx.http2URL) {
            $0.connection.tls.trust = .only(.file(nginx.certificateFile))
            $0.connection.proxy = .always(proxy)
        }
    }

    func testTunnelCarriesEveryProtocolAndHidesRequestFields() async throws {
        let proxy = try ProxyServer(user: "ada", password: "pw")
        for (url, version) in [(nginx.http2URL, HTTPVersion.http2), (nginx.tlsURL, .http1_1)] {
            let client = client(.http(proxy.address, user: "ada", password: "pw"), url: url)
            let request = client.data.get("user.json").header("X-Mine", "secret").header(
                .authorization,
                "Bearer secret"
            )
            .header(.cookie, "secret")
            let response = await request.sender().response
            XCTAssertEqual(try response.result.get(), Data(#"{"id":1,"name":"Ada"}"#.utf8))
            XCTAssertEqual(response.head?.version, version)
            XCTAssertNil(response.head?.headers["X-Proxy"])
            XCTAssertEqual(response.metrics?.remoteAddress, proxy.address)
            let visit = try await proxy.visits.last
            XCTAssertEqual(visit?.kind, "CONNECT")
            XCTAssertEqual(visit?.target, url.replacing("https://", with: ""))
            XCTAssertEqual(visit?.headers["proxy-authorization"], "Basic YWRhOnB3")
            XCTAssertFalse("\(visit?.headers as Any)".contains("secret"))
        }
    }

    func testSOCKSForwardsTLS() async throws {
        let proxy = try ProxyServer(user: "ada", password: "pw")
        for proxy in [Proxy.socks5(proxy.address, user: "ada", password: "pw"), .socks4(proxy.address)] {
            let response = await client(proxy).data.get("user.json").sender().response
            XCTAssertEqual(response.status, .ok)
            XCTAssertEqual(response.head?.version, .http2)
        }
    }

    func testConnectsToProxyOverTLSAndVerifiesIt() async throws {
        let certificate = (file: nginx.certificateFile, key: nginx.directory.appending(path: "certificate.key").path)
        let proxy = try ProxyServer(user: "ada", password: "pw", certificate: certificate)
        let address = proxy.address.replacing("127.0.0.1", with: "localhost")
        for url in [nginx.http2URL, nginx.tlsURL] {
            let trusted = Proxy.https(address, user: "ada", password: "pw", trust: .only(.file(certificate.file)))
            let status = await client(trusted, url: url).data.get("user.json").sender().response.status
            XCTAssertEqual(status, .ok, url)
            let error = await failure(of: client(.https(address, user: "ada", password: "pw"), url: url))
            XCTAssertEqual(error?.code, .proxyFailed, url)
            XCTAssertEqual(
                error?.reason.hasPrefix("The TLS connection to the proxy at localhost:"),
                true,
                "\(error as Any)"
            )
            // The certificate does not match a proxy that is given by its address.
            let byNumber = Proxy.https(
                proxy.address,
                user: "ada",
                password: "pw",
                trust: .only(.file(certificate.file))
            )
            let misnamed = await failure(of: client(byNumber, url: url))
            XCTAssertEqual(misnamed?.code, .proxyFailed, url)
        }
    }

    func testProxyCertificateFailureNamesCheck() async throws {
        try CertificateAuthority.createSelfSigned(
            "proxy",
            subject: "proxy",
            names: "DNS:localhost",
            in: nginx.directory
        )
        let certificate = (
            file: nginx.directory.appending(path: "proxy.pem").path,
            key: nginx.directory.appending(path: "proxy.key").path
        )
        let proxy = try ProxyServer(certificate: certificate)
        let error = await failure(of: client(.https(proxy.address.replacing("127.0.0.1", with: "localhost"))))
        XCTAssertEqual(error?.code, .proxyFailed)
        let cause = try XCTUnwrap(error?.underlyingError as? TLSFailure, "\(error as Any)")
        XCTAssertEqual(cause.check, .selfSigned)
        XCTAssertEqual(cause.certificate?.subject, "CN=proxy")
        XCTAssertEqual(
            error?.reason.hasSuffix("the proxy's certificate “CN=proxy” is self-signed and not trusted."),
            true,
            "\(error as Any)"
        )
        let byNumber = await failure(of: client(.https(proxy.address, trust: .only(.file(certificate.file)))))
        XCTAssertEqual((byNumber?.underlyingError as? TLSFailure)?.check, .hostName, "\(byNumber as Any)")
        let missingFile = await failure(
            of: client(.https(proxy.address, trust: .systemAnd(.file("/no/such/file.pem"))))
        )
        XCTAssertEqual(missingFile?.code, .proxyFailed, "\(missingFile as Any)")
        XCTAssertEqual(
            (missingFile?.underlyingError as? TLSFailure)?.check,
            .authoritiesUnreadable,
            "\(missingFile as Any)"
        )
    }

    func testEscapesControlCharactersOfCertificate() async throws {
        let name = "a\u{1B}[2J\u{202E}b\u{85}\u{2028}c" + String(repeating: "d", count: 40)
        try CertificateAuthority.createSelfSigned("forged", subject: name, names: "DNS:localhost", in: nginx.directory)
        let file = nginx.directory.appending(path: "forged.pem").path
        let proxy = try ProxyServer(certificate: (file, nginx.directory.appending(path: "forged.key").path))
        let error = await failure(of: client(.https(proxy.address.replacing("127.0.0.1", with: "localhost"))))
        let cause = try XCTUnwrap(error?.underlyingError as? TLSFailure, "\(error as Any)")
        let shown = try XCTUnwrap(cause.certificate?.subject)
        XCTAssertTrue(shown.hasPrefix("CN=a") && shown.hasSuffix("dddd"), shown)
        XCTAssertEqual(error?.reason.contains(shown), true, "\(error as Any)")
        for scalar in try XCTUnwrap(error).expandedDescription.unicodeScalars where scalar != "\n" {
            XCTAssertFalse(
                [.control, .format, .lineSeparator].contains(scalar.properties.generalCategory),
                "\(scalar.value)"
            )
        }
    }

    func testPinsApplyToServerNotProxy() async throws {
        try CertificateAuthority.createSelfSigned(
            "proxy",
            subject: "proxy",
            names: "DNS:localhost",
            in: nginx.directory
        )
        let file = nginx.directory.appending(path: "proxy.pem").path
        let secured = try ProxyServer(certificate: (file, nginx.directory.appending(path: "proxy.key").path))
        let plain = try ProxyServer()
        let address = secured.address.replacing("127.0.0.1", with: "localhost")
        let serverPin = PublicKeyPin(try CertificateAuthority.pin(of: nginx.certificateFile))
        let proxyPin = PublicKeyPin(try CertificateAuthority.pin(of: file))
        let unmatchedPin = PublicKeyPin(sha256: Data(repeating: 1, count: 32))
        for selection in [
            ProxySelection.none, .http(plain.address), .always(.https(address, trust: .only(.file(file)))),
        ] {
            for url in [nginx.http2URL, nginx.tlsURL] {
                for (pin, isMet) in [(serverPin, true), (proxyPin, false), (serverPin, true)] {
                    let client = APIClient(baseURL: url) {
                        $0.connection.tls.trust = .only(.file(nginx.certificateFile))
                        $0.connection.tls.pins = PublicKeyPins(pin, backups: unmatchedPin)
                        $0.connection.proxy = selection
                    }
                    for _ in 0..<2 {
                        let error = await client.data.get("user.json").sender().response.failure
                        XCTAssertEqual(error?.code, isMet ? nil : .tlsFailed, "\(url) \(error as Any)")
                        XCTAssertEqual((error?.underlyingError as? TLSFailure)?.check, isMet ? nil : .pin)
                    }
                }
            }
        }
    }

    func testDoesNotReuseProxyConnectionWithOtherTrust() async throws {
        try CertificateAuthority.createSelfSigned(
            "proxy",
            subject: "proxy",
            names: "DNS:localhost",
            in: nginx.directory
        )
        let file = nginx.directory.appending(path: "proxy.pem").path
        let proxy = try ProxyServer(certificate: (file, nginx.directory.appending(path: "proxy.key").path))
        let address = proxy.address.replacing("127.0.0.1", with: "localhost")
        let misconfigured = APIClient(baseURL: nginx.tlsURL) {
            $0.connection.proxy = .always(.https(address, trust: .insecurelyAnyCertificate))
            $0.connection.tls.trust = .systemAnd(.file("/no/such/file.pem"))
        }
        for _ in 0..<3 {
            for _ in 0..<2 {
                let error = await misconfigured.data.get("user.json").sender().response.failure
                XCTAssertEqual(error?.code, .tlsFailed)
                XCTAssertEqual((error?.underlyingError as? TLSFailure)?.check, .authoritiesUnreadable)
            }
            let untrusted = await failure(of: client(.https(address), url: nginx.tlsURL))
            XCTAssertEqual(untrusted?.code, .proxyFailed, "\(untrusted as Any)")
        }
    }

    func testFailedTunnelIsProxyFailure() async throws {
        let open = try ProxyServer()
        let closed = try ProxyServer(user: "ada", password: "pw", methods: ["digest", "basic"])
        for (proxy, url, reason) in [
            (Proxy.http(open.address), "https://refused.test", "refused it with status 403."),
            (.http(open.address), "https://dropped.test", "closed the connection before the tunnel was established."),
            (.http(open.address), "https://web.test:\(try RealServer.freePort())", "refused it with status 502."),
            (.http(closed.address), nginx.http2URL, "requires credentials (407)."),
            (
                .http(closed.address, user: "ada", password: "no"), nginx.http2URL,
                "did not accept the credentials (407)."
            ),
            (
                .http(closed.address, user: "ada", password: "no", methods: [.basic, .digest]), nginx.http2URL,
                "did not accept the credentials (407)."
            ),
        ] {
            let error = await failure(of: client(proxy, url: url))
            XCTAssertEqual(error?.code, .proxyFailed, url)
            XCTAssertEqual(error?.reason.hasSuffix(reason), true, "\(error as Any)")
            XCTAssertNil(error?.response)
        }
    }

    func testTLSFailureOfServerIsNotProxyFailure() async throws {
        let proxy = try ProxyServer()
        let client = APIClient(baseURL: nginx.http2URL) { $0.connection.proxy = .http(proxy.address) }
        let error = await failure(of: client)
        XCTAssertEqual(error?.code, .tlsFailed)
        let plain = await failure(of: self.client(.http(proxy.address), url: "https://localhost:\(nginx.plainPort)"))
        XCTAssertEqual(plain?.code, .tlsFailed)
    }

    func testOpensTunnelWithDigest() async throws {
        let proxy = try ProxyServer(user: "ada", password: "pw", methods: ["digest"])
        let client = client(.http(proxy.address, user: "ada", password: "pw", methods: .digest))
        let body = Data(repeating: 7, count: 500_000)
        let status = await client.data.put("put/digest").data(body).sender().response.status
        XCTAssertEqual(status, .created)
        let back = try await client.data.get("put/digest").sender().value
        XCTAssertEqual(back, body)
    }

    func testServerCredentialsWorkThroughTunnel() async throws {
        let proxy = try ProxyServer(user: "eve", password: "x")
        let client = client(.http(proxy.address, user: "eve", password: "x"))
        let ada = ChallengeCredentials(user: "ada", password: "pw")
        let status = await client.data.put("private/tunnel").data(Data("x".utf8)).credentials(ada).sender().response
            .status
        XCTAssertEqual(status, .created)
    }

    func testDoesNotShareTunnelBetweenCredentials() async throws {
        let proxy = try ProxyServer(user: "ada", password: "pw")
        let authorized = client(.http(proxy.address, user: "ada", password: "pw"))
        let others = [client(.http(proxy.address)), client(.http(proxy.address, user: "eve", password: "x"))]
        for _ in 0..<3 {
            let status = await authorized.data.get("user.json").sender().response.status
            XCTAssertEqual(status, .ok)
            for other in others {
                let error = await failure(of: other)
                XCTAssertEqual(error?.code, .proxyFailed)
            }
        }
        let direct = APIClient(baseURL: nginx.http2URL) {
            $0.connection.tls.trust = .only(.file(nginx.certificateFile))
            $0.connection.proxy = .none
        }
        let response = await direct.data.get("user.json").sender().response
        XCTAssertEqual(response.metrics?.remoteAddress, "127.0.0.1:\(nginx.http2Port)")
        let visits = try await proxy.visits
        XCTAssertEqual(visits.count { $0.headers["proxy-authorization"] == "Basic YWRhOnB3" }, 1)
    }

    private func failure(of client: APIClient) async -> SluiceError? {
        guard case .failure(let error) = await client.data.get("user.json").sender().result else { return nil }
        return error.error
    }
}
#endif

#if os(Linux)
import Foundation
import Sluice
import SluiceEngine
import SluiceTesting
import XCTest

/// The article on connections.
final class ConnectionsGuideTests: XCTestCase {
    private let password = "s3cret"

    func testProxies() throws {
        let direct = APIClient(baseURL: "https://shop.example") { $0.connection.proxy = .none }
        let office = APIClient(baseURL: "https://shop.example") {
            $0.connection.proxy = .http("proxy.example:3128", user: "ada", password: password)
        }
        let tunnelled = APIClient(baseURL: "https://shop.example") { $0.connection.proxy = .socks5("127.0.0.1:1080") }
        let proxy = try Proxy("https://ada:s3cret@proxy.example:8443")
        let careful = APIClient(baseURL: "https://shop.example") {
            $0.connection.proxy = .always(proxy, except: ["*.internal.example"])
        }
        let inspected = APIClient(baseURL: "https://shop.example") {
            $0.connection.proxy = .always(.https("proxy.example:8443", trust: .only(.file("/etc/proxy/ca.pem"))))
        }
        let origin = HTTPOrigin(scheme: "https", authority: "shop.example")
        var shown: [String?] = []
        for client in [direct, office, tunnelled, careful, inspected] {
            shown.append(try client.configuration.connection.plan(for: origin).proxy?.description)
        }
        XCTAssertEqual(
            shown,
            [
                nil, "http://proxy.example:3128", "socks5h://127.0.0.1:1080", "https://proxy.example:8443",
                "https://proxy.example:8443",
            ]
        )
    }

    func testTLS() throws {
        let bank = APIClient(baseURL: "https://bank.example") {
            $0.connection.tls.minimumVersion = .tls13
            $0.connection.tls.clientCertificate = .pem(certificate: .file("client.pem"), key: .file("client.key"))
            $0.connection.tlsByHost["*.internal.example"] = TLSConfiguration(trust: .only(.file("internal-ca.pem")))
        }
        let current: PublicKeyPin = "sha256/jQJTbIh0grw0/1TkHSumWb+Fs0Ggogr621gT3PvPKG0="
        let next: PublicKeyPin = "sha256/RRM1dGqnDFsCJXBTHky16vi1obOlCgFFn/yOhI/y+ho="
        let watched = PublicKeyPins(current, backups: next, mode: .report { print($0) })
        let pinned = APIClient(baseURL: "https://bank.example") {
            $0.connection.tls.pins = PublicKeyPins(current, backups: next)
        }
        let own = APIClient(baseURL: "https://shop.internal") {
            $0.connection.tls.trust = .systemAnd(.file("own-ca.pem"))
            $0.connection.tls.clientCertificate = .pkcs12(.file("client.p12"), password: password)
        }
        let keys = URL(filePath: "/etc/shop")
        let locked = APIClient(baseURL: "https://shop.internal") {
            $0.connection.tls.clientCertificate = .pem(
                certificate: .file(keys.appending(path: "client.pem")),
                key: .file(keys.appending(path: "client.key")),
                password: password
            )
        }
        let settings = (pins: [current.description, "sha256/short"], 0)
        let configured = APIClient(baseURL: "https://bank.example") {
            $0.connection.tls.pins = PublicKeyPins(settings.pins.map { PublicKeyPin($0) })
        }
        XCTAssertEqual(own.configuration.connection.tls.trust, .systemAnd(.file("own-ca.pem")))
        XCTAssertEqual(
            own.configuration.connection.tls.clientCertificate,
            .pkcs12(.file("client.p12"), password: Secret("s3cret"))
        )
        XCTAssertEqual(
            locked.configuration.connection.tls.clientCertificate,
            .pem(certificate: .file("/etc/shop/client.pem"), key: .file("/etc/shop/client.key"), password: "s3cret")
        )
        XCTAssertThrowsError(try plan(configured, "bank.example")) { error in
            XCTAssertEqual((error as? SluiceError)?.code, .invalidConfiguration)
        }
        func plan(_ client: APIClient, _ host: String) throws -> TLSConfiguration {
            try client.configuration.connection.plan(for: HTTPOrigin(scheme: "https", authority: host)).tls
        }
        XCTAssertEqual(try plan(bank, "bank.example").minimumVersion, .tls13)
        XCTAssertEqual(try plan(bank, "a.internal.example").trust, .only(.file("internal-ca.pem")))
        XCTAssertEqual(try plan(pinned, "bank.example").pins?.pins, watched.pins)
    }

    func testTLSFailureHasTheFailedCheck() async throws {
        let expired = CertificateSummary(subject: "CN=bank", issuer: "CN=authority")
        let bank = APIClient(baseURL: "https://bank.example") {
            $0.stub = .error(SluiceError(.tlsFailed, "No.", underlyingError: TLSFailure(.expired, on: expired)))
            $0.stubMode = .immediate
        }
        let response = await bank.string.get("balance").sender().response
        if let failure = response.failure?.underlyingError as? TLSFailure {
            print(failure.check, failure.certificate?.subject ?? "")
        }
        if let failure = response.failure?.underlyingError as? TLSFailure {
            switch failure.check {
            case .expired, .notYetValid: print("Out of date:", failure.certificate?.validUntil ?? .distantPast)
            case .hostName: print("The certificate is for", failure.certificate?.names ?? [])
            case .selfSigned, .authority, .revoked, .certificate: print("The certificate is not trusted.")
            case .pin: print("Another key:", failure.certificate?.publicKey?.description ?? "")
            case .clientCertificateRequired, .clientCertificateRejected, .clientCertificateUnreadable: print(failure)
            case .version, .authoritiesUnreadable, .handshake: print(failure)
            }
        }
        if response.head?.version == .http2 { print("One connection for all requests.") }
        XCTAssertEqual((response.failure?.underlyingError as? TLSFailure)?.check, .expired)
    }

    func testAddressAndHostRules() async throws {
        let fetcher = APIClient {
            $0.connection.addresses = .publicOnly
            $0.connection.hosts = HostRules(denying: ["*.internal.example"])
            $0.limits.decompressionRatio = 50
        }
        let denied = await fetcher.data.get("http://a.internal.example/").sender().response.failure
        XCTAssertEqual(denied?.code, .hostRefused)
        let local = await fetcher.data.get("http://127.0.0.1:1/").sender().response.failure
        XCTAssertEqual(local?.code, .addressRefused)
    }

    func testSocketsAddressesAndVersions() throws {
        let docker = APIClient(baseURL: "http://docker/v1.47") { $0.connection.unixSocket = "/var/run/docker.sock" }
        let staging = APIClient(baseURL: "https://shop.example") {
            $0.connection.hostAddresses["shop.example"] = [IPAddress(192, 0, 2, 10), IPAddress(192, 0, 2, 11)]
        }
        let stock = APIClient(baseURL: "http://stock.internal") { $0.connection.httpVersion = .http2PriorKnowledge }
        let old = APIClient(baseURL: "https://legacy.example") { $0.connection.httpVersion = .http1 }
        XCTAssertEqual(docker.configuration.connection.unixSocket, "/var/run/docker.sock")
        XCTAssertEqual(staging.configuration.connection.hostAddresses.count, 1)
        XCTAssertEqual(stock.configuration.connection.httpVersion, .http2PriorKnowledge)
        XCTAssertEqual(old.configuration.connection.httpVersion, .http1)
    }

    func testLimits() async throws {
        var configuration = SocketTransport.Configuration()
        configuration.maximumTransfersPerHost = 16
        configuration.idleConnectionTimeout = .seconds(30)
        configuration.connectionLifetime = .seconds(600)
        let transport = SocketTransport(configuration: configuration)
        let patient = APIClient(baseURL: "https://shop.example") { $0.transport = transport }
        XCTAssertTrue(patient.configuration.transport is SocketTransport)
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/", .after(signal, .text("ok")))
        let local = APIClient(baseURL: server.url) { $0.transport = transport }
        let tasks = (0..<17).map { _ in Task { try await local.string.get("/").sender().value } }
        try await waitUntil("a transfer waits") { SocketTransport.statistics().queuedTransfers == 1 }
        await server.waitForRequests(16)
        XCTAssertEqual(server.requestCount, 16)
        signal.fire()
        for task in tasks { _ = try await task.value }
        XCTAssertEqual(server.connections, 16)
    }

    func testConnectionsOfAService() async throws {
        let server = try LoopbackServer()
        server.on("/*", .text("ok"))
        let images = server.url
        let shop = APIClient(baseURL: server.url) { $0.transport = SocketTransport() }
        let open = try await shop.connect(count: 8)
        try await shop.connect(to: images)
        XCTAssertEqual(open, 8)
        print(shop.connections)
        if let orders = shop.connections["https://orders.internal"], orders.waiting > 0 {
            print("\(orders.waiting) requests wait, \(orders.idle) of \(orders.open) connections are idle")
        }
        for connection in shop.connections.origins.flatMap(\.connections) {
            print(connection.version, connection.remoteAddress, connection.age, connection.requests)
        }
        XCTAssertEqual(shop.connections.idle, 8)
        _ = try await shop.string.get("/").sender().value
        XCTAssertEqual(shop.connections[images]?.open, 8)
        let isComplete = await shop.drain(within: .seconds(25))
        if !isComplete { print("Some requests were cancelled.") }
        XCTAssertTrue(isComplete)
        XCTAssertEqual(shop.connections.open, 0)
    }

    func testLimitsOfSingleHosts() {
        var limits = SocketTransport.Configuration()
        limits.maximumConnectionsByHost["legacy.example"] = 2
        let few = SocketTransport(configuration: limits)
        let legacy = APIClient(baseURL: "https://legacy.example") { $0.transport = few }
        var following = SocketTransport.Configuration()
        following.connectionLifetime = .seconds(300)
        let renewing = SocketTransport(configuration: following)
        let moving = APIClient(baseURL: "https://moving.example") { $0.transport = renewing }
        XCTAssertTrue([legacy, moving].allSatisfy { $0.configuration.transport is SocketTransport })
        XCTAssertNotEqual(limits, following)
    }

    func testRenewedCertificates() async throws {
        let partner = APIClient(baseURL: "https://partner.example") {
            $0.connection.tls.trust = .systemAnd(.file("/etc/shop/partner-ca.pem"))
            $0.connection.tls.clientCertificate = .pem(
                certificate: .file("/etc/shop/client.pem"),
                key: .file("/etc/shop/client.key")
            )
            $0.connection.tls.onReload = { result in
                if case .failure(let failure) = result { print("The old certificates stay:", failure) }
            }
        }
        do {
            try await partner.reloadCertificates()
        } catch {
            print("The old certificates stay:", error)
        }
        // This machine has none of the files.
        do {
            try await partner.reloadCertificates()
            XCTFail("The files were read.")
        } catch {
            XCTAssertEqual(error.code, .tlsFailed)
        }
    }
}
#endif

#if os(Linux)
import Foundation
import Sluice
import SluiceEngine
import SluiceTesting
import XCTest

/// Addresses in place of name resolution. No name below `.invalid` resolves (RFC 6761 §6.4).
final class HostAddressTests: XCTestCase {
    private var server: LoopbackServer!
    private let localAddress = IPAddress(127, 0, 0, 1)
    /// An address on which no server listens.
    private let unusedAddress = IPAddress(127, 0, 0, 2)

    override func setUpWithError() throws {
        server = try LoopbackServer()
        server.on("*", .echo)
    }

    private func client(_ host: String, _ addresses: [IPAddress]?) -> APIClient {
        APIClient(baseURL: "http://\(host):\(server.port)") {
            if let addresses { $0.connection.hostAddresses["*.invalid"] = addresses }
        }
    }

    func testConnectsToGivenAddressesAndKeepsHost() async throws {
        for addresses in [[localAddress], [unusedAddress, localAddress], [localAddress, unusedAddress]] {
            let client = client("api.invalid", addresses)
            for _ in 0..<2 {
                let response = await client.codable.get("a", as: LoopbackEcho.self).sender().response
                XCTAssertEqual(try response.result.get().values(for: "Host"), ["api.invalid:\(server.port)"])
                XCTAssertEqual(response.metrics?.remoteAddress, server.authority)
            }
        }
    }

    func testFailsIfNoAddressAccepts() async throws {
        for addresses in [[unusedAddress], [unusedAddress, IPAddress(127, 0, 0, 3)]] {
            let error = await failure(of: client("api.invalid", addresses))
            XCTAssertEqual(error?.code, .cannotConnect, "\(error as Any)")
            XCTAssertEqual(error?.reason.contains("api.invalid:\(server.port)"), true)
        }
    }

    func testAddressesDoNotAffectOtherClients() async throws {
        for addresses in [[localAddress], [unusedAddress, localAddress]] {
            _ = try await client("api.invalid", addresses).data.get("a").sender().value
            // Neither the address nor the idle connection is used.
            let error = await failure(of: client("api.invalid", nil))
            XCTAssertEqual(error?.code, .cannotResolveHost)
        }
        let unreachable = APIClient(baseURL: "http://localhost:\(server.port)") {
            $0.connection.hostAddresses["localhost"] = [unusedAddress, IPAddress(127, 0, 0, 3)]
        }
        for _ in 0..<2 {
            let error = await failure(of: unreachable)
            XCTAssertEqual(error?.code, .cannotConnect)
            _ = try await client("localhost", nil).data.get("a").sender().value
        }
    }

    func testOneTransportSeparatesConnectionsByAddresses() async throws {
        // A single transport, which must keep connections with different addresses apart.
        let transport = SocketTransport()
        let refused = SluiceError.Code.cannotConnect
        let cases: [([IPAddress], SluiceError.Code?)] = [
            ([localAddress], nil), ([unusedAddress], refused), ([localAddress, unusedAddress], nil),
            ([], .cannotResolveHost),
            ([unusedAddress, localAddress], nil),
        ]
        for (addresses, code) in cases + cases {
            var context = TransferContext()
            context.connection.hostAddresses["api.invalid"] = addresses
            let error = await failure(by: transport, context)
            XCTAssertEqual(error?.code, code, "\(addresses)")
        }
    }

    private func failure(by transport: SocketTransport, _ context: TransferContext) async -> SluiceError? {
        let request = HTTPRequest(scheme: "http", authority: "api.invalid:\(server.port)", path: "/a")
        do throws(SluiceError) {
            _ = try await transport.send(request, context: context).body.collect()
            return nil
        } catch {
            return error
        }
    }

    func testFallsBackToIPv4IfIPv6Refuses() async throws {
        let ipv6 = try XCTUnwrap(IPAddress("::1"))
        try XCTSkipUnless(SilentListener.hasIPv6, "This machine has no ::1")
        let client = client("api.invalid", [ipv6, localAddress])
        let response = await client.data.get("a").sender().response
        XCTAssertEqual(response.metrics?.remoteAddress, server.authority)
    }

    func testIPv4OvertakesSilentIPv6() async throws {
        let ipv6 = try XCTUnwrap(IPAddress("::1"))
        try XCTSkipUnless(SilentListener.hasIPv6, "This machine has no ::1")
        let silent = try XCTUnwrap(SilentListener(port: server.port))
        defer { silent.close() }
        let sender = client("api.invalid", [ipv6, localAddress]).data.get("a").timeouts(
            Timeouts(connect: .seconds(600))
        )
        .sender()
        let response = await sender.response
        XCTAssertEqual(response.status, .ok)
        XCTAssertEqual(response.metrics?.remoteAddress, server.authority)
        XCTAssertGreaterThanOrEqual(try XCTUnwrap(response.metrics?.connect), .milliseconds(150))
    }

    func testTLSVerifiesHostName() async throws {
        try XCTSkipUnless(Nginx.canRun, "nginx or openssl is not installed")
        let nginx = try Nginx()
        for addresses in [[localAddress], [unusedAddress, localAddress]] {
            for (host, code) in [("localhost", nil), ("api.invalid", SluiceError.Code.tlsFailed)] {
                let client = APIClient(baseURL: "https://\(host):\(nginx.http2Port)") {
                    $0.connection.hostAddresses["*"] = addresses
                    $0.connection.tls.trust = .only(.file(nginx.certificateFile))
                }
                let error = await failure(of: client, "user.json")
                XCTAssertEqual(error?.code, code, "\(host) \(addresses)")
            }
        }
    }

    private func failure(of client: APIClient, _ path: String = "a") async -> SluiceError? {
        guard case .failure(let error) = await client.data.get(path).sender().result else { return nil }
        return error.error
    }
}

/// A port of ::1 with a full accept queue, so that connection attempts get no answer.
private final class SilentListener {
    private var descriptors: [Int32] = []

    static var hasIPv6: Bool {
        let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
        defer { Glibc.close(descriptor) }
        return descriptor >= 0 && withAddress(0) { bind(descriptor, $0, $1) } == 0
    }

    init?(port: Int) {
        let listener = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
        descriptors.append(listener)
        guard listener >= 0, Self.withAddress(port, { bind(listener, $0, $1) }) == 0, listen(listener, 0) == 0 else {
            close()
            return nil
        }
        for _ in 0..<4 {
            let client = socket(AF_INET6, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            descriptors.append(client)
            _ = Self.withAddress(port) { connect(client, $0, $1) }
        }
    }

    func close() {
        for descriptor in descriptors { Glibc.close(descriptor) }
        descriptors = []
    }

    private static func withAddress(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = UInt16(port).bigEndian
        address.sin6_addr = in6addr_loopback
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
    }
}
#endif

#if os(Linux)
import Foundation
import Sluice
import SluiceEngine
import SluiceTesting
import XCTest

/// Requests that find an HTTP/2 connection still being established.
final class UnfinishedTunnelTests: XCTestCase {
    private var nginx: Nginx!

    override func setUpWithError() throws {
        try XCTSkipUnless(ProxyServer.canRun && Nginx.canRun, "python3, nginx or openssl is not installed")
        nginx = try Nginx()
        // More than the client buffers of a response that is not read.
        try Data(count: 8 << 20).write(to: nginx.directory.appending(path: "files/huge.txt"))
    }

    override func tearDown() {
        nginx = nil
    }

    func testSendsNoRequestBeforeTunnelIsEstablished() async throws {
        try await sendWhileTunnelsAreHeld(.answer)
    }

    func testSendsNoRequestInTunnelBeforeTLS() async throws {
        try await sendWhileTunnelsAreHeld(.handshake)
    }

    private func sendWhileTunnelsAreHeld(_ hold: ProxyServer.Hold) async throws {
        let proxy = try ProxyServer()
        var context = TransferContext()
        context.connection.proxy = .http(proxy.address)
        context.connection.tls.trust = .only(.file(nginx.certificateFile))
        var configuration = SocketTransport.Configuration()
        configuration.maximumTransfersPerHost = 200
        let (transport, asked) = (SocketTransport(configuration: configuration), context)
        let authority = "localhost:\(nginx.http2Port)"
        let send = { @Sendable (path: String) async throws(SluiceError) -> TransportResponse in
            let request = HTTPRequest(scheme: "https", authority: authority, path: path)
            return try await transport.send(request, context: asked)
        }
        _ = try await send("/user.json").body.collect()
        // As many streams as nginx allows on a connection. They end only after they are read.
        var held: [TransportResponse] = []
        for _ in 0..<128 { held.append(try await send("/huge.txt")) }
        let connects = { () async throws in try await proxy.visits.count { $0.kind == "CONNECT" } }
        let before = try await connects()
        XCTAssertEqual(before, 1)
        try await proxy.hold(hold)
        let statuses = try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
            for _ in 1...6 {
                group.addTask {
                    let response = try await send("/user.json")
                    _ = try await response.body.collect()
                    return response.head.status
                }
            }
            let clock = ContinuousClock()
            let end = clock.now + .seconds(20)
            while try await connects() < 2, clock.now < end { await Task.yield() }
            // One more connection serves all of them.
            let made = try await connects()
            XCTAssertEqual(made, 2)
            try await proxy.hold(.released)
            return try await group.reduce(into: []) { $0.append($1) }
        }
        XCTAssertEqual(statuses, Array(repeating: .ok, count: 6))
        let after = try await connects()
        XCTAssertEqual(after, 2)
        let visits = try await proxy.visits
        XCTAssertEqual(visits.filter { $0.kind == "cleartext" }, [])
        held.removeAll()
    }
}
#endif

#if os(Linux)
import Foundation
import Sluice
import SluiceTesting
import XCTest

/// Existing proxies: tinyproxy and microsocks.
final class InstalledProxyTests: XCTestCase {
    private var server: LoopbackServer!
    private var nginx: Nginx!
    private var processes: [Process] = []
    private let directory = FileManager.default.temporaryDirectory.appending(path: "sluice-proxy-\(UUID().uuidString)")

    override func setUpWithError() throws {
        try XCTSkipUnless(
            RealServer.canRun("tinyproxy", "microsocks") && Nginx.canRun,
            "tinyproxy, microsocks or nginx is not installed (Debian: tinyproxy-bin, microsocks, nginx-light)"
        )
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        server = try LoopbackServer()
        server.on("*", .text("ok"))
        nginx = try Nginx()
    }

    override func tearDown() {
        for process in processes {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        try? FileManager.default.removeItem(at: directory)
        nginx = nil
    }

    private func startTinyproxy() async throws -> String {
        let port = try RealServer.freePort()
        let file = directory.appending(path: "tinyproxy.conf")
        let configuration = """
            Port \(port)
            Listen 127.0.0.1
            Timeout 600
            LogLevel Info
            BasicAuth ada pw
            """
        try Data(configuration.utf8).write(to: file)
        let process = try RealServer.start("tinyproxy", ["-d", "-c", file.path], until: "Accepting connections")
        processes.append(process)
        return "127.0.0.1:\(port)"
    }

    private func startMicrosocks() async throws -> String {
        let port = try RealServer.freePort()
        let process = Process()
        process.executableURL = try URL(filePath: XCTUnwrap(RealServer.path(of: "microsocks")))
        process.arguments = ["-i", "127.0.0.1", "-p", "\(port)", "-u", "ada", "-P", "pw"]
        process.standardError = FileHandle.nullDevice
        try process.run()
        processes.append(process)
        // The proxy does not report when it is ready.
        try await waitUntil(within: .seconds(600)) { RealServer.isListening(port) }
        return "127.0.0.1:\(port)"
    }

    private func clients(_ proxy: Proxy) -> [APIClient] {
        ["http://localhost:\(server.port)", nginx.http2URL].map { url in
            APIClient(baseURL: url) {
                $0.connection.tls.trust = .only(.file(nginx.certificateFile))
                $0.connection.proxy = .always(proxy)
            }
        }
    }

    func testTinyproxyForwardsBothSchemes() async throws {
        let address = try await startTinyproxy()
        for client in clients(.http(address, user: "ada", password: "pw")) {
            for _ in 0..<3 {
                let response = await client.data.get("user.json").sender().response
                XCTAssertEqual(response.status, .ok, "\(response.result)")
                XCTAssertEqual(response.metrics?.remoteAddress, address)
            }
        }
        let unauthorized = clients(.http(address))
        let status = await unauthorized[0].data.get("user.json").sender().response.status
        XCTAssertEqual(status, 407)
        let error = await failure(of: unauthorized[1])
        XCTAssertEqual(error?.code, .proxyFailed)
        XCTAssertEqual(error?.reason.contains("requires credentials"), true, "\(error as Any)")
    }

    func testMicrosocksForwardsBothSchemes() async throws {
        let address = try await startMicrosocks()
        for client in clients(.socks5(address, user: "ada", password: "pw")) {
            let response = await client.data.get("user.json").sender().response
            XCTAssertEqual(response.status, .ok, "\(response.result)")
        }
        for client in clients(.socks5(address, user: "ada", password: "no")) {
            let error = await failure(of: client)
            XCTAssertEqual(error?.code, .proxyFailed, "\(error as Any)")
        }
    }

    private func failure(of client: APIClient) async -> SluiceError? {
        guard case .failure(let error) = await client.data.get("user.json").sender().result else { return nil }
        return error.error
    }
}
#endif

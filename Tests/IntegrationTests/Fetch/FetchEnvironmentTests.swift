#if os(Linux)
import Foundation
import SluiceTesting
import XCTest

/// The effects of a process's environment variables.
final class FetchEnvironmentTests: XCTestCase {
    private let file = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")

    override func tearDown() {
        try? FileManager.default.removeItem(at: file)
    }

    private func fetch(_ url: String, _ environment: [String: String]) throws -> FetchProcess.End {
        try FetchProcess([url, "-o", file.path, "--overwrite"], environment: environment).end()
    }

    func testUsesProxyOfEnvironmentExceptForNoProxyHosts() async throws {
        try XCTSkipUnless(ProxyServer.canRun, "python3 or openssl is not installed")
        let server = try LoopbackServer()
        server.on("*", .text("content"))
        let proxy = try ProxyServer()
        let environment = ["http_proxy": "http://\(proxy.address)", "no_proxy": "inside.test"]
        // Only the proxy can resolve this host.
        let direct = try fetch("http://inside.test:\(server.port)/a", environment)
        XCTAssertEqual(direct.status, 1)
        XCTAssertTrue(direct.errors.contains("could not be resolved"), direct.errors)
        let none = try await proxy.visits
        XCTAssertEqual(none, [])
        let passed = try fetch("http://web.test:\(server.port)/b", environment)
        XCTAssertEqual(passed.status, 0, passed.errors)
        XCTAssertEqual(try String(contentsOf: file, encoding: .utf8), "content")
        let visits = try await proxy.visits
        XCTAssertEqual(Set(visits.map(\.target)), ["http://web.test:\(server.port)/b"])
    }

    func testNamesLibraryThatCannotBeLoaded() throws {
        let server = try LoopbackServer()
        for coding in ["br", "zstd"] {
            server.on("/\(coding)", .data(Data([0]), headers: ["Content-Encoding": coding]))
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for library in ["libbrotlidec.so.1", "libnghttp2.so.14", "libssl.so.3", "libzstd.so.1"] {
            // The loader finds this file first and refuses it.
            try Data().write(to: folder.appending(path: library))
        }
        // The symbolizer of a sanitizer cannot load these libraries either, and its suppressions then match nothing.
        let environment = ["LD_LIBRARY_PATH": folder.path, "NO_PROXY": "*", "TSAN_OPTIONS": "exitcode=0"]
        for (url, library) in [
            ("https://127.0.0.1:\(server.port)/", "libssl.so.3"),
            ("http://127.0.0.1:\(server.port)/br", "libbrotlidec.so.1"),
            ("http://127.0.0.1:\(server.port)/zstd", "libzstd.so.1"),
        ] {
            let end = try fetch(url, environment)
            XCTAssertEqual(end.status, 1)
            XCTAssertTrue(end.errors.contains("/\(library) (file too short) could not be loaded"), end.errors)
        }
    }

    func testRejectsOldTLSVersionsAllowedBySystem() throws {
        try XCTSkipUnless(Nginx.canRun, "nginx or openssl is not installed")
        let server = try TLSServer()
        // OpenSSL itself then allows TLS 1.1.
        let configuration = try openSSLConfiguration(
            of: server,
            "MinProtocol = TLSv1",
            "CipherString = DEFAULT@SECLEVEL=0"
        )
        let old = server.url(.old)
        let place = old.replacing("https://", with: "")
        let negotiated = try RealServer.run(
            "env",
            "OPENSSL_CONF=\(configuration)",
            "openssl",
            "s_client",
            "-brief",
            "-connect",
            place
        )
        XCTAssertTrue(negotiated.contains("TLSv1.1"), negotiated)
        let end = try fetch(old, ["OPENSSL_CONF": configuration])
        XCTAssertEqual(end.status, 1)
        XCTAssertTrue(end.errors.contains("no allowed TLS version in common"), end.errors)
    }

    func testKeepsTheHigherMinimumOfTheSystem() throws {
        try XCTSkipUnless(Nginx.canRun, "nginx or openssl is not installed")
        let server = try TLSServer()
        let configuration = try openSSLConfiguration(of: server, "MinProtocol = TLSv1.3")
        let end = try fetch(server.url(.new), ["OPENSSL_CONF": configuration])
        XCTAssertEqual(end.status, 1)
        XCTAssertTrue(end.errors.contains("no allowed TLS version in common"), end.errors)
    }

    /// Writes a configuration of OpenSSL with settings for all programs. Returns its path.
    private func openSSLConfiguration(of server: TLSServer, _ settings: String...) throws -> String {
        let path = server.path("openssl.cnf")
        let text = """
            openssl_conf = all
            [all]
            ssl_conf = modules
            [modules]
            system_default = settings
            [settings]
            \(settings.joined(separator: "\n"))
            """
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    func testNamesThatAreNotUTF8AreRefused() async throws {
        let server = try LoopbackServer()
        server.on("/a.txt", .text("a"))
        let parent = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: parent) }
        let fetch = RealServer.products.appending(path: "fetch").path
        let script = #"""
            folder=$(printf '%s/d\377' "$2"); mkdir -p "$folder"; cd "$folder" || exit 1
            "$1" "$3" 2> /dev/null; echo $?
            "$1" -d "$folder" "$3" 2> /dev/null; echo $?
            "$1" "$(printf -- '--b\033[31md')" 2>&1 | grep -c "$(printf '\033')"
            "$1" -d "$2" "$3" 2> /dev/null; echo $?
            ls "$2" | wc -l; ls "$folder" | wc -l
            """#
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", script, "sh", fetch, parent.path, "\(server.url)/a.txt"]
        process.environment = try FetchProcess.environment()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.allBytes(), as: UTF8.self)
        process.waitUntilExit()
        // The folder and the file that was fetched to its parent; nothing in the folder.
        let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        XCTAssertEqual(lines, ["64", "64", "0", "0", "2", "0"])
    }
}
#endif

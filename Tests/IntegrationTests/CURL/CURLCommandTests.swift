import Foundation
import Sluice
import SluiceTesting
import XCTest

/// Runs the cURL command of a request in a shell, and compares its request with the one that Sluice sends.
final class CURLCommandTests: XCTestCase {
    private var server: LoopbackServer?

    override func setUp() async throws {
        try XCTSkipUnless(RealServer.canRun("curl", "sh"), "curl is not installed")
        server = try LoopbackServer()
        server?.on("/*", .echo)
    }

    /// A request as the server received it, with lowercase and sorted header fields.
    private struct ReceivedRequest: Equatable {
        let method: String
        let target: String
        let headers: [String]
        let body: String

        init(_ echo: LoopbackEcho) {
            method = echo.method
            target = echo.target
            headers = echo.headers.map { "\($0.name.lowercased()): \($0.value)" }.sorted()
            body = echo.base64
        }
    }

    /// Sends a request with Sluice and with its command, and returns both as the server received them.
    private func ask(_ request: HTTPRequest, by shell: String, input: String? = nil) async throws -> (
        ReceivedRequest, ReceivedRequest
    ) {
        let client = APIClient {
            $0.headers = [:]
            $0.requestMapping = { _ in request }
        }
        let own: LoopbackEcho = try await client.codable.request(request.url).sender().value
        let command = request.curlCommand(redaction: .none)
        XCTAssertFalse(command.unicodeScalars.contains { $0.value < 0x20 }, command)
        // Uses a file, since the system limits an argument to 128 KiB.
        let script = try TemporaryFile(
            Data("export no_proxy='*'\n{ \(command)\n} 2>/dev/null \(input.map { "< '\($0)'" } ?? "")\n".utf8)
        )
        defer { script.remove() }
        try RealServer.run(shell, "-n", script.url.path)
        let output = try RealServer.run(shell, script.url.path)
        return (
            ReceivedRequest(own), ReceivedRequest(try JSONDecoder().decode(LoopbackEcho.self, from: Data(output.utf8)))
        )
    }

    private var shells: [String] { ["sh", "bash"].filter { RealServer.path(of: $0) != nil } }

    private func request(
        _ method: HTTPMethod = .get,
        _ path: String = "/",
        _ headers: HTTPHeaders = [:],
        _ body: RequestBody = .none
    ) throws -> HTTPRequest {
        let authority = try XCTUnwrap(server?.authority)
        return HTTPRequest(
            method: method,
            scheme: "http",
            authority: authority,
            path: path,
            headers: headers,
            body: body
        )
    }

    private func check(_ request: HTTPRequest, line: UInt = #line) async throws {
        for shell in shells {
            let (own, curl) = try await ask(request, by: shell)
            XCTAssertEqual(own, curl, request.curlCommand(redaction: .none), line: line)
        }
    }

    func testMethods() async throws {
        for method in [HTTPMethod.get, .post, .put, .patch, .delete, .options, "M-SEARCH"] {
            try await check(request(method))
        }
    }

    func testURLs() async throws {
        for path in [
            "/a?b=c&d=%20e", "/a,b/[1-3]?q[]=1", "/a/../b/./c", "/it's?a='$HOME'", "/%7B%7D%00?%0A", "/!$;*~@:",
        ] {
            try await check(request(.get, path))
        }
    }

    func testHeaders() async throws {
        try await check(
            request(
                .get,
                "/",
                [
                    "X-Empty": "", "X-Quote": "it's \"a\" `b` $HOME \\n !! %s", "X-Tab": "a\tb", "X-Umlaut": "größe",
                    "Accept": "text/plain",
                    "User-Agent": "Tests", "X-Twice": "1", "x-twice": "2", "X-At": "@/etc/passwd",
                    "Accept-Encoding": "gzip",
                ]
            )
        )
    }

    func testTextBodies() async throws {
        for text in [
            "", "plain", "it's", "@/etc/passwd", "-d", "a=b&c=d", "!!", "$HOME `id` $(id)", "\\n\\0\\'", "\"",
            "größe 日本 👩‍👩‍👧", "'\u{301}",
            "a\nb\r\n", "\n\n\n", "%s%d%%", "\0", "\u{1B}[31m", "\u{202E}x", "{\"a\": \"it's\"}",
        ] {
            try await check(request(.post, "/", ["Content-Type": "text/plain"], .data(Data(text.utf8))))
        }
    }

    func testBinaryBodies() async throws {
        try await check(request(.put, "/", [:], .data(Data(0...255))))
        var generator = SeededGenerator(seed: 1)
        for count in [1, 1000, 300_000] {
            let data = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
            try await check(request(.post, "/", ["Content-Type": "application/octet-stream"], .data(data)))
        }
        try await check(request(.get, "/search", ["Content-Type": "text/plain"], .data(Data("q".utf8))))
        try await check(request(.delete, "/", [:], .data(Data(repeating: 97, count: 100_000))))
    }

    func testFileBodies() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice's $HOME \(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in ["a;type=b.txt", "größe\n.txt", "-"] {
            let file = folder.appending(path: name)
            try Data("@content\n\0".utf8).write(to: file)
            try await check(request(.put, "/folder/", ["Content-Type": "text/plain"], .file(file)))
            try await check(request(.post, "/", [:], .file(file)))
        }
    }

    func testReadsStreamFromStandardInput() async throws {
        let chunks = AsyncStream<Data> { continuation in
            continuation.yield(Data("streamed".utf8))
            continuation.finish()
        }
        let input = try TemporaryFile(Data("streamed".utf8))
        defer { input.remove() }
        let (own, curl) = try await ask(
            request(.post, "/", ["Content-Type": "text/plain"], .stream(chunks, length: 8)),
            by: "sh",
            input: input.url.path
        )
        XCTAssertEqual(own, curl)
    }

    func testHEADRequestsOnlyHead() async throws {
        let script = try TemporaryFile(
            Data("export no_proxy='*'\n\(try request(.head).curlCommand()) 2>/dev/null\n".utf8)
        )
        defer { script.remove() }
        let output = try RealServer.run("sh", script.url.path)
        XCTAssertTrue(output.hasPrefix("HTTP/1.1 200"), output)
        XCTAssertEqual(server?.requests.map(\.method), [.head])
    }

    func testRedactedCommandRuns() async throws {
        let secret = try request(
            .post,
            "/?token=s3",
            ["Authorization": "Bearer s3", "Content-Type": "application/json"],
            .data(Data("{\"password\": \"s3\",\n\"a\": 1}".utf8))
        )
        let script = try TemporaryFile(Data("export no_proxy='*'\n\(secret.curlCommand()) 2>/dev/null\n".utf8))
        defer { script.remove() }
        try RealServer.run("sh", script.url.path)
        let received = try XCTUnwrap(server?.requests.first)
        XCTAssertEqual(received.target, "/?token=REDACTED")
        XCTAssertEqual(received.headers[.authorization], "Bearer REDACTED")
        XCTAssertEqual(String(decoding: received.body, as: UTF8.self), "{\"password\": \"REDACTED\",\n\"a\": 1}")
    }
}

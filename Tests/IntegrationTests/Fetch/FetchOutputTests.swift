import Fetching
import Foundation
import Sluice
import SluiceHTTP
import SluiceTesting
import XCTest

/// The command `fetch` with the content on standard output.
final class FetchOutputTests: XCTestCase {
    private static let film = LoopbackResource(.random(64 << 20, seed: 9), eTag: "\"9\"")

    func testWritesContentUnchangedAndVerifiesIt() async throws {
        let server = try LoopbackServer()
        let file = LoopbackResource(.random(3_000_000, seed: 1), eTag: "\"1\"")
        server.on("/film", .resource(file))
        let url = "\(server.url)/film"
        let end = try FetchProcess(["-o", "-", "\(url)#sha256=\(try sha256(file.data))"]).end()
        XCTAssertEqual(end.status, 0, end.errors)
        XCTAssertEqual(end.data, file.data)
        XCTAssertTrue(end.errors.contains("film: 2.9 MiB in 0:0"), end.errors)
        let quiet = try FetchProcess(["-q", "-o-", url]).end()
        XCTAssertEqual(quiet.data, file.data)
        XCTAssertEqual(quiet.errors, "")
        let wrong = try FetchProcess(["-q", "-o", "-", "--sha256", String(repeating: "0", count: 64), url]).end()
        XCTAssertEqual(wrong.status, 1)
        XCTAssertTrue(wrong.errors.contains("The SHA-256 checksum of the content does not match."), wrong.errors)
    }

    func testFailureHasStatus1() async throws {
        let server = try LoopbackServer()
        server.on("/short", .truncated(Data("half".utf8), announced: 8))
        for path in ["short", "gone"] {
            let end = try FetchProcess(["-q", "-o", "-", "\(server.url)/\(path)"]).end()
            XCTAssertEqual(end.status, 1)
            XCTAssertTrue(end.errors.hasPrefix("fetch: "), end.errors)
            XCTAssertEqual(end.output, path == "short" ? "half" : "")
        }
        let json = try FetchProcess(["--json", "-o", "-", "\(server.url)/short"]).end()
        XCTAssertEqual(json.status, 64)
        XCTAssertEqual(try json.events.map(\.event), [.failed])
    }

    func testSlowReaderSlowsServer() async throws {
        let server = try LoopbackServer()
        server.recordsRequests = false
        server.on("/film", .resource(Self.film))
        let process = try FetchProcess(["-q", "-o", "-", "\(server.url)/film"])
        await server.waitForStalledConnections { $0 == 1 }
        XCTAssertLessThan(server.bytesSent, 32 << 20, "the buffers are full")
        #if os(Linux)
        let status = try String(contentsOfFile: "/proc/\(process.identifier)/status", encoding: .utf8)
        let line = try XCTUnwrap(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
        let kibibytes = try XCTUnwrap(Int(line.filter(\.isNumber)))
        XCTAssertLessThan(kibibytes, 96 << 10, "the content is not collected in memory")
        #endif
        let end = try process.end()
        XCTAssertEqual(end.status, 0, end.errors)
        XCTAssertEqual(end.data, Self.film.data)
    }

    func testEndsQuietlyWhenReaderHasGone() async throws {
        let server = try LoopbackServer()
        server.recordsRequests = false
        server.on("/film", .resource(Self.film))
        server.on("/slow", .resource(Self.film).throttled(pieceSize: 64 << 10, every: .milliseconds(20)))
        for arguments in [["-o", "-", "\(server.url)/film"], ["--json", "-o", "/dev/null", "\(server.url)/slow"]] {
            let process = try FetchProcess(arguments)
            XCTAssertEqual(try process.read(10).count, 10)
            try process.closeOutput()
            let end = try process.end()
            XCTAssertTrue(end.isKilled, end.errors)
            XCTAssertEqual(end.status, SIGPIPE, "a shell reports 141")
            XCTAssertFalse(end.errors.contains("failed") || end.errors.contains("fetch:"), end.errors)
        }
    }

    func testSignalStopsWriteToFullPipe() async throws {
        let server = try LoopbackServer()
        server.recordsRequests = false
        server.on("/film", .resource(Self.film))
        let process = try FetchProcess(["-o", "-", "\(server.url)/film"])
        await server.waitForStalledConnections { $0 == 1 }
        process.send(SIGTERM)
        // The process ends although nothing reads its output.
        await server.waitForOpenConnections { $0 == 0 }
        let end = try process.end()
        XCTAssertEqual(end.status, SIGTERM)
        XCTAssertTrue(end.errors.hasSuffix("fetch: terminated.\n"), end.errors)
    }

    #if os(Linux)
    func testSignalStopsEventsWithoutReader() async throws {
        let server = try LoopbackServer()
        server.recordsRequests = false
        server.on("/film", .resource(Self.film))
        let process = try FetchProcess(["--json", "-o", "/dev/null", "\(server.url)/film"], isOutputShort: true)
        // The content is taken no faster than its events are read.
        await server.waitForStalledConnections { $0 == 1 }
        process.send(SIGTERM)
        await server.waitForOpenConnections { $0 == 0 }
        XCTAssertEqual(try process.end().status, SIGTERM)
    }
    #endif

    func testSignalStopsWaitForReaderOfNamedPipe() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let pipe = folder.appending(path: "pipe")
        XCTAssertEqual(mkfifo(pipe.path, 0o600), 0)
        let process = try FetchProcess(["--json", "-o", pipe.path, "http://127.0.0.1:1/"])
        // The first event comes before the pipe is opened.
        XCTAssertEqual(try process.read(1).count, 1)
        process.send(SIGTERM)
        XCTAssertEqual(try process.end().status, SIGTERM)
    }

    func testHeaderReplacesUserAgent() async throws {
        let server = try LoopbackServer()
        server.on("/a", .text("content"))
        for arguments in [[], ["-H", "user-agent: test"]] {
            let end = try FetchProcess(["-q", "-o", "/dev/null"] + arguments + ["\(server.url)/a"]).end()
            XCTAssertEqual(end.status, 0, end.errors)
        }
        XCTAssertEqual(
            server.requests.map { $0.headers.values(for: "User-Agent") },
            [["fetch/1.0 (Sluice)"], ["test"]]
        )
    }

    func testClosedDescriptorsAreNotThoseOfOtherFiles() async throws {
        let server = try LoopbackServer()
        server.on("/a", .text("content"))
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = "\(server.url)/a"
        for (arguments, reason) in [
            (["--json", "-d", folder.path, url], "The events could not be written: Bad file descriptor."),
            (["-q", "-o", "-", url], "Standard output could not be written: Bad file descriptor."),
        ] {
            let end = try FetchProcess(arguments, after: "exec >&-").end()
            XCTAssertEqual(end.status, 1)
            XCTAssertEqual(end.errors, "fetch: \(reason)\n")
        }
        let silent = try FetchProcess(["-d", folder.path, url], after: "exec <&- >&- 2>&-").end()
        XCTAssertEqual(silent.status, 0)
        XCTAssertEqual(try String(contentsOf: folder.appending(path: "a"), encoding: .utf8), "content")
    }

    func testWritesToDevicesAndPipesInPlace() async throws {
        let server = try LoopbackServer()
        server.on("/a", .text("content"))
        let null = try FetchProcess(["-q", "-o", "/dev/null", "\(server.url)/a"]).end()
        XCTAssertEqual(null.status, 0, null.errors)
        XCTAssertFalse(FileManager.default.fileExists(atPath: "/dev/null 2"))
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let pipe = folder.appending(path: "pipe")
        XCTAssertEqual(mkfifo(pipe.path, 0o600), 0)
        // Opened without waiting for a writer, which might never come.
        let reader = FileHandle(fileDescriptor: open(pipe.path, O_RDONLY | O_NONBLOCK), closeOnDealloc: true)
        XCTAssertEqual(try FetchProcess(["-q", "-o", pipe.path, "\(server.url)/a"]).end().status, 0)
        XCTAssertEqual(reader.allBytes(), Data("content".utf8))
        #if os(Linux)
        let json = try FetchProcess(["--json", "-q", "-o", "/dev/full", "\(server.url)/a"]).end()
        XCTAssertEqual(try json.events.map(\.code), ["cannotWriteFile"])
        let full = try FetchProcess(["-o", "/dev/full", "\(server.url)/a"]).end()
        XCTAssertEqual(full.status, 1)
        XCTAssertTrue(full.errors.contains("“/dev/full” could not be written: No space left on device."), full.errors)
        let help = try FetchProcess(["--help"], after: "exec > /dev/full").end()
        XCTAssertEqual(help.status, 1)
        XCTAssertEqual(help.errors, "fetch: The usage could not be written: No space left on device.\n")
        #endif
    }
}

import Fetching
import Foundation
import Sluice
import SluiceHTTP
import SluiceTesting
import XCTest

/// The command `fetch`, built next to the tests.
final class FetchTests: XCTestCase {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")

    override func setUp() {
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    override func tearDown() {
        try? FileManager.default.removeItem(at: folder)
    }

    func testDownloadsSeveralFilesUnderTheirNames() async throws {
        let server = try LoopbackServer()
        let files = (0..<5).map { LoopbackResource(.random(100_000, seed: UInt64($0)), eTag: "\"\($0)\"") }
        let signals = files.map { _ in LoopbackSignal() }
        let counts = Locked((started: 0, running: 0, most: 0))
        for (index, file) in files.enumerated() {
            server.on("/file\(index).bin") { request in
                counts.withLock { counts in
                    counts.started += 1
                    counts.running += 1
                    counts.most = max(counts.most, counts.running)
                }
                return .after(signals[index], file.response(to: request))
            }
        }
        let urls = files.indices.map { "\(server.url)/file\($0).bin" }
        let process = try FetchProcess(["-d", folder.path, "-j", "2"] + urls)
        // Two at a time: each file starts when the one before the last has ended.
        for index in files.indices {
            while counts.withLock(\.started) < min(index + 2, 5) { await Task.yield() }
            counts.withLock { $0.running -= 1 }
            signals[index].fire()
        }
        let end = try process.end()
        XCTAssertEqual(end.status, 0, end.errors)
        XCTAssertEqual(counts.withLock(\.most), 2)
        for (index, file) in files.enumerated() {
            XCTAssertEqual(try Data(contentsOf: folder.appending(path: "file\(index).bin")), file.data)
            XCTAssertTrue(end.errors.contains("file\(index).bin: 98 KiB in 0:0"), end.errors)
        }
        XCTAssertEqual(end.output, "")
    }

    func testResumesAfterLostConnections() async throws {
        let server = try LoopbackServer()
        let film = LoopbackResource(.random(1_000_000, seed: 1), eTag: "\"1\"")
        server.on(
            "/film",
            .resource(film).interrupted(after: 300_000),
            .resource(film).interrupted(after: 300_000),
            .resource(film)
        )
        let file = folder.appending(path: "film.mkv")
        let digest = try sha256(film.data)
        let end = try FetchProcess(["--json", "-o", file.path, "\(server.url)/film#sha256=\(digest)"]).end()
        XCTAssertEqual(end.status, 0, end.errors)
        XCTAssertEqual(try Data(contentsOf: file), film.data)
        let events = try end.output.split(separator: "\n").map {
            try JSONDecoder().decode(DownloadEvent.self, from: Data($0.utf8))
        }
        XCTAssertEqual(events.first?.event, .started)
        XCTAssertEqual(events.last?.event, .finished)
        XCTAssertEqual(events.last?.file, file.path)
        XCTAssertEqual(events.last?.total, 1_000_000)
        XCTAssertEqual(events.last?.sha256, digest)
        XCTAssertEqual(server.requestCount, 3)
    }

    func testOneFailureIsReportedAndSetsExitStatus() async throws {
        let server = try LoopbackServer()
        server.on("/here", .text("here"))
        let end = try FetchProcess(["-q", "-d", folder.path, "\(server.url)/here", "\(server.url)/gone"]).end()
        XCTAssertEqual(end.status, 1)
        XCTAssertTrue(end.errors.hasPrefix("fetch: "), end.errors)
        XCTAssertTrue(end.errors.contains("/gone"), end.errors)
        XCTAssertEqual(try Data(contentsOf: folder.appending(path: "here")), Data("here".utf8))
        XCTAssertFalse(FileManager.default.fileExists(atPath: folder.appending(path: "gone").path))
    }

    func testRemovesFileWithWrongDigest() async throws {
        let server = try LoopbackServer()
        server.on("/film", .text("another film"))
        let digest = String(repeating: "0", count: 64)
        let end = try FetchProcess(["-d", folder.path, "--sha256", digest, "\(server.url)/film"]).end()
        XCTAssertEqual(end.status, 1, end.errors)
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), [])
    }

    func testSendsHeadersAndKeepsOrReplacesFiles() async throws {
        let server = try LoopbackServer()
        server.on("/a") { .text($0.headers["X-Key"] ?? "none") }
        for (options, names) in [([], ["a"]), ([], ["a", "a 2"]), (["--overwrite"], ["a", "a 2"])] {
            let end = try FetchProcess(options + ["-H", "X-Key: k", "-d", folder.path, "\(server.url)/a"]).end()
            XCTAssertEqual(end.status, 0, end.errors)
            XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted(), names)
        }
        XCTAssertEqual(try String(contentsOf: folder.appending(path: "a"), encoding: .utf8), "k")
    }

    func testInvalidArgumentsExitWith64() throws {
        let end = try FetchProcess(["file"]).end()
        XCTAssertEqual(end.status, 64)
        XCTAssertTrue(end.errors.hasPrefix("fetch: “file” is not an http or https URL.\n"), end.errors)
        let help = try FetchProcess(["--help"]).end()
        XCTAssertEqual(help.status, 0)
        XCTAssertTrue(help.output.hasPrefix("usage: fetch"), help.output)
    }
}

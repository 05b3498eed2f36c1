#if os(Linux)
import Foundation
import Sluice
import SluiceTesting
import XCTest

/// The command `fetch` in a terminal, as people see it.
final class FetchTerminalTests: XCTestCase {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
    private var terminal: Terminal?
    private static let film = LoopbackResource(.random(1 << 20, seed: 5), eTag: "\"5\"")

    override func setUp() async throws {
        try XCTSkipUnless(RealServer.canRun("tmux", "bash"), "tmux or bash is not installed")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    override func tearDown() async throws {
        await terminal?.end()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Starts a terminal whose shell knows the URL of a server as `$U`.
    private func start(_ server: LoopbackServer, columns: Int = 100) async throws -> Terminal {
        let terminal = try await Terminal(columns: columns, in: folder, environment: ["U": server.url])
        self.terminal = terminal
        return terminal
    }

    /// Starts a server for two files, the first of which stops at a half and the second at a quarter.
    private func server() throws -> (LoopbackServer, LoopbackSignal) {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/one.bin", .resource(Self.film).paused(after: 1 << 19, until: signal))
        server.on("/two.bin", .resource(Self.film).paused(after: 1 << 18, until: signal))
        return (server, signal)
    }

    /// Checks the screen after two downloads: the command, a line for each file, and nothing else.
    private func checkEnd(_ lines: [String], line: UInt = #line) {
        XCTAssertEqual(lines.count, 3, "\(lines)", line: line)
        for name in ["one.bin", "two.bin"] {
            XCTAssertTrue(lines.contains { $0.hasPrefix("✓ \(name)  1.0 MiB  in 0:") }, "\(lines)", line: line)
        }
    }

    func testBarsOfTwoFilesGiveWayToTheirResults() async throws {
        let (server, signal) = try server()
        let terminal = try await start(server)
        try await terminal.run("fetch $U/one.bin $U/two.bin")
        let running = try await terminal.wait(for: "one.bin   50% ━━━━━", "two.bin   25% ━━━━━")
        XCTAssertEqual(running.count, 3, "\(running)")
        XCTAssertTrue(running[1].contains("━  ") && running[1].contains("  512 KiB of 1.0 MiB"), running[1])
        XCTAssertTrue(running[2].contains("━  ") && running[2].contains("  256 KiB of 1.0 MiB"), running[2])
        signal.fire()
        checkEnd(try await terminal.waitForPrompt(2))
        try await terminal.run("echo status=$?")
        try await terminal.wait { $0.contains("status=0") }
    }

    func testInterruptLeavesCleanLinesAndDownloadResumes() async throws {
        let (server, signal) = try server()
        let terminal = try await start(server)
        try await terminal.run("fetch $U/one.bin $U/two.bin")
        try await terminal.wait(for: "one.bin   50%", "two.bin   25%")
        try await terminal.press("C-c")
        let lines = try await terminal.waitForPrompt(2).filter { !$0.isEmpty }
        XCTAssertEqual(
            lines.dropFirst().sorted(),
            [
                "fetch: interrupted. Run the same command again to continue.", "✗ one.bin  interrupted",
                "✗ two.bin  interrupted",
            ]
        )
        let cursor = try await terminal.cursor
        XCTAssertEqual(cursor.column, 2)
        XCTAssertTrue(cursor.isVisible)
        try await terminal.run("echo status=$?")
        try await terminal.wait { $0.contains("status=130") }
        signal.fire()
        try await terminal.run("clear; fetch $U/one.bin $U/two.bin")
        let end = try await terminal.wait { $0.last == ">" && $0.count { $0.hasPrefix("✓") } == 2 }
        XCTAssertEqual(end.count, 3, "\(end)")
        for name in ["one.bin", "two.bin"] {
            XCTAssertEqual(try Data(contentsOf: folder.appending(path: name)), Self.film.data)
            XCTAssertNotNil(server.requests(to: "/\(name)").last?.headers[.range], "the download was resumed")
        }
    }

    func testInterruptEndsLoopOfShell() async throws {
        let (server, _) = try server()
        let terminal = try await start(server)
        try await terminal.run("for i in 1 2 3; do fetch $U/one.bin; done")
        try await terminal.wait(for: "one.bin   50%")
        try await terminal.press("C-c")
        let lines = try await terminal.waitForPrompt(2)
        XCTAssertEqual(lines.count { $0.hasPrefix("✗") }, 1, "\(lines)")
        XCTAssertEqual(server.requestCount, 1)
    }

    func testQuietShowsNothingButFailures() async throws {
        let server = try LoopbackServer()
        server.on("/here", .text("here"))
        let terminal = try await start(server)
        try await terminal.run("fetch -q $U/here")
        let lines = try await terminal.waitForPrompt(2)
        XCTAssertEqual(lines, ["> fetch -q $U/here"])
        try await terminal.run("clear; fetch -q $U/gone $U/here; echo status=$?")
        let failed = try await terminal.wait { $0.contains("status=1") }
        XCTAssertTrue(failed.first?.hasPrefix("fetch: ") == true, "\(failed)")
        XCTAssertTrue(failed.joined().contains("/gone"), "\(failed)")
        XCTAssertFalse(failed.joined().contains("here"), "\(failed)")
    }

    func testNarrowTerminalShowsNumbersInsteadOfBar() async throws {
        let (server, signal) = try server()
        let terminal = try await start(server, columns: 40)
        try await terminal.run("fetch $U/one.bin $U/two.bin")
        let running = try await terminal.wait(for: "one.bin   50%  512 KiB of 1.0 MiB", "two.bin   25%")
        XCTAssertEqual(running.count, 3, "\(running)")
        XCTAssertFalse(running.joined().contains("━"), "\(running)")
        signal.fire()
        checkEnd(try await terminal.waitForPrompt(2))
    }

    func testResizedTerminalKeepsNoPiecesOfBars() async throws {
        for (before, after) in [(100, 40), (40, 100), (100, 30)] {
            let (server, signal) = try server()
            let terminal = try await start(server, columns: before)
            // A narrower terminal moves the first lines out of the screen.
            try await terminal.run("seq 9")
            try await terminal.wait { $0.last == ">" && $0.contains("9") }
            try await terminal.run("fetch $U/one.bin $U/two.bin")
            try await terminal.wait(for: "one.bin   50%", "two.bin   25%")
            try await terminal.resize(columns: after)
            signal.fire()
            let lines = try await terminal.wait { $0.last == ">" && $0.count { $0.hasPrefix("✓") } == 2 }
            checkEnd(Array(lines.dropLast().drop { !$0.hasPrefix("> fetch") }))
            await terminal.end()
            for name in ["one.bin", "two.bin"] { try FileManager.default.removeItem(at: folder.appending(path: name)) }
        }
    }

    func testContinuedCommandDrawsBelowOtherOutput() async throws {
        let (server, signal) = try server()
        let terminal = try await start(server)
        try await terminal.run("fetch $U/one.bin")
        try await terminal.wait(for: "one.bin   50%")
        try await terminal.press("C-z")
        try await terminal.wait(for: "Stopped")
        try await terminal.run("fg")
        try await terminal.wait { $0.contains("> fg") && $0.last == "fetch $U/one.bin" }
        signal.fire()
        let lines = try await terminal.wait { $0.last == ">" && $0.contains { $0.hasPrefix("✓ one.bin") } }
        XCTAssertTrue(lines.contains { $0.contains("Stopped") }, "\(lines)")
        XCTAssertTrue(lines.contains("> fg"), "\(lines)")
    }

    func testNamesOfServersDoNotControlTheTerminal() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("*", .resource(Self.film).paused(after: 1 << 19, until: signal))
        let terminal = try await start(server)
        try await terminal.run("fetch $U/%1B%5B2J%0D%0Ax.bin $U/%E6%98%A0%E7%94%BB.mkv")
        let running = try await terminal.wait(for: "\u{FFFD}[2J\u{FFFD}\u{FFFD}x.bin   50%", "映画.mkv      50%")
        XCTAssertEqual(running.count, 3, "\(running)")
        signal.fire()
        let lines = try await terminal.waitForPrompt(2)
        XCTAssertTrue(lines.contains { $0.hasPrefix("✓ [2Jx.bin  1.0 MiB") }, "\(lines)")
        XCTAssertTrue(lines.contains { $0.hasPrefix("✓ 映画.mkv  1.0 MiB") }, "\(lines)")
    }

    func testContentOnTheTerminalIsNotMixedWithProgress() async throws {
        let server = try LoopbackServer()
        server.on("/text", .text("one\ntwo\n"))
        let terminal = try await start(server)
        try await terminal.run("fetch -o - $U/text")
        let lines = try await terminal.waitForPrompt(2)
        XCTAssertEqual(lines, ["> fetch -o - $U/text", "one", "two"])
    }
}
#endif

import Foundation
import Sluice
import SluiceTesting
import XCTest

/// The command `fetch` when it is interrupted or killed.
final class FetchInterruptionTests: XCTestCase {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
    private static let film = LoopbackResource(.random(96 << 20, seed: 7), eTag: "\"7\"")

    override func setUp() {
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    override func tearDown() {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Starts a server for a film, at about 40 MiB a second.
    private func server() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.recordsRequests = false
        server.on("/film", .resource(Self.film).throttled(pieceSize: 256 << 10, every: .milliseconds(6)))
        return server
    }

    func testResumesAfterTwentyKills() async throws {
        try await killRepeatedly(segments: 1)
    }

    func testResumesSegmentedDownloadAfterTwentyKills() async throws {
        try await killRepeatedly(segments: 4)
    }

    private func killRepeatedly(segments: Int) async throws {
        let server = try server()
        let file = folder.appending(path: "film.mkv")
        let digest = try sha256(Self.film.data)
        let arguments = ["-q", "--segments", "\(segments)", "-o", file.path, "\(server.url)/film#sha256=\(digest)"]
        let seed = UInt64.random(in: .min ... .max)
        print("The times of the kills follow from seed \(seed).")
        var random = SeededGenerator(seed: seed)
        var (kills, files) = (0, 0)
        while kills < 20 {
            let process = try FetchProcess(arguments)
            // Long enough to start. The time of the kill is random.
            try await Task.sleep(for: .milliseconds(Int.random(in: 20...300, using: &random)))
            process.send(SIGKILL)
            let end = try process.end()
            if end.status != 0 { kills += 1 }
            // The process may have been killed just after it renamed the complete file. The loop then continues with another
            // file.
            guard FileManager.default.fileExists(atPath: file.path) else { continue }
            XCTAssertEqual(try sha256(Data(contentsOf: file)), digest, "seed \(seed), after \(kills) kills")
            try FileManager.default.removeItem(at: file)
            files += 1
        }
        let end = try FetchProcess(arguments).end()
        XCTAssertEqual(end.status, 0, end.errors)
        XCTAssertEqual(try sha256(Data(contentsOf: file)), digest)
        // Each kill loses the bytes in transit and those that the journal did not record.
        XCTAssertLessThan(server.bytesSent, Int64(files + 5) * Int64(Self.film.data.count))
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        XCTAssertEqual(left, ["film.mkv"], "no temporary files remain")
    }

    func testInterruptedDownloadResumesInNextRun() async throws {
        for signal in [SIGINT, SIGTERM] {
            let server = try server()
            let file = folder.appending(path: "film-\(signal).mkv")
            let digest = try sha256(Self.film.data)
            let arguments = ["-o", file.path, "\(server.url)/film#sha256=\(digest)"]
            let process = try FetchProcess(arguments)
            await server.waitForBytesSent(30 << 20)
            process.send(signal)
            let end = try process.end()
            // A shell reports 128 plus the number.
            XCTAssertTrue(end.isKilled, end.errors)
            XCTAssertEqual(end.status, signal, end.errors)
            let verb = signal == SIGINT ? "interrupted" : "terminated"
            XCTAssertTrue(
                end.errors.hasSuffix("\nfetch: \(verb). Run the same command again to continue.\n"),
                end.errors
            )
            XCTAssertFalse(FileManager.default.fileExists(atPath: file.path))
            let before = server.bytesSent
            let next = try FetchProcess(arguments).end()
            XCTAssertEqual(next.status, 0, next.errors)
            XCTAssertEqual(try sha256(Data(contentsOf: file)), digest)
            XCTAssertLessThan(
                server.bytesSent - before,
                Int64(Self.film.data.count - (12 << 20)),
                "the download was resumed"
            )
        }
    }

    func testSecondInterruptEndsProcess() async throws {
        let server = try LoopbackServer()
        server.on("/film", .hang)
        // The process cannot end by itself, because it waits for room to write its message.
        let process = try FetchProcess(["-d", folder.path, "\(server.url)/film"], errors: fullPipe())
        await server.waitForRequests(1)
        process.send(SIGINT)
        // The first signal has been handled: the download has stopped.
        await server.waitForOpenConnections { $0 == 0 }
        process.send(SIGINT)
        let end = try process.end()
        XCTAssertTrue(end.isKilled)
        XCTAssertEqual(end.status, SIGINT)
    }

    func testReportsInterruptionAsJSONAndNothingWhenQuiet() async throws {
        for (options, events) in [
            (["--json"], ["started", "failed cancelled", "interrupted"]),
            (["--json", "-q"], ["failed cancelled", "interrupted"]),
            (["-q"], []),
        ] {
            let server = try LoopbackServer()
            server.on("/film", .hang)
            let process = try FetchProcess(options + ["-d", folder.path, "\(server.url)/film"])
            await server.waitForRequests(1)
            process.send(SIGINT)
            let end = try process.end()
            XCTAssertEqual(end.status, SIGINT)
            let lines = try end.events.filter { $0.event != .progress }
                .map { "\($0.event) \($0.code ?? "")".trimmingCharacters(in: .whitespaces) }
            XCTAssertEqual(lines, events)
            XCTAssertEqual(end.errors, "")
        }
    }

    func testKeepsIgnoringInterruptOfBackgroundCommand() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/a", .after(signal, .text("content")))
        let process = try FetchProcess(["-d", folder.path, "\(server.url)/a"], after: "trap '' INT")
        await server.waitForRequests(1)
        process.send(SIGINT)
        signal.fire()
        let end = try process.end()
        XCTAssertEqual(end.status, 0, end.errors)
        XCTAssertFalse(end.isKilled)
    }

    /// Returns a pipe that accepts no more bytes until some are read.
    private func fullPipe() -> Pipe {
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
        // Single bytes also fill the room that is left by larger pieces.
        for piece in [4096, 1] {
            let bytes = [UInt8](repeating: 32, count: piece)
            while write(descriptor, bytes, piece) > 0 {}
        }
        _ = fcntl(descriptor, F_SETFL, flags)
        return pipe
    }
}

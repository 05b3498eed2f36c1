import Foundation
import Sluice
import XCTest

/// Processes that share the file of a token, against an authorization server that rotates refresh tokens.
final class SharedTokenFileTests: XCTestCase {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
    private var file: String { folder.appending(path: "token.json").path }

    override func setUpWithError() throws {
        try XCTSkipUnless(AuthlibServer.canRun, AuthlibServer.reason)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    override func tearDown() {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Returns a refresh token for a user.
    private func refreshToken(_ server: AuthlibServer) async throws -> String {
        let gate = server.gate(
            .password(username: "ada", password: "pass word+ü&", id: "legacy", secret: "s3cret", scope: "read")
        )
        let token = try await gate.token()
        return try XCTUnwrap(token.refreshToken)
    }

    private func start(_ count: Int, _ server: AuthlibServer, _ token: String) throws -> [RunningProgram] {
        let programs = try (0..<count).map { _ in try RunningProgram("TokenProcess", server.url, file, token) }
        for program in programs { XCTAssertEqual(program.line(), "ready") }
        return programs
    }

    /// Has all processes send requests at the same time. Returns the distinct outcomes.
    private func round(_ programs: [RunningProgram]) -> Set<String> {
        for program in programs { program.proceed() }
        return Set(programs.map { $0.line() ?? "the process has ended" })
    }

    func testProcessesRefreshOnceAndUseNoSpentToken() async throws {
        let server = try AuthlibServer()
        let programs = try start(3, server, try await refreshToken(server))
        defer { for program in programs { program.kill() } }
        let rounds = 15
        for number in 0..<rounds {
            XCTAssertEqual(round(programs), ["served"], "round \(number)")
            try await server.forget()
        }
        let state = try await server.state()
        XCTAssertEqual(state.counts["spent"], nil)
        // One is the password's.
        XCTAssertEqual(state.counts["/token"], 1 + rounds)
    }

    func testKilledProcessLeavesNoLockAndNoSpentToken() async throws {
        let server = try AuthlibServer()
        let token = try await refreshToken(server)
        for number in 0..<5 {
            let programs = try start(2, server, token)
            XCTAssertEqual(round(programs), ["served"], "round \(number)")
            programs[0].kill()
            try await server.forget()
            XCTAssertEqual(round([programs[1]]), ["served"], "round \(number)")
            programs[1].kill()
            try await server.forget()
        }
        let state = try await server.state()
        XCTAssertEqual(state.counts["spent"], nil)
    }

    func testSignOutOfOneProcessSignsOutTheOthers() async throws {
        let server = try AuthlibServer()
        let programs = try start(2, server, try await refreshToken(server))
        defer { for program in programs { program.kill() } }
        XCTAssertEqual(round(programs), ["served"])
        programs[0].proceed("sign out")
        XCTAssertEqual(programs[0].line(), "signed out")
        // The other process still has the access token, and finds no refresh token once that is refused.
        try await server.forget()
        XCTAssertEqual(round(programs), ["failed: authorizationRequired"])
        let state = try await server.state()
        XCTAssertEqual(state.counts["spent"], nil)
        XCTAssertEqual(state.counts["/token"], 2)
        XCTAssertFalse(FileManager.default.fileExists(atPath: file))
    }
}

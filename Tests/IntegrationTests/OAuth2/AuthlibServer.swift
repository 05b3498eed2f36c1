import Foundation
import Sluice

/// An authorization server based on Authlib and Flask, and an API that requires its tokens.
///
/// It needs the packages in `requirements.txt`, and runs in the Python that `SLUICE_PYTHON` names:
///
///     python3 -m venv .build/venv && .build/venv/bin/pip install -r Tests/IntegrationTests/OAuth2/requirements.txt
///     SLUICE_PYTHON=$PWD/.build/venv/bin/python3 swift test
final class AuthlibServer {
    private static let python = ProcessInfo.processInfo.environment["SLUICE_PYTHON"]

    static var canRun: Bool { RealServer.isRequired || python.map { RealServer.path(of: $0) != nil } ?? false }
    static let reason = "SLUICE_PYTHON is not the path of a Python with Authlib and Flask; .ci/run creates one"

    /// Counts of the server's requests and tokens.
    struct State: Decodable, Sendable {
        let counts: [String: Int]
        let tokens: [OAuth2.Token]
    }

    /// The API's description of a token.
    struct Me: Decodable, Sendable, Equatable {
        let user: String?
        let client: String
        let scope: String
    }

    private let server: Process
    let url: String

    init() throws {
        guard let python = Self.python else { throw RealServer.Failure(description: Self.reason) }
        let port = try RealServer.freePort()
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "authorization_server.py")
        server = try RealServer.start(python, ["-u", script.path, "\(port)"], until: "ready")
        url = "http://127.0.0.1:\(port)"
    }

    deinit {
        // A child process of a Dispatch thread inherits its signal mask, which blocks SIGTERM.
        kill(server.processIdentifier, SIGKILL)
        server.waitUntilExit()
    }

    func gate(_ grant: OAuth2.Grant, _ configure: (inout OAuth2.Configuration) -> Void = { _ in }) -> OAuth2 {
        OAuth2(grant, tokenURL: "\(url)/token") {
            $0.revocationURL = "\(url)/revoke"
            configure(&$0)
        }
    }

    func client(_ oauth: OAuth2) -> APIClient {
        APIClient(baseURL: "\(url)/api") { $0.gates = [oauth] }
    }

    func state() async throws -> State {
        try await APIClient(baseURL: url).get("state").sender().value
    }

    /// Invalidates all access tokens.
    func forget() async throws {
        _ = try await APIClient(baseURL: url).string.post("forget").sender().value
    }

    /// Follows an authorization URL like the browser of a user who consents, and returns the redirect target.
    func browse(_ url: String) async throws -> String {
        let browser = APIClient { $0.redirects = .none }
        let response = await browser.string.get(url).validate(.none).sender().response
        return response.head?.headers[.location] ?? "\(response.result)"
    }
}

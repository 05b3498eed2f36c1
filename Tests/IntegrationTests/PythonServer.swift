import Foundation

/// A server that is a Python script. It gets a port and prints `ready`.
final class PythonServer {
    static var canRun: Bool { RealServer.canRun("python3") }

    private let process: Process
    let url: String

    init(_ script: String) throws {
        (process, url) = try Self.started(script, tries: 3)
    }

    deinit {
        // A child process of a Dispatch thread inherits its signal mask, which blocks SIGTERM.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Starts the server, with another port if the free port was taken meanwhile.
    private static func started(_ script: String, tries: Int) throws -> (Process, String) {
        let port = try RealServer.freePort()
        do {
            let process = try RealServer.start("python3", ["-u", "-c", script, "\(port)"], until: "ready")
            return (process, "http://127.0.0.1:\(port)")
        } catch  where tries > 1 {
            return try started(script, tries: tries - 1)
        }
    }
}

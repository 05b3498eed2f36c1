#if os(Linux)
import Foundation
import SluiceRedis

/// A redis-server of a test, in a temporary folder with a unix-domain socket.
final class RedisProcess: @unchecked Sendable {
    // Unchecked, because it has variables. One test uses it, from one task.

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static let program = ["/usr/bin/redis-server", "/usr/local/bin/redis-server"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// False to skip the tests that need a server. With `SLUICE_REQUIRE_SERVERS=1` they fail without one.
    static let canRun = program != nil || ProcessInfo.processInfo.environment["SLUICE_REQUIRE_SERVERS"] == "1"

    let folder: URL
    private let arguments: [String]
    /// The text of the program when it is ready.
    private let readyText: String
    private var process: SpawnedProgram?
    private var isRunning = false

    var socket: String { folder.appending(path: "s").path }

    /// The server with a time-out for loaded machines.
    var server: RedisServer { .patient(unixSocket: socket) }

    /// Starts a server with further arguments, such as `--requirepass`, and waits until it accepts connections.
    convenience init(_ arguments: String..., in folder: URL? = nil) throws {
        try self.init(arguments: arguments, in: folder ?? RedisProcess.makeFolder())
    }

    static func makeFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "sluice-redis-\(UUID().uuidString.prefix(8))"
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    deinit {
        // Without a process, another attempt uses the folder.
        guard process != nil else { return }
        kill()
        try? FileManager.default.removeItem(at: folder)
    }

    func start() throws {
        guard let program = Self.program else { throw Failure(description: "redis-server is not installed.") }
        let process = try SpawnedProgram(program, arguments)
        var text = ""
        while !text.contains(readyText) {
            let more = process.read()
            guard !more.isEmpty else {
                process.drain()
                process.waitUntilExit()
                throw Failure(description: "redis-server ended: \(text)")
            }
            text += more
        }
        process.drain()
        self.process = process
        isRunning = true
    }

    /// Kills the process and waits for its end.
    func kill() {
        guard let process, isRunning else { return }
        isRunning = false
        process.signal(SIGKILL)
        process.waitUntilExit()
    }

    /// Stops the process without closing its connections.
    func pause() {
        if isRunning { process?.signal(SIGSTOP) }
    }

    func proceed() {
        if isRunning { process?.signal(SIGCONT) }
    }

    /// Starts a server that also listens on a free port of 127.0.0.1, which is the argument after `option`.
    static func onPort(_ option: String, _ more: [String] = [], in folder: URL? = nil) throws -> (RedisProcess, Int) {
        let folder = try folder ?? makeFolder()
        for _ in 0..<20 {
            // A node of a cluster also listens on the port that is 10,000 higher.
            let port = Int.random(in: 10_240..<22_768)
            // A port that is taken ends the server.
            if let process = try? RedisProcess(arguments: [option, "\(port)"] + more, in: folder) {
                return (process, port)
            }
        }
        throw Failure(description: "No port is free.")
    }

    /// Makes a certificate for “localhost”. Returns its path, and the arguments of a server that uses it.
    static func makeCertificate(in folder: URL) throws -> (certificate: String, arguments: [String]) {
        let (certificate, key) = (folder.appending(path: "c.pem").path, folder.appending(path: "c.key").path)
        let openssl = try SpawnedProgram(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3", "-subj", "/CN=redis", "-addext",
                "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate,
            ]
        )
        openssl.drain()
        guard openssl.waitUntilExit() == 0 else { throw Failure(description: "openssl has made no certificate.") }
        return (certificate, ["--tls-cert-file", certificate, "--tls-key-file", key, "--tls-auth-clients", "no"])
    }

    /// Starts a sentinel that watches a primary, on a free port.
    ///
    /// - Parameters:
    ///   - primary: The port of the primary, which it calls “shop”.
    ///   - quorum: The number of sentinels that must agree on a failure.
    ///   - more: Further lines of the configuration.
    /// - Returns: The process and its port.
    /// - Throws: A ``Failure`` if it does not start.
    static func sentinel(of primary: Int, quorum: Int, _ more: String) throws -> (RedisProcess, Int) {
        let folder = try makeFolder()
        for _ in 0..<20 {
            let port = Int.random(in: 10_240..<32_768)
            let file = folder.appending(path: "sentinel.conf")
            let lines = """
                port \(port)
                dir \(folder.path)
                sentinel monitor shop 127.0.0.1 \(primary) \(quorum)
                sentinel down-after-milliseconds shop 4000
                sentinel failover-timeout shop 8000
                \(more)

                """
            try Data(lines.utf8).write(to: file)
            let arguments = [file.path, "--sentinel"]
            if let process = try? RedisProcess(folder: folder, arguments: arguments, readyText: "+monitor master") {
                return (process, port)
            }
        }
        throw Failure(description: "No port is free.")
    }

    private convenience init(arguments: [String], in folder: URL) throws {
        let first = [
            "--port", "0", "--unixsocket", folder.appending(path: "s").path, "--save", "", "--dir", folder.path,
            "--enable-debug-command", "yes",
        ]
        try self.init(
            folder: folder,
            arguments: first + arguments,
            readyText: "The server is now ready to accept connections at"
        )
    }

    private init(folder: URL, arguments: [String], readyText: String) throws {
        self.folder = folder
        self.arguments = arguments
        self.readyText = readyText
        try start()
    }
}

extension RedisServer {
    /// A server on a loaded machine.
    static func patient(unixSocket: String) -> RedisServer { RedisServer(unixSocket: unixSocket).patient }

    var patient: RedisServer {
        var server = self
        server.commandTimeout = .seconds(20)
        server.connectTimeout = .seconds(20)
        server.overdueTimeout = .seconds(20)
        server.backoff.base = .milliseconds(2)
        server.backoff.limit = .milliseconds(20)
        return server
    }
}
#endif

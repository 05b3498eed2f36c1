import Foundation
import Synchronization

/// Where the programs are that tests start, and whether a test may do without them.
enum RealServer {
    /// With `SLUICE_REQUIRE_SERVERS=1` a missing program fails the tests that need it, instead of skipping them.
    static let isRequired = ProcessInfo.processInfo.environment["SLUICE_REQUIRE_SERVERS"] == "1"

    static func path(of program: String) -> String? {
        if program.hasPrefix("/") { return FileManager.default.isExecutableFile(atPath: program) ? program : nil }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return (path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/local/sbin"])
            .map { "\($0)/\(program)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Whether tests that need these programs should run.
    static func canRun(_ programs: String...) -> Bool {
        isRequired || programs.allSatisfy { path(of: $0) != nil }
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - program: Its name.
    ///   - arguments: What it is given.
    /// - Returns: What it printed.
    /// - Throws: A ``Failure`` with what it printed when it is missing or does not end well.
    @discardableResult
    static func run(_ program: String, _ arguments: String...) throws -> String {
        try run(program, arguments)
    }

    /// Runs a program to its end.
    @discardableResult
    static func run(_ program: String, _ arguments: [String]) throws -> String {
        let (process, output) = try launch(program, arguments)
        let text = String(decoding: output.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "\(program) ended with \(process.terminationStatus): \(text)")
        }
        return text
    }

    /// Runs a program to its end on a thread of its own: to wait here for one that takes long would hold up others.
    @discardableResult
    static func runAside(_ program: String, _ arguments: [String]) async throws -> String {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<String, any Error>) in
            Thread.detachNewThread {
                do {
                    continuation.resume(returning: try run(program, arguments))
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    /// Starts a server in the foreground and waits until it says that it is ready.
    ///
    /// - Parameters:
    ///   - program: Its name.
    ///   - arguments: What it is given.
    ///   - sign: What it prints once it can be used.
    /// - Returns: The process; it is the caller's to stop.
    /// - Throws: A ``Failure`` with what it printed when it is missing or ends before.
    static func start(_ program: String, _ arguments: [String], until sign: String) throws -> Process {
        let (process, output) = try launch(program, arguments)
        var text = ""
        while !text.contains(sign) {
            let more = output.availableData
            guard !more.isEmpty else { throw Failure(description: "\(program) ended: \(text)") }
            text += String(decoding: more, as: UTF8.self)
        }
        // Read on, lest a full pipe stops it.
        output.readabilityHandler = { if $0.availableData.isEmpty { $0.readabilityHandler = nil } }
        return process
    }

    private static func launch(_ program: String, _ arguments: [String]) throws -> (Process, FileHandle) {
        guard let path = path(of: program) else { throw Failure(description: "\(program) is not installed.") }
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
        return (process, output.fileHandleForReading)
    }

    private static let givenPorts = Mutex<Set<Int>>([])

    /// A port that is free at this moment and was not given before.
    ///
    /// It is below those that the system gives to clients, so that no connection of another test takes it meanwhile.
    static func freePort() throws -> Int {
        for _ in 0..<1000 {
            let port = Int.random(in: 10_240..<32_768)
            if givenPorts.withLock({ $0.insert(port).inserted }), canListen(port) { return port }
        }
        throw Failure(description: "No port is free.")
    }

    private static func canListen(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = UInt16(port).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}

extension RealServer {
    /// Whether somebody takes connections at a port of 127.0.0.1, for servers that do not say when they are ready.
    static func isListening(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = UInt16(port).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}

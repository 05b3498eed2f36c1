import Foundation
import Synchronization

#if os(macOS)
/// A class of the bundle of the tests.
private final class BundleAnchor {}
#endif

/// Finds the programs that tests start, and decides if tests run without them.
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

    /// The folder of the executables of the package.
    static let products: URL = {
        #if os(macOS)
        // Another program loads the bundle of the tests.
        let tests = Bundle(for: BundleAnchor.self).bundleURL
        #else
        let tests = URL(filePath: CommandLine.arguments[0])
        #endif
        return tests.deletingLastPathComponent()
    }()

    /// Computes the SHA-256 of a file with another program.
    static func sha256(_ file: URL) throws -> String {
        #if os(macOS)
        try String(run("shasum", "-a", "256", file.path).prefix(64))
        #else
        try String(run("sha256sum", file.path).prefix(64))
        #endif
    }

    /// Returns true if tests that need these programs should run.
    static func canRun(_ programs: String...) -> Bool {
        isRequired || programs.allSatisfy { path(of: $0) != nil }
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs a program and waits for its exit.
    ///
    /// - Parameters:
    ///   - program: The name of the program.
    ///   - arguments: The arguments.
    /// - Returns: The output.
    /// - Throws: A ``Failure`` with the output if the program is missing or fails.
    @discardableResult
    static func run(_ program: String, _ arguments: String...) throws -> String {
        try run(program, arguments)
    }

    /// Runs a program and waits for its exit.
    @discardableResult
    static func run(_ program: String, _ arguments: [String]) throws -> String {
        let (process, output) = try launch(program, arguments)
        let text = String(decoding: output.allBytes(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "\(program) ended with \(process.terminationStatus): \(text)")
        }
        return text
    }

    /// Runs a program on a separate thread, so that a long wait does not block other tests.
    @discardableResult
    static func runAside(_ program: String, _ arguments: [String]) async throws -> String {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<String, any Error>) in
            Thread.detachNewThread {
                // Dispatch blocks signals in its threads. The program would inherit that, and ignore a request to end.
                var none = sigset_t()
                sigemptyset(&none)
                pthread_sigmask(SIG_SETMASK, &none, nil)
                do {
                    continuation.resume(returning: try run(program, arguments))
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    /// Starts a server in the foreground and waits until it is ready.
    ///
    /// - Parameters:
    ///   - program: The name of the program.
    ///   - arguments: The arguments.
    ///   - sign: The output that shows that the server is ready.
    /// - Returns: The process. The caller must stop it.
    /// - Throws: A ``Failure`` with the output if the program is missing or exits early.
    static func start(_ program: String, _ arguments: [String], until sign: String) throws -> Process {
        let (process, output) = try launch(program, arguments)
        var text = ""
        while !text.contains(sign) {
            let more = output.nextBytes()
            guard !more.isEmpty else { throw Failure(description: "\(program) ended: \(text)") }
            text += String(decoding: more, as: UTF8.self)
        }
        // Keeps reading, since a full pipe would block the process. A thread does that, because a dispatch source crashes when
        // another process inherits the descriptor and holds it open.
        Thread.detachNewThread { while !output.nextBytes().isEmpty {} }
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

    /// Returns a free port that was not returned before.
    ///
    /// It is below the ports that the system assigns to clients, so that no connection of another test takes it.
    static func freePort() throws -> Int {
        for _ in 0..<1000 {
            let port = Int.random(in: 10_240..<32_768)
            if givenPorts.withLock({ $0.insert(port).inserted }), canListen(port) { return port }
        }
        throw Failure(description: "No port is free.")
    }

    private static func canListen(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, streamSocket, 0)
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
    /// Returns true if a server accepts connections at a port of 127.0.0.1. Some servers do not report when they are ready.
    static func isListening(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, streamSocket, 0)
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

#if canImport(Glibc)
private let streamSocket = Int32(SOCK_STREAM.rawValue)
#else
private let streamSocket = SOCK_STREAM
#endif

/// Not in the extension, where `read` is a method.
private func readBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ length: Int) -> Int {
    read(descriptor, buffer, length)
}

extension FileHandle {
    /// Returns the next bytes of a pipe; empty at the end. `availableData` ends the process if a signal interrupts it.
    func nextBytes() -> Data {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = readBytes(fileDescriptor, &bytes, bytes.count)
            if count >= 0 { return Data(bytes[..<count]) }
            if errno != EINTR { return Data() }
        }
    }

    /// Returns all bytes up to the end.
    func allBytes() -> Data {
        var all = Data()
        while true {
            let next = nextBytes()
            if next.isEmpty { return all }
            all += next
        }
    }
}

import Foundation
import SanitizerOptions
import SluiceTesting

/// The command `fetch` as a separate process.
struct FetchProcess {
    /// The result of the process.
    struct End {
        /// The exit status, or the number of the signal that killed the process.
        let status: Int32
        let isKilled: Bool
        let output: String
        let errors: String
    }

    private let process = Process()
    private let output = Pipe()
    private let errors: Pipe

    /// Starts the process. It is killed after a minute.
    init(_ arguments: [String], environment: [String: String] = [:], errors: Pipe = Pipe()) throws {
        self.errors = errors
        process.executableURL = RealServer.products.appending(path: "fetch")
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        process.environment = try Self.environment().merging(environment) { $1 }
        try process.run()
        let running = process.processIdentifier
        DispatchQueue.global().asyncAfter(deadline: .now() + 60) { [weak process] in
            if process?.isRunning == true { kill(running, SIGKILL) }
        }
    }

    /// Returns the environment of the tests, with their suppressions for the thread sanitizer.
    static func environment() throws -> [String: String] {
        let suppressions = FileManager.default.temporaryDirectory.appending(path: "sluice-thread-suppressions.txt")
        try Data(String(cString: __tsan_default_suppressions()).utf8).write(to: suppressions, options: .atomic)
        return ProcessInfo.processInfo.environment
            .merging(["TSAN_OPTIONS": "suppressions=\(suppressions.path)"]) { "\($0):\($1)" }
    }

    /// Sends a signal to the process.
    func send(_ signal: Int32) {
        kill(process.processIdentifier, signal)
    }

    /// Waits for the process to exit.
    func end() throws -> End {
        let outputData = try output.fileHandleForReading.readToEnd() ?? Data()
        let errorData = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return End(
            status: process.terminationStatus,
            isKilled: process.terminationReason == .uncaughtSignal,
            output: String(decoding: outputData, as: UTF8.self),
            errors: String(decoding: errorData, as: UTF8.self)
        )
    }
}

/// Returns the SHA-256 of data, computed by another program.
func sha256(_ data: Data) throws -> String {
    let file = try TemporaryFile(data)
    defer { file.remove() }
    return try RealServer.sha256(file.url)
}

extension Data {
    /// Returns random bytes, the same for the same seed.
    static func random(_ count: Int, seed: UInt64) -> Data {
        var generator = SeededGenerator(seed: seed)
        var words = [UInt64](repeating: 0, count: (count + 7) / 8)
        for index in words.indices { words[index] = generator.next() }
        return words.withUnsafeBytes { Data($0.prefix(count)) }
    }
}

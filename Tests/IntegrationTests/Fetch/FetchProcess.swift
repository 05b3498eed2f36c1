import Fetching
import Foundation
import SanitizerOptions
import SluiceHTTP
import SluiceTesting

/// The command `fetch` as a separate process.
struct FetchProcess {
    /// The result of the process.
    struct End {
        /// The exit status, or the number of the signal that killed the process.
        let status: Int32
        let isKilled: Bool
        let data: Data
        let errors: String

        /// The standard output as text.
        var output: String { String(decoding: data, as: UTF8.self) }
    }

    private let process = Process()
    private let isOutputClosed = Locked(false)
    private let output = Pipe()
    private let errors: Pipe
    /// The path of the command.
    static let path = RealServer.products.appending(path: "fetch").path

    /// Starts the process. It is killed after a minute.
    ///
    /// - Parameters:
    ///   - arguments: The arguments.
    ///   - environment: Changes of the environment.
    ///   - input: The text of standard input, which must fit into a pipe.
    ///   - errors: The pipe for standard error.
    ///   - isOutputShort: True for a pipe from standard output that has room for another line only when it is empty. Linux only.
    ///   - setup: Commands of a shell that run before the command replaces it.
    /// - Throws: An error if the process cannot be started.
    init(
        _ arguments: [String],
        environment: [String: String] = [:],
        input: String? = nil,
        errors: Pipe = Pipe(),
        isOutputShort: Bool = false,
        after setup: String? = nil
    ) throws {
        self.errors = errors
        process.executableURL = URL(filePath: setup == nil ? Self.path : "/bin/sh")
        process.arguments = (setup.map { ["-c", "\($0)\nexec \"$0\" \"$@\"", Self.path] } ?? []) + arguments
        process.standardOutput = output
        process.standardError = errors
        if let input {
            let pipe = Pipe()
            try pipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
            try pipe.fileHandleForWriting.close()
            process.standardInput = pipe
        } else {
            process.standardInput = FileHandle.nullDevice
        }
        process.environment = try Self.environment().merging(environment) { $1 }
        #if os(Linux)
        // F_SETPIPE_SZ, which is no constant in Swift. It fails once the pipe has more bytes.
        if isOutputShort, fcntl(output.fileHandleForReading.fileDescriptor, 1031, 4096) < 0 {
            throw RealServer.Failure(description: "The pipe cannot be shortened: \(errno)")
        }
        #endif
        // The process would inherit signals that the tests ignore, as in the background of a script.
        signal(SIGINT, SIG_DFL)
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

    /// The number of the process.
    var identifier: Int32 { process.processIdentifier }

    /// Reads some bytes of standard output.
    func read(_ count: Int) throws -> Data {
        try output.fileHandleForReading.read(upToCount: count) ?? Data()
    }

    /// Closes the pipe from standard output, as `head` does when it has read enough.
    func closeOutput() throws {
        try output.fileHandleForReading.close()
        isOutputClosed.withLock { $0 = true }
    }

    /// Waits for the process to exit.
    func end() throws -> End {
        let isClosed = isOutputClosed.withLock { $0 }
        let outputData = isClosed ? Data() : output.fileHandleForReading.allBytes()
        let errorData = errors.fileHandleForReading.allBytes()
        process.waitUntilExit()
        return End(
            status: process.terminationStatus,
            isKilled: process.terminationReason == .uncaughtSignal,
            data: outputData,
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

extension FetchProcess.End {
    /// The events that `--json` has printed. Every line must be one.
    var events: [DownloadEvent] {
        get throws {
            try output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
                try JSONDecoder().decode(DownloadEvent.self, from: Data($0.utf8))
            }
        }
    }
}

import Foundation
import Testing

#if os(macOS)
/// A class of the bundle of the tests. On a Mac, another program loads the bundle.
private final class BundleAnchor {}
#endif

/// A program that a test runs to its end.
struct Program {
    struct Failure: Error, CustomStringConvertible {
        /// The exit status of the program.
        let status: Int32
        let description: String
    }

    let path: String

    /// The command of this package, which is built next to the tests.
    static let waterfall: Program = {
        #if os(macOS)
        let tests = Bundle(for: BundleAnchor.self).bundleURL
        #else
        let tests = URL(filePath: CommandLine.arguments[0])
        #endif
        let products = tests.deletingLastPathComponent()
        return Program(path: products.appending(path: "waterfall").path)
    }()

    /// Chromium; nil if it is not installed.
    static let chromium: Program? = {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").map { "\($0)/chromium" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
            .map(Program.init(path:))
    }()

    /// True if the tests of a page in a browser run. With `SLUICE_REQUIRE_SERVERS=1` they fail without Chromium,
    /// instead of being skipped.
    static let browserTestsRun =
        chromium != nil || ProcessInfo.processInfo.environment["SLUICE_REQUIRE_SERVERS"] == "1"

    /// Runs the program on a separate thread. It is killed after a minute.
    ///
    /// - Returns: The output and the errors.
    /// - Throws: A ``Failure`` with the output if the program fails.
    @discardableResult
    func run(_ arguments: [String]) async throws -> String {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<String, any Error>) in
            Thread.detachNewThread { continuation.resume(with: Result { try wait(arguments) }) }
        }
    }

    private func wait(_ arguments: [String]) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let identifier = process.processIdentifier
        let limit = DispatchWorkItem { kill(identifier, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + 60, execute: limit)
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        limit.cancel()
        guard process.terminationStatus == 0 else {
            let status = process.terminationStatus
            throw Failure(status: status, description: "\(path) ended with \(status): \(text)")
        }
        return text
    }
}

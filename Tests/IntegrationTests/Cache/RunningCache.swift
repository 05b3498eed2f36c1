import Foundation

/// The program `CacheProcess`, which is built beside the tests, as another process.
final class RunningCache {
    private let process = Process()
    private let output = Pipe()
    private let input = Pipe()
    private var rest = Data()

    /// Starts it; it is ended after two minutes at the latest.
    init(_ arguments: String...) throws {
        let tests = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        process.executableURL = tests.appending(path: "CacheProcess")
        process.arguments = arguments
        process.standardOutput = output
        process.standardInput = input
        try process.run()
        let running = process.processIdentifier
        DispatchQueue.global().asyncAfter(deadline: .now() + 120) { [weak process] in
            if process?.isRunning == true { Foundation.kill(running, SIGKILL) }
        }
    }

    /// The next line that it prints; nil once it has ended.
    func line() -> String? {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { rest = Data(rest[(end + 1)...]) }
                return String(decoding: rest[..<end], as: UTF8.self)
            }
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { return nil }
            rest.append(data)
        }
    }

    /// All lines until one of these, or the end.
    func lines(until last: String) -> [String] {
        var lines: [String] = []
        while let line = line() {
            lines.append(line)
            if line == last { break }
        }
        return lines
    }

    /// Lets it go on.
    func proceed() {
        try? input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
    }

    /// Ends it wherever it is.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Waits for its end.
    func end() -> (status: Int32, lines: [String]) {
        var lines: [String] = []
        while let line = line() { lines.append(line) }
        process.waitUntilExit()
        return (process.terminationStatus, lines)
    }
}

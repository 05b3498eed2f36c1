import Foundation

/// A program of this package, built next to the tests, as another process.
final class RunningProgram {
    private let process = Process()
    private let output = Pipe()
    private let input = Pipe()
    private var rest = Data()

    /// Starts the process. It is killed after two minutes.
    init(_ program: String, _ arguments: String...) throws {
        process.executableURL = RealServer.products.appending(path: program)
        process.arguments = arguments
        process.standardOutput = output
        process.standardInput = input
        try process.run()
        let running = process.processIdentifier
        DispatchQueue.global().asyncAfter(deadline: .now() + 120) { [weak process] in
            if process?.isRunning == true { Foundation.kill(running, SIGKILL) }
        }
    }

    /// Returns the next line of output; nil at the end.
    func line() -> String? {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { rest = Data(rest[(end + 1)...]) }
                return String(decoding: rest[..<end], as: UTF8.self)
            }
            let data = output.fileHandleForReading.nextBytes()
            if data.isEmpty { return nil }
            rest.append(data)
        }
    }

    /// Returns all lines up to the given one, or to the end.
    func lines(until last: String) -> [String] {
        var lines: [String] = []
        while let line = line() {
            lines.append(line)
            if line == last { break }
        }
        return lines
    }

    /// Sends the process a line, which lets it continue.
    func proceed(_ line: String = "") {
        try? input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Kills the process.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Waits for the process to exit.
    func end() -> (status: Int32, lines: [String]) {
        var lines: [String] = []
        while let line = line() { lines.append(line) }
        process.waitUntilExit()
        return (process.terminationStatus, lines)
    }
}

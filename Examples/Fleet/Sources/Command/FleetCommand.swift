import FleetReport
import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The processes of the example and its report. The script `run` starts them.
@main struct FleetCommand {
    private static let usage = """
        usage: fleet upstream
               fleet service NUMBER --upstream URL --redis SOCKET
               fleet report FOLDER --page FILE

        A service reads the key of its seal from the environment variable FLEET_KEY.

        """

    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            output("fleet: \(error)\n", to: STDERR_FILENO)
            exit((error as? CommandError)?.status ?? EXIT_FAILURE)
        }
    }

    private static func run(_ arguments: [String]) async throws {
        switch arguments.first {
        case "upstream" where arguments.count == 1:
            try await Upstream(FleetRules(), log: EventLog()).run()
        case "service" where arguments.count == 6 && arguments[2] == "--upstream" && arguments[4] == "--redis":
            guard let number = Int(arguments[1]) else { throw CommandError(description: usage, status: EX_USAGE) }
            guard let key = Secret(environment: "FLEET_KEY") else {
                throw CommandError(description: "FLEET_KEY is not set.")
            }
            let client = try FleetClient(upstream: arguments[3], redis: arguments[5], key: key)
            await Service(number: number, client: client, log: EventLog()).run()
        case "report" where arguments.count == 4 && arguments[2] == "--page":
            guard try report(arguments[1], page: arguments[3]) else { exit(EXIT_FAILURE) }
        default:
            throw CommandError(description: usage, status: EX_USAGE)
        }
    }

    /// Prints the table and writes the page. Returns true if all conditions hold.
    private static func report(_ folder: String, page: String) throws -> Bool {
        var events: [FleetEvent] = []
        for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() where name.hasSuffix(".jsonl")
        {
            events += try FleetEvent.events(in: Data(contentsOf: URL(filePath: "\(folder)/\(name)")))
        }
        let report = Report(events)
        output(report.text, to: STDOUT_FILENO)
        try Data(FleetPage(report).html.utf8).write(to: URL(filePath: page), options: .atomic)
        return report.holds
    }

    /// Writes a text. If that fails, the process ends with an error, because the report would count too few events.
    static func output(_ text: String, to file: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                // Without standard error, the failure can only be told by the status.
                if file == STDERR_FILENO { return }
                output("fleet: The output cannot be written: \(String(cString: strerror(errno))).\n", to: STDERR_FILENO)
                exit(EXIT_FAILURE)
            }
            bytes = bytes.dropFirst(count)
        }
    }
}

/// An error, described in a sentence.
struct CommandError: Error, CustomStringConvertible {
    let description: String
    /// The exit status of the process.
    var status = EXIT_FAILURE
}

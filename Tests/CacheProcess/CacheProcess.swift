import Foundation
import Sluice
import SluiceTesting

/// A cache in a separate process, for tests that kill processes or share a cache among them.
///
/// The process prints its progress to standard output. If a check fails, it prints the reason and exits with 1.
@main
struct CacheProcess {
    let storage: SQLiteCacheStorage
    let directory: URL

    struct Failure: Error {
        let reason: String
    }

    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard let command = arguments.first, let path = arguments.dropFirst().first else {
            return end("usage: CacheProcess write|check|stress|share|read <directory> [<seed>]")
        }
        let directory = URL(filePath: path)
        let seed = arguments.dropFirst(2).first.flatMap { UInt64($0) } ?? 0
        if command == "read" { dropPrivileges() }
        let process = CacheProcess(
            storage: SQLiteCacheStorage(directory: directory) { write("event: \($0)") },
            directory: directory
        )
        do {
            switch command {
            case "write": try await process.writeForever(seed: seed)
            case "check": try await process.check()
            case "stress": try await process.stress(for: .seconds(10), seed: seed)
            case "share": try await process.share(number: Int(seed))
            case "read": try await process.readOnly()
            default: end("unknown command \(command)")
            }
        } catch let failure as Failure {
            end(failure.reason)
        } catch let error as SluiceError {
            end(error.expandedDescription)
        } catch {
            end("\(error)")
        }
    }

    /// Drops root privileges, because root may write every file.
    private static func dropPrivileges() {
        guard geteuid() == 0 else { return }
        guard setgid(65534) == 0, setuid(65534) == 0 else { return end("cannot drop privileges") }
    }

    static func write(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }

    static func end(_ reason: String) {
        write("failed: \(reason)")
        exit(1)
    }
}

extension CacheProcess {
    /// Prints a line and waits for one on standard input. Then it stores an entry and looks for the other process's entry.
    func share(number: Int) async throws {
        _ = try? await storage.size()
        Self.write("ready")
        _ = readLine()
        try await storage.apply([.store(SelfVerifying.entry(number, counter: 1, length: 10_000))])
        Self.write("stored")
        _ = readLine()
        for number in 0..<2 {
            let found = try await storage.entries(for: SelfVerifying.key(number), at: Date())
            guard try SelfVerifying.counters(of: found) == [1] else {
                throw Failure(reason: "entry \(number) is missing")
            }
        }
        Self.write("shared")
    }

    /// Reads a cache that is not writable, and expects writes to fail.
    func readOnly() async throws {
        let found = try await storage.entries(for: SelfVerifying.key(0), at: Date())
        Self.write("found \(try SelfVerifying.counters(of: found))")
        do {
            try await storage.apply([.store(SelfVerifying.entry(1, counter: 1, length: 10))])
            Self.write("written")
        } catch {
            Self.write("refused: \(error.code)")
        }
        let again = try await storage.entries(for: SelfVerifying.key(0), at: Date())
        Self.write("found \(try SelfVerifying.counters(of: again))")
    }
}

#if os(Linux)
import Foundation
import Sluice
import SluiceTesting

/// Runs many cases concurrently.
enum FaultSuite {
    private static let benchCount = 96
    /// The number of cases in this process.
    static let cases = Locked(0)

    /// Runs cases and returns a description of each problem.
    static func run(_ cases: [FaultCase]) async throws -> [String] {
        self.cases.withLock { $0 += cases.count }
        let next = Locked(0)
        return try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<min(benchCount, cases.count) {
                group.addTask {
                    var bench = try FaultBench()
                    var problems: [String] = []
                    while case let index = next.withLock({
                        $0 += 1; return $0 - 1
                    }), index < cases.count {
                        if let problem = try await bench.run(cases[index]) {
                            problems.append("\(cases[index]): \(problem)")
                        }
                    }
                    return problems
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// Returns the number of bytes of an exchange's request on the wire.
    static func requestLength(of exchange: FaultExchange, by sender: FaultSender) async throws -> Int {
        let server = try LoopbackServer()
        let path = FaultBench.path(0)
        server.on("/" + path, .status(.ok).closingConnection())
        _ = await sender.send(exchange.method, path, exchange.upload, to: server)
        return Int(server.bytesReceived)
    }

    /// Returns the open descriptors of the process by target. Each socket has its own target; other targets are counted.
    static func openDescriptors() throws -> [String: Int] {
        let folder = "/proc/self/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).reduce(into: [:]) { counts, name in
            // A descriptor that was closed meanwhile has no target.
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
            if let target { counts[target, default: 0] += 1 }
        }
    }
}
#endif

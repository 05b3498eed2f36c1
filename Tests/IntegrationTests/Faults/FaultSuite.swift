#if os(Linux)
import Foundation
import Sluice
import SluiceTesting

/// Runs cases, very many at once.
enum FaultSuite {
    private static let benches = 96
    /// All cases of the process.
    static let cases = Locked(0)

    /// Complaints, one for each case that went wrong.
    static func run(_ cases: [FaultCase]) async throws -> [String] {
        self.cases.withLock { $0 += cases.count }
        let next = Locked(0)
        return try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<min(benches, cases.count) {
                group.addTask {
                    var bench = try FaultBench()
                    var complaints: [String] = []
                    while case let index = next.withLock({
                        $0 += 1; return $0 - 1
                    }), index < cases.count {
                        if let complaint = try await bench.run(cases[index]) {
                            complaints.append("\(cases[index]): \(complaint)")
                        }
                    }
                    return complaints
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// How many bytes a request of an exchange has on the wire.
    static func requestLength(of exchange: FaultExchange, by door: FaultDoor) async throws -> Int {
        let server = try LoopbackServer()
        server.on("/fault", .status(.ok).closingConnection())
        _ = await door.send(exchange.method, "fault", exchange.upload, to: server)
        return Int(server.bytesReceived)
    }

    /// The open descriptors of the process, by what they lead to: each socket has a number of its own, others are
    /// counted.
    static func openDescriptors() throws -> [String: Int] {
        let folder = "/proc/self/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).reduce(into: [:]) { counts, name in
            // One that has been closed meanwhile leads nowhere.
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
            if let target { counts[target, default: 0] += 1 }
        }
    }
}
#endif

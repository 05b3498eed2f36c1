#if os(Linux)
import Foundation
import Sluice
import SluiceEngine
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

    /// What is open once libcurl has closed the connections whose other end is gone.
    static func openDescriptors() async throws -> Int {
        let server = try LoopbackServer()
        server.on("/", .text("ok"))
        let transport = SocketTransport()
        let request = HTTPRequest(scheme: "http", authority: server.authority, path: "/")
        repeat {
            _ = try await transport.send(request, context: TransferContext()).body.collect()
        } while await SocketTransport.statistics().connections > 1
        return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }
}
#endif

#if os(Linux)
import Foundation
import Sluice
import SluiceEngine
import Testing

/// Requests to more hosts than the descriptor limit of a process.
@Suite(.enabled(if: RealServer.canRun("nginx"), "nginx is missing: apt-get install nginx-light"))
struct ManyHostsTests {
    @Test func reachesTenThousandHostsWith1024Descriptors() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let port = try RealServer.freePort()
            var server: NginxProcess? = try NginxProcess(
                in: FileManager.default.temporaryDirectory.appending(path: "sluice-hosts-\(UUID().uuidString)"),
                connections: 2048,
                http: "server { listen 127.0.0.1:\(port); location / { return 200 $host; } }"
            )
            var limits = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
            limits.rlim_cur = 1024
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0)

            let client = APIClient { $0.connection.hostAddresses["*"] = [IPAddress(127, 0, 0, 1)] }
            for first in stride(from: 0, to: 10_000, by: 100) {
                let right = try await withThrowingTaskGroup(of: Bool.self) { group in
                    for index in first..<first + 100 {
                        group.addTask {
                            let answer = try await client.data.get("http://h\(index).test:\(port)/").sender().value
                            return answer == Data("h\(index).test".utf8)
                        }
                    }
                    return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
                }
                try #require(right == 100)
            }
            let statistics = SocketTransport.statistics()
            try #require(statistics.activeTransfers == 0)
            try #require(statistics.connections <= 768 + 1)
            withExtendedLifetime(server) {}
            // Stopped here, because `exit` releases nothing.
            server = nil
            exit(7)
        }
    }
}
#endif

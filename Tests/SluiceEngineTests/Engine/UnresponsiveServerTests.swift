#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// Servers that never answer, answer too slowly, or answer without end. The transport still serves the next request.
    @Suite struct UnresponsiveServerTests {
        private let server: LoopbackServer
        private let transport = SocketTransport()

        init() throws {
            server = try LoopbackServer()
            server.on("/good", .text("good"))
        }

        private func expectNextRequestSucceeds() async throws {
            let response = try await transport.exchange(server.request("/good"))
            #expect(response.text == "good")
            #expect(transport.isQuiet)
        }

        /// Returns the error of a request to a path, and its duration.
        private func failure(of path: String, _ timeouts: Timeouts) async -> (SluiceError.Code?, Duration) {
            let start = ContinuousClock.now
            let error = await transport.failure(of: server.request(path), TransferContext(timeouts: timeouts))
            return (error?.code, ContinuousClock.now - start)
        }

        /// Time-outs that wait for each other are apart in each run. A delay of the machine is not in each run.
        @Test func unansweredHandshakesTimeOutTogether() async throws {
            let silent = try TestListener(TestListener.discardInput)
            let context = TransferContext.http1(
                TLSConfiguration(trust: .insecurelyAnyCertificate),
                timeouts: Timeouts(connect: .seconds(2))
            )
            let request = HTTPRequest(scheme: "https", authority: silent.authority, path: "/")
            var runs: [[Duration]] = []
            var areTogether = false
            while !areTogether, runs.count < 3 {
                let start = ContinuousClock.now
                let tasks = (0..<8).map { _ in
                    Task { [transport] in
                        let error = await transport.failure(of: request, context)
                        return (error?.code, ContinuousClock.now - start)
                    }
                }
                var times: [Duration] = []
                for task in tasks {
                    let (code, time) = await task.value
                    #expect(code == .connectTimedOut)
                    times.append(time)
                }
                runs.append(times)
                // The sockets are closed as well.
                let count = 8 * runs.count
                try await waitUntil("the sockets are closed") {
                    silent.connections == count && silent.openConnections == 0
                }
                let first = try #require(times.min())
                let last = try #require(times.max())
                #expect(first >= .seconds(2))
                areTogether = last - first < .milliseconds(500) && last < .milliseconds(3500)
            }
            #expect(areTogether, "\(runs)")
            try await expectNextRequestSucceeds()
        }

        @Test func silentServerTimesOutAfterTheIdleTimeout() async throws {
            server.on("/hang", .hang)
            let (code, time) = await failure(of: "/hang", Timeouts(idle: .milliseconds(300)))
            #expect(code == .idleTimedOut)
            #expect(time >= .milliseconds(300))
            #expect(time < .milliseconds(1800), "\(time)")
            try await expectNextRequestSucceeds()
        }

        @Test func stalledBodyTimesOutAfterTheIdleTimeout() async throws {
            server.on("/partial", .partial(Data("half".utf8), announced: 8))
            let (code, time) = await failure(of: "/partial", Timeouts(idle: .milliseconds(300)))
            #expect(code == .idleTimedOut)
            #expect(time >= .milliseconds(300))
            try await expectNextRequestSucceeds()
        }

        @Test func slowHeadTimesOutAfterTheTotalTimeout() async throws {
            let steps = "HTTP/1.1 200 OK\r\n".map { [LoopbackResponse.Step.write(String($0)), .pause(.seconds(1))] }
            server.on("/slow", .script(Array(steps.joined())))
            let (code, time) = await failure(of: "/slow", Timeouts(total: .milliseconds(2500)))
            #expect(code == .timedOut)
            #expect(time >= .milliseconds(2500))
            #expect(time < .milliseconds(4000), "\(time)")
            await server.waitForRequests(1)
            #expect(server.requests(to: "/slow").count == 1)
            try await expectNextRequestSucceeds()
        }

        /// One field longer than the limit for a head, long fields, and very many short fields.
        static let endlessFields: [String] = {
            let long = String(repeating: "x", count: 70_000)
            let field = "X-Field: \(long.prefix(300))\r\n"
            return ["X: \(long)", String(repeating: field, count: 300), String(repeating: "X:\r\n", count: 2000)]
        }()

        @Test(arguments: UnresponsiveServerTests.endlessFields)
        func endlessHeadsAndTrailersAreRejected(_ fields: String) async throws {
            server.on("/head", .script(.write("HTTP/1.1 200 OK\r\n" + fields), .hang))
            let body = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"
            server.on("/trailers", .script(.write(body + fields), .hang))
            for path in ["/head", "/trailers"] {
                let (code, _) = await failure(of: path, Timeouts(idle: .seconds(20)))
                #expect(code == .headersTooLarge, "\(path)")
                try await expectNextRequestSucceeds()
            }
        }

        @Test func informationalResponsesAreLimited() async throws {
            let hint = "HTTP/1.1 103 Early Hints\r\n\r\n"
            let end = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            server.on("/many", .script(.write(String(repeating: hint, count: 100) + end)))
            server.on("/tooMany", .script(.write(String(repeating: hint, count: 101) + end)))
            let counted = Locked(0)
            var context = TransferContext()
            context.onInformational = { _ in counted.withLock { $0 += 1 } }
            #expect(try await transport.exchange(server.request("/many"), context).text == "ok")
            #expect(counted.withLock { $0 } == 100)
            #expect(await transport.failure(of: server.request("/tooMany"))?.code == .invalidResponse)
            try await expectNextRequestSucceeds()
        }
    }
}
#endif

#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// Requests that are cancelled at any time.
    @Suite struct CancellationTests {
        private let server: LoopbackServer
        private let certificates: TestCertificates

        init() throws {
            server = try LoopbackServer()
            server.on("/kept/*", .text("ok"))
            server.on("/closing/*", .text("ok").closingConnection())
            server.on("/chunked/*", .chunked(Array(repeating: Data(count: 10_000), count: 20)))
            certificates = try TestCertificates.shared.get()
        }

        @Test(arguments: [1, 4] as [Int], [1, 2, 3] as [UInt64])
        func everyRequestEndsInAResponseOrACancellation(_ limit: Int, _ seed: UInt64) async throws {
            var random = SeededGenerator(seed: seed)
            let transport = SocketTransport { $0.maximumTransfersPerHost = limit }
            var ends: [SluiceError.Code?: Int] = [:]
            for round in 0..<100 {
                let kind = ["kept", "closing", "chunked"][Int.random(in: 0..<3, using: &random)]
                let tasks = (0..<3).map { index in
                    let request = server.request("/\(kind)/\(round)/\(index)")
                    return Task { await transport.result(of: request) }
                }
                for task in tasks {
                    for _ in 0..<Int.random(in: 0..<60, using: &random) { await Task.yield() }
                    task.cancel()
                }
                for task in tasks {
                    let code = await task.value.error?.code
                    ends[code, default: 0] += 1
                }
            }
            #expect(Set(ends.keys).isSubset(of: [nil, .cancelled]), "\(ends)")
            #expect(ends.values.reduce(0, +) == 300)
            try await waitUntil("no request is left") { transport.isQuiet }
            #expect(try await transport.exchange(server.request("/kept/last")).text == "ok")
            // More connections than the limit may exist, opened for requests that then used others.
            try await waitUntil("only the connections of the pool are open") { server.openConnections <= 8 }
        }

        @Test func cancelledWaitingRequestIsNeverSent() async throws {
            let signal = LoopbackSignal()
            server.on("/held", .after(signal, .text("held")))
            let transport = SocketTransport { $0.maximumTransfersPerHost = 1 }
            let request = server.request("/held")
            let held = Task { await transport.result(of: request) }
            await server.waitForRequests(1)
            let tasks = (0..<100).map { index in
                let request = server.request("/kept/\(index)")
                return Task { await transport.result(of: request) }
            }
            try await waitUntil("all requests wait") { transport.queued == 100 }
            // Every third request is not cancelled.
            for (index, task) in tasks.enumerated() where index % 3 != 0 { task.cancel() }
            for (index, task) in tasks.enumerated() where index % 3 != 0 {
                #expect(await task.value.error?.code == .cancelled)
            }
            #expect(transport.queued == 34)
            signal.fire()
            _ = try await held.value.get()
            for (index, task) in tasks.enumerated() where index % 3 == 0 { _ = try await task.value.get() }
            let expected = Set((0..<100).filter { $0 % 3 == 0 }.map { "/kept/\($0)" })
            #expect(Set(server.requests.map(\.path)) == expected.union(["/held"]))
            #expect(transport.isQuiet)
        }

        @Test func requestCancelledDuringTheHandshakeIsNeverSent() async throws {
            // Holds the handshake back until after the cancellation.
            let gate = DispatchSemaphore(value: 0)
            let tls = try TestTLSServer(certificates.right)
            let seen = Locked<[String]>([])
            let listener = try TestListener { descriptor in
                gate.wait()
                tls.serve(descriptor) { connection in
                    guard connection.isOpen, let bytes = connection.read() else { return }
                    seen.withLock { $0.append(String(decoding: bytes.prefix(40), as: UTF8.self)) }
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    connection.echo()
                }
            }
            defer { for _ in 0..<100 { gate.signal() } }
            let transport = SocketTransport()
            let context = TransferContext.http1(TLSConfiguration(trust: .only(certificates.root.source)))
            let tasks = (0..<10).map { index in
                let request = HTTPRequest(scheme: "https", authority: listener.authority, path: "/cancelled/\(index)")
                return Task { await transport.result(of: request, context) }
            }
            try await waitUntil("all requests connect") { listener.connections == 10 }
            for task in tasks { task.cancel() }
            for task in tasks { #expect(await task.value.error?.code == .cancelled) }
            #expect(transport.isQuiet)
            for _ in 0..<10 { gate.signal() }
            try await waitUntil("the connections are closed") { listener.openConnections == 0 }
            #expect(seen.withLock { $0 }.isEmpty)
            gate.signal()
            let request = HTTPRequest(scheme: "https", authority: listener.authority, path: "/good")
            #expect(try await transport.exchange(request, context).text == "ok")
            #expect(seen.withLock { $0.count } == 1)
        }

        @Test func cancellingARequestInProgressClosesItsConnection() async throws {
            server.on("/hang", .hang)
            server.on("/endless", .endless(chunk: Data(count: 1000)))
            let transport = SocketTransport()
            for path in ["/hang", "/endless"] {
                let (request, before) = (server.request(path), server.requestCount)
                let task = Task { await transport.result(of: request) }
                await server.waitForRequests(before + 1)
                task.cancel()
                #expect(await task.value.error?.code == .cancelled)
                try await waitUntil("the connection is closed") { server.openConnections == 0 }
                // The server may see the end of the connection before the pool has released the request's slot.
                try await waitUntil("the slot is free") { transport.isQuiet }
            }
        }

        @Test func cancelledTaskSendsNothing() async throws {
            let transport = SocketTransport()
            let request = server.request("/kept/never")
            for _ in 0..<50 {
                let task = Task {
                    while !Task.isCancelled { await Task.yield() }
                    return await transport.failure(of: request)
                }
                task.cancel()
                #expect(await task.value?.code == .cancelled)
            }
            #expect(transport.isQuiet)
            #expect(try await transport.exchange(server.request("/kept/after")).text == "ok")
            #expect(server.requestCount == 1)
        }
    }
}
#endif

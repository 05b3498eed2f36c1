#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// Connections between two requests, and the conditions for their reuse.
    @Suite struct ReuseTests {
        private typealias Answer = Result<TransportResponse, SluiceError>

        private let certificates: TestCertificates
        private let transport = SocketTransport()

        init() throws { certificates = try TestCertificates.shared.get() }

        // MARK: Closing

        /// Reads a request with a body of the announced length; false at the end.
        private static func readRequest(_ descriptor: Int32) -> Bool {
            guard let head = TestListener.readHead(descriptor) else { return false }
            let line = head.components(separatedBy: "\r\n").first { $0.hasPrefix("Content-Length: ") }
            var left = line.flatMap { Int($0.dropFirst("Content-Length: ".count)) } ?? 0
            var byte: UInt8 = 0
            while left > 0, recv(descriptor, &byte, 1, 0) == 1 { left -= 1 }
            return left == 0
        }

        @Test(arguments: ["close", "Close", "keep-alive, close"])
        func connectionCloseInTheRequestClosesTheConnection(_ value: String) async throws {
            let listener = try TestListener { descriptor in
                // The server keeps the connection open and sends no `Connection: close`.
                while ReuseTests.readRequest(descriptor) {
                    TestListener.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", to: descriptor)
                }
            }
            let content = Data("content".utf8)
            let chunks = AsyncStream<Data> { continuation in
                continuation.yield(content)
                continuation.finish()
            }
            for body: RequestBody in [.none, .data(content), .stream(chunks, length: Int64(content.count))] {
                let request = listener.request(method: .put, headers: [.connection: value], body: body)
                let response = try await transport.exchange(request)
                #expect(response.text == "ok")
                #expect(response.metrics?.isConnectionReused == false)
                #expect(!transport.hasIdle)
                try await waitUntil("the connection is closed") { listener.openConnections == 0 }
            }
            #expect(try await transport.exchange(listener.request()).text == "ok")
            #expect(transport.hasIdle)
            #expect(listener.connections == 4)
        }

        // MARK: TLS

        @Test(arguments: [2, 420_000])
        func dataAfterAResponseOverTLSClosesTheConnection(_ count: Int) async throws {
            let tls = try TestTLSServer(certificates.right)
            let content = String(repeating: "x", count: count)
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n\(content)"
            let listener = try TestListener { descriptor in
                tls.serve(descriptor) { connection in
                    while connection.isOpen, connection.read() != nil {
                        connection.write(answer + "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison")
                    }
                }
            }
            let context = TransferContext.http1(TLSConfiguration(trust: .only(certificates.root.source)))
            for _ in 0..<3 {
                let response = try await transport.exchange(listener.request(scheme: "https"), context)
                #expect(response.text == content)
                #expect(response.metrics?.isConnectionReused == false)
                try await waitUntil("the request has ended") { transport.isQuiet }
            }
            #expect(listener.connections == 3)
        }

        @Test func unreadDecryptedBytesAreDetected() throws {
            let server = try TestTLSServer(certificates.right)
            let tls = TLSConfiguration(trust: .only(certificates.root.source))
            let socket = try server.connect { connection in
                connection.write("okpoison")
                _ = connection.read()
            }
            let client = try TestTLSClient(TLSContext.context(for: tls, offering: []), socket)
            #expect(client.handshake() == nil)
            #expect(client.read(2).1 == Array("ok".utf8))
            let stream = SocketStream(socket.descriptor, client.stream)
            #expect(!stream.hasNoInput())
            #expect(client.read(6).1 == Array("poison".utf8))
            #expect(stream.hasNoInput())
        }

        // MARK: Time-outs

        /// A network device that has dropped the state of all connections, after each has carried one request.
        @Test func timeoutOfAReusedConnectionClosesThoseThatAreIdleSince() async throws {
            let mayAnswer = DispatchSemaphore(value: 0)
            let requests = Locked(0)
            let listener = try TestListener { descriptor in
                guard TestListener.readHead(descriptor) != nil else { return }
                requests.withLock { $0 += 1 }
                mayAnswer.wait()
                TestListener.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", to: descriptor)
                // The rest of the next request is not acknowledged once the receive buffer is full.
                // POLLRDHUP: until the client closes.
                var end = pollfd(fd: descriptor, events: 0x2000, revents: 0)
                poll(&end, 1, -1)
            }
            let request = listener.request()
            let tasks = (0..<3).map { _ in Task { [transport] in await transport.result(of: request) } }
            // A request that is not on its connection yet could take one that has answered.
            try await waitUntil("all requests have been received") { requests.withLock { $0 } == 3 }
            // Also for the connection of the last request.
            for _ in 0...tasks.count { mayAnswer.signal() }
            for task in tasks { #expect(try await task.value.get().text == "ok") }
            let context = TransferContext(timeouts: Timeouts(idle: .milliseconds(200)))
            let large = listener.request(method: .put, body: .data(Data(count: 400_000)))
            #expect(await transport.failure(of: large, context)?.code == .idleTimedOut)
            // The end of the connection that timed out follows the bytes that are not acknowledged.
            try await waitUntil("the idle connections are closed") { listener.openConnections == 1 }
            let response = try await transport.exchange(request)
            #expect(response.metrics?.isConnectionReused == false)
        }

        /// The kernel of a server that is only slow has acknowledged the request.
        @Test func timeoutOfASlowServerKeepsItsConnections() async throws {
            let server = try LoopbackServer()
            let signal = LoopbackSignal()
            server.on("/slow", .hang)
            server.on("/", .after(signal, .text("ok")))
            let tasks = (0..<2).map { _ in Task { [transport] in await transport.result(of: server.request("/")) } }
            try await waitUntil("both connections are in use") { server.requests(to: "/").count == 2 }
            signal.fire()
            for task in tasks { _ = try await task.value.get() }
            let context = TransferContext(timeouts: Timeouts(idle: .milliseconds(300)))
            #expect(await transport.failure(of: server.request("/slow"), context)?.code == .idleTimedOut)
            #expect(try await transport.exchange(server.request("/")).metrics?.isConnectionReused == true)
        }

        // MARK: The check before a request

        /// A server that responds as soon as a client has connected. The response belongs to the request that follows.
        @Test func newConnectionIsNotCheckedForUnreadData() async {
            await #expect(processExitsWith: .exitCode(7)) {
                let engine = try Engine.withOneLoop()
                let hasAnswered = Locked(false)
                let listener = try TestListener { descriptor in
                    TestListener.write("HTTP/1.1 503 x\r\nContent-Length: 4\r\n\r\nbusy", to: descriptor)
                    hasAnswered.withLock { $0 = true }
                    TestListener.discardInput(descriptor)
                }
                let transport = SocketTransport()
                let ahead = LoopGate(engine)
                try await waitUntil("the loop is blocked") { ahead.isClosed }
                let answer = Locked<Answer?>(nil)
                let context = TransferContext(timeouts: Timeouts(idle: .seconds(20)))
                _ = transport.begin(listener.request(), context: context) { result in
                    answer.withLock { $0 = result }
                }
                // Queued after the work that connects, and before the loop is informed of the connection.
                let behind = LoopGate(engine)
                ahead.open()
                try await waitUntil("the loop is blocked again") { behind.isClosed }
                try await waitUntil("the server has answered") { hasAnswered.withLock { $0 } }
                behind.open()
                try await waitUntil("the request has ended") { answer.withLock { $0 != nil } }
                let result = answer.withLock { $0 }
                let response = try #require(result).get()
                try #require(response.head.status == .serviceUnavailable)
                let (body, _) = await response.body.readToEnd()
                try #require(body == Data("busy".utf8))
                try #require(listener.connections == 1)
                exit(7)
            }
        }

        /// The loop is blocked and does not see the bytes that have arrived.
        @Test func reusedConnectionIsCheckedBeforeTheNextRequest() async {
            await #expect(processExitsWith: .exitCode(7)) {
                let engine = try Engine.withOneLoop()
                let mayWrite = DispatchSemaphore(value: 0)
                let connections = Locked(0)
                let hasWritten = Locked(false)
                let listener = try TestListener { descriptor in
                    let number = connections.withLock { count -> Int in
                        count += 1
                        return count
                    }
                    while TestListener.readHead(descriptor) != nil {
                        TestListener.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", to: descriptor)
                        guard number == 1 else { continue }
                        mayWrite.wait()
                        TestListener.write("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison", to: descriptor)
                        hasWritten.withLock { $0 = true }
                    }
                }
                let transport = SocketTransport()
                let first = try await transport.exchange(listener.request("/first"))
                try #require(first.text == "ok")
                try #require(transport.hasIdle)
                let gate = LoopGate(engine)
                try await waitUntil("the loop is blocked") { gate.isClosed }
                mayWrite.signal()
                try await waitUntil("the server has sent the unsolicited response") { hasWritten.withLock { $0 } }
                let request = listener.request("/second")
                let task = Task { await transport.result(of: request) }
                try await waitUntil("the idle connection is in use") { !transport.hasIdle }
                gate.open()
                let second = try await task.value.get()
                try #require(second.text == "ok")
                try #require(second.metrics?.isConnectionReused == false)
                try #require(listener.connections == 2)
                exit(7)
            }
        }

        // MARK: The next request of a connection

        /// The loop runs the completion of the first response, so it cannot send the second request.
        @Test func callerWhoseRequestWaitsSendsTheNextOne() async {
            await #expect(processExitsWith: .exitCode(7)) {
                try await ReuseTests.sendThreeRequests(closingFirst: false)
                exit(7)
            }
        }

        @Test func nextRequestOfAConnectionThatClosesIsSentOnAnother() async {
            await #expect(processExitsWith: .exitCode(7)) {
                try await ReuseTests.sendThreeRequests(closingFirst: true)
                exit(7)
            }
        }

        /// Sends requests that need the same connection. The third begins while the loop is about to send the second.
        private static func sendThreeRequests(closingFirst isClosed: Bool) async throws {
            _ = try Engine.withOneLoop()
            let received = Locked<[String]>([])
            let (mayAnswer, mayClose) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let listener = try TestListener { descriptor in
                while let head = TestListener.readHead(descriptor) {
                    let number = received.withLock { lines in
                        lines.append(String(head.prefix { $0 != "\r\n" }))
                        return lines.count
                    }
                    if number == 1 { mayAnswer.wait() }
                    TestListener.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", to: descriptor)
                    if number == 1, isClosed { return mayClose.wait() }
                }
            }
            var configuration = SocketTransport.Configuration()
            configuration.maximumTransfersPerHost = 1
            let transport = SocketTransport(configuration: configuration)
            let answered = Locked<[Int]>([])
            let loopMayContinue = DispatchSemaphore(value: 0)
            func begin(_ number: Int) {
                _ = transport.begin(listener.request("/\(number)"), context: TransferContext()) { result in
                    guard case .success = result else { return }
                    answered.withLock { $0.append(number) }
                    if number == 1 { loopMayContinue.wait() }
                }
            }
            begin(1)
            begin(2)
            mayAnswer.signal()
            try await waitUntil("the first request is answered") { answered.withLock { $0 } == [1] }
            try #require(received.withLock { $0 } == ["GET /1 HTTP/1.1"])
            if isClosed {
                mayClose.signal()
                try await waitUntil("the connection is closed") { listener.openConnections == 0 }
            }
            begin(3)
            if isClosed {
                // The caller has found the connection closed, and the dial needs the loop.
                try #require(transport.pool?.load.connecting == 1)
            } else {
                try await waitUntil("the second request is sent") { received.withLock { $0.count } == 2 }
                try #require(received.withLock { $0 }.last == "GET /2 HTTP/1.1")
            }
            loopMayContinue.signal()
            try await waitUntil("all requests are answered") { answered.withLock { $0 } == [1, 2, 3] }
            try #require(received.withLock { $0.count } == 3)
            try #require(listener.connections == (isClosed ? 2 : 1))
        }
    }
}
#endif

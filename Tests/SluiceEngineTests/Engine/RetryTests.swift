#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// Reused connections that fail during a request.
    @Suite struct RetryTests {
        private let server: LoopbackServer
        private let transport = SocketTransport()

        init() throws {
            server = try LoopbackServer()
            server.on("/first", .text("ok"))
        }

        /// Sends a request over a connection that was used before.
        private func sendOnReusedConnection(
            _ method: HTTPMethod,
            body: RequestBody = .none
        ) async throws -> Result<ReadResponse, SluiceError> {
            _ = try await transport.exchange(server.request("/first"))
            #expect(transport.hasIdle)
            return await transport.result(of: server.request("/second", method: method, body: body))
        }

        static let ends: [LoopbackResponse] = [.drop, .reset]

        @Test(arguments: 0..<2, [HTTPMethod.get, .head, .put, .delete])
        func idempotentRequestIsRetriedOnANewConnection(_ end: Int, _ method: HTTPMethod) async throws {
            server.on("/second", RetryTests.ends[end], .text("again"))
            let body: RequestBody = method == .put ? .data(Data("content".utf8)) : .none
            let response = try await sendOnReusedConnection(method, body: body).get()
            #expect(response.text == (method == .head ? "" : "again"))
            #expect(response.metrics?.isConnectionReused == false)
            let seen = server.requests(to: "/second")
            #expect(seen.map(\.connection) == [1, 2])
            #expect(seen.allSatisfy { $0.body == Data((method == .put ? "content" : "").utf8) })
            #expect(transport.isQuiet)
        }

        private static let idle = LoopbackResponse.raw(
            "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 4\r\n\r\nidle"
        )

        /// The server has ended the idle connection, and the request met its response on the way (RFC 9110 §15.5.9).
        @Test func requestThatMeetsTheEndOfAnIdleConnectionIsSentAgain() async throws {
            server.on("/second", Self.idle, .text("again"))
            let response = try await sendOnReusedConnection(.put, body: .data(Data("content".utf8))).get()
            #expect(response.text == "again")
            #expect(server.requests(to: "/second").map(\.connection) == [1, 2])
            #expect(transport.isQuiet)
        }

        @Test func otherResponsesOfRequestTimeoutAreDelivered() async throws {
            server.on("/second", Self.idle)
            let fresh = try await transport.exchange(server.request("/second"))
            #expect(fresh.status == .requestTimeout && fresh.text == "idle")
            #expect(try await sendOnReusedConnection(.post, body: .data(Data("x".utf8))).get().text == "idle")
            #expect(server.requests(to: "/second").count == 2)
            // The second one of the same request.
            #expect(try await sendOnReusedConnection(.get).get().text == "idle")
            #expect(server.requests(to: "/second").count == 4)
            server.on("/second", .status(.requestTimeout))
            #expect(try await sendOnReusedConnection(.get).get().status == .requestTimeout)
            #expect(server.requests(to: "/second").count == 5)
        }

        @Test(arguments: 0..<2)
        func nonIdempotentRequestIsSentOnce(_ end: Int) async throws {
            server.on("/second", RetryTests.ends[end], .text("again"))
            let result = try await sendOnReusedConnection(.post, body: .data(Data("x".utf8)))
            #expect(result.error?.code == .connectionLost)
            #expect(server.requests(to: "/second").count == 1)
            #expect(transport.isQuiet)
            let next = try await transport.exchange(server.request("/first"))
            #expect(next.metrics?.isConnectionReused == false)
        }

        @Test func idempotentRequestThatMustNotBeRepeatedIsSentOnce() async throws {
            server.on("/second", .drop, .text("again"))
            _ = try await transport.exchange(server.request("/first"))
            #expect(transport.hasIdle)
            var context = TransferContext()
            context.isRepeatable = false
            #expect(await transport.failure(of: server.request("/second"), context)?.code == .connectionLost)
            #expect(server.requests(to: "/second").count == 1)
        }

        @Test(arguments: 0..<2)
        func requestOnANewConnectionIsNotRetried(_ end: Int) async throws {
            server.on("/second", RetryTests.ends[end], .text("again"))
            let error = await transport.failure(of: server.request("/second"))
            #expect(error?.code == .connectionLost)
            #expect(server.requests(to: "/second").count == 1)
            #expect(server.connections == 1)
        }

        /// The server goes away during the upload, so the body was opened again in vain.
        @Test func bodyIsClosedIfThereIsNoFurtherAttempt() async throws {
            let stopped = Locked<TestListener?>(nil)
            let listener = try TestListener { descriptor in
                guard TestListener.readHead(descriptor) != nil else { return }
                TestListener.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", to: descriptor)
                guard TestListener.readHead(descriptor) != nil else { return }
                guard TestListener.read(descriptor, through: "first") != nil else { return }
                stopped.withLock(\.self)?.stop()
            }
            stopped.withLock { $0 = listener }
            defer { stopped.withLock { $0 = nil } }
            _ = try await transport.exchange(listener.request())
            let (opened, ended) = (Locked(0), Locked(0))
            let stream = RequestBody.Stream {
                let (chunks, source) = AsyncStream<Data>.makeStream()
                opened.withLock { $0 += 1 }
                source.onTermination = { _ in ended.withLock { $0 += 1 } }
                source.yield(Data("first".utf8))
                var iterator = chunks.makeAsyncIterator()
                return {
                    _ = source
                    return await iterator.next()
                }
            }
            let body = RequestBody.stream(stream, length: nil, isReplayable: true)
            #expect(await transport.failure(of: listener.request(method: .put, body: body)) != nil)
            // Opened again for the second attempt, since bytes of it had been sent.
            try await waitUntil("the body is opened again") { opened.withLock(\.self) == 2 }
            try await waitUntil("the body is closed") { ended.withLock(\.self) == 2 }
        }

        @Test func failureOnTheNewConnectionIsFinal() async throws {
            server.on("/second", .drop)
            #expect(try await sendOnReusedConnection(.get).error?.code == .connectionLost)
            #expect(server.requests(to: "/second").count == 2)
            #expect(transport.isQuiet)
        }

        /// While the request waits for a new connection, other requests end, and their connections become available. Those may be
        /// dead too.
        @Test func requestSentAgainWaitsForANewConnection() async throws {
            let certificates = try TestCertificates.shared.get()
            let tls = try TestTLSServer(certificates.right)
            let handshakes = DispatchSemaphore(value: 0)
            let ends = (0..<4).map { _ in DispatchSemaphore(value: 0) }
            let (held, dropped) = (Locked(0), Locked(0))
            let listener = try TestListener { descriptor in
                handshakes.wait()
                tls.serve(descriptor) { connection in
                    while connection.isOpen, let bytes = connection.read() {
                        let words = String(decoding: bytes, as: UTF8.self).split(separator: " ")
                        guard words.count > 1, let index = Int(words[1].dropFirst()) else {
                            dropped.withLock { $0 += 1 }
                            return
                        }
                        held.withLock { $0 += 1 }
                        ends[index].wait()
                        connection.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nheld")
                    }
                }
            }
            defer {
                for end in ends { end.signal() }
                for _ in 0..<20 { handshakes.signal() }
            }
            let context = TransferContext.http1(
                TLSConfiguration(trust: .only(certificates.root.source)),
                timeouts: Timeouts(connect: .seconds(100))
            )
            for _ in ends { handshakes.signal() }
            let others = ends.indices.map { index in
                let request = listener.request("/\(index)", scheme: "https")
                return Task { [transport] in await transport.result(of: request, context) }
            }
            try await waitUntil("the other requests are held") { held.withLock { $0 } == 4 }
            let request = listener.request("/dropped", scheme: "https")
            let task = Task { [transport] in await transport.result(of: request, context) }
            for (index, other) in others.enumerated() {
                try await waitUntil("the request connects") { transport.pool?.load.connecting == 1 }
                ends[index].signal()
                #expect(try await other.value.get().text == "held")
                try await waitUntil("the request has arrived") { dropped.withLock { $0 } == 1 }
            }
            #expect(transport.pool?.load.connecting == 1)
            handshakes.signal()
            handshakes.signal()
            #expect(await task.value.error?.code == .connectionLost)
            #expect(dropped.withLock { $0 } == 2)
            // The first dial of the request is still in progress. The second attempt takes it over while it is young.
            #expect((5...6).contains(listener.connections))
            #expect(transport.isQuiet)
        }

        @Test func requestIsNotRetriedAfterTheResponseHasBegun() async throws {
            server.on("/second", .raw("HTTP/1.1 200 OK\r\nContent-Le", thenClose: true), .text("again"))
            #expect(try await sendOnReusedConnection(.get).error?.code == .connectionLost)
            #expect(server.requests(to: "/second").count == 1)
        }

        @Test func bodyThatIsNotReplayableFailsTheRetry() async throws {
            server.on("/second", .drop, .text("again"))
            let chunks = AsyncStream<Data> { continuation in
                for _ in 0..<3 { continuation.yield(Data("piece".utf8)) }
                continuation.finish()
            }
            let result = try await sendOnReusedConnection(.put, body: .stream(chunks))
            #expect(result.error?.code == .bodyNotReplayable)
            #expect(server.requests(to: "/second").map(\.body) == [Data("piecepiecepiece".utf8)])
            #expect(transport.isQuiet)
        }

        /// The server resets the connection before it has received the whole head.
        @Test func unreadBodyIsSentOnAnotherConnection() async throws {
            let accepted = Locked(0)
            let listener = try TestListener { descriptor in
                var bytes = [UInt8](repeating: 0, count: 64 << 10)
                let isFirst = accepted.withLock { count in
                    count += 1
                    return count == 1
                }
                if isFirst {
                    guard TestListener.readHead(descriptor) != nil else { return }
                    TestListener.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", to: descriptor)
                    // The unread part of the head turns the close into a reset.
                    _ = recv(descriptor, &bytes, 1, 0)
                    return
                }
                let body = Array("4\r\nbody\r\n0\r\n\r\n".utf8)
                var end: [UInt8] = []
                while end != body {
                    let count = recv(descriptor, &bytes, bytes.count, 0)
                    guard count > 0 else { return }
                    end = Array((end + bytes.prefix(count)).suffix(body.count))
                }
                TestListener.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nagain", to: descriptor)
            }
            _ = try await transport.exchange(listener.request())
            let chunks = AsyncStream<Data> { continuation in
                continuation.yield(Data("body".utf8))
                continuation.finish()
            }
            // More than the socket buffers hold.
            let headers: HTTPHeaders = ["X-Large": String(repeating: "x", count: 16 << 20)]
            let request = listener.request(method: .put, headers: headers, body: .stream(chunks))
            #expect(try await transport.exchange(request).text == "again")
            #expect(listener.connections == 2)
        }

        @Test func replayableBodyIsSentAgain() async throws {
            server.on("/second", .drop, .text("again"))
            let pieces = Pieces(pieces: Array(repeating: Data("piece".utf8), count: 3))
            let result = try await sendOnReusedConnection(.put, body: .stream(pieces, isReplayable: true))
            #expect(try result.get().text == "again")
            let whole = Data("piecepiecepiece".utf8)
            #expect(server.requests(to: "/second").map(\.body) == [whole, whole])
        }

        @Test func simultaneouslyClosedConnectionsAreAllReplaced() async throws {
            let signal = LoopbackSignal()
            server.on("/warm/*", .after(signal, .text("ok")))
            server.on("/second/*", respond: { $0.connection <= 20 ? .drop : .text("again") })
            func all(_ path: String) -> [Task<Result<ReadResponse, SluiceError>, Never>] {
                (0..<20).map { index in
                    let request = server.request("\(path)/\(index)")
                    return Task { [transport] in await transport.result(of: request) }
                }
            }
            let warm = all("/warm")
            await server.waitForRequests(20)
            signal.fire()
            for task in warm { _ = try await task.value.get() }
            #expect(server.connections == 20)
            for task in all("/second") { #expect(try await task.value.get().text == "again") }
            #expect(transport.isQuiet)
        }
    }
}

/// A sequence that can be iterated any number of times.
private struct Pieces: AsyncSequence, Sendable {
    struct Iterator: AsyncIteratorProtocol {
        var rest: ArraySlice<Data>

        mutating func next() async -> Data? { rest.popFirst() }
    }

    let pieces: [Data]

    func makeAsyncIterator() -> Iterator { Iterator(rest: pieces[...]) }
}
#endif

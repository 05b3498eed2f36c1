#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// Abandoned requests. The server is informed at once, without other traffic (RFC 9113 §6.4).
    @Suite struct HTTP2CancellationTests {
        private let transport = SocketTransport()
        private let server: ScriptedHTTP2Server

        init() throws {
            server = try ScriptedHTTP2Server()
        }

        private func send(
            _ request: HTTPRequest,
            _ timeouts: Timeouts = Timeouts()
        ) -> Task<Result<ReadResponse, SluiceError>, Never> {
            Task { [transport] in await transport.result(of: request, .http2(timeouts)) }
        }

        /// Sends another request over the same connection.
        private func expectNextRequestReusesTheConnection() async throws {
            let (count, before) = (server.connections, server.peers.first?.requests.count ?? 0)
            let task = send(server.request("/next"))
            let (peer, head) = try await server.seen(before)
            peer.answer(head.stream, "next")
            #expect(try await task.value.get().text == "next")
            #expect(server.connections == count)
            #expect(transport.isQuiet)
        }

        @Test func cancelledRequestWithoutAResponseIsReset() async throws {
            let task = send(server.request())
            let (peer, _) = try await server.seen()
            task.cancel()
            #expect(await task.value.error?.code == .cancelled)
            #expect(try await peer.reset(of: 1) == HTTP2Frame.Code.cancel)
            try await expectNextRequestReusesTheConnection()
            #expect(peer.frames(.reset).count == 1)
        }

        @Test func cancelledResponseBodyIsReset() async throws {
            let task = send(server.request())
            let (peer, _) = try await server.seen()
            peer.head(1)
            peer.data(1, "begun")
            try await peer.synchronize()
            task.cancel()
            #expect(await task.value.error?.code == .cancelled)
            #expect(try await peer.reset(of: 1) == HTTP2Frame.Code.cancel)
            try await expectNextRequestReusesTheConnection()
        }

        @Test func abandonedResponseBodyIsReset() async throws {
            let request = server.request()
            let task = Task { [transport] in
                let response = try await transport.send(request, context: .http2())
                var iterator = response.body.makeAsyncIterator()
                return try await iterator.next()
            }
            let (peer, _) = try await server.seen()
            peer.head(1)
            peer.data(1, "begun")
            #expect(try await task.value == Data("begun".utf8))
            #expect(try await peer.reset(of: 1) == HTTP2Frame.Code.cancel)
            // Bytes in transit are dropped without a response.
            peer.data(1, "late")
            peer.data(1, "end", ends: true)
            try await expectNextRequestReusesTheConnection()
            #expect(peer.frames(.reset).count == 1)
            #expect(peer.frames(.goAway).isEmpty)
        }

        @Test func cancelledUploadWithAnExhaustedWindowIsReset() async throws {
            let task = send(server.request(method: .put, body: .data(Data(count: 1 << 20))))
            let (peer, _) = try await server.seen()
            try await waitUntil("the window is exhausted") { peer.body(of: 1).count == 65_535 }
            task.cancel()
            #expect(await task.value.error?.code == .cancelled)
            #expect(try await peer.reset(of: 1) == HTTP2Frame.Code.cancel)
            peer.windowUpdate(0, 1 << 20)
            try await peer.synchronize()
            #expect(peer.body(of: 1).count == 65_535)
            try await expectNextRequestReusesTheConnection()
        }

        @Test func cancelledUploadWithAStalledSourceIsReset() async throws {
            let (pieces, source) = AsyncStream<Data>.makeStream()
            source.yield(Data("first".utf8))
            let task = send(server.request(method: .put, body: .stream(pieces)))
            let (peer, _) = try await server.seen()
            try await waitUntil("the first piece has arrived") { peer.body(of: 1).count == 5 }
            task.cancel()
            #expect(await task.value.error?.code == .cancelled)
            #expect(try await peer.reset(of: 1) == HTTP2Frame.Code.cancel)
            source.finish()
            try await expectNextRequestReusesTheConnection()
        }

        @Test func uploadWithAFailedSourceIsReset() async throws {
            struct Broken: Error {}
            let pieces = AsyncThrowingStream<Data, any Error> { continuation in
                continuation.yield(Data("first".utf8))
                continuation.finish(throwing: Broken())
            }
            let task = send(server.request(method: .put, body: .stream(pieces)))
            let (peer, _) = try await server.seen()
            #expect(await task.value.error?.code == .bodyUnavailable)
            #expect(try await peer.reset(of: 1) == HTTP2Frame.Code.cancel)
            try await expectNextRequestReusesTheConnection()
        }

        @Test(
            arguments: [
                (Timeouts(total: .milliseconds(1500)), .timedOut), (Timeouts(idle: .milliseconds(200)), .idleTimedOut),
            ] as [(Timeouts, SluiceError.Code)]
        )
        func timedOutRequestIsReset(_ timeouts: Timeouts, _ code: SluiceError.Code) async throws {
            let task = send(server.request(), timeouts)
            let (peer, _) = try await server.seen()
            #expect(await task.value.error?.code == code)
            #expect(try await peer.reset(of: 1) == HTTP2Frame.Code.cancel)
        }

        @Test func stalledResponseBodyIsReset() async throws {
            let task = send(server.request(), Timeouts(idle: .milliseconds(200)))
            let (peer, _) = try await server.seen()
            peer.head(1)
            peer.data(1, "begun")
            #expect(await task.value.error?.code == .idleTimedOut)
            #expect(try await peer.reset(of: 1) == HTTP2Frame.Code.cancel)
            try await expectNextRequestReusesTheConnection()
        }

        @Test func slowReaderDoesNotCauseAnIdleTimeout() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                peer.head(frame.stream)
                peer.data(frame.stream, [UInt8](repeating: 0x61, count: 2000))
            }
            let transport = SocketTransport { $0.responseBufferSize = 1000 }
            let context = TransferContext.http2(Timeouts(idle: .seconds(3)))
            let response = try await transport.send(server.request(), context: context)
            let peer = try await server.peer()
            try await peer.synchronize()
            let start = ContinuousClock.now
            try await waitUntil("the idle time is over") { ContinuousClock.now - start > .milliseconds(3300) }
            peer.data(1, "end", ends: true)
            #expect(try await response.body.collect().count == 2003)
        }

        /// The bytes of cancelled streams are returned to the connection's window.
        @Test func abandonedStreamsReturnTheConnectionWindow() async throws {
            let pieces = 20
            let reading = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                peer.head(frame.stream)
                if frame[":path"] == "/last" { return peer.data(frame.stream, "done", ends: true) }
                for _ in 0..<pieces { peer.fill(frame.stream, upTo: 10_000) }
            }
            let count = 2 * FlowWindow.connectionSize / (pieces * 10_000)
            for index in 0..<count {
                let response = try await transport.send(reading.request("/\(index)"), context: .http2())
                if index.isMultiple(of: 2) {
                    var iterator = response.body.makeAsyncIterator()
                    _ = try await iterator.next()
                }
            }
            #expect(try await transport.exchange(reading.request("/last"), .http2()).text == "done")
            let peer = try await reading.peer()
            #expect(reading.connections == 1)
            #expect(peer.frames(.reset).count <= count)
            // The bytes sent are within the window, or were returned to it.
            #expect(peer.connectionWindow >= FlowWindow.connectionSize / 4, "\(peer.connectionWindow)")
            #expect(transport.isQuiet)
        }

        /// A cancellation may hold the lock of a task's status, for which the loop waits while it holds that of a connection.
        @Test func cancellationDoesNotWaitForAConnection() async {
            await #expect(processExitsWith: .exitCode(7)) {
                _ = try Engine.withOneLoop()
                let server = try ScriptedHTTP2Server { peer, frame in
                    if frame.kind == .headers { peer.head(frame.stream) }
                }
                let silent = try SilentPort(1)
                let transport = SocketTransport { $0.maximumTransfers = 2 }
                let response = try await transport.send(server.request("/read"), context: .http2())
                let executor = BlockingExecutor()
                let reader = Task(executorPreference: executor) { try await response.body.collect().count }
                executor.run()
                let authority = "127.0.0.1:\(silent.port)"
                let request = HTTPRequest(method: .get, scheme: "http", authority: authority, path: "/")
                let cancel = transport.begin(request, context: TransferContext()) { _ in }
                try await waitUntil("both slots are taken") { transport.pool?.load.active == 2 }
                _ = transport.begin(server.request("/queued"), context: .http2()) { _ in }
                try await waitUntil("the third request waits") { transport.queued == 1 }
                // The loop resumes the reader, and holds the lock of its connection meanwhile.
                executor.close()
                let peer = try await server.peer()
                peer.data(1, "data", ends: true)
                try await waitUntil("the loop is blocked") { executor.isBlocking }
                let hasReturned = Locked(false)
                Thread.detachNewThread {
                    cancel()
                    hasReturned.withLock { $0 = true }
                }
                try await waitUntil("the request is cancelled") { hasReturned.withLock { $0 } }
                executor.open()
                _ = try await peer.request(1)
                executor.run()
                let count = try await reader.value
                try #require(count == 4)
                exit(7)
            }
        }

        @Test(arguments: [1, 2, 3] as [UInt64])
        func everyRequestEndsInAResponseOrACancellation(_ seed: UInt64) async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                peer.head(frame.stream)
                for _ in 0..<4 { peer.fill(frame.stream, upTo: 3000) }
                peer.data(frame.stream, "end", ends: true)
            }
            _ = try await send(server.request("/first")).value.get()
            var random = SeededGenerator(seed: seed)
            var ends: [SluiceError.Code?: Int] = [:]
            for _ in 0..<100 {
                let tasks = (0..<5).map { send(server.request("/\($0)")) }
                for task in tasks {
                    for _ in 0..<Int.random(in: 0..<60, using: &random) { await Task.yield() }
                    task.cancel()
                }
                for task in tasks { ends[await task.value.error?.code, default: 0] += 1 }
            }
            #expect(Set(ends.keys).isSubset(of: [nil, .cancelled]), "\(ends)")
            #expect(ends.values.reduce(0, +) == 500)
            try await waitUntil("no request is left") { transport.isQuiet }
            let task = send(server.request("/last"))
            #expect(try await task.value.get().body.count == 12_003)
            #expect(server.connections == 1)
        }
    }
}
#endif

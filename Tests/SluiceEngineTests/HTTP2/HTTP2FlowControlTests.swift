#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// The flow-control windows of HTTP/2 (RFC 9113 §5.2), which depend on the readers.
    @Suite struct HTTP2FlowControlTests {
        private let transport = SocketTransport()

        private func open(_ server: ScriptedHTTP2Server, _ path: String = "/") async throws -> TransportResponse {
            try await transport.send(server.request(path), context: .http2())
        }

        @Test func unreadBytesPerStreamAreLimited() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                if frame.kind == .headers { peer.head(frame.stream) }
            }
            var held: [TransportResponse] = []
            for index in 0..<10 { held.append(try await open(server, "/\(index)")) }
            let peer = try await server.peer()
            // Sends to all streams until their windows are full.
            var sent = -1
            while sent != peer.requests.reduce(0, { $0 + peer.sent(by: $1.stream) }) {
                sent = peer.requests.reduce(0) { $0 + peer.sent(by: $1.stream) }
                for request in peer.requests { peer.fill(request.stream, upTo: WindowBudget.size) }
                try await peer.synchronize()
            }
            for (index, request) in peer.requests.enumerated() {
                let count = peer.sent(by: request.stream)
                // The first stream was alone on its connection.
                let window = index == 0 ? WindowBudget.size / 2 : FlowWindow.initialSize
                #expect(count >= window)
                // The limit for unread bytes, the rest of the read that reached it, and a window.
                #expect(count <= (320 << 10) + window, "\(count)")
            }
            // Another stream is not blocked.
            let next = try await open(server, "/next")
            let whole = Task { try await next.body.collect().count }
            try await peer.body(try await peer.request(10).stream, count: 4 << 20)
            #expect(try await whole.value == 4 << 20)
            // Each stream continues when it is read again.
            for (index, response) in held.enumerated() {
                let stream = try await peer.request(index).stream
                let before = peer.sent(by: stream)
                let task = Task { try await response.body.collect().count }
                try await peer.body(stream, count: 1 << 20)
                #expect(try await task.value == before + 1 << 20)
            }
            #expect(transport.isQuiet)
        }

        /// Each of the connections carries one response that is not read.
        @Test func fewUnreadResponsesHaveLargeWindows() async throws {
            var servers: [ScriptedHTTP2Server] = []
            var held: [TransportResponse] = []
            for _ in 0..<10 {
                let server = try ScriptedHTTP2Server { peer, frame in
                    if frame.kind == .headers { peer.head(frame.stream) }
                }
                servers.append(server)
                held.append(try await open(server))
            }
            var windows: [Int] = []
            for server in servers {
                let peer = try await server.peer()
                try await peer.synchronize()
                windows.append(peer.window(of: 1))
            }
            let expected = [8192, 4096, 2048, 1024, 512].map { $0 << 10 }
            #expect(windows == expected + Array(repeating: FlowWindow.initialSize, count: 5))
            held.removeAll()
            try await waitUntil("the requests have ended") { transport.isQuiet }
            // The windows of ended requests are available again.
            let next = try await open(servers[9])
            let peer = try await servers[9].peer()
            try await peer.synchronize()
            #expect(peer.window(of: 3) == WindowBudget.size / 2)
            _ = next
        }

        /// The responses of one connection arrive completely, one after the other, and are not read.
        @Test func unreadCompleteResponsesKeepTheirShares() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                if frame.kind == .headers { peer.head(frame.stream) }
            }
            var held: [TransportResponse] = []
            var windows: [Int] = []
            for index in 0..<7 {
                held.append(try await open(server, "/\(index)"))
                let peer = try await server.peer()
                let stream = try await peer.request(index).stream
                try await peer.synchronize()
                windows.append(peer.window(of: stream))
                try await peer.body(stream, count: peer.window(of: stream))
                try await waitUntil("response \(index) is complete") { transport.isQuiet }
            }
            let expected = [8192, 4096, 2048, 1024, 512, 256, 256].map { $0 << 10 }
            #expect(windows == expected)
            // A share is returned once its response has been read, or dropped.
            #expect(try await held[0].body.collect().count == expected[0])
            held.removeSubrange(1...)
            _ = try await open(server, "/next")
            let peer = try await server.peer()
            let stream = try await peer.request(7).stream
            try await peer.synchronize()
            #expect(peer.window(of: stream) == WindowBudget.size / 2)
        }

        /// The window of the connection is replenished on receipt, also for the bytes of a stream that nobody reads.
        @Test func connectionCarriesMoreThanItsWindow() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                if frame.kind == .headers { peer.head(frame.stream) }
            }
            let held = try await open(server, "/held")
            let peer = try await server.peer()
            try await peer.synchronize()
            #expect(peer.fill(1, upTo: 8 << 20) == 8 << 20)
            for index in 1...3 {
                let response = try await open(server, "/\(index)")
                let task = Task { try await response.body.reduce(0) { $0 + $1.count } }
                try await peer.body(try await peer.request(index).stream, count: 24 << 20)
                #expect(try await task.value == 24 << 20)
            }
            _ = held
        }

        /// Padding counts for the window (RFC 9113 §6.1).
        @Test func paddingIsCreditedToTheServer() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                if frame.kind == .headers { peer.head(frame.stream) }
            }
            let held = try await open(server)
            let response = try await open(server)
            let peer = try await server.peer()
            let task = Task { try await response.body.collect().count }
            // A third of the bytes is padding.
            let piece = [UInt8](repeating: 0x61, count: 512)
            for _ in 0..<4000 {
                try await waitUntil("there is a window") { peer.window(of: 3) >= 768 || peer.isClosed }
                peer.paddedData(3, piece)
            }
            peer.data(3, [], ends: true)
            #expect(try await task.value == 4000 * 512)
            _ = held
        }

        /// The first response takes long to decode. The second arrives meanwhile. A delay of the server is not in each run.
        @Test func backlogOfADecoderDoesNotStopTheConnection() async throws {
            let slow = Array(CodingSamples.slowRaw(100_000))
            let expected: [Int32] = [1, 3]
            var runs: [[Int32]] = []
            while runs.last != expected, runs.count < 3 { runs.append(try await creditedStreams(slow)) }
            #expect(runs.last == expected, "\(runs)")
        }

        /// Returns the streams of the first two window updates of a stream. The first response is slow to decode.
        private func creditedStreams(_ slow: [UInt8]) async throws -> [Int32] {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                peer.head(frame.stream, 200, frame.stream == 1 ? ["content-encoding: deflate"] : [])
                guard frame.stream == 3 else { return }
                for start in stride(from: 0, to: slow.count, by: 16_000) {
                    peer.data(1, Array(slow[start..<min(start + 16_000, slow.count)]))
                }
                peer.fill(3, upTo: FlowWindow.initialSize)
            }
            let transport = SocketTransport { $0.responseBufferSize = 16 << 20 }
            let first = try await transport.send(server.request(), context: .http2())
            let second = try await transport.send(server.request(), context: .http2())
            let peer = try await server.peer()
            try await waitUntil("both responses are credited") {
                !peer.frames(.windowUpdate, of: 1).dropFirst().isEmpty && !peer.frames(.windowUpdate, of: 3).isEmpty
            }
            // The first frame enlarges the initial window.
            let updates = peer.frames(.windowUpdate).map(\.stream).filter { $0 > 0 }
            _ = (first, second)
            return Array(updates.prefix(2))
        }

        @Test func windowGrowsForAFastReader() async throws {
            // The late acknowledgement of the settings makes the round trip long.
            let server = try ScriptedHTTP2Server(acknowledges: false) { peer, frame in
                if frame.kind == .headers { peer.head(frame.stream) }
            }
            let response = try await open(server)
            let peer = try await server.peer()
            let start = ContinuousClock.now
            try await waitUntil("100 ms are over") { ContinuousClock.now - start > .milliseconds(100) }
            peer.send(HTTP2Frame(.settings, flags: HTTP2Frame.Flag.ack))
            let task = Task { try await response.body.collect().count }
            try await peer.body(1, count: 24 << 20, ends: false)
            try await peer.synchronize()
            try await waitUntil("the window has grown") { peer.window(of: 1) >= WindowBudget.size }
            #expect(peer.window(of: 1) <= FlowWindow.maximumSize)
            peer.data(1, [], ends: true)
            #expect(try await task.value == 24 << 20)
        }

        /// The reader runs on the thread that resumes it, and asks for more at once.
        @Test(.timeLimit(.minutes(1))) func readerMayRunOnTheLoop() async {
            await #expect(processExitsWith: .exitCode(7)) {
                let server = try ScriptedHTTP2Server(acknowledges: false) { peer, frame in
                    if frame.kind == .headers { peer.head(frame.stream) }
                }
                let transport = SocketTransport()
                let response = try await transport.send(server.request(), context: .http2())
                let peer = try await server.peer()
                let start = ContinuousClock.now
                try await waitUntil("100 ms are over") { ContinuousClock.now - start > .milliseconds(100) }
                peer.send(HTTP2Frame(.settings, flags: HTTP2Frame.Flag.ack))
                let task = Task(executorPreference: InlineExecutor()) { try await response.body.collect().count }
                try await peer.body(1, count: 24 << 20, ends: false)
                try await peer.synchronize()
                peer.data(1, [], ends: true)
                let count = try await task.value
                try #require(count == 24 << 20)
                exit(7)
            }
        }

        @Test func slowReaderReceivesTheWholeBody() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                if frame.kind == .headers { peer.head(frame.stream) }
            }
            let slow = SocketTransport { $0.responseBufferSize = 10_000 }
            let response = try await slow.send(server.request(), context: .http2())
            let peer = try await server.peer()
            let task = Task {
                var (count, largest) = (0, 0)
                var iterator = response.body.makeAsyncIterator()
                while let chunk = try await iterator.next() {
                    count += chunk.count
                    largest = max(largest, peer.sent(by: 1) - count)
                    for _ in 0..<20 { await Task.yield() }
                }
                return (count, largest)
            }
            try await peer.body(1, count: 3_000_000)
            let (count, largest) = try await task.value
            #expect(count == 3_000_000)
            #expect(largest <= FlowWindow.maximumSize, "\(largest)")
        }

        /// The whole response has been received, but its reader is slow.
        @Test func totalTimeoutAppliesAfterTheConnectionHasClosed() async throws {
            let body = Array(CodingSamples.gzip(Data(count: 512 << 10)))
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.endsStream else { return }
                peer.head(frame.stream, 200, ["content-encoding: gzip"])
                peer.data(frame.stream, body, ends: true)
            }
            let slow = SocketTransport { $0.responseBufferSize = 10_000 }
            let context = TransferContext.http2(Timeouts(total: .seconds(3)))
            let response = try await slow.send(server.request(), context: context)
            let peer = try await server.peer()
            try await peer.synchronize()
            peer.close()
            try await waitUntil("the connection is closed") { slow.connections.open == 0 }
            try await waitUntil("the request has ended") { slow.isQuiet }
            let (received, error) = await response.body.readToEnd()
            #expect(error?.code == .timedOut)
            #expect(received.count < 512 << 10)
        }

        /// RFC 9113 §6.9.2: a change of the settings may make a stream's window smaller, or negative.
        @Test func serverCanShrinkItsWindows() async throws {
            let server = try ScriptedHTTP2Server()
            let request = server.request(method: .put, body: .data(Data(count: 100_000)))
            let task = Task { [transport] in await transport.result(of: request, .http2()) }
            let (peer, _) = try await server.seen()
            try await waitUntil("the window is exhausted") { peer.body(of: 1).count == 65_535 }
            peer.settings([HTTP2Frame.Setting.initialWindow: 1000])
            peer.windowUpdate(0, 1 << 20)
            peer.windowUpdate(1, 64_535)
            try await peer.synchronize()
            #expect(peer.body(of: 1).count == 65_535)
            peer.windowUpdate(1, 1)
            try await waitUntil("one more byte arrives") { peer.body(of: 1).count == 65_536 }
            peer.settings([HTTP2Frame.Setting.initialWindow: 1 << 20])
            #expect(try await peer.wholeBody(of: 1).count == 100_000)
            peer.answer(1, "ok")
            #expect(try await task.value.get().text == "ok")
        }

        /// A server that sends more than a window allows (RFC 9113 §5.2.2).
        @Test func exceedingTheWindowFailsTheStream() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                peer.head(frame.stream)
                for _ in 0..<600 { peer.data(frame.stream, [UInt8](repeating: 0x61, count: 16_000)) }
            }
            let response = try await open(server)
            let peer = try await server.peer()
            try await waitUntil("the stream or the connection is ended") {
                !peer.frames(.reset).isEmpty || !peer.frames(.goAway).isEmpty
            }
            let (received, error) = await response.body.readToEnd()
            #expect(error?.code == .invalidResponse)
            #expect(received.count <= (320 << 10) + WindowBudget.size / 2)
            try await waitUntil("the transport has no requests") { transport.isQuiet }
        }

        @Test func windowOverflowFailsTheConnection() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                if frame.kind == .headers { peer.windowUpdate(0, 0x7fff_ffff) }
            }
            #expect(await transport.failure(of: server.request(), .http2())?.code == .invalidResponse)
            try await waitUntil("the connection is closed") { server.openConnections == 0 }
        }
    }
}
#endif

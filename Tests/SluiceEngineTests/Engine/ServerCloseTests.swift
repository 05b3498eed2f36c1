#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// Servers that close a connection while the client is slow to read or to send.
    @Suite struct ServerCloseTests {
        /// More than the engine reads ahead. The socket buffer holds the rest.
        private static let part = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 17) })

        private let transport = SocketTransport()

        @Test(arguments: [false, true])
        func endIsDetectedDuringBackPressure(_ isChunked: Bool) async throws {
            let server = try LoopbackServer()
            let part = ServerCloseTests.part
            let chunked: [LoopbackResponse.Step] = [
                .write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n100000\r\n"), .write(part), .close,
            ]
            let cut: LoopbackResponse = isChunked ? .script(chunked) : .truncated(part, announced: 400_000)
            server.on("/cut", cut)
            server.on("/whole", .untilClose(part))
            server.on("/good", .text("good"))
            for (path, code) in [("/cut", .truncatedBody), ("/whole", nil)] as [(String, SluiceError.Code?)] {
                let response = try await transport.send(server.request(path), context: TransferContext())
                try await waitUntil("the server has closed") { server.openConnections == 0 }
                let (body, error) = await response.body.readToEnd()
                #expect(body == part)
                #expect(error?.code == code)
                try await waitUntil("the request has ended") { transport.isQuiet }
            }
            #expect(try await transport.exchange(server.request("/good")).text == "good")
        }

        @Test func endIsDetectedWhileTheUploadIsStalled() async throws {
            let listener = try TestListener { descriptor in
                guard TestListener.readHead(descriptor) != nil else { return }
                // Once the first chunk is sent, the client waits for the next one. The end of the connection cancels that wait.
                guard TestListener.read(descriptor, through: "first") != nil else { return }
                // Closes only the sending side. The service ends when the client has closed the other side.
                shutdown(descriptor, Int32(SHUT_WR))
                TestListener.discardInput(descriptor)
            }
            let isAbandoned = Locked(false)
            let (chunks, source) = AsyncStream<Data>.makeStream()
            source.onTermination = { _ in isAbandoned.withLock { $0 = true } }
            source.yield(Data("first".utf8))
            let context = TransferContext(timeouts: Timeouts(idle: nil, total: .seconds(20)))
            let request = listener.request(method: .post, body: .stream(chunks))
            #expect(await transport.failure(of: request, context)?.code == .connectionLost)
            try await waitUntil("the source is abandoned") { isAbandoned.withLock { $0 } }
            try await waitUntil("the connection is closed") { listener.openConnections == 0 }
            #expect(transport.isQuiet)
        }

        /// With a reader that does not read the body, and a request whose body has not ended.
        @Test func unreadEndDoesNotKeepTheLoopBusy() async {
            await #expect(processExitsWith: .exitCode(7)) {
                let engine = try Engine.withOneLoop()
                let loop = try #require(engine.loops.first)
                let hasEnded = Locked(false)
                let listener = try TestListener { descriptor in
                    guard TestListener.readHead(descriptor) != nil else { return }
                    TestListener.write("HTTP/1.1 200 OK\r\nContent-Length: 400000\r\n\r\n", to: descriptor)
                    TestListener.write(String(repeating: "x", count: 300_000), to: descriptor)
                    shutdown(descriptor, Int32(SHUT_WR))
                    hasEnded.withLock { $0 = true }
                    TestListener.discardInput(descriptor)
                }
                let (chunks, source) = AsyncStream<Data>.makeStream()
                source.yield(Data("first".utf8))
                let transport = SocketTransport()
                let request = listener.request(method: .post, body: .stream(chunks))
                let response = try await transport.send(request, context: TransferContext())
                try await waitUntil("the server has ended") { hasEnded.withLock { $0 } }
                let before = await loop.processorTime()
                let end = ContinuousClock.now + .milliseconds(500)
                try await waitUntil("half a second is over") { ContinuousClock.now >= end }
                let used = await loop.processorTime() - before
                try #require(used < .milliseconds(50), "\(used)")
                let (body, error) = await response.body.readToEnd()
                try #require(body.count == 300_000)
                try #require(error?.code == .truncatedBody)
                try #require(listener.connections == 1)
                source.finish()
                exit(7)
            }
        }
    }
}
#endif

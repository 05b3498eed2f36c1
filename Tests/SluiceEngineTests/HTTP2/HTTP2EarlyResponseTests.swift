#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// HTTP/2 responses that arrive before the whole request has been sent (RFC 9113 §8.1).
    @Suite struct HTTP2EarlyResponseTests {
        private let transport = SocketTransport()

        /// By its number: a body in memory, an endless body, and a body that stalls.
        private static func body(_ kind: Int) -> (RequestBody, AsyncStream<Data>.Continuation) {
            let (slow, source) = AsyncStream<Data>.makeStream()
            source.yield(Data("first".utf8))
            let bodies: [RequestBody] = [
                .data(Data(count: 4 << 20)),
                .stream(AsyncStream<Data>(unfolding: { Data(count: 64 << 10) })),
                .stream(slow),
            ]
            return (bodies[kind], source)
        }

        @Test(arguments: [200, 413] as [HTTPStatus], 0..<3)
        func completeResponseEndsTheUpload(_ status: HTTPStatus, _ kind: Int) async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                if frame.kind == .headers { peer.answer(frame.stream, "early", status.rawValue) }
            }
            let (body, source) = Self.body(kind)
            defer { source.finish() }
            let response = try await transport.exchange(server.request(method: .put, body: body), .http2())
            #expect(response.status == status)
            #expect(response.text == "early")
            let peer = try await server.peer()
            #expect(try await peer.reset(of: 1) == HTTP2Frame.Code.cancel)
            try await waitUntil("the request has ended") { transport.isQuiet }
            #expect(peer.body(of: 1).count <= 65_535)
            #expect(try await transport.exchange(server.request(), .http2()).text == "early")
            #expect(server.connections == 1)
        }

        @Test(arguments: [200, 413] as [HTTPStatus], 0..<3)
        func responseBeforeAResetIsDelivered(_ status: HTTPStatus, _ kind: Int) async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                peer.answer(frame.stream, "early", status.rawValue)
                peer.reset(frame.stream, HTTP2Frame.Code.noError)
            }
            let (body, source) = Self.body(kind)
            defer { source.finish() }
            let response = try await transport.exchange(server.request(method: .put, body: body), .http2())
            #expect(response.status == status)
            #expect(response.text == "early")
            try await waitUntil("the request has ended") { transport.isQuiet }
            #expect(try await server.peer().frames(.reset).count <= 1)
            #expect(server.connections == 1)
        }

        @Test(arguments: 0..<3)
        func responseBeforeTheEndOfTheConnectionIsDelivered(_ kind: Int) async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                peer.answer(frame.stream, "too large", 413)
                peer.goAway(frame.stream)
                peer.close()
            }
            let (body, source) = Self.body(kind)
            defer { source.finish() }
            let response = try await transport.exchange(server.request(method: .put, body: body), .http2())
            #expect(response.status == 413)
            #expect(response.text == "too large")
            try await waitUntil("the connection is closed") { server.openConnections == 0 }
            #expect(transport.isQuiet)
        }

        @Test func uploadContinuesDuringTheResponse() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                if frame.kind == .headers { peer.head(frame.stream) }
                if frame.kind == .data { peer.data(frame.stream, frame.payload, ends: frame.endsStream) }
            }
            let (pieces, source) = AsyncStream<Data>.makeStream()
            let request = server.request(method: .post, body: .stream(pieces))
            let response = try await transport.send(request, context: .http2())
            var iterator = response.body.makeAsyncIterator()
            for number in 0..<5 {
                source.yield(Data("piece \(number)".utf8))
                #expect(try await iterator.next() == Data("piece \(number)".utf8))
            }
            source.finish()
            #expect(try await iterator.next() == nil)
        }

        @Test func waitingUploadUsesNoProcessorTime() async {
            await #expect(processExitsWith: .exitCode(7)) {
                let engine = try Engine.withOneLoop()
                let loop = try #require(engine.loops.first)
                let transport = SocketTransport()
                let server = try ScriptedHTTP2Server.answering()
                let (pieces, source) = AsyncStream<Data>.makeStream()
                source.yield(Data("first".utf8))
                let request = server.request(method: .put, body: .stream(pieces))
                let task = Task { await transport.result(of: request, .http2()) }
                let peer = try await server.peer()
                try await waitUntil("the first piece has arrived") { peer.body(of: 1).count == 5 }
                try await peer.synchronize()
                let before = await loop.processorTime()
                let start = ContinuousClock.now
                try await waitUntil("half a second is over") { ContinuousClock.now - start > .milliseconds(500) }
                let used = await loop.processorTime() - before
                try #require(used < .milliseconds(50), "\(used)")
                source.finish()
                try #require(try await task.value.get().text == "ok")
                exit(7)
            }
        }
    }
}
#endif

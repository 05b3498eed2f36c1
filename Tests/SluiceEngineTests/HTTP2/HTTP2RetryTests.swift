#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// Requests that a server did not process, and requests that it may have processed (RFC 9113 §6.8, §8.7).
    @Suite struct HTTP2RetryTests {
        private let transport = SocketTransport()

        private func send(_ request: HTTPRequest) -> Task<Result<ReadResponse, SluiceError>, Never> {
            Task { [transport] in await transport.result(of: request, .http2()) }
        }

        private static func text(_ text: String) -> RequestBody { .data(Data(text.utf8)) }

        // MARK: GOAWAY

        @Test func goAwayMovesNewRequestsToAnotherConnection() async throws {
            let server = try ScriptedHTTP2Server()
            let first = send(server.request("/first", method: .post, body: Self.text("x")))
            let (peer, _) = try await server.seen()
            peer.goAway(1)
            try await peer.synchronize()
            let second = send(server.request("/second"))
            let other = try await server.peer(1)
            #expect(try await other.request()[":path"] == "/second")
            other.answer(1, "second")
            #expect(try await second.value.get().text == "second")
            peer.answer(1, "first")
            #expect(try await first.value.get().text == "first")
            try await waitUntil("the first connection is closed") { server.openConnections == 1 }
            #expect(peer.requests.count == 1)
            #expect(transport.isQuiet)
        }

        @Test(arguments: [HTTP2Frame.Code.noError, HTTP2Frame.Code.enhanceYourCalm])
        func requestsBeyondGoAwayAreSentAgain(_ code: UInt32) async throws {
            let server = try ScriptedHTTP2Server()
            let first = send(server.request("/first"))
            let (peer, _) = try await server.seen()
            let methods: [HTTPMethod] = [.post, .get, .put]
            let tasks = methods.map {
                send(server.request("/later", method: $0, body: $0 == .get ? .none : Self.text("body")))
            }
            try await waitUntil("all requests have arrived") { peer.frames.count { $0.endsStream } == 4 }
            peer.goAway(1, code)
            peer.answer(1, "first")
            #expect(try await first.value.get().text == "first")
            let other = try await server.peer(1)
            for index in 0..<3 {
                let head = try await other.request(index)
                if head[":method"] != "GET" {
                    #expect(try await other.wholeBody(of: head.stream) == Array("body".utf8))
                }
                other.answer(head.stream, head[":method"] ?? "")
            }
            for (task, method) in zip(tasks, methods) { #expect(try await task.value.get().text == method.rawValue) }
            #expect(server.connections == 2)
            #expect(transport.isQuiet)
        }

        /// A server may send two GOAWAY frames, the first of which refuses no stream (RFC 9113 §6.8).
        @Test func twoGoAwayFramesAreHandled() async throws {
            let server = try ScriptedHTTP2Server()
            let first = send(server.request("/first"))
            let (peer, _) = try await server.seen()
            let second = send(server.request("/second", method: .post, body: Self.text("x")))
            #expect(try await peer.request(1).stream == 3)
            peer.goAway(0x7fff_ffff)
            try await peer.synchronize()
            peer.goAway(1)
            let other = try await server.peer(1)
            #expect(try await other.request()[":path"] == "/second")
            other.answer(1, "second")
            #expect(try await second.value.get().text == "second")
            peer.answer(1, "first")
            #expect(try await first.value.get().text == "first")
        }

        /// A server may close an idle connection without GOAWAY, after other bytes. The loop sees the close only after the next request.
        @Test func closeWithoutGoAwayIsFoundBeforeTheNextRequest() async {
            await #expect(processExitsWith: .exitCode(7)) {
                let engine = try Engine.withOneLoop()
                let server = try ScriptedHTTP2Server.answering()
                let transport = SocketTransport()
                _ = try await transport.exchange(server.request(), .http2())
                let gate = LoopGate(engine)
                try await waitUntil("the loop is blocked") { gate.isClosed }
                let peer = try await server.peer()
                peer.send(HTTP2Frame(.ping, [1, 2, 3, 4, 5, 6, 7, 8]))
                peer.close()
                try await waitUntil("the connection is closed") { peer.isClosed }
                let request = server.request(method: .post)
                let task = Task { await transport.result(of: request, .http2()) }
                try await waitUntil("the request has begun") { !transport.hasIdle }
                gate.open()
                let text = try await task.value.get().text
                try #require(text == "ok")
                try #require(server.connections == 2)
                exit(7)
            }
        }

        /// The loop has not seen the end of a connection that another request uses. Nothing of the new request is sent on it.
        @Test func requestWhoseHeadCannotBeWrittenIsSentAgain() async {
            await #expect(processExitsWith: .exitCode(7)) {
                let engine = try Engine.withOneLoop()
                let server = try ScriptedHTTP2Server { peer, frame in
                    if frame.endsStream, frame[":path"] != "/held" { peer.answer(frame.stream, "ok") }
                }
                let transport = SocketTransport()
                let held = Task { await transport.result(of: server.request("/held", method: .post), .http2()) }
                let (peer, _) = try await server.seen()
                _ = try await transport.exchange(server.request(), .http2())
                let gate = LoopGate(engine)
                try await waitUntil("the loop is blocked") { gate.isClosed }
                peer.close(resetting: true)
                try await waitUntil("the connection is closed") { server.openConnections == 0 }
                let task = Task { await transport.result(of: server.request(method: .post), .http2()) }
                try await waitUntil("the request has begun") { transport.pool?.load.active == 2 }
                gate.open()
                try #require(try await task.value.get().text == "ok")
                let lost = await held.value.error
                try #require(lost?.code == .connectionLost)
                try #require(server.connections == 2)
                exit(7)
            }
        }

        @Test func goAwayClosesAnIdleConnection() async throws {
            let server = try ScriptedHTTP2Server.answering()
            _ = try await send(server.request()).value.get()
            try await server.peer().goAway(1)
            try await waitUntil("the connection is closed") { server.openConnections == 0 && !transport.hasIdle }
            #expect(try await send(server.request()).value.get().text == "ok")
            #expect(server.connections == 2)
        }

        /// The server must close the connection (RFC 9113 §5.4.1), but does not.
        @Test func goAwayWithAnErrorEndsAllRequestsSoon() async throws {
            let server = try ScriptedHTTP2Server()
            let timeouts = Timeouts(idle: nil)
            let tasks = ["/answered", "/held"].map { path in
                Task { await transport.result(of: server.request(path, method: .post), .http2(timeouts)) }
            }
            let (peer, _) = try await server.seen(1)
            peer.goAway(3, HTTP2Frame.Code.enhanceYourCalm)
            let answered = peer.requests.first { $0[":path"] == "/answered" }
            peer.answer(try #require(answered?.stream), "ok")
            #expect(try await tasks[0].value.get().text == "ok")
            let error = await tasks[1].value.error
            #expect(error?.code == .connectionLost)
            #expect(error?.description.contains("ENHANCE_YOUR_CALM") == true, "\(String(describing: error))")
            try await waitUntil("the connection is closed") { server.openConnections == 0 }
        }

        @Test func errorNamesTheCodeOfGoAway() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                peer.goAway(frame.stream, HTTP2Frame.Code.enhanceYourCalm, "calm")
                peer.close()
            }
            let error = await send(server.request(method: .post)).value.error
            #expect(error?.code == .connectionLost)
            #expect(error?.description.contains("ENHANCE_YOUR_CALM") == true, "\(String(describing: error))")
            #expect(server.connections == 1)
            #expect(transport.isQuiet)
        }

        @Test func serverMayEndEachConnectionAfterOneRequest() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers, frame.stream == 1 else { return }
                peer.goAway(1)
                peer.answer(1, "ok")
            }
            let tasks = (0..<12).map { send(server.request("/\($0)", method: .post)) }
            for task in tasks { #expect(try await task.value.get().text == "ok") }
            #expect(server.connections == 12)
            #expect(transport.isQuiet)
        }

        @Test func refusalOfEveryRequestNamesTheCodeOfGoAway() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                peer.goAway(0, HTTP2Frame.Code.enhanceYourCalm, "calm")
            }
            let error = await send(server.request(method: .post)).value.error
            #expect(error?.code == .connectionLost)
            #expect(error?.description.contains("ENHANCE_YOUR_CALM") == true, "\(String(describing: error))")
            #expect(server.connections == 4)
            // Requests that are refused together are not requests that the server processes.
            let tasks = (0..<12).map { send(server.request("/\($0)", method: .post)) }
            for task in tasks { #expect(await task.value.error?.code == .connectionLost) }
            #expect(server.connections <= 4 + 12 * 4)
        }

        // MARK: Streams

        @Test(arguments: [HTTPMethod.get, .post])
        func refusedStreamIsSentAgain(_ method: HTTPMethod) async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.endsStream else { return }
                if frame.stream == 1 { return peer.reset(frame.stream, HTTP2Frame.Code.refusedStream) }
                peer.answer(frame.stream, "again")
            }
            let body = method == .post ? Self.text("body") : .none
            let response = try await send(server.request(method: method, body: body)).value.get()
            #expect(response.text == "again")
            #expect(transport.isQuiet)
        }

        /// The challenge, its body and its trailer section arrive at once.
        @Test func challengeWithTrailersIsAnswered() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                if frame["authorization"] != nil { return peer.answer(frame.stream, "ok") }
                let head = HTTP2Frame.block([":status: 401", "www-authenticate: Basic realm=r"])
                let frames = [
                    HTTP2Frame(.headers, flags: 4, stream: frame.stream, head),
                    HTTP2Frame(.data, stream: frame.stream, Array("who".utf8)),
                    HTTP2Frame(.headers, flags: 5, stream: frame.stream, HTTP2Frame.block(["x-sum: 1"])),
                ]
                peer.write(frames.flatMap(\.bytes))
            }
            var context = TransferContext.http2()
            let origin = HTTPOrigin(scheme: "http", authority: server.authority)
            context.credentials = ChallengeCredentials(user: "ada", password: "pw", origin: origin)
            #expect(try await transport.exchange(server.request(), context).text == "ok")
            #expect(try await server.peer().requests.count == 2)
        }

        @Test func repeatedlyRefusedRequestFails() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                if frame.kind == .headers { peer.reset(frame.stream, HTTP2Frame.Code.refusedStream) }
            }
            let error = await send(server.request()).value.error
            #expect(error?.code == .connectionLost)
            #expect(server.peers.reduce(0) { $0 + $1.requests.count } == 4)
            // Each request has its own number of attempts.
            _ = await send(server.request()).value
            #expect(server.peers.reduce(0) { $0 + $1.requests.count } == 8)
            #expect(transport.isQuiet)
        }

        @Test func bodyThatIsNotReplayableFailsTheRetry() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                if frame.kind == .data { peer.reset(frame.stream, HTTP2Frame.Code.refusedStream) }
            }
            let pieces = AsyncStream<Data> { continuation in
                continuation.yield(Data("piece".utf8))
                continuation.finish()
            }
            let error = await send(server.request(method: .put, body: .stream(pieces))).value.error
            #expect(error?.code == .bodyNotReplayable)
            #expect(try await server.peer().requests.count == 1)
            #expect(transport.isQuiet)
        }

        @Test func bytesOfAStreamThatWasDeclaredEmptyFailTheRequest() async throws {
            let server = try ScriptedHTTP2Server.answering()
            func body(_ pieces: [Data]) -> RequestBody {
                let pieces = AsyncStream<Data> { continuation in
                    for piece in pieces { continuation.yield(piece) }
                    continuation.finish()
                }
                return .stream(pieces, length: 0)
            }
            #expect(try await send(server.request(method: .post, body: body([]))).value.get().text == "ok")
            let error = await send(server.request(method: .post, body: body([Data("piece".utf8)]))).value.error
            #expect(error?.code == .bodyLengthMismatch)
            #expect(transport.isQuiet)
        }

        @Test(arguments: [HTTP2Frame.Code.internalError, HTTP2Frame.Code.cancel, HTTP2Frame.Code.enhanceYourCalm])
        func resetWithAnotherCodeFailsTheRequest(_ code: UInt32) async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                if frame.kind == .headers { peer.reset(frame.stream, code) }
            }
            let error = await send(server.request()).value.error
            #expect(error?.code == .connectionLost)
            #expect(error?.description.contains(HTTP2Session.name(of: code)) == true)
            let peer = try await server.peer()
            #expect(peer.requests.count == 1)
            #expect(peer.frames(.reset).isEmpty)
            #expect(transport.isQuiet)
        }

        @Test(arguments: [HTTP2Frame.Code.noError, HTTP2Frame.Code.internalError])
        func resetDuringTheBodyFailsTheRequest(_ code: UInt32) async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                peer.head(frame.stream)
                peer.data(frame.stream, "begun")
            }
            let response = try await transport.send(server.request(), context: .http2())
            let peer = try await server.peer()
            try await peer.synchronize()
            peer.reset(1, code)
            let (received, error) = await response.body.readToEnd()
            #expect(received == Data("begun".utf8))
            #expect(error?.code == (code == HTTP2Frame.Code.noError ? .truncatedBody : .connectionLost))
            #expect(peer.requests.count == 1)
            try await waitUntil("the transport has no requests") { transport.isQuiet }
        }

        // MARK: The end of the connection

        /// Sends a request over a connection that was used before, and closes that connection.
        private func sendAndClose(_ server: ScriptedHTTP2Server, _ method: HTTPMethod) async throws
            -> Result<ReadResponse, SluiceError>
        {
            let first = send(server.request("/first"))
            let (peer, _) = try await server.seen()
            peer.answer(1, "first")
            _ = try await first.value.get()
            let second = send(server.request("/second", method: method))
            _ = try await peer.request(1)
            peer.close()
            return await second.value
        }

        @Test(arguments: [HTTPMethod.get, .head, .put, .delete])
        func idempotentRequestIsSentAgain(_ method: HTTPMethod) async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                // The second connection.
                if frame.kind == .headers, frame.stream == 1, frame[":path"] == "/second" { peer.head(1, ends: true) }
            }
            let result = try await sendAndClose(server, method)
            #expect(try result.get().status == .ok)
            #expect(server.connections == 2)
            #expect(transport.isQuiet)
        }

        @Test func nonIdempotentRequestIsSentOnce() async throws {
            let server = try ScriptedHTTP2Server()
            #expect(try await sendAndClose(server, .post).error?.code == .connectionLost)
            #expect(server.connections == 1)
            #expect(transport.isQuiet)
        }

        @Test func connectionLossTruncatesAStartedResponse() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                peer.head(frame.stream)
                peer.data(frame.stream, "begun")
            }
            let response = try await transport.send(server.request(), context: .http2())
            let peer = try await server.peer()
            try await peer.synchronize()
            peer.close()
            let (received, error) = await response.body.readToEnd()
            #expect(received == Data("begun".utf8))
            #expect(error?.code == .truncatedBody)
            #expect(server.connections == 1)
            try await waitUntil("the transport has no requests") { transport.isQuiet }
        }

        @Test func connectionLossFailsAllItsRequests() async throws {
            let server = try ScriptedHTTP2Server()
            let tasks = (0..<30).map { send(server.request("/\($0)", method: .post)) }
            let peer = try await server.peer()
            try await waitUntil("all requests have arrived") { peer.requests.count == 30 }
            peer.close()
            for task in tasks { #expect(await task.value.error?.code == .connectionLost) }
            #expect(transport.isQuiet)
            #expect(!transport.hasIdle)
        }
    }
}
#endif

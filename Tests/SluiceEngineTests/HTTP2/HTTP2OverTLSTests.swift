#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// HTTP/2 negotiated by TLS, and servers that require HTTP/1.1 for a request (RFC 9113 §3.2, §8.1, §9.2).
    @Suite struct HTTP2OverTLSTests {
        private let transport = SocketTransport()
        private let old: LoopbackServer
        private let certificates: TestCertificates

        init() throws {
            certificates = try TestCertificates.shared.get()
            old = try LoopbackServer()
            old.on("/*", .echo)
            old.on("/hang", .hang)
        }

        /// Creates a TLS server that forwards to an HTTP/2 server or an HTTP/1.1 server, as negotiated.
        private func front(of new: ScriptedHTTP2Server) throws -> TestListener {
            var options = TestTLSServer.Options(certificates.right)
            options.prefersHTTP2 = true
            let tls = try TestTLSServer(options)
            let (oldPort, newPort) = (old.port, new.port)
            return try TestListener { descriptor in
                tls.serve(descriptor) { connection in
                    guard connection.isOpen else { return }
                    TestProxyClient(descriptor: descriptor, tls: connection)
                        .relay(to: connection.usesHTTP2 ? newPort : oldPort)
                }
            }
        }

        private var context: TransferContext {
            var connection = ConnectionOptions()
            connection.proxy = .none
            connection.tls = TLSConfiguration(trust: .only(certificates.root.source))
            return TransferContext(connection: connection)
        }

        private func send(_ request: HTTPRequest) -> Task<Result<ReadResponse, SluiceError>, Never> {
            Task { [transport, context] in await transport.result(of: request, context) }
        }

        @Test func concurrentRequestsShareAConnection() async throws {
            let new = try ScriptedHTTP2Server.answering()
            let front = try front(of: new)
            let tasks = (0..<10).map { send(front.request("/\($0)", scheme: "https")) }
            for task in tasks {
                let response = try await task.value.get()
                #expect(response.text == "ok")
                #expect(response.metrics?.version == .http2)
            }
            #expect(front.connections == 1)
            #expect(old.requestCount == 0)
            #expect(transport.isQuiet)
        }

        @Test func http1RequiredMovesTheRequestToHTTP1() async throws {
            let new = try ScriptedHTTP2Server()
            let front = try front(of: new)
            let body = Data(repeating: 0x61, count: 10_000)
            let stays = send(front.request("/stays", scheme: "https"))
            let (peer, first) = try await new.seen()
            let moves = send(front.request("/moves", scheme: "https", method: .post, body: .data(body)))
            let second = try await peer.request(1)
            peer.reset(second.stream, HTTP2Frame.Code.http1Required)
            let moved = try await moves.value.get()
            #expect(moved.status == .ok)
            #expect(moved.metrics?.version == .http1_1)
            #expect(old.requests.map(\.path) == ["/moves"])
            #expect(old.requests.first?.body == body)
            // Other requests stay on their connection.
            peer.answer(first.stream, "new")
            #expect(try await stays.value.get().text == "new")
            #expect(new.openConnections == 1)
            #expect(transport.isQuiet)
        }

        @Test func requestMovedToHTTP1CanBeCancelled() async throws {
            let new = try ScriptedHTTP2Server { peer, frame in
                if frame.endsStream { peer.reset(frame.stream, HTTP2Frame.Code.http1Required) }
            }
            let front = try front(of: new)
            let task = send(front.request("/hang", scheme: "https"))
            try await waitUntil("the request has arrived") { old.requestCount == 1 }
            task.cancel()
            #expect(await task.value.error?.code == .cancelled)
            try await waitUntil("the transport has no requests") { transport.isQuiet && old.openConnections == 0 }
        }

        @Test func bodyThatIsNotReplayableIsNotMovedToHTTP1() async throws {
            let new = try ScriptedHTTP2Server { peer, frame in
                if frame.endsStream { peer.reset(frame.stream, HTTP2Frame.Code.http1Required) }
            }
            let front = try front(of: new)
            let pieces = AsyncStream<Data> { stream in
                stream.yield(Data("once".utf8))
                stream.finish()
            }
            let body = RequestBody.stream(pieces)
            let task = send(front.request("/once", scheme: "https", method: .post, body: body))
            #expect(await task.value.error?.code == .bodyNotReplayable)
            #expect(old.requestCount == 0)
            try await waitUntil("the transport has no requests") { transport.isQuiet }
        }
    }
}
#endif

#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// More requests than a server allows on a connection (RFC 9113 §5.1.2).
    @Suite struct HTTP2ConcurrencyTests {
        private let transport = SocketTransport()

        private func send(
            _ request: HTTPRequest,
            _ timeouts: Timeouts = Timeouts()
        ) -> Task<Result<ReadResponse, SluiceError>, Never> {
            Task { [transport] in await transport.result(of: request, .http2(timeouts)) }
        }

        /// Creates a server that refuses the streams beyond a limit and answers the others.
        private func server(limit: UInt32, isAnnounced: Bool = true) throws -> ScriptedHTTP2Server {
            let open = Locked<[ObjectIdentifier: Int]>([:])
            let settings = isAnnounced ? [HTTP2Frame.Setting.maximumStreams: limit] : [:]
            return try ScriptedHTTP2Server(settings: settings) { peer, frame in
                guard frame.kind == .headers else { return }
                let isTooMany = open.withLock { open in
                    open[ObjectIdentifier(peer), default: 0] += 1
                    return open[ObjectIdentifier(peer), default: 0] > Int(limit)
                }
                let refuse = {
                    open.withLock { $0[ObjectIdentifier(peer), default: 0] -= 1 }
                    peer.reset(frame.stream, HTTP2Frame.Code.refusedStream)
                }
                if isTooMany { return refuse() }
                Thread.detachNewThread {
                    // The time that a response takes, so that more requests arrive meanwhile.
                    usleep(2000)
                    open.withLock { $0[ObjectIdentifier(peer), default: 0] -= 1 }
                    peer.answer(frame.stream, frame[":path"] ?? "")
                }
            }
        }

        @Test(arguments: [1, 2, 10] as [UInt32])
        func allRequestsAreAnsweredUnderAStreamLimit(_ limit: UInt32) async throws {
            let server = try server(limit: limit)
            let first = try await send(server.request("/first")).value.get()
            #expect(first.text == "/first")
            let tasks = (0..<60).map { send(server.request("/\($0)")) }
            for (index, task) in tasks.enumerated() { #expect(try await task.value.get().text == "/\(index)") }
            #expect(transport.isQuiet)
        }

        /// Requests that arrive before the server's settings.
        @Test(arguments: [1, 2, 10] as [UInt32])
        func requestsBeforeTheSettingsAreAllAnswered(_ limit: UInt32) async throws {
            let server = try server(limit: limit)
            let tasks = (0..<60).map { send(server.request("/\($0)")) }
            for (index, task) in tasks.enumerated() { #expect(try await task.value.get().text == "/\(index)") }
            #expect(transport.isQuiet)
        }

        /// The requests wait for a stream, without further connections.
        @Test func requestsToAServerThatAllowsNoStreamYetAreAnsweredLater() async throws {
            let isOpen = Locked(false)
            let settings = [HTTP2Frame.Setting.maximumStreams: UInt32(0)]
            let server = try ScriptedHTTP2Server(settings: settings) { peer, frame in
                guard frame.endsStream else { return }
                if isOpen.withLock({ $0 }) {
                    peer.answer(frame.stream, "ok")
                } else {
                    peer.reset(frame.stream, HTTP2Frame.Code.refusedStream)
                }
            }
            let body = RequestBody.data(Data(count: 100))
            let tasks = (0..<30).map { index in
                send(server.request("/\(index)", method: .post, body: body), Timeouts(total: .seconds(30)))
            }
            _ = try await server.peer(1)
            for peer in server.peers { try await peer.synchronize() }
            // Any more requests wait as well.
            let later = send(server.request("/later"))
            try await waitUntil("it waits") { transport.pool?.load.connecting == 31 }
            // A request may dial before the pool knows the settings of the second connection.
            #expect(server.connections <= 4)
            isOpen.withLock { $0 = true }
            for peer in server.peers { peer.settings([HTTP2Frame.Setting.maximumStreams: 100]) }
            for task in tasks + [later] { #expect(try await task.value.get().text == "ok") }
            #expect(server.connections <= 4)
            #expect(transport.isQuiet)
        }

        /// Those that were not written when the settings arrived go to other connections, however long the first ones take.
        @Test func requestsBeforeTheSettingsDoNotWaitForEachOther() async throws {
            let server = try ScriptedHTTP2Server(settings: [HTTP2Frame.Setting.maximumStreams: 1])
            let tasks = (0..<3).map { send(server.request("/\($0)")) }
            try await waitUntil("all requests have arrived") { server.peers.reduce(0) { $0 + $1.requests.count } == 3 }
            for peer in server.peers {
                for request in peer.requests { peer.answer(request.stream, "ok") }
            }
            for task in tasks { #expect(try await task.value.get().text == "ok") }
            #expect(transport.isQuiet)
        }

        @Test(arguments: [1, 5])
        func requestsBeyondALimitThatIsNotAnnouncedWait(_ limit: UInt32) async throws {
            let server = try server(limit: limit, isAnnounced: false)
            let tasks = (0..<40).map { send(server.request("/\($0)", method: .post)) }
            for (index, task) in tasks.enumerated() { #expect(try await task.value.get().text == "/\(index)") }
            #expect(transport.isQuiet)
        }

        /// The other stream stays open, so that no answer shows that the server has room again.
        @Test func refusalIsForgottenAfterASecond() async throws {
            let refused = Locked(0)
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers, frame.stream > 1 else { return }
                let isFirst = refused.withLock { count in
                    count += 1
                    return count == 1
                }
                if isFirst { return peer.reset(frame.stream, HTTP2Frame.Code.refusedStream) }
                peer.answer(frame.stream, "ok")
            }
            let transport = SocketTransport { $0.maximumConnectionsByHost["127.0.0.1"] = 1 }
            let held = Task { await transport.result(of: server.request("/held"), .http2()) }
            let (peer, _) = try await server.seen()
            try await peer.synchronize()
            let other = await transport.result(of: server.request("/other"), .http2(Timeouts(total: .seconds(20))))
            #expect(try other.get().text == "ok")
            peer.answer(1, "held")
            #expect(try await held.value.get().text == "held")
            #expect(server.connections == 1)
        }

        /// A request that the client itself does not send says nothing about the server.
        @Test func headThatIsTooLargeIsNoRefusal() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                if frame.kind == .headers, frame.stream > 1 { peer.answer(frame.stream, "ok") }
            }
            let held = send(server.request("/held"))
            let (peer, _) = try await server.seen()
            try await peer.synchronize()
            let large = server.request(headers: ["X-Large": String(repeating: "x", count: 80_000)])
            #expect(await send(large).value.error != nil)
            #expect(try await send(server.request("/other")).value.get().text == "ok")
            peer.answer(1, "held")
            #expect(try await held.value.get().text == "held")
            #expect(server.connections == 1)
        }

        @Test func requestBeyondTheStreamLimitGetsANewConnection() async throws {
            let server = try ScriptedHTTP2Server(settings: [HTTP2Frame.Setting.maximumStreams: 1])
            let first = send(server.request("/first"))
            let (peer, _) = try await server.seen()
            try await peer.synchronize()
            let second = send(server.request("/second"))
            let other = try await server.peer(1)
            #expect(try await other.request()[":path"] == "/second")
            #expect(peer.requests.count == 1)
            other.answer(1, "second")
            peer.answer(1, "first")
            #expect(try await first.value.get().text == "first")
            #expect(try await second.value.get().text == "second")
            #expect(transport.isQuiet)
        }

        @Test func loweredStreamLimitAppliesToTheNextRequest() async throws {
            let server = try ScriptedHTTP2Server()
            let tasks = (0..<3).map { send(server.request("/\($0)")) }
            let peer = try await server.peer()
            try await waitUntil("all requests have arrived") { peer.requests.count == 3 }
            peer.settings([HTTP2Frame.Setting.maximumStreams: 1])
            try await peer.synchronize(turns: 2)
            let late = send(server.request("/late"))
            let other = try await server.peer(1)
            #expect(try await other.request()[":path"] == "/late")
            for request in peer.requests { peer.answer(request.stream, "ok") }
            other.answer(1, "late")
            for task in tasks { #expect(try await task.value.get().text == "ok") }
            #expect(try await late.value.get().text == "late")
            #expect(peer.requests.count == 3)
        }

        @Test func streamLimitOfZeroCanBeRaisedAgain() async throws {
            let server = try ScriptedHTTP2Server()
            let first = send(server.request("/first"))
            let (peer, _) = try await server.seen()
            peer.settings([HTTP2Frame.Setting.maximumStreams: 0])
            try await peer.synchronize(turns: 2)
            let second = send(server.request("/second"))
            let other = try await server.peer(1)
            #expect(try await other.request()[":path"] == "/second")
            peer.settings([HTTP2Frame.Setting.maximumStreams: 10])
            try await peer.synchronize(turns: 2)
            let third = send(server.request("/third"))
            #expect(try await peer.request(1)[":path"] == "/third")
            peer.answer(1, "first")
            peer.answer(3, "third")
            other.answer(1, "second")
            for task in [first, second, third] { _ = try await task.value.get() }
            #expect(server.connections == 2)
            #expect(transport.isQuiet)
        }

        @Test func serverThatRefusesAllStreamsFailsTheRequest() async throws {
            let server = try ScriptedHTTP2Server(settings: [HTTP2Frame.Setting.maximumStreams: 0]) { peer, frame in
                if frame.kind == .headers { peer.reset(frame.stream, HTTP2Frame.Code.refusedStream) }
            }
            let error = await send(server.request(), Timeouts(total: .seconds(2))).value.error
            #expect([.connectionLost, .timedOut].contains(error?.code), "\(String(describing: error))")
            #expect(server.connections < 10)
            #expect(transport.isQuiet)
        }

        @Test func cancelledWaitingRequestOpensNoStream() async throws {
            let server = try ScriptedHTTP2Server(settings: [HTTP2Frame.Setting.maximumStreams: 1])
            let transport = SocketTransport { $0.maximumTransfersPerHost = 1 }
            let first = Task { await transport.result(of: server.request("/first"), .http2()) }
            let (peer, _) = try await server.seen()
            let second = Task { await transport.result(of: server.request("/second"), .http2()) }
            try await waitUntil("the second request waits") { transport.queued == 1 }
            second.cancel()
            #expect(await second.value.error?.code == .cancelled)
            peer.answer(1, "first")
            #expect(try await first.value.get().text == "first")
            #expect(peer.requests.count == 1)
            #expect(transport.isQuiet)
        }
    }
}
#endif

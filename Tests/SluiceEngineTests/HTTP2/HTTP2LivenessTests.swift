#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// HTTP/2 connections that are idle, or whose server does not answer.
    @Suite struct HTTP2LivenessTests {
        private let transport = SocketTransport { $0.pingInterval = .milliseconds(200) }
        /// For servers that must answer before a ping fails.
        private let patient = SocketTransport { $0.pingInterval = .seconds(1) }

        @Test func requestAfterAnsweredPingsIsWatchedFromItsBeginning() {
            let start = MonotonicTime.now
            var liveness = HTTP2Liveness(interval: .seconds(10), at: start)
            liveness.begin(isFirst: true, at: start)
            var now = start
            for _ in 0..<3 {
                now = liveness.deadline(awaitsResponse: true)
                #expect(liveness.step(awaitsResponse: true, at: now) == .ping)
                _ = liveness.recordInput(at: now)
            }
            #expect(now == start + .seconds(70))
            liveness.begin(isFirst: false, at: now + .seconds(30))
            #expect(liveness.deadline(awaitsResponse: true) == now + .seconds(40))
            // Later requests do not postpone the PING.
            liveness.begin(isFirst: false, at: now + .seconds(35))
            #expect(liveness.deadline(awaitsResponse: true) == now + .seconds(40))
        }

        /// The path may have died in the middle of a response.
        @Test func timeoutAfterASilentSecondMakesTheConnectionSuspect() {
            let start = MonotonicTime.now
            var liveness = HTTP2Liveness(interval: .seconds(10), at: start)
            liveness.begin(isFirst: true, at: start)
            let input = start + .seconds(3)
            _ = liveness.recordInput(at: input)
            let times = [999, 1000, 9000].map { input + .milliseconds($0) }
            #expect(times.map { liveness.requestTimedOut(began: start, at: $0) } == [false, true, false])
            let later = input + .seconds(10)
            let wasSuspect = liveness.recordInput(at: later)
            #expect(wasSuspect && !liveness.isSuspect)
            // Nothing was received since a later request began.
            _ = liveness.requestTimedOut(began: later, at: later + .milliseconds(1))
            #expect(liveness.isSuspect)
        }

        @Test func requestBesideASilentOneMakesTheConnectionSuspectIfBytesAreSentAgain() {
            let start = MonotonicTime.now
            var liveness = HTTP2Liveness(interval: .seconds(10), at: start)
            // The idle time before the first request does not count.
            let first = start + .seconds(60)
            liveness.begin(isFirst: true, at: first)
            let late = first + .seconds(2)
            var isSuspect = liveness.suspect(at: late + .milliseconds(-1), if: true)
            #expect(!isSuspect)
            isSuspect = liveness.suspect(at: late, if: false)
            #expect(!isSuspect)
            isSuspect = liveness.suspect(at: late, if: true)
            #expect(isSuspect && liveness.isSuspect)
            var reports = (0..<2).map { _ in liveness.takeSuspicion() }
            #expect(reports == [true, false])
            // A PING is due at once.
            #expect(liveness.step(awaitsResponse: true, at: late) == .ping)
            _ = liveness.recordInput(at: late)
            isSuspect = liveness.suspect(at: late + .seconds(1), if: true)
            #expect(!isSuspect)
            // Input that comes before the report ends the suspicion.
            _ = liveness.suspect(at: late + .seconds(2), if: true)
            _ = liveness.recordInput(at: late + .seconds(2))
            reports = [liveness.takeSuspicion()]
            #expect(reports == [false] && !liveness.isSuspect)
        }

        /// The network drops everything that the client sends. No request times out, and no PING is due for long.
        @Test func requestsAvoidAConnectionWhosePathIsDead() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                if frame.endsStream { peer.answer(frame.stream, "ok") } else { peer.dropInput() }
            }
            let transport = SocketTransport { $0.pingInterval = .seconds(600) }
            let (chunks, source) = AsyncStream<Data>.makeStream()
            let upload = Task { [request = server.request(method: .post, body: .stream(chunks))] in
                await transport.result(of: request, .http2())
            }
            defer { upload.cancel() }
            _ = try await server.seen()
            source.yield(Data(count: 1000))
            var requests: [Task<Result<ReadResponse, SluiceError>, Never>] = []
            defer { for request in requests { request.cancel() } }
            var last = ContinuousClock.now
            try await waitUntil("a request is sent on another connection") {
                // Fewer than the streams of a connection.
                if requests.count < 90, ContinuousClock.now - last > .milliseconds(200) {
                    last = .now
                    requests.append(Task { await transport.result(of: server.request(), .http2()) })
                }
                return server.connections == 2
            }
            #expect(try await requests.last?.value.get().text == "ok")
            source.finish()
        }

        /// Acknowledgements arrive, although the server sends nothing.
        @Test func slowUploadDoesNotMakeItsConnectionSuspect() async throws {
            let settings = [HTTP2Frame.Setting.initialWindow: UInt32(6 << 20)]
            let server = try ScriptedHTTP2Server(settings: settings, receiveBuffer: 64 << 10) { peer, frame in
                if frame.kind == .headers {
                    peer.send(HTTP2Frame(.windowUpdate, HTTP2Frame.bytes(of: UInt32(6 << 20))))
                }
                // The pace of a slow network.
                if frame.kind == .data { usleep(10_000) }
                if frame.endsStream { peer.answer(frame.stream, "ok") }
            }
            let transport = SocketTransport()
            let isOver = Locked(false)
            let upload = Task { [request = server.request(method: .post, body: .data(Data(count: 5 << 20)))] in
                defer { isOver.withLock { $0 = true } }
                return await transport.result(of: request, .http2())
            }
            _ = try await server.seen()
            let start = ContinuousClock.now
            while !isOver.withLock({ $0 }) {
                // Only a request that begins after a silence of two seconds may make the connection suspect.
                _ = try? await waitUntil("the upload ends", within: .milliseconds(2100)) { isOver.withLock { $0 } }
                #expect(try await transport.exchange(server.request(), .http2()).text == "ok")
            }
            #expect(ContinuousClock.now - start > .seconds(2))
            #expect(try await upload.value.get().text == "ok")
            #expect(server.connections == 1)
        }

        private func send(_ request: HTTPRequest) -> Task<Result<ReadResponse, SluiceError>, Never> {
            Task { [transport] in await transport.result(of: request, .http2()) }
        }

        /// The server stops reading after the source of the body has paused.
        @Test func idleTimeoutAppliesAfterASilenceOfTheSource() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                if frame.kind == .headers, frame.endsStream { peer.answer(frame.stream, "first") }
            }
            // With the usual interval between pings, which is longer than the time-out.
            let transport = SocketTransport()
            // The calling thread begins the upload on the open connection.
            _ = try await transport.exchange(server.request(), .http2())
            let (chunks, source) = AsyncStream<Data>.makeStream()
            defer { source.finish() }
            let start = ContinuousClock.now
            let request = server.request(method: .put, body: .stream(chunks))
            let task = Task { await transport.result(of: request, .http2(Timeouts(idle: .milliseconds(300)))) }
            _ = try await server.seen(1)
            // More than the server's initial window.
            source.yield(Data(count: 1 << 20))
            #expect(await task.value.error?.code == .idleTimedOut)
            let time = ContinuousClock.now - start
            #expect(time < .seconds(5), "\(time)")
        }

        /// While the server reads megabytes from the send buffer, it cannot see the ping behind them, and sends nothing.
        ///
        /// If acknowledgements did not count, each run would fail. A delay of the machine is not in each run.
        @Test func serverThatReadsTheSendBufferSlowlyIsAlive() async throws {
            let length = 6 << 20
            let settings = [HTTP2Frame.Setting.initialWindow: UInt32(length)]
            let server = try ScriptedHTTP2Server(settings: settings, receiveBuffer: 64 << 10) { peer, frame in
                if frame.kind == .headers {
                    peer.send(HTTP2Frame(.windowUpdate, HTTP2Frame.bytes(of: UInt32(length))))
                }
                // The pace of a slow network.
                if frame.kind == .data { usleep(10_000) }
                if frame.endsStream { peer.answer(frame.stream, "ok") }
            }
            let transport = SocketTransport { $0.pingInterval = .milliseconds(500) }
            let request = server.request(method: .post, body: .data(Data(count: length)))
            var start = ContinuousClock.now
            var results: [Result<ReadResponse, SluiceError>] = []
            while results.isEmpty || results.last?.error != nil, results.count < 3 {
                start = ContinuousClock.now
                results.append(await transport.result(of: request, .http2(Timeouts(idle: .seconds(1)))))
            }
            #expect(try results.last?.get().text == "ok", "\(results)")
            #expect(ContinuousClock.now - start > .seconds(3))
        }

        @Test func serverThatReadsNothingMoreTimesOut() async throws {
            let end = DispatchSemaphore(value: 0)
            // Once for each of the two connections.
            defer { for _ in 0..<2 { end.signal() } }
            let settings = [HTTP2Frame.Setting.initialWindow: UInt32(6 << 20)]
            let server = try ScriptedHTTP2Server(settings: settings, receiveBuffer: 64 << 10) { peer, frame in
                guard frame.kind == .headers else { return }
                peer.send(HTTP2Frame(.windowUpdate, HTTP2Frame.bytes(of: UInt32(6 << 20))))
                end.wait()
            }
            let request = server.request(method: .post, body: .data(Data(count: 6 << 20)))
            let slow = SocketTransport { $0.pingInterval = .seconds(60) }
            let context = TransferContext.http2(Timeouts(idle: .milliseconds(300)))
            #expect(await slow.result(of: request, context).error?.code == .idleTimedOut)
            #expect(await transport.result(of: request, .http2()).error?.code == .connectionLost)
        }

        @Test func unansweredPingFailsTheConnection() async throws {
            let server = try ScriptedHTTP2Server(answersPings: false)
            let task = send(server.request(method: .post))
            let (peer, _) = try await server.seen()
            _ = try await peer.frame(.ping)
            #expect(await task.value.error?.code == .connectionLost)
            try await waitUntil("the connection is closed") { server.openConnections == 0 }
            #expect(peer.frames(.ping).count == 1)
            #expect(transport.isQuiet)
        }

        @Test func idempotentRequestIsRetriedOnANewConnection() async throws {
            let server = try ScriptedHTTP2Server(answersPings: false) { peer, frame in
                if frame.kind == .headers, frame.stream == 1 { peer.answer(1, "ok") }
            }
            _ = try await patient.exchange(server.request(), .http2())
            #expect(try await patient.exchange(server.request(), .http2()).text == "ok")
            #expect(server.connections == 2)
        }

        /// Each request is cancelled before a ping is due.
        @Test func deadConnectionIsFoundByCancelledRequests() async throws {
            let server = try ScriptedHTTP2Server(answersPings: false) { peer, frame in
                if frame[":path"] == "/answered" { peer.answer(frame.stream, "ok") }
            }
            _ = try await patient.exchange(server.request("/answered"), .http2())
            for _ in 0..<300 where server.connections == 1 {
                let task = Task { [patient] in await patient.result(of: server.request("/hole"), .http2()) }
                let start = ContinuousClock.now
                try await waitUntil("some time has passed") { ContinuousClock.now - start > .milliseconds(30) }
                task.cancel()
                _ = await task.value
            }
            #expect(server.connections == 2)
        }

        /// A connection that is lost although its pings are answered is lost in each run. An answer is too late only in some.
        @Test func slowResponseSurvivesAnsweredPings() async throws {
            var results: [Result<ReadResponse, SluiceError>] = []
            while results.isEmpty || results.last?.error?.code == .connectionLost, results.count < 3 {
                let server = try ScriptedHTTP2Server()
                let task = send(server.request())
                let (peer, _) = try await server.seen()
                try await waitUntil("three pings have arrived") { peer.frames(.ping).count >= 3 || peer.isClosed }
                peer.answer(1, "slow")
                results.append(await task.value)
                #expect(server.connections == 1)
            }
            #expect(try results.last?.get().text == "slow", "\(results)")
        }

        @Test func idleConnectionIsNotPinged() async throws {
            let server = try ScriptedHTTP2Server.answering()
            _ = try await patient.exchange(server.request(), .http2())
            let peer = try await server.peer()
            // If the server was slow, a ping was sent while the response was outstanding.
            try await peer.synchronize()
            let before = peer.frames(.ping).count
            let start = ContinuousClock.now
            try await waitUntil("some intervals are over") { ContinuousClock.now - start > .milliseconds(3200) }
            #expect(peer.frames(.ping).count == before)
            let next = try await patient.exchange(server.request(), .http2())
            #expect(next.metrics?.isConnectionReused == true)
        }

        /// After a time-out without any received bytes, the connection gets no requests until it answers a ping.
        @Test func connectionGetsNoRequestsUntilItsPingIsAnswered() async throws {
            let server = try ScriptedHTTP2Server(answersPings: false) { peer, frame in
                if frame[":path"] == "/answered" { peer.answer(frame.stream, "ok") }
            }
            let transport = SocketTransport { $0.pingInterval = .seconds(100) }
            #expect(try await transport.exchange(server.request("/answered"), .http2()).text == "ok")
            let peer = try await server.peer()
            try await peer.synchronize()
            let error = await transport.failure(
                of: server.request("/hole"),
                .http2(Timeouts(total: .seconds(1)))
            )
            #expect(error?.code == .timedOut)
            let ping = try await peer.frame(.ping, 1)
            #expect(!ping.isAck)
            #expect(
                try await transport.exchange(server.request("/answered"), .http2()).metrics?.isConnectionReused == false
            )
            #expect(server.connections == 2)
            #expect(peer.requests.count == 2)
            // After an answer, the connection is used again.
            peer.send(HTTP2Frame(.ping, flags: HTTP2Frame.Flag.ack, ping.payload))
            try await peer.synchronize()
            for _ in 0..<3 { _ = try await transport.exchange(server.request("/answered"), .http2()) }
            #expect(server.connections == 2)
        }

        @Test func manyTimeoutsCauseOnePing() async throws {
            let server = try ScriptedHTTP2Server(answersPings: false)
            let transport = SocketTransport { $0.pingInterval = .seconds(100) }
            let context = TransferContext.http2(Timeouts(total: .milliseconds(200)))
            let requests = (0..<20).map { server.request("/\($0)") }
            let tasks = requests.map { request in Task { await transport.failure(of: request, context) } }
            for task in tasks { #expect(await task.value?.code == .timedOut) }
            let peer = try await server.peer()
            try await peer.synchronize()
            #expect(peer.frames(.ping).count { !$0.isAck } <= 1)
        }

        @Test func idleConnectionClosesAfterTheIdleTimeout() async throws {
            let server = try ScriptedHTTP2Server.answering()
            let transport = SocketTransport { $0.idleConnectionTimeout = .milliseconds(100) }
            _ = try await transport.exchange(server.request(), .http2())
            try await waitUntil("the connection is closed") { server.openConnections == 0 && !transport.hasIdle }
            let peer = try await server.peer()
            #expect(peer.frames(.goAway).first?.goAwayCode == HTTP2Frame.Code.noError)
        }

        @Test func connectionBeyondItsLifetimeIsNotReused() async throws {
            let server = try ScriptedHTTP2Server.answering()
            let transport = SocketTransport { $0.connectionLifetime = .milliseconds(1) }
            for _ in 0..<3 { _ = try await transport.exchange(server.request(), .http2()) }
            #expect(server.connections >= 2)
        }

        @Test func connectionsCloseWithTheirTransport() async throws {
            let server = try ScriptedHTTP2Server.answering()
            do {
                let transport = SocketTransport()
                _ = try await transport.exchange(server.request(), .http2())
                #expect(server.openConnections == 1)
            }
            try await waitUntil("the connection is closed") { server.openConnections == 0 }
        }

        @Test func requestThatOutlivesItsTransportCompletes() async throws {
            let server = try ScriptedHTTP2Server()
            let request = server.request()
            let task = Task { await SocketTransport().result(of: request, .http2()) }
            let (peer, _) = try await server.seen()
            peer.answer(1, "ok")
            #expect(try await task.value.get().text == "ok")
            try await waitUntil("the connection is closed") { server.openConnections == 0 }
        }

        /// The windows permit more than the buffers of the socket hold, so that writes block.
        @Test func fullSocketDelaysNoCancellationAndNoTimeOut() async throws {
            let resumes = DispatchSemaphore(value: 0)
            let isStalled = Locked(false)
            let server = try ScriptedHTTP2Server(settings: [4: 32 << 20], receiveBuffer: 64 << 10) { peer, frame in
                if frame[":path"] == "/upload" {
                    peer.windowUpdate(0, 32 << 20)
                    isStalled.withLock { $0 = true }
                    resumes.wait()
                }
                if frame.endsStream { peer.answer(frame.stream, "ok") }
            }
            defer { resumes.signal() }
            // The server answers no PING while it does not read.
            let transport = SocketTransport { $0.pingInterval = .seconds(600) }
            _ = try await transport.exchange(server.request(), .http2())
            let request = server.request("/upload", method: .put, body: .data(Data(count: 16 << 20)))
            let meter = TransferMeter()
            let upload = Task {
                var context = TransferContext.http2()
                context.meter = meter
                return await transport.result(of: request, context)
            }
            try await waitUntil("the server has stopped reading") { isStalled.withLock { $0 } }
            // More than the first window, so that the last frame of the server has been read.
            try await waitUntil("the window has grown") { meter.snapshot(.upload).progress.completed > 65_535 }
            let cancelled = Task { await transport.failure(of: server.request("/cancelled"), .http2()) }
            try await waitUntil("both requests are in progress") { transport.pool?.load.active == 2 }
            cancelled.cancel()
            #expect(await cancelled.value?.code == .cancelled)
            let late = await transport.failure(of: server.request("/late"), .http2(Timeouts(total: .milliseconds(500))))
            #expect(late?.code == .timedOut)
            // Nothing has arrived since, so that the connection takes no further request.
            #expect(try await transport.exchange(server.request("/next"), .http2()).text == "ok")
            #expect(server.connections == 2)
            resumes.signal()
            #expect(try await upload.value.get().text == "ok")
        }

        @Test func serverThatReadsNothingDoesNotDelayOthers() async throws {
            let resumes = DispatchSemaphore(value: 0)
            defer { resumes.signal() }
            let stalledServer = try TestListener { descriptor in
                resumes.wait()
                TestListener.discardInput(descriptor)
            }
            let server = try ScriptedHTTP2Server.answering()
            let transport = SocketTransport()
            let tasks = (0..<5).map { index in
                let body = RequestBody.data(Data(count: 1 << 20))
                let request = stalledServer.request("/\(index)", method: .put, body: body)
                // The first is cancelled, however long the requests to the other server take.
                let timeouts = index == 0 ? Timeouts() : Timeouts(total: .seconds(1))
                return Task { await transport.failure(of: request, .http2(timeouts)) }
            }
            try await waitUntil("the connection is accepted") { stalledServer.connections == 1 }
            for _ in 0..<20 { #expect(try await transport.exchange(server.request(), .http2()).text == "ok") }
            tasks[0].cancel()
            #expect(await tasks[0].value?.code == .cancelled)
            for task in tasks.dropFirst() { #expect(await task.value?.code == .timedOut) }
            #expect(transport.isQuiet)
        }
    }
}
#endif

#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    @Suite(.timeLimit(.minutes(10))) struct BackPressureTimeoutTests {
        @Test func serverThatStallsAfterBackPressureTimesOut() async throws {
            let server = try LoopbackServer()
            server.on("/", .partial(Data(count: 1 << 20), announced: 2 << 20))
            server.on("/silent", .hang)
            // The server needs less, even on a busy machine.
            let timeouts = Timeouts(idle: .seconds(3))
            let response = try await SocketTransport().send(
                HTTPRequest(scheme: "http", authority: server.authority, path: "/"),
                context: TransferContext(timeouts: timeouts)
            )
            // Until the timeout of a later request has passed. The reader is slow here, not the server.
            let failure = await SocketTransport().failure(
                of: server.request("/silent"),
                TransferContext(timeouts: timeouts)
            )
            #expect(failure?.code == .idleTimedOut)
            var count = 0
            let error = await #expect(throws: SluiceError.self) {
                for try await chunk in response.body { count += chunk.count }
            }
            #expect(error?.code == .idleTimedOut)
            #expect(count == 1 << 20)
        }

        /// Megabytes that have been written may still be in the send buffer.
        ///
        /// If their acknowledgement did not count, each run would time out. A delay of the machine is not in each run.
        @Test func serverThatReadsTheSendBufferSlowlyIsNotIdle() async throws {
            let length = 6 << 20
            let server = try TestListener { descriptor in
                var size = Int32(64 << 10)
                setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
                guard TestListener.readHead(descriptor) != nil else { return }
                var bytes = [UInt8](repeating: 0, count: 64 << 10)
                var left = length
                while left > 0 {
                    // The pace of a slow network.
                    usleep(40_000)
                    let count = recv(descriptor, &bytes, bytes.count, 0)
                    guard count > 0 else { return }
                    left -= count
                }
                TestListener.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", to: descriptor)
            }
            let body = RequestBody.data(Data(count: length))
            let request = server.request(method: .post, body: body)
            let context = TransferContext(timeouts: Timeouts(idle: .seconds(1)))
            var start = ContinuousClock.now
            var results: [Result<ReadResponse, SluiceError>] = []
            while results.isEmpty || results.last?.error?.code == .idleTimedOut, results.count < 3 {
                start = ContinuousClock.now
                results.append(await SocketTransport().result(of: request, context))
            }
            #expect(try results.last?.get().text == "ok", "\(results)")
            #expect(ContinuousClock.now - start > .seconds(2))
        }

        /// A socket of this kind does not count the bytes that were acknowledged.
        @Test func slowReaderOfAUnixSocketIsNotIdle() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let length = 400 << 10
            let path = folder.appending(path: "s").path
            try UnixListener.serve(path) { descriptor in
                guard TestListener.readHead(descriptor) != nil else { return }
                var bytes = [UInt8](repeating: 0, count: 16 << 10)
                var left = length
                while left > 0 {
                    // The buffer accepts more only when most of it has been read.
                    usleep(150_000)
                    let count = recv(descriptor, &bytes, bytes.count, 0)
                    guard count > 0 else { return }
                    left -= count
                }
                TestListener.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", to: descriptor)
            }
            var context = TransferContext(timeouts: Timeouts(idle: .seconds(1)))
            context.connection.unixSocket = path
            let body = RequestBody.data(Data(count: length))
            let request = HTTPRequest(method: .post, scheme: "http", authority: "a.test", path: "/", body: body)
            var results: [Result<ReadResponse, SluiceError>] = []
            while results.isEmpty || results.last?.error?.code == .idleTimedOut, results.count < 3 {
                results.append(await SocketTransport().result(of: request, context))
            }
            #expect(try results.last?.get().text == "ok", "\(results)")
        }

        /// The second request cannot be sent, but the server does not end the connection either.
        @Test(arguments: [false, true])
        func serverThatShutsItsInputDownLosesTheConnection(_ isHTTP2: Bool) async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let path = folder.appending(path: "s").path
            let connections = Locked(0)
            try UnixListener.serve(path) { descriptor in
                connections.withLock { $0 += 1 }
                // The service ends when the client has closed the connection.
                let answer = { (send: () -> Void) in
                    shutdown(descriptor, Int32(SHUT_RD))
                    send()
                    var events = pollfd(fd: descriptor, events: 0, revents: 0)
                    poll(&events, 1, -1)
                }
                if isHTTP2 {
                    let peer = HTTP2Peer(descriptor)
                    peer.settings([:])
                    peer.read { frame in
                        if frame.kind == .headers { answer { peer.answer(frame.stream, "ok") } }
                    }
                } else if TestListener.readHead(descriptor) != nil {
                    answer { TestListener.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", to: descriptor) }
                }
            }
            var context = TransferContext(timeouts: Timeouts(idle: .seconds(10)))
            context.connection.unixSocket = path
            if isHTTP2 { context.connection.httpVersion = .http2PriorKnowledge }
            let transport = SocketTransport()
            let request = HTTPRequest(method: .get, scheme: "http", authority: "a.test", path: "/")
            for _ in 0..<3 { #expect(try await transport.result(of: request, context).get().text == "ok") }
            #expect(connections.withLock { $0 } == 3)
        }

        @Test func serverThatReadsNothingMoreIsIdle() async throws {
            let server = try TestListener { descriptor in
                guard TestListener.readHead(descriptor) != nil else { return }
                var events = pollfd(fd: descriptor, events: Int16(0x2000), revents: 0)
                poll(&events, 1, -1)
            }
            let body = RequestBody.data(Data(count: 6 << 20))
            let request = server.request(method: .post, body: body)
            let context = TransferContext(timeouts: Timeouts(idle: .milliseconds(300)))
            #expect(await SocketTransport().failure(of: request, context)?.code == .idleTimedOut)
        }
    }
}

/// A server on a unix-domain socket.
private enum UnixListener {
    /// Serves each connection on a thread of its own, until the process ends.
    static func serve(_ path: String, _ service: @escaping @Sendable (Int32) -> Void) throws {
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let isListening = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 && listen(listener, 8) == 0
            }
        }
        guard isListening else { throw TestCertificate.Failure(reason: "no socket at \(path)") }
        Thread.detachNewThread {
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else { return }
                Thread.detachNewThread {
                    service(descriptor)
                    Foundation.close(descriptor)
                }
            }
        }
    }
}
#endif

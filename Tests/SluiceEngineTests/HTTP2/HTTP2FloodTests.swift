#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// Servers that endlessly send frames that cost work and carry no content. The connection ends, and other requests are not
    /// affected.
    @Suite(.timeLimit(.minutes(2))) struct HTTP2FloodTests {
        /// A server that sends the same bytes repeatedly.
        private struct Flood: Sendable, CustomTestStringConvertible {
            let testDescription: String
            var isHead = false
            let bytes: @Sendable (Int32) -> [UInt8]

            init(_ name: String, isHead: Bool = false, _ bytes: @escaping @Sendable (Int32) -> [UInt8]) {
                testDescription = name
                self.isHead = isHead
                self.bytes = bytes
            }
        }

        private static let floods: [Flood] = [
            Flood("settings") { _ in HTTP2Frame(.settings, [0, 4, 0, 1, 0, 0]).bytes },
            Flood("empty settings") { _ in HTTP2Frame(.settings).bytes },
            Flood("pings") { _ in HTTP2Frame(.ping, [UInt8](repeating: 7, count: 8)).bytes },
            Flood("acknowledgements of no ping") { _ in
                HTTP2Frame(.ping, flags: 1, [UInt8](repeating: 7, count: 8)).bytes
            },
            Flood("priorities") { HTTP2Frame(.priority, stream: $0, [0, 0, 0, 0, 1]).bytes },
            Flood("window updates") { _ in HTTP2Frame(.windowUpdate, [0, 0, 0, 1]).bytes },
            Flood("resets of unopened streams") { HTTP2Frame(.reset, stream: $0 + 1000, [0, 0, 0, 8]).bytes },
            Flood("unknown frames") { HTTP2Frame(type: 0xf0, flags: 255, stream: $0, payload: [1, 2, 3]).bytes },
            Flood("alternative services") { _ in HTTP2Frame(type: 10, flags: 0, stream: 0, payload: [0, 0]).bytes },
            Flood("empty data", isHead: true) { HTTP2Frame(.data, stream: $0).bytes },
            Flood("padding", isHead: true) { HTTP2Frame(.data, flags: 8, stream: $0, [0]).bytes },
            Flood("early hints") {
                HTTP2Frame(.headers, flags: 4, stream: $0, HTTP2Frame.block([":status: 103"])).bytes
            },
        ]

        private let transport = SocketTransport()

        /// Sends a request to a flooding server, while a client of another server is active.
        private func failure(
            limits: ResponseLimits = ResponseLimits(),
            _ flood: @escaping ScriptedHTTP2Server.Reaction
        ) async throws -> SluiceError? {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                Thread.detachNewThread { flood(peer, frame) }
            }
            let good = try ScriptedHTTP2Server.answering()
            let other = SocketTransport()
            _ = try await other.exchange(good.request(), .http2())
            let context = TransferContext.http2(Timeouts(total: .seconds(60)), limits: limits)
            let task = Task { [transport] in await transport.failure(of: server.request(), context) }
            for _ in 0..<20 { #expect(try await other.exchange(good.request(), .http2()).text == "ok") }
            let error = await task.value
            #expect(try await other.exchange(good.request(), .http2()).text == "ok")
            #expect(good.connections == 1)
            try await waitUntil("the connection is closed") { server.openConnections == 0 }
            #expect(server.connections == 1)
            #expect(transport.isQuiet)
            return error
        }

        @Test(arguments: floods)
        private func framesWithoutContentEndTheConnection(_ flood: Flood) async throws {
            let error = try await failure { peer, frame in
                if flood.isHead { peer.head(frame.stream) }
                let many = Array(repeatElement(flood.bytes(frame.stream), count: 1000).joined())
                while peer.write(many) {}
            }
            #expect(error?.code == .invalidResponse, "\(String(describing: error))")
        }

        /// The state of the stream permits each of the resets (RFC 9113 §5.1).
        @Test func resetsOfAClosedStreamEndTheConnection() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                if frame.stream == 1 { return peer.answer(1, "ok") }
                let reset = HTTP2Frame(.reset, stream: 1, [0, 0, 0, 8]).bytes
                let many = Array(repeatElement(reset, count: 1000).joined())
                Thread.detachNewThread { while peer.write(many) {} }
            }
            #expect(try await transport.exchange(server.request(), .http2()).text == "ok")
            let error = await transport.failure(of: server.request(), .http2(Timeouts(total: .seconds(60))))
            #expect(error?.code == .invalidResponse, "\(String(describing: error))")
            try await waitUntil("the connection is closed") { server.openConnections == 0 }
            #expect(server.connections == 1)
        }

        @Test func endlessHeaderBlockEndsTheConnection() async throws {
            let error = try await failure { peer, frame in
                peer.send(HTTP2Frame(.headers, stream: frame.stream, HTTP2Frame.block([":status: 200"])))
                let more = HTTP2Frame(.continuation, stream: frame.stream, HTTP2Frame.block(["a: b"])).bytes
                while peer.write(more) {}
            }
            #expect(error?.code == .invalidResponse, "\(String(describing: error))")
        }

        /// A field of 4,000 bytes in the table, which each byte of the block references.
        @Test func headerCompressionBombEndsTheConnection() async throws {
            let error = try await failure { peer, frame in
                let value = [UInt8](repeating: 0x61, count: 4000)
                let length = HTTP2Frame.integer(value.count, prefix: 7)
                let field: [UInt8] = [0x40, 1, 0x61] + length + value
                let block = [0x88] + field + [UInt8](repeating: 0xbe, count: 12_000)
                peer.send(HTTP2Frame(.headers, flags: 5, stream: frame.stream, block))
            }
            #expect([.headersTooLarge, .invalidResponse].contains(error?.code), "\(String(describing: error))")
        }

        @Test func headOverTheLimitFailsTheRequest() async throws {
            let error = try await failure(limits: ResponseLimits(headers: 4096)) { peer, frame in
                peer.head(
                    frame.stream,
                    200,
                    (0..<5).map { HTTP2Field("x-\($0)", String(repeating: "v", count: 1000)) },
                    ends: true
                )
                peer.close()
            }
            #expect(error?.code == .headersTooLarge)
        }

        @Test func lowLimitOfOneRequestDoesNotEndTheConnection() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers, frame.stream == 3 else { return }
                let fields = (0..<8).map { HTTP2Field("x-\($0)", String(repeating: "v", count: 1000)) }
                peer.head(3, 200, fields, ends: true)
                peer.answer(1, "first")
            }
            let first = Task { [transport] in await transport.result(of: server.request(), .http2()) }
            _ = try await server.seen()
            var context = TransferContext.http2()
            context.limits = ResponseLimits(headers: 1024)
            #expect(await transport.failure(of: server.request(), context)?.code == .headersTooLarge)
            #expect(try await first.value.get().text == "first")
        }

        @Test(arguments: [ResponseLimits(), ResponseLimits(headers: .max)])
        func headWithTooManyFieldsFailsTheRequest(_ limits: ResponseLimits) async throws {
            let error = try await failure(limits: limits) { peer, frame in
                peer.head(frame.stream, 200, (0..<1500).map { HTTP2Field("x", "\($0)") }, ends: true)
                peer.close()
            }
            #expect(error?.code == .headersTooLarge)
        }

        /// The limit for a head counts the fields of the head and of the trailer section together.
        @Test func trailersCountTowardsTheLimitOnHeads() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                let half = (0..<3).map { HTTP2Field("x-\($0)", String(repeating: "v", count: 1000)) }
                peer.head(frame.stream, 200, half)
                peer.data(frame.stream, "body")
                peer.fields(frame.stream, half, ends: true)
            }
            let context = TransferContext.http2(limits: ResponseLimits(headers: 4096))
            #expect(await transport.failure(of: server.request(), context)?.code == .headersTooLarge)
        }

        /// Heads arrive on streams that the client has cancelled.
        @Test func headsOnCancelledStreamsEndTheConnection() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .reset else { return }
                let head = HTTP2Frame(
                    .headers,
                    flags: 4,
                    stream: frame.stream,
                    HTTP2Frame.block([":status: 200", "a: b"])
                ).bytes
                let many = Array(repeatElement(head, count: 1000).joined())
                Thread.detachNewThread { while peer.write(many) {} }
            }
            let request = server.request()
            let task = Task { [transport] in await transport.failure(of: request, .http2()) }
            _ = try await server.seen()
            task.cancel()
            #expect(await task.value?.code == .cancelled)
            try await waitUntil("the connection is closed") { server.openConnections == 0 && !transport.hasIdle }
        }

        /// A body of more than its window arrives on a stream that the client has cancelled.
        @Test func bodyOnACancelledStreamEndsTheConnection() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .reset else { return }
                let data = HTTP2Frame(.data, stream: frame.stream, [UInt8](repeating: 0x61, count: 16_000)).bytes
                Thread.detachNewThread { while peer.write(data) {} }
            }
            let request = server.request()
            let task = Task { [transport] in await transport.failure(of: request, .http2()) }
            _ = try await server.seen()
            task.cancel()
            #expect(await task.value?.code == .cancelled)
            try await waitUntil("the connection is closed") { server.openConnections == 0 && !transport.hasIdle }
        }

        /// The client has reset the stream, but the server had sent as much as the window allows, in small frames.
        @Test func bodyOfACancelledStreamWithinItsWindowIsAllowed() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                if frame.stream > 1 { peer.answer(frame.stream, "ok") }
            }
            let request = server.request()
            let task = Task { [transport] in await transport.failure(of: request, .http2()) }
            let (peer, _) = try await server.seen()
            task.cancel()
            #expect(await task.value?.code == .cancelled)
            _ = try await peer.reset(of: 1)
            peer.head(1)
            let data = HTTP2Frame(.data, stream: 1, [UInt8](repeating: 0x61, count: 500)).bytes
            for _ in 0..<(WindowBudget.size / 2 / 500) { peer.write(data) }
            #expect(try await transport.exchange(request, .http2()).text == "ok")
            #expect(server.connections == 1)
        }

        /// The server grants credit for each 4 KiB that it reads, to the stream and to the connection.
        @Test func windowUpdatesOfAnUploadAreAllowed() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .data else { return }
                for start in stride(from: 0, to: frame.payload.count, by: 4096) {
                    let count = UInt32(min(4096, frame.payload.count - start))
                    for stream in [0, frame.stream] {
                        peer.windowUpdate(stream, count)
                    }
                }
                if frame.endsStream { peer.answer(frame.stream, "ok") }
            }
            let body = RequestBody.data(Data(count: 6 << 20))
            let request = server.request(method: .put, body: body)
            #expect(try await transport.exchange(request, .http2()).text == "ok")
            #expect(server.connections == 1)
        }

        /// The server resets each stream three times.
        @Test func repeatedResetsFailTheRequestsOnly() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                for _ in 0..<3 { peer.reset(frame.stream, HTTP2Frame.Code.internalError) }
            }
            for _ in 0..<300 {
                #expect(await transport.failure(of: server.request(), .http2())?.code == .connectionLost)
            }
            #expect(transport.isQuiet)
        }

        /// The server has sent almost as many frames without content as it may.
        @Test func resetsThatAnswerRequestsAreNoFlood() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                if frame.stream == 1 {
                    for _ in 0..<900 { peer.send(HTTP2Frame(type: 0xf0, flags: 0, stream: 1, payload: [])) }
                }
                peer.reset(frame.stream, HTTP2Frame.Code.internalError)
            }
            #expect(await transport.failure(of: server.request(), .http2())?.code == .connectionLost)
            await withTaskGroup(of: SluiceError?.self) { [transport] group in
                for _ in 0..<400 { group.addTask { await transport.failure(of: server.request(), .http2()) } }
                for await error in group { #expect(error?.reason.contains("stream") == true, "\(error as Any)") }
            }
            #expect(server.connections == 1)
        }

        @Test func floodWithoutReadingEndsTheConnection() async throws {
            let listener = try TestListener { descriptor in
                let many = Array(
                    repeatElement(HTTP2Frame(.ping, [UInt8](repeating: 7, count: 8)).bytes, count: 1000).joined()
                )
                let start = HTTP2Frame(.settings).bytes
                for bytes in [start] + Array(repeating: many, count: 10_000) {
                    let sent = bytes.withUnsafeBytes {
                        Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                    }
                    if sent <= 0 { return }
                }
            }
            let error = await transport.failure(of: listener.request(), .http2(Timeouts(total: .seconds(60))))
            #expect([.invalidResponse, .connectionLost].contains(error?.code), "\(String(describing: error))")
            try await waitUntil("the connection is closed") { listener.openConnections == 0 }
        }
    }
}
#endif

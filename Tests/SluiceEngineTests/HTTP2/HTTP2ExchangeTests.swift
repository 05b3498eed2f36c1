#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// HTTP/2 requests and responses.
    @Suite struct HTTP2ExchangeTests {
        private let transport = SocketTransport()

        private func exchange(_ request: HTTPRequest) -> Task<Result<ReadResponse, SluiceError>, Never> {
            Task { [transport] in await transport.result(of: request, .http2()) }
        }

        @Test func exchangesARequestAndAResponse() async throws {
            let server = try ScriptedHTTP2Server()
            let task = exchange(server.request("/path?query", headers: ["X-One": "1", "Accept": "text/plain"]))
            let (peer, head) = try await server.seen()
            #expect(head.stream == 1)
            #expect(head.endsStream)
            #expect(
                Array(head.fields.prefix(4)) == [
                    ":method: GET", ":scheme: http", HTTP2Field(":authority", server.authority), ":path: /path?query",
                ]
            )
            #expect(head["x-one"] == "1")
            #expect(head["accept"] == "text/plain")
            #expect(head["accept-encoding"] == "\(ContentDecoder.acceptEncoding)")
            #expect(!head.fields.contains { $0.name != $0.name.lowercased() || $0.name == "host" })
            peer.answer(1, "hello", 200, ["content-type: text/plain"])
            let response = try await task.value.get()
            #expect(response.status == .ok)
            #expect(response.text == "hello")
            #expect(response.metrics?.version == .http2)
            #expect(response.metrics?.isConnectionReused == false)
            let second = exchange(server.request("/second"))
            #expect(try await peer.request(1).stream == 3)
            peer.answer(3, "again")
            #expect(try await second.value.get().metrics?.isConnectionReused == true)
            #expect(server.connections == 1)
            #expect(transport.isQuiet)
        }

        @Test func requestIsRecordedAsItWasSentIfAsked() async throws {
            let server = try ScriptedHTTP2Server()
            var context = TransferContext.http2()
            #expect(!context.recordsRequest)
            context.recordsRequest = true
            let body = RequestBody.data(Data(count: 10_000))
            let request = server.request("/path", method: .post, headers: ["X-One": "1"], body: body)
            let task = Task { [transport, context] in await transport.result(of: request, context) }
            let (peer, head) = try await server.seen()
            try await waitUntil("the body has arrived") { peer.frames(.data).contains(where: \.endsStream) }
            peer.answer(1, "hello")
            let metrics = try #require(try await task.value.get().metrics)
            let sent = try #require(metrics.sentRequest)
            let fields = sent.headers.map { HTTP2Field("\($0.name)".lowercased(), $0.value) }
            let expected = head.fields.filter { !$0.name.hasPrefix(":") }
            #expect(fields.first == HTTP2Field("host", server.authority))
            #expect(Array(fields.dropFirst()) == expected)
            #expect(sent.headLength == nil, "The head was compressed.")
            let end = try #require(sent.end)
            #expect(end > .zero && end <= metrics.firstByte)
            let plain = exchange(server.request("/plain"))
            _ = try await peer.request(1)
            peer.answer(3, "again")
            #expect(try await plain.value.get().metrics?.sentRequest == nil)
        }

        /// libnghttp2 sends no head over 64 KiB. The request fails at once, and others are not held up.
        @Test func tooLargeRequestHeadFailsAtOnce() async throws {
            let server = try ScriptedHTTP2Server.answering()
            _ = try await exchange(server.request()).value.get()
            var large = server.request()
            large.headers["X-Large"] = String(repeating: "é", count: 40_000)
            let began = ContinuousClock.now
            let error = await exchange(large).value.error
            #expect(error?.code == .headersTooLarge)
            // Without a turn of the connection, the next PING after ten seconds would notice it.
            #expect(ContinuousClock.now - began < .seconds(5))
            #expect(try await exchange(server.request()).value.get().metrics?.isConnectionReused == true)
        }

        @Test func sendsTheSettingsOfTheClient() async throws {
            let server = try ScriptedHTTP2Server.answering()
            _ = try await exchange(server.request()).value.get()
            let peer = try await server.peer()
            let settings = try await peer.frame(.settings).settings
            #expect(settings[HTTP2Frame.Setting.enablePush] == 0)
            #expect(settings[HTTP2Frame.Setting.initialWindow] == UInt32(FlowWindow.initialSize))
            // Some servers fail with a table smaller than the default.
            #expect(settings[HTTP2Frame.Setting.tableSize] == nil)
            try await waitUntil("the server's settings are acknowledged") {
                peer.frames(.settings).contains(where: \.isAck)
            }
        }

        /// RFC 9113 §5.5 and §6.5.2.
        @Test func unknownFramesAndSettingsAreIgnored() async throws {
            let server = try ScriptedHTTP2Server()
            let task = exchange(server.request())
            let (peer, head) = try await server.seen()
            let unknown: [HTTP2Frame] = [10, 12, 16, 0xff].map { type in
                HTTP2Frame(type: type, flags: 255, stream: head.stream, payload: [UInt8](repeating: type, count: 5000))
            }
            peer.send(HTTP2Frame(type: 10, flags: 0, stream: 0, payload: [0, 0] + Array("h2=\":1\"".utf8)))
            peer.send(HTTP2Frame(type: 12, flags: 0, stream: 0, payload: [0, 1, 97]))
            peer.settings([0xabcd: 7])
            for frame in unknown { peer.send(frame) }
            peer.head(head.stream)
            for frame in unknown { peer.send(frame) }
            peer.data(head.stream, "body", ends: true)
            #expect(try await task.value.get().text == "body")
            #expect(server.connections == 1)
            #expect(peer.frames(.goAway).isEmpty && peer.frames(.reset).isEmpty)
        }

        @Test(arguments: [0, 1, 100, 70_000, 1_000_000])
        func sendsABodyInMemory(_ count: Int) async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                if frame.kind == .data, !frame.payload.isEmpty {
                    peer.windowUpdate(0, UInt32(frame.payload.count))
                    peer.windowUpdate(frame.stream, UInt32(frame.payload.count))
                }
                if frame.endsStream { peer.answer(frame.stream, "\(peer.body(of: frame.stream).count)") }
            }
            let body = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            let task = exchange(server.request(method: .post, body: .data(body)))
            let (peer, head) = try await server.seen()
            #expect(head["content-length"] == "\(count)")
            #expect(try await task.value.get().text == "\(count)")
            #expect(peer.body(of: 1).elementsEqual(body))
        }

        @Test(arguments: [nil, 15] as [Int64?])
        func sendsPiecesOfAStreamAsTheyArrive(_ length: Int64?) async throws {
            let server = try ScriptedHTTP2Server()
            let (pieces, source) = AsyncStream<Data>.makeStream()
            let task = exchange(server.request(method: .put, body: .stream(pieces, length: length)))
            let (peer, head) = try await server.seen()
            #expect(head["content-length"] == length.map { "\($0)" })
            #expect(head["transfer-encoding"] == nil)
            for count in 1...3 {
                source.yield(Data("piece".utf8))
                // The piece that completes the length waits for the end of the source.
                if count == 3 { continue }
                try await waitUntil("the piece has arrived") { peer.body(of: 1).count == 5 * count }
            }
            source.finish()
            #expect(String(decoding: try await peer.wholeBody(of: 1), as: UTF8.self) == "piecepiecepiece")
            peer.answer(1, "ok")
            #expect(try await task.value.get().text == "ok")
        }

        @Test func concurrentRequestsShareOneConnection() async throws {
            let server = try ScriptedHTTP2Server()
            let tasks = (0..<50).map { exchange(server.request("/\($0)")) }
            let peer = try await server.peer()
            try await waitUntil("all requests have arrived") { peer.requests.count == 50 }
            // The last request is answered first, and the bodies are interleaved.
            for request in peer.requests.reversed() { peer.head(request.stream) }
            for request in peer.requests { peer.data(request.stream, "to ") }
            for request in peer.requests.reversed() { peer.data(request.stream, request[":path"] ?? "", ends: true) }
            for (index, task) in tasks.enumerated() { #expect(try await task.value.get().text == "to /\(index)") }
            #expect(server.connections == 1)
            #expect(transport.isQuiet)
        }

        @Test(arguments: [(.head, 200), (.get, 204), (.get, 304)] as [(HTTPMethod, HTTPStatus)])
        func responsesWithoutABodyEndWithTheHead(_ method: HTTPMethod, _ status: HTTPStatus) async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                let length: [HTTP2Field] = status == 204 ? [] : ["content-length: 5"]
                if frame.endsStream { peer.head(frame.stream, status.rawValue, length, ends: true) }
            }
            let response = try await exchange(server.request(method: method)).value.get()
            #expect(response.status == status)
            #expect(response.body.isEmpty)
        }

        @Test func trailersFollowTheBody() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                peer.head(frame.stream)
                peer.data(frame.stream, "body")
                peer.fields(frame.stream, ["x-sum: 42"], ends: true)
            }
            let response = try await transport.send(server.request(), context: .http2())
            #expect(try await response.body.collect() == Data("body".utf8))
            #expect(response.body.trailers?["X-Sum"] == "42")
            #expect(response.head.headers["X-Sum"] == nil)
        }

        @Test func informationalHeadsAreReportedBeforeTheFinalHead() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                peer.head(frame.stream, 103, ["link: </a>"])
                peer.head(frame.stream, 102)
                peer.head(frame.stream, 103, ["link: </b>"])
                peer.answer(frame.stream, "ok")
            }
            let seen = Locked<[String]>([])
            var context = TransferContext.http2()
            context.onInformational = { head in
                seen.withLock { $0.append("\(head.status.rawValue) \(head.headers["Link"] ?? "")") }
            }
            let response = try await transport.send(server.request(), context: context)
            #expect(response.head.headers["Link"] == nil)
            #expect(try await response.body.collect() == Data("ok".utf8))
            #expect(seen.withLock { $0 } == ["103 </a>", "102 ", "103 </b>"])
        }

        @Test func bodyWaitsForContinue() async throws {
            let server = try ScriptedHTTP2Server()
            let context = TransferContext.http2(Timeouts(continueWait: .seconds(100)))
            let request = server.request(
                method: .put,
                headers: ["Expect": "100-continue"],
                body: .data(Data("body".utf8))
            )
            let task = Task { [transport] in await transport.result(of: request, context) }
            let (peer, head) = try await server.seen()
            #expect(head["expect"] == "100-continue")
            try await peer.synchronize()
            #expect(peer.frames(.data).isEmpty)
            peer.head(1, 100)
            #expect(try await peer.wholeBody(of: 1) == Array("body".utf8))
            peer.answer(1, "ok")
            #expect(try await task.value.get().text == "ok")
        }

        @Test func bodyIsSentAfterTheContinueWait() async throws {
            let server = try ScriptedHTTP2Server.answering()
            let context = TransferContext.http2(Timeouts(continueWait: .milliseconds(50)))
            let request = server.request(
                method: .put,
                headers: ["Expect": "100-continue"],
                body: .data(Data("body".utf8))
            )
            #expect(try await transport.exchange(request, context).text == "ok")
            #expect(try await server.peer().body(of: 1) == Array("body".utf8))
        }

        @Test func retriesWithoutExpectAfter417() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                if frame["expect"] != nil { return peer.head(frame.stream, 417, ends: true) }
                if frame.endsStream { peer.answer(frame.stream, "ok") }
            }
            let context = TransferContext.http2(Timeouts(continueWait: .seconds(100)))
            let request = server.request(
                method: .put,
                headers: ["Expect": "100-continue"],
                body: .data(Data("body".utf8))
            )
            #expect(try await transport.exchange(request, context).text == "ok")
            let peer = try await server.peer()
            #expect(peer.requests.map { $0["expect"] } == ["100-continue", nil])
            #expect(peer.body(of: 1).isEmpty)
            #expect(peer.body(of: 3) == Array("body".utf8))
        }

        @Test func finalResponseInsteadOfContinueEndsTheRequest() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                if frame.kind == .headers { peer.answer(frame.stream, "no", 401) }
            }
            let context = TransferContext.http2(Timeouts(continueWait: .seconds(100)))
            let request = server.request(
                method: .put,
                headers: ["Expect": "100-continue"],
                body: .data(Data("body".utf8))
            )
            let response = try await transport.exchange(request, context)
            #expect(response.status == 401)
            #expect(response.text == "no")
            let peer = try await server.peer()
            #expect(try await peer.reset(of: 1) == HTTP2Frame.Code.cancel)
            #expect(peer.body(of: 1).isEmpty)
        }

        @Test(arguments: ["gzip", "zstd", "br"])
        func contentCodingsAreDecoded(_ coding: String) async throws {
            let plain = Data(String(repeating: "content ", count: 1000).utf8)
            let encoded: [String: Data] = [
                "gzip": CodingSamples.gzip(plain), "zstd": CodingSamples.zstd(plain),
                "br": CodingSamples.storedBr(plain),
            ]
            let bytes = Array(try #require(encoded[coding]))
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                peer.head(
                    frame.stream,
                    200,
                    [HTTP2Field("content-encoding", coding), HTTP2Field("content-length", "\(bytes.count)")]
                )
                for start in stride(from: 0, to: bytes.count, by: 1000) {
                    let piece = Array(bytes[start..<min(start + 1000, bytes.count)])
                    peer.data(frame.stream, piece, ends: start + 1000 >= bytes.count)
                }
            }
            let response = try await transport.exchange(server.request(), .http2())
            #expect(response.body == plain)
            #expect(response.metrics?.bytesReceived == Int64(bytes.count))
        }

        /// The turn that ends the decoding also reads the end of the connection.
        @Test func compressedResponseIsWholeIfItsConnectionEnds() async throws {
            let plain = Data(String(repeating: "content ", count: 60_000).utf8)
            let encoded = Array(CodingSamples.gzip(plain))
            let server = try ScriptedHTTP2Server()
            let context = TransferContext.http2(limits: ResponseLimits(decompressionRatio: nil))
            for index in 0..<20 {
                async let response = transport.exchange(server.request(), context)
                let peer = try await server.peer(index)
                let frame = try await peer.request()
                peer.head(frame.stream, 200, ["content-encoding: gzip"])
                peer.data(frame.stream, encoded, ends: true)
                peer.goAway(frame.stream)
                peer.close()
                #expect(try await response.body == plain)
            }
            #expect(transport.isQuiet)
        }

        @Test func decodingPausesAndContinuesWithoutInput() async throws {
            let plain = Data(count: 32 << 20)
            let bomb = Array(CodingSamples.gzip(plain))
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                peer.head(frame.stream, 200, ["content-encoding: gzip"])
                for start in stride(from: 0, to: bomb.count, by: 16_000) {
                    peer.data(
                        frame.stream,
                        Array(bomb[start..<min(start + 16_000, bomb.count)]),
                        ends: start + 16_000 >= bomb.count
                    )
                }
            }
            let context = TransferContext.http2(limits: ResponseLimits(decompressionRatio: nil))
            let response = try await transport.send(server.request(), context: context)
            let peer = try await server.peer()
            try await peer.synchronize()
            // All input has been received. The stream is not complete before the body is read.
            #expect(response.body.metrics == nil)
            #expect(!transport.isQuiet)
            #expect(try await response.body.collect() == plain)
            #expect(response.body.metrics?.bytesReceived == Int64(bomb.count))
            #expect(transport.isQuiet)
        }

        /// A header block in several frames (RFC 9113 §6.10), and padding (RFC 9113 §6.1).
        @Test func splitAndPaddedFramesAreParsed() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.kind == .headers else { return }
                let block = HTTP2Frame.block([":status: 200", "x-one: 1", "x-two: 2"])
                let padding = [UInt8](repeating: 0, count: 7)
                let flags = HTTP2Frame.Flag.padded
                peer.send(HTTP2Frame(.headers, flags: flags, stream: frame.stream, [7] + block[..<5] + padding))
                peer.send(HTTP2Frame(.continuation, stream: frame.stream, Array(block[5..<20])))
                peer.send(HTTP2Frame(.continuation, flags: 4, stream: frame.stream, Array(block[20...])))
                peer.send(HTTP2Frame(.data, flags: flags | 1, stream: frame.stream, [7] + Array("body".utf8) + padding))
            }
            let response = try await transport.send(server.request(), context: .http2())
            #expect(response.head.headers["X-Two"] == "2")
            #expect(try await response.body.collect() == Data("body".utf8))
        }

        /// RFC 9113 §4.3.1: a server may use a smaller table, or none.
        @Test(arguments: [0, 100] as [UInt32])
        func smallHeaderTableOfTheServerIsRespected(_ size: UInt32) async throws {
            let server = try ScriptedHTTP2Server.answering(settings: [HTTP2Frame.Setting.tableSize: size])
            for index in 0..<5 {
                let request = server.request("/\(index)", headers: ["X-Same": "value", "X-Number": "\(index)"])
                #expect(try await exchange(request).value.get().text == "ok")
            }
            let peer = try await server.peer()
            #expect(peer.requests.map { $0["x-number"] } == (0..<5).map { "\($0)" })
            #expect(peer.requests.allSatisfy { $0["x-same"] == "value" })
        }

        @Test func http1ServerIsAnInvalidResponse() async throws {
            let listener = try TestListener { descriptor in
                _ = TestListener.readHead(descriptor)
                TestListener.write("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", to: descriptor)
            }
            let error = await transport.failure(of: listener.request(), .http2())
            #expect(error?.code == .invalidResponse)
            #expect(transport.isQuiet)
        }
    }
}
#endif

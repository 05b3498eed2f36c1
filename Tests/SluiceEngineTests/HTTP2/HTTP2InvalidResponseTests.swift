#if os(Linux)
import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import SluiceEngine

extension EngineTests {
    /// Frames and heads that violate HTTP/2. The request fails at once with a clear error, even if the server keeps the
    /// connection open.
    @Suite struct HTTP2InvalidResponseTests {
        private struct Case: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let frames: [HTTP2Frame]

            init(_ name: String, _ frames: [HTTP2Frame]) {
                testDescription = name
                self.frames = frames
            }
        }

        private let transport = SocketTransport()

        private static func head(_ fields: [HTTP2Field], ends: Bool = true) -> HTTP2Frame {
            HTTP2Frame(.headers, flags: ends ? 5 : 4, stream: 1, HTTP2Frame.block(fields))
        }

        private static func data(_ text: String, ends: Bool = true, stream: Int32 = 1) -> HTTP2Frame {
            HTTP2Frame(.data, flags: ends ? 1 : 0, stream: stream, Array(text.utf8))
        }

        /// Faults that end only a stream (RFC 9113 §8.1.1).
        private static let messages: [Case] = [
            Case("an uppercase name", [head([":status: 200", "X-Upper: 1"])]),
            Case("a space in a name", [head([":status: 200", "x y: 1"])]),
            Case("a line feed in a value", [head([":status: 200", HTTP2Field("x", "1\n2")])]),
            Case("no status", [head(["x: 1"])]),
            Case("two statuses", [head([":status: 200", ":status: 200"])]),
            Case("a status of letters", [head([":status: abc"])]),
            Case("a status of two digits", [head([":status: 20"])]),
            Case("a status below 100", [head([":status: 099"])]),
            Case("a status of zero", [head([":status: 000"], ends: false), data("a")]),
            Case("a status after a field", [head(["x: 1", ":status: 200"])]),
            Case("an unknown pseudo-header field", [head([":status: 200", ":other: 1"])]),
            Case("a pseudo-header field of requests", [head([":status: 200", ":path: /"])]),
            Case("connection", [head([":status: 200", "connection: close"])]),
            Case("transfer-encoding", [head([":status: 200", "transfer-encoding: chunked"])]),
            Case("upgrade", [head([":status: 200", "upgrade: h2c"])]),
            Case("101", [head([":status: 101"], ends: false)]),
            Case("1xx at the end", [head([":status: 103"])]),
            Case(
                "a pseudo-header field in trailers",
                [
                    head([":status: 200"], ends: false), data("a", ends: false), head([":status: 200"]),
                ]
            ),
            Case(
                "trailers without the end",
                [
                    head([":status: 200"], ends: false), data("a", ends: false), head(["x: 1"], ends: false),
                ]
            ),
            Case("a length of letters", [head([":status: 200", "content-length: abc"])]),
            Case("two lengths", [head([":status: 200", "content-length: 1", "content-length: 2"])]),
            Case("a negative length", [head([":status: 200", "content-length: -1"])]),
            Case(
                "a body longer than its length",
                [
                    head([":status: 200", "content-length: 2"], ends: false), data("abc"),
                ]
            ),
            Case(
                "a body shorter than its length",
                [
                    head([":status: 200", "content-length: 4"], ends: false), data("abc"),
                ]
            ),
            Case("a missing body with a length", [head([":status: 200", "content-length: 4"])]),
        ]

        /// Faults that end the connection (RFC 9113 §5.4.1).
        private static let connections: [Case] = [
            Case("data before a head", [data("a")]),
            Case("data on no stream", [HTTP2Frame(.data, stream: 0, [1])]),
            Case("a head on no stream", [HTTP2Frame(.headers, flags: 5, stream: 0, [0x88])]),
            Case("a stream of the server", [HTTP2Frame(.headers, flags: 5, stream: 2, [0x88])]),
            Case("a stream that was not opened", [HTTP2Frame(.headers, flags: 5, stream: 77, [0x88])]),
            Case("a push", [HTTP2Frame(.push, flags: 4, stream: 1, [0, 0, 0, 2, 0x88])]),
            Case(
                "a damaged header block",
                [HTTP2Frame(.headers, flags: 5, stream: 1, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff])]
            ),
            Case("an index without a field", [HTTP2Frame(.headers, flags: 5, stream: 1, [0xfe])]),
            Case("a table beyond the limit", [HTTP2Frame(.headers, flags: 5, stream: 1, [0x3f, 0xe1, 0xff, 3, 0x88])]),
            Case("a continuation without a header block", [HTTP2Frame(.continuation, flags: 4, stream: 1, [0x88])]),
            Case(
                "a frame within a header block",
                [
                    HTTP2Frame(.headers, stream: 1, [0x88]), HTTP2Frame(.ping, [UInt8](repeating: 0, count: 8)),
                ]
            ),
            Case("padding longer than the payload", [HTTP2Frame(.headers, flags: 13, stream: 1, [200, 0x88])]),
            Case("a short ping", [HTTP2Frame(.ping, [1, 2, 3])]),
            Case("settings of five bytes", [HTTP2Frame(.settings, [1, 2, 3, 4, 5])]),
            Case("settings of a stream", [HTTP2Frame(.settings, stream: 1)]),
            Case("an acknowledgement with settings", [HTTP2Frame(.settings, flags: 1, [0, 4, 0, 0, 0, 1])]),
            Case("a window beyond the limit", [HTTP2Frame(.settings, [0, 4, 255, 255, 255, 255])]),
            Case("a frame size below the limit", [HTTP2Frame(.settings, [0, 5, 0, 0, 0, 1])]),
            Case("a window update of zero", [HTTP2Frame(.windowUpdate, [0, 0, 0, 0])]),
            Case("a short reset", [HTTP2Frame(.reset, stream: 1, [1])]),
            Case("a reset of no stream", [HTTP2Frame(.reset, stream: 0, [0, 0, 0, 1])]),
            Case("a reset of a stream that was not opened", [HTTP2Frame(.reset, stream: 77, [0, 0, 0, 1])]),
            Case("a short GOAWAY", [HTTP2Frame(.goAway, [0, 0, 0, 1])]),
            Case("GOAWAY on a stream", [HTTP2Frame(.goAway, stream: 1, [0, 0, 0, 1, 0, 0, 0, 0])]),
            Case("a frame that is too large", [HTTP2Frame(.data, stream: 1, [UInt8](repeating: 0, count: 20_000))]),
        ]

        @Test(arguments: [(2, SluiceError.Code.invalidResponse), (4, .truncatedBody)])
        func errorSaysHowABodyDiffersFromItsLength(_ length: Int, _ code: SluiceError.Code) async throws {
            let field = HTTP2Field("content-length", "\(length)")
            let head = Self.head([":status: 200", field], ends: false)
            let (error, peer, other) = try await result(of: [head, Self.data("abc")])
            #expect(error?.code == code)
            let words = length == 2 ? "longer than its Content-Length" : "ended the request's stream before"
            #expect(error?.reason.contains(words) == true, "\(String(describing: error))")
            peer.answer(3, "second")
            #expect(try await other.value.get().text == "second")
        }

        /// Sends a request while another one waits, and lets the server send the frames.
        private func result(of frames: [HTTP2Frame]) async throws -> (
            SluiceError?, HTTP2Peer, Task<Result<ReadResponse, SluiceError>, Never>
        ) {
            let server = try ScriptedHTTP2Server()
            let request = server.request("/first")
            let task = Task { [transport] in await transport.result(of: request, .http2(Timeouts(total: .seconds(20))))
            }
            let (peer, _) = try await server.seen()
            let second = server.request("/second")
            let other = Task { [transport, server] in
                defer { withExtendedLifetime(server) {} }
                return await transport.result(of: second, .http2(Timeouts(total: .seconds(20))))
            }
            _ = try await peer.request(1)
            for frame in frames { peer.send(frame) }
            return (await task.value.error, peer, other)
        }

        /// HTTP/1.1 allows them, so servers send them.
        @Test func blanksAroundFieldValuesAreRemoved() async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                guard frame.endsStream else { return }
                let fields = [HTTP2Field("x-end", "a b "), HTTP2Field("x-start", "\t c"), HTTP2Field("x-empty", " ")]
                peer.head(frame.stream, 200, fields, ends: true)
            }
            let response = try await transport.send(server.request(), context: .http2())
            let headers = response.head.headers
            #expect(["x-end", "x-start", "x-empty"].map { headers[$0] } == ["a b", "c", ""])
        }

        @Test(arguments: [HTTP2Field("content-length", "2 "), HTTP2Field("te", "gzip "), HTTP2Field("x-a", "a\u{1} ")])
        func blanksHideNoInvalidField(_ field: HTTP2Field) async throws {
            let server = try ScriptedHTTP2Server { peer, frame in
                if frame.endsStream { peer.head(frame.stream, 200, [field], ends: true) }
            }
            let error = await transport.result(of: server.request(), .http2()).error
            #expect(error?.code == .invalidResponse, "\(String(describing: error))")
        }

        @Test(arguments: messages)
        private func malformedMessageFailsItsStreamOnly(_ message: Case) async throws {
            let (error, peer, other) = try await result(of: message.frames)
            #expect([.invalidResponse, .truncatedBody].contains(error?.code), "\(String(describing: error))")
            peer.answer(3, "second")
            #expect(try await other.value.get().text == "second")
            try await peer.synchronize()
            // A stream that both sides have ended needs no reset.
            #expect(peer.frames(.reset).count <= 1)
            #expect(peer.frames(.goAway).isEmpty)
            #expect(transport.isQuiet)
        }

        @Test(arguments: connections)
        private func connectionErrorFailsAllRequests(_ fault: Case) async throws {
            let (error, peer, other) = try await result(of: fault.frames)
            #expect(error?.code == .invalidResponse, "\(String(describing: error))")
            #expect(error?.reason.contains("not valid HTTP/2: ") == true, "\(String(describing: error))")
            #expect(await other.value.error?.code == .invalidResponse)
            #expect(try await peer.frame(.goAway).goAwayCode != HTTP2Frame.Code.noError)
            try await waitUntil("the connection is closed") { peer.isClosed && !transport.hasIdle }
            #expect(transport.isQuiet)
        }

        /// The reason of an earlier request is not that of a later one.
        @Test(arguments: [HTTP2Frame(.windowUpdate, [0, 0, 0, 0]), data("early", stream: 3)])
        func errorNamesItsOwnReason(_ frame: HTTP2Frame) async throws {
            let (error, peer, other) = try await result(of: [Self.head([":status: 200", "connection: close"])])
            #expect(error?.reason.contains("connection") == true, "\(String(describing: error))")
            peer.send(frame)
            let second = await other.value.error
            #expect(second?.reason.contains("connection") == false, "\(String(describing: second))")
        }

        @Test func connectionErrorAfterGoAwayFailsAllRequests() async throws {
            let goAway = HTTP2Frame(.goAway, [0, 0, 0, 3, 0, 0, 0, 0])
            let (error, peer, other) = try await result(of: [goAway, HTTP2Frame(.ping, [1, 2, 3])])
            #expect(error?.code == .invalidResponse, "\(String(describing: error))")
            #expect(await other.value.error?.code == .invalidResponse)
            try await waitUntil("the connection is closed") { peer.isClosed }
            #expect(transport.isQuiet)
        }

        @Test func tooManyInformationalHeadsFailTheRequest() async throws {
            let frames = Array(repeating: Self.head([":status: 103"], ends: false), count: 200)
            let (error, peer, other) = try await result(of: frames)
            #expect(error?.code == .invalidResponse)
            peer.answer(3, "second")
            _ = await other.value
            #expect(transport.isQuiet)
        }
    }
}
#endif

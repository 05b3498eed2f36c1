#if os(Linux)
import Foundation
import SluiceCurl
import SluiceHTTP
import SluiceTesting
import Testing

/// A server that closes a connection it had kept open just when a request comes.
@Suite struct KeptConnectionTests {
    private let server: LoopbackServer
    private let transport = CurlTransport()

    init() throws {
        server = try LoopbackServer()
        server.on("/first", .text("ok"))
        server.on("/second", .drop, .text("ok"))
    }

    private func send(_ method: HTTPMethod, _ path: String) async throws(SluiceError) -> Data {
        let body: HTTPBody = method == .post ? .data(Data("x".utf8)) : .none
        let request = HTTPRequest(method: method, scheme: "http", authority: server.authority, path: path, body: body)
        return try await transport.send(request, context: TransferContext()).body.collect()
    }

    @Test func whatMayBeSentTwiceIsSentAgain() async throws {
        _ = try await send(.get, "/first")
        let body = try await send(.get, "/second")
        #expect(body == Data("ok".utf8))
        #expect(server.requests(to: "/second").count == 2)
    }

    @Test func whatMayNotIsSentOnce() async throws {
        _ = try await send(.get, "/first")
        await #expect(throws: SluiceError.self) { _ = try await send(.post, "/second") }
        #expect(server.requests(to: "/second").count == 1)
        let body = try await send(.post, "/second")
        #expect(body == Data("ok".utf8))
    }
}
#endif

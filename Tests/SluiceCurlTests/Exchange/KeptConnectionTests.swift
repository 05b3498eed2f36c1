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

    /// libcurl counts how often a handle has sent again, and gives up at the sixth time in all of its life.
    @Test func howOftenThatHappensDoesNotMatter() async throws {
        for time in 1...20 {
            server.on("/second", .drop, .text("ok"))
            _ = try await send(.get, "/first")
            let body = try await send(.get, "/second")
            #expect(body == Data("ok".utf8), "\(time)")
        }
    }

    /// Nobody asked for it, so it answers nobody.
    @Test func whatAServerSaysUnaskedIsNotTheNextAnswer() async throws {
        let poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
        let answered = LoopbackSignal()
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        server.on("/poisoned", .script(.write(answer), .wait(for: answered), .write(poison)))
        _ = try await send(.get, "/poisoned")
        answered.fire()
        await server.waitForBytesSent(Int64(answer.utf8.count + poison.utf8.count))
        let body = try await send(.post, "/first")
        #expect(body == Data("ok".utf8))
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

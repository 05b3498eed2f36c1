import Foundation
import SluiceHTTP
import SluiceTesting
import SluiceURLSession
import Testing

/// Behavior of the transport that the conformance cases do not cover, or that it covers only in part.
@Suite(.timeLimit(.minutes(10))) struct URLSessionTransportTests {
    private let server: LoopbackServer
    private let transport = URLSessionTransport()

    init() throws {
        server = try LoopbackServer()
    }

    private func request(_ method: HTTPMethod = .get, body: RequestBody = .none) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "http", authority: server.authority, path: "/", body: body)
    }

    private func code(of body: () async throws -> Void) async -> SluiceError.Code? {
        let error = await #expect(throws: SluiceError.self) { try await body() }
        return error?.code
    }

    @Test(arguments: [
        LoopbackResponse.data(Data(count: 1001)), .chunked([Data(count: 500), Data(count: 501)]),
        .untilClose(Data(count: 1001)),
    ])
    func bodyOverLimitFails(_ response: LoopbackResponse) async {
        server.on("/", response)
        let context = TransferContext(limits: ResponseLimits(body: 1000))
        let code = await code { _ = try await transport.send(request(), context: context).body.collect() }
        #expect(code == .bodyTooLarge)
    }

    @Test(arguments: [10, 1001])
    func unfinishedBodyOverLimitClosesConnection(_ sent: Int) async {
        server.on("/", .partial(Data(count: sent), announced: 1_000_000))
        let context = TransferContext(limits: ResponseLimits(body: 1000))
        let code = await code { _ = try await transport.send(request(), context: context).body.collect() }
        #expect(code == .bodyTooLarge)
        await server.waitForOpenConnections { $0 == 0 }
    }

    @Test func cancellationWhileReadingBodyClosesConnection() async throws {
        server.on("/", .partial(Data(count: 10), announced: 20))
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        let task = Task {
            let response = try await transport.send(request(), context: TransferContext())
            for try await _ in response.body { arrival.yield() }
        }
        for await _ in arrivals { break }
        task.cancel()
        #expect(await code { try await task.value } == .cancelled)
        await server.waitForOpenConnections { $0 == 0 }
    }

    @Test func releasedUnreadResponseClosesConnection() async throws {
        server.on("/", .partial(Data(count: 10), announced: 20))
        _ = try await transport.send(request(), context: TransferContext())
        await server.waitForOpenConnections { $0 == 0 }
    }

    @Test func releasedTransportClosesConnections() async throws {
        server.on("/", .text("ok"))
        do {
            let transport = URLSessionTransport()
            _ = try await transport.send(request(), context: TransferContext()).body.collect()
        }
        await server.waitForOpenConnections { $0 == 0 }
    }

    @Test func responseKeepsReleasedTransportUntilItEnds() async throws {
        let signal = LoopbackSignal()
        server.on(
            "/",
            .script(.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"), .wait(for: signal), .write("body"))
        )
        do {
            let response = try await URLSessionTransport().send(request(), context: TransferContext())
            signal.fire()
            #expect(try await response.body.collect() == Data("body".utf8))
            #expect(response.body.metrics?.bytesReceived == 4)
        }
        await server.waitForOpenConnections { $0 == 0 }
    }

    @Test func failedRequestDoesNotRetainTransport() async throws {
        server.on("/", .text("ok"), .hang)
        do {
            let transport = URLSessionTransport()
            _ = try await transport.send(request(), context: TransferContext()).body.collect()
            let context = TransferContext(timeouts: Timeouts(total: .milliseconds(50)))
            #expect(await code { _ = try await transport.send(request(), context: context) } == .timedOut)
        }
        await server.waitForOpenConnections { $0 == 0 }
    }

    @Test func rejectsGETWithBody() async {
        let request = request(.get, body: .data(Data(count: 1)))
        #expect(await code { _ = try await transport.send(request, context: TransferContext()) } == .unsupported)
        #expect(server.requestCount == 0)
    }

    @Test(arguments: ["Bearer", "Basic", #"Digest realm="a", nonce="b""#, #"Basic realm="a""#])
    func returns401ForAnyChallenge(_ challenge: String) async throws {
        server.on("/", .text("who?", status: 401, headers: ["WWW-Authenticate": challenge]))
        let response = try await transport.send(request(), context: TransferContext())
        #expect(response.head.status == .unauthorized)
        #expect(response.head.headers["WWW-Authenticate"] == challenge)
        #expect(try await response.body.collect() == Data("who?".utf8))
        #expect(server.requestCount == 1)
    }

    @Test(arguments: [nil, "http://[bad", "//", "::::", "//host:99999/"])
    func returnsRedirectWithInvalidLocation(_ location: String?) async throws {
        server.on("/", .status(.found, headers: location.map { ["Location": $0, "Content-Length": "0"] } ?? [:]))
        let response = try await transport.send(request(), context: TransferContext())
        #expect(response.head.status == .found)
        #expect(try await response.body.collect().isEmpty)
    }

    @Test func addsNoContentTypeToStream() async throws {
        server.on("/", .text("ok"))
        let chunks = AsyncStream<Data> { continuation in
            continuation.yield(Data("body".utf8))
            continuation.finish()
        }
        let request = request(.post, body: .stream(chunks))
        _ = try await transport.send(request, context: TransferContext()).body.collect()
        #expect(server.requests.first?.body == Data("body".utf8))
        #expect(server.requests.first?.headers[.contentType] == nil)
    }

    #if canImport(FoundationNetworking)
    @Test func rejectsStreamOver64MiBBeforeSending() async {
        let chunks = AsyncStream<Data> { Data(count: 8 << 20) }
        let request = request(.put, body: .stream(chunks))
        #expect(await code { _ = try await transport.send(request, context: TransferContext()) } == .unsupported)
        #expect(server.requestCount == 0)
    }
    #endif
}

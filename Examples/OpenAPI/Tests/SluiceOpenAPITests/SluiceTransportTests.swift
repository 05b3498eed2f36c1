import Foundation
import HTTPTypes
import OpenAPIRuntime
import Sluice
import SluiceOpenAPI
import SluiceTesting
import Testing

@Suite struct SluiceTransportTests {
    private func send(
        _ method: HTTPTypes.HTTPRequest.Method,
        _ path: String,
        _ server: LoopbackServer,
        base: String = "/v1/",
        headers: HTTPFields = [:],
        body: HTTPBody? = nil,
        configure: (inout APIClient.Configuration) -> Void = { _ in }
    ) async throws -> (HTTPTypes.HTTPResponse, HTTPBody?) {
        let url = try #require(URL(string: server.url + base))
        let request = HTTPTypes.HTTPRequest(
            method: method,
            scheme: nil,
            authority: nil,
            path: path,
            headerFields: headers
        )
        let client = APIClient(baseURL: url.absoluteString, configure: configure)
        return try await SluiceTransport(client: client).send(request, body: body, baseURL: url, operationID: "getUser")
    }

    // MARK: - Messages

    @Test(arguments: ["", "/", "/v1", "/v1/"])
    func thePathIsAppendedToTheURLOfTheServer(_ base: String) async throws {
        try await withLoopbackServer { server in
            let prefix = base.hasPrefix("/v1") ? "/v1" : ""
            server.on("\(prefix)/users/a%2Fb%20c", .text("Ada"))
            let (response, body) = try await send(.get, "/users/a%2Fb%20c?q=%7B1%7D&r=a+b", server, base: base)
            #expect(response.status == .ok)
            #expect(try await body?.collected() == Array("Ada".utf8))
            #expect(server.requests.first?.target == "\(prefix)/users/a%2Fb%20c?q=%7B1%7D&r=a+b")
        }
    }

    @Test func headersGoBothWays() async throws {
        try await withLoopbackServer { server in
            server.on("/v1/users", .text("Ada", headers: ["Set-Cookie": "a=1", "X-Two": "2", "set-cookie": "b=2"]))
            let name = try #require(HTTPField.Name("X-Trace"))
            var fields: HTTPFields = [.accept: "text/plain", name: "1"]
            fields.append(HTTPField(name: name, value: "2"))
            let (response, body) = try await send(.get, "/users", server, headers: fields)
            #expect(response.headerFields[values: .setCookie] == ["a=1", "b=2"])
            #expect(body?.length == .known(3))
            let sent = try #require(server.requests.first?.headers)
            #expect(sent.values(for: "X-Trace") == ["1", "2"] && sent["Accept"] == "text/plain")
        }
    }

    @Test(arguments: [400, 404, 500])
    func everyStatusIsAResponse(_ code: Int) async throws {
        try await withLoopbackServer { server in
            server.on("/v1/users", .text("reason", status: HTTPStatus(code)))
            let (response, body) = try await send(.get, "/users", server)
            #expect(response.status.code == code)
            #expect(try await body?.collected() == Array("reason".utf8))
        }
    }

    @Test func aResponseWithoutContentHasNoBody() async throws {
        try await withLoopbackServer { server in
            server.on("/v1/users", .status(.noContent))
            let (_, deleted) = try await send(.delete, "/users", server)
            #expect(deleted == nil)
            server.on("/v1/users", .text("Ada"))
            let (_, head) = try await send(.head, "/users", server)
            #expect(head == nil)
        }
    }

    @Test func theTransportOfTheArticleSendsARequest() async throws {
        try await withLoopbackServer { server in
            server.on("/v1/users", .text("Ada"))
            let url = try #require(URL(string: "\(server.url)/v1"))
            let shop = APIClient(baseURL: url.absoluteString) { $0.retry = .standard }
            let transport = SluiceTransport(client: shop)
            let request = HTTPTypes.HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/users")
            let (_, body) = try await transport.send(request, body: nil, baseURL: url, operationID: "getUsers")
            #expect(try await body?.collected() == Array("Ada".utf8))
        }
    }

    @Test func theOperationIsTheRoute() async throws {
        try await withLoopbackServer { server in
            server.on("/v1/users", .text("Ada"))
            let metrics = RequestMetrics()
            let (_, body) = try await send(.get, "/users", server) { $0.observers = [metrics] }
            _ = try await body?.collected()
            try await waitUntil("the request is counted") { metrics.snapshot()["GET getUser"]?.requests == 1 }
        }
    }

    // MARK: - Errors and cancellation

    @Test func aConnectionWithoutResponseIsAnError() async throws {
        try await withLoopbackServer { server in
            server.on("/v1/users", .drop)
            await #expect {
                try await send(.get, "/users", server) { $0.retry = .none }
            } throws: { ($0 as? SluiceError)?.code == .connectionLost }
        }
    }

    @Test func aBodyThatIsCutOffIsAnErrorOfItsIteration() async throws {
        try await withLoopbackServer { server in
            server.on("/v1/users", .truncated(Data("Ada".utf8), announced: 100))
            let (response, body) = try await send(.get, "/users", server)
            #expect(response.status == .ok)
            await #expect {
                try await body?.collected()
            } throws: { ($0 as? SluiceError)?.code == .truncatedBody }
        }
    }

    @Test func anErrorOfTheRequestBodyIsTheCause() async throws {
        struct Unreadable: Error {}
        struct Failing: AsyncSequence, Sendable {
            struct Iterator: AsyncIteratorProtocol {
                mutating func next() async throws -> ArraySlice<UInt8>? { throw Unreadable() }
            }
            func makeAsyncIterator() -> Iterator { Iterator() }
        }
        try await withLoopbackServer { server in
            server.on("/v1/users", .text("Ada"))
            let body = HTTPBody(Failing(), length: .unknown, iterationBehavior: .single)
            await #expect {
                try await send(.post, "/users", server, body: body)
            } throws: { ($0 as? SluiceError)?.underlyingError is Unreadable }
        }
    }

    @Test func aCancelledTaskClosesTheConnection() async throws {
        try await withLoopbackServer { server in
            server.on("/v1/users", .hang)
            let task = Task { try await send(.get, "/users", server) }
            await server.waitForRequests(1)
            task.cancel()
            let error = await task.result
            #expect(throws: SluiceError.self) { try error.get() }
            await server.waitForOpenConnections { $0 == 0 }
        }
    }

    // MARK: - Uploads

    @Test(arguments: [HTTPBody.Length.known(8 << 20), .unknown])
    func aBodyOf8MiBIsStreamedToTheServer(_ length: HTTPBody.Length) async throws {
        try await withLoopbackServer { server in
            server.on("/v1/films", .status(.created))
            let source = ChunkSource(chunks: 128)
            let body = HTTPBody(source, length: length, iterationBehavior: .single)
            let (response, _) = try await send(.put, "/films", server, headers: [.contentType: "video/mp4"], body: body)
            #expect(response.status == .created)
            let request = try #require(server.requests.first)
            #expect(request.body.count == 8 << 20 && request.headers["Content-Type"] == "video/mp4")
            #expect(request.headers["Content-Length"] == (length == .unknown ? nil : "8388608"))
            #expect(request.headers["Transfer-Encoding"] == (length == .unknown ? "chunked" : nil))
            #expect((0..<128).allSatisfy { request.body[$0 * ChunkSource.chunkSize] == UInt8($0 % 251) })
        }
    }

    @Test func aServerThatDoesNotReadStopsTheSource() async throws {
        try await withLoopbackServer { server in
            server.interruptRequests(after: 1 << 20, by: .hang)
            let source = ChunkSource(chunks: 1024)
            let body = HTTPBody(source, length: .known(source.length), iterationBehavior: .single)
            // The time-out ends the request, which makes no progress. Until then, the buffers of the system have taken a part of 64 MiB.
            await #expect {
                try await send(.put, "/films", server, body: body) { $0.timeouts.idle = .seconds(1) }
            } throws: { ($0 as? SluiceError)?.code == .idleTimedOut }
            #expect(source.bytesRead > 0 && source.bytesRead < 32 << 20)
        }
    }

    @Test func aBodyThatCanBeIteratedAgainIsSentAgain() async throws {
        try await withLoopbackServer { server in
            server.on("/v1/films", .status(.serviceUnavailable), .status(.created))
            let source = ChunkSource(chunks: 2)
            let body = HTTPBody(source, length: .known(source.length), iterationBehavior: .multiple)
            let (response, _) = try await send(.put, "/films", server, body: body) {
                $0.retry = RetryPolicy(maximumAttempts: 2, backoff: Backoff(base: .zero, limit: .zero))
            }
            #expect(response.status == .created)
            #expect(server.requests.map(\.body.count) == [2 * ChunkSource.chunkSize, 2 * ChunkSource.chunkSize])
        }
    }

    @Test func aBodyThatCanBeIteratedOnceIsSentOnce() async throws {
        try await withLoopbackServer { server in
            server.on("/v1/films", .status(.serviceUnavailable), .status(.created))
            let source = ChunkSource(chunks: 2)
            let body = HTTPBody(source, length: .known(source.length), iterationBehavior: .single)
            let (response, _) = try await send(.put, "/films", server, body: body) {
                $0.retry = RetryPolicy(maximumAttempts: 2, backoff: Backoff(base: .zero, limit: .zero))
            }
            #expect(response.status == .serviceUnavailable)
            #expect(server.requestCount == 1)
        }
    }

    // MARK: - Downloads

    @Test func aBodyOf8MiBIsStreamedFromTheServer() async throws {
        try await withLoopbackServer { server in
            let bytes = Data((0..<128).map(ChunkSource.chunk).joined())
            server.on("/v1/films", .data(bytes))
            let (_, body) = try await send(.get, "/films", server)
            #expect(body?.length == .known(8 << 20) && body?.iterationBehavior == .single)
            #expect(try await body?.collected() == Array(bytes))
        }
    }

    @Test func aBodyIsReadWhileItArrives() async throws {
        try await withLoopbackServer { server in
            server.on("/v1/events", .endless(chunk: Data(repeating: 1, count: 1000)))
            var (response, body) = try await send(.get, "/events", server)
            #expect(response.status == .ok && body?.length == .unknown)
            var count = 0
            for try await chunk in try #require(body) {
                count += chunk.count
                if count > 1 << 20 { break }
            }
            #expect(count > 1 << 20)
            // The transfer stops with the release of the body.
            body = nil
            response = HTTPTypes.HTTPResponse(status: .ok)
            await server.waitForOpenConnections { $0 == 0 }
        }
    }

    @Test func aSecondIterationFails() async throws {
        try await withLoopbackServer { server in
            server.on("/v1/users", .text("Ada"))
            let (_, body) = try await send(.get, "/users", server)
            #expect(try await body?.collected() == Array("Ada".utf8))
            await #expect(throws: (any Error).self) { try await body?.collected() }
        }
    }
}

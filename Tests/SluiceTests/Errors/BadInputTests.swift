import Sluice
import SluiceTesting
import XCTest

/// Every kind of bad input gives a typed error, and the client can send the next request.
final class BadInputTests: XCTestCase {
    private func assertFailure(
        _ code: SluiceError.Code,
        of response: LoopbackResponse,
        file: StaticString = #filePath,
        line: UInt = #line,
        modified: (APIRequest<Data, APIError>) -> APIRequest<Data, APIError> = { $0 }
    ) async throws {
        let server = try LoopbackServer()
        server.on("/bad", response)
        server.on("/good", .text("fine"))
        let client = APIClient(baseURL: server.url) { $0.limits = ResponseLimits(headers: 10_000, body: 100_000) }
        let error = await modified(client.data.request("bad")).sender().result.failure
        XCTAssertEqual(error?.code, code, "\(error.map { $0.error.expandedDescription } ?? "")", file: file, line: line)
        XCTAssertEqual(error?.description.hasSuffix("."), true, "\(error?.description ?? "")", file: file, line: line)
        let good = try await client.data.request("good").sender().value
        XCTAssertEqual(good, Data("fine".utf8), file: file, line: line)
    }

    func testCredentialsThatBasicCannotCarryAreRefused() async throws {
        for (user, password) in [("a:b", "c"), ("a", "b\n"), ("a\u{0}", "b")] {
            try await assertFailure(.invalidHeader, of: .text("")) { $0.basicAuthorization(user, password) }
        }
    }

    func testHeaderInjectionIsRefused() async throws {
        for value in ["a\r\nX-Injected: 1", "a\nb", "a\rb", "a\0b"] {
            try await assertFailure(.invalidHeader, of: .text("")) { $0.header("X-Value", value) }
        }
        for name in ["X Name", "X:Name", "", "X\r\nY", "Ünicode"] {
            try await assertFailure(.invalidHeader, of: .text("")) { $0.header(HTTPHeaderName(name), "v") }
        }
    }

    func testInvalidMethodIsRefused() async throws {
        for method: HTTPMethod in ["", "GET /admin", "GET\r\n"] {
            try await assertFailure(.invalidMethod, of: .text("")) { $0.method(method) }
        }
    }

    func testHEADRequestWithBodyIsRefused() async throws {
        try await assertFailure(.unsupported, of: .text("")) { $0.method(.head).body(.data(Data("x".utf8))) }
    }

    func testRefusedRequestOpensNoConnection() async throws {
        let server = try LoopbackServer()
        let request = APIClient(baseURL: server.url).data.request("x").header("X-Value", "a\r\nb")
        let error = await request.sender().result.failure
        XCTAssertEqual(error?.code, .invalidHeader)
        XCTAssertEqual(error?.description.contains("X-Value"), true)
        XCTAssertEqual(server.connections, 0)
    }

    func testTransportOfTheUserGetsNoInvalidRequest() async throws {
        struct Recorder: Transport {
            let requests = Shared<[HTTPRequest]>([])

            func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
                requests.change { $0.append(request) }
                return TransportResponse(head: HTTPResponse(status: .ok), body: ResponseBody())
            }
        }
        let transport = Recorder()
        let client = APIClient(baseURL: "http://127.0.0.1") { $0.transport = transport }
        let injected = await client.data.request("x").header("X-Value", "a\r\nb").sender().result.failure
        XCTAssertEqual(injected?.code, .invalidHeader)
        let method = await client.data.request("x").method("GET /admin").sender().result.failure
        XCTAssertEqual(method?.code, .invalidMethod)
        let mapping = APIClient(baseURL: "http://127.0.0.1") {
            $0.transport = transport
            $0.requestMapping = { request in
                var request = request
                request.path = "/a b"
                return request
            }
        }
        let path = await mapping.data.request("x").sender().result.failure
        XCTAssertEqual(path?.code, .invalidURL)
        XCTAssertEqual(transport.requests.read.count, 0)
        _ = try await client.data.request("x").sender().value
        XCTAssertEqual(transport.requests.read.count, 1)
    }

    func testFailedConnectionsHaveTypedErrors() async throws {
        try await assertFailure(.cannotConnect, of: .text("")) { $0.path("http://127.0.0.1:1/") }
        try await assertFailure(.cannotResolveHost, of: .text("")) { $0.path("http://no-such-host.invalid/") }
        try await assertFailure(.connectionLost, of: .reset)
        try await assertFailure(.connectionLost, of: .drop)
    }

    func testTruncatedBodiesFail() async throws {
        try await assertFailure(.truncatedBody, of: .truncated(Data("abc".utf8), announced: 10))
        try await assertFailure(
            .truncatedBody,
            of: .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nabc", thenClose: true)
        )
    }

    func testMalformedResponsesFail() async throws {
        try await assertFailure(.invalidResponse, of: .raw("SSH-2.0-OpenSSH_9.2\r\n\r\n", thenClose: true))
        try await assertFailure(
            .invalidResponse,
            of: .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n", thenClose: true)
        )
        try await assertFailure(
            .invalidResponse,
            of: .data(Data("this is no gzip".utf8), headers: ["Content-Encoding": "gzip"])
        )
    }

    func testResponsesOverTheLimitsFail() async throws {
        try await assertFailure(.bodyTooLarge, of: .data(Data(count: 100_001)))
        try await assertFailure(.bodyTooLarge, of: .endless(chunk: Data(count: 1000)))
        try await assertFailure(
            .headersTooLarge,
            of: .text("", headers: ["X-Bulk": String(repeating: "x", count: 10_000)])
        )
    }

    func testEncodingErrorContainsThePathOfTheField() async throws {
        struct Reading: Encodable { let celsius: Double }
        try await assertFailure(.encodingFailed, of: .text("")) { $0.post().json([Reading(celsius: .nan)]) }
        let request = APIClient(baseURL: "http://127.0.0.1").data.request("x").post().json([Reading(celsius: .nan)])
        let error = await request.sender().result.failure
        XCTAssertTrue(error?.underlyingError is EncodingError)
        XCTAssertEqual(
            error?.error.reason,
            "The request's body could not be encoded: at “[0].celsius”, the encoder rejected a value of type Double."
        )
        XCTAssertEqual(error?.error.step, .building)
    }

    func testUnreadableBodyFileFailsTheRequest() async throws {
        try await assertFailure(.bodyUnavailable, of: .text("")) {
            $0.post().body(.file(URL(filePath: "/no/such/file")))
        }
    }
}

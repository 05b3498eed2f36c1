import Foundation
import Sluice
import SluiceTesting
import Testing

/// Interceptors and plugins that return an error in place of a response.
struct ReplacedResponseTests {
    private struct Problem: Decodable, Sendable {
        let reason: String
    }

    private static let error = SluiceError(.validationFailed, "The body reports a failure.")

    private struct Adapting: OutcomeAdapter {
        func adapt(_ outcome: inout TransportOutcome, context: RequestContext) { outcome = .failure(error) }
    }

    private struct Intercepting: ResponseInterceptor {
        func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome {
            await Task.yield()
            return .failure(error)
        }
    }

    private struct Processing: Plugin {
        func process(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome { .failure(error) }
    }

    private static let configurations: [@Sendable (inout APIClient.Configuration) -> Void] = [
        { $0.responseInterceptors = [Adapting()] },
        { $0.responseInterceptors = [Intercepting()] },
        { $0.plugins = [Processing()] },
    ]

    private func server() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on("/orders", .json(#"{"reason":"sold out"}"#))
        return server
    }

    @Test(arguments: 0..<3)
    func errorModelReadsReplacedResponse(index: Int) async throws {
        let server = try server()
        let shop = APIClient(baseURL: server.url) { Self.configurations[index](&$0) }
        let request: APIRequest<Data, TypedAPIError<Problem>> = shop.data.get("orders")
            .serializingErrors { TypedAPIError<Problem>($0) }
        let response = await request.sender().response
        #expect(response.status == .ok)
        #expect(response.metrics != nil)
        #expect(String(decoding: response.body, as: UTF8.self) == #"{"reason":"sold out"}"#)
        #expect(response.failure?.code == .validationFailed)
        #expect(response.failure?.step == .responseInterceptor)
        #expect(response.request?.path == "/orders")
        guard case .failure(let failure) = response.result else {
            Issue.record("The request succeeded.")
            return
        }
        #expect(failure.errorBody?.reason == "sold out")
    }

    /// An interceptor may return the failure of a request of its own.
    @Test func errorOfAnotherRequestKeepsNoResponse() async throws {
        struct Renewing: ResponseInterceptor {
            func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome {
                if context.tags.contains("token") { return outcome }
                let response = await context.client.data.get("token").tags("token").sender().response
                return response.failure.map(TransportOutcome.failure) ?? outcome
            }
        }
        let server = try server()
        server.on("/token", .json(#"{"reason":"expired"}"#, status: .badRequest))
        let shop = APIClient(baseURL: server.url) { $0.responseInterceptors = [Renewing()] }
        let response = await shop.data.get("orders").sender().response
        #expect(response.status == .badRequest)
        #expect(response.body.isEmpty)
    }

    /// The request that an interceptor sees is not the one that was sent.
    @Test func errorWithTheRequestAsBuiltKeepsTheResponse() async throws {
        struct Keyed: RequestAdapter {
            func adapt(_ request: inout HTTPRequest, context: RequestContext) { request.addQuery("key", "1") }
        }
        struct Refusing: OutcomeAdapter {
            func adapt(_ outcome: inout TransportOutcome, context: RequestContext) {
                let response = HTTPResponse(status: .notFound)
                outcome = .failure(
                    SluiceError(.validationFailed, "No orders.", request: context.request, response: response)
                )
            }
        }
        let server = try server()
        server.on("/old", .redirect(to: "/orders"))
        let shop = APIClient(baseURL: server.url) {
            $0.requestInterceptors = [Keyed()]
            $0.responseInterceptors = [Refusing()]
        }
        for path in ["orders", "old"] {
            let response = await shop.data.get(path).sender().response
            #expect(response.status == .notFound)
            #expect(String(decoding: response.body, as: UTF8.self) == #"{"reason":"sold out"}"#)
            #expect(response.failure?.step == .responseInterceptor)
        }
    }

    @Test func describedErrorsHaveNoBody() async throws {
        let server = try server()
        let shop = APIClient(baseURL: server.url) { $0.responseInterceptors = [Adapting()] }
        let failure = try #require(await shop.data.get("orders").sender().response.failure)
        #expect(failure.replacedResponse == nil)
        var dumped = ""
        dump(
            failure.replacing(
                ServerResponse(
                    request: HTTPRequest(scheme: "http", authority: "a.test", path: "/"),
                    head: HTTPResponse(status: .ok),
                    body: Data("sold out".utf8)
                )
            ),
            to: &dumped
        )
        #expect(!dumped.contains("sold out"))
    }

    @Test func errorModelOfDownloadReadsHead() async throws {
        let server = try server()
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let shop = APIClient(baseURL: server.url) { $0.plugins = [Processing()] }
        let response = await shop.download("orders", to: .file(folder.appending(path: "orders"))).sender().response
        #expect(response.failure?.code == .validationFailed)
        #expect(response.head?.status == .ok)
        #expect(response.metrics != nil)
    }

    @Test func laterAttemptWithoutResponseKeepsNone() async throws {
        let stubs = StubTransport()
        stubs.on(.get("/orders"), .json(#"{"reason":"sold out"}"#), times: 1)
        stubs.on(.get("/orders"), .failure(.connectionLost))
        let shop = APIClient(baseURL: "https://shop.test") {
            $0.transport = stubs
            $0.responseInterceptors = [RefusingSuccess()]
            $0.retry = RetryPolicy(maximumAttempts: 2, backoff: .constant(.zero)) { _ in true }
        }
        let response = await shop.data.get("orders").sender().response
        #expect(stubs.requests.count == 2)
        #expect(response.failure?.code == .connectionLost)
        #expect(response.failure?.step == .transport)
        #expect(response.head == nil)
        #expect(response.body.isEmpty)
    }

    private struct RefusingSuccess: OutcomeAdapter {
        func adapt(_ outcome: inout TransportOutcome, context: RequestContext) {
            if case .success = outcome { outcome = .failure(error) }
        }
    }
}

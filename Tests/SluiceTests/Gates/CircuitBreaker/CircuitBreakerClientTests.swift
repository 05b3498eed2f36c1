import Sluice
import SluiceTesting
import XCTest

final class CircuitBreakerClientTests: XCTestCase {
    func testOpensAfterServerErrorsAndClosesAfterSuccessfulTrial() async throws {
        let server = try LoopbackServer()
        server.on("/", .status(.internalServerError), .status(.badGateway), .text("ok"))
        let clock = TestClock()
        let breaker = CircuitBreaker(of: 2, openFor: .seconds(10), trials: 1)
        let client = APIClient(baseURL: server.url) {
            $0.gates = [breaker]
            $0.clock = clock
        }
        for _ in 0..<2 { _ = await client.string.request("").sender().result }
        let refused = await client.string.request("").sender().result
        XCTAssertEqual(refused.failure?.code, .circuitOpen)
        XCTAssertEqual(breaker.state(for: server.authority), .open(until: clock.now + .seconds(10)))
        XCTAssertEqual(server.requests(to: "/").count, 2)
        clock.advance(by: .seconds(10))
        let text = try await client.string.request("").sender().value
        XCTAssertEqual(text, "ok")
        XCTAssertEqual(breaker.state(for: server.authority), .closed)
    }

    func testHostSetByInterceptorIsNoRedirect() async throws {
        struct Replica: RequestAdapter {
            let authority: String
            func adapt(_ request: inout HTTPRequest, context: RequestContext) { request.authority = authority }
        }
        let server = try LoopbackServer()
        server.on("/", .status(.internalServerError))
        let breaker = CircuitBreaker(of: 2)
        let client = APIClient(baseURL: "http://api.example") {
            $0.gates = [breaker]
            $0.requestInterceptors = [Replica(authority: server.authority)]
        }
        for _ in 0..<2 { _ = await client.string.request("").sender().result }
        let refused = await client.string.request("").sender().result
        XCTAssertEqual(refused.failure?.code, .circuitOpen)
        XCTAssertEqual(server.requestCount, 2)
    }

    func testOpensAfterConnectionFailures() async throws {
        let server = try LoopbackServer()
        let breaker = CircuitBreaker(of: 3)
        let client = APIClient(baseURL: server.url) { $0.gates = [breaker] }
        server.stop()
        var codes: [SluiceError.Code?] = []
        for _ in 0..<4 { codes.append(await client.string.request("").sender().result.failure?.code) }
        XCTAssertEqual(codes, [.cannotConnect, .cannotConnect, .cannotConnect, .circuitOpen])
    }
}

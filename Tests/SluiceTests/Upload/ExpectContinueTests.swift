import Sluice
import SluiceTesting
import XCTest

final class ExpectContinueTests: XCTestCase {
    private let film = Data(repeating: 7, count: 3_000_000)

    func testRefusalArrivesWithoutSendingBody() async throws {
        let server = try LoopbackServer()
        server.onExpectation { _ in .refused(.json(#"{"message":"too large"}"#, status: 413)) }
        let client = APIClient(baseURL: server.url)
        let once = Chunks(String(repeating: "film ", count: 200_000))
        let uploads: [APIRequest<Data, APIError>] = [
            client.data.upload("films", .data(film)), client.data.upload("films", .stream(once)),
        ]
        for upload in uploads {
            let response = await upload.expectsContinue(waiting: .seconds(600)).sender().response
            XCTAssertEqual(response.status, 413)
            XCTAssertEqual(response.result.failure?.response?.status, 413)
            XCTAssertEqual(server.requests.last?.body.count, 0)
            XCTAssertEqual(response.metrics?.bytesSent, 0)
        }
    }

    func testSendsBodyAfterContinue() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/films", .text("thanks"))
        server.onExpectation { _ in .continueAfter(signal) }
        let client = APIClient(baseURL: server.url)
        let sender = client.string.upload("films", .data(film)).expectsContinue(waiting: .seconds(600)).sender()
        async let value = sender.value
        await server.waitForOpenConnections { $0 == 1 }
        XCTAssertEqual(server.requestCount, 0)
        signal.fire()
        let thanks = try await value
        XCTAssertEqual(thanks, "thanks")
        XCTAssertEqual(server.requests.first?.body, film)
    }

    func testRetrySendsExpectationAgain() async throws {
        let server = try LoopbackServer()
        server.on("/films", .status(.serviceUnavailable), .text("thanks"))
        let client = APIClient(baseURL: server.url) {
            $0.retry = RetryPolicy(maximumAttempts: 2, backoff: .constant(.zero))
        }
        let thanks = try await client.string.upload("films", .data(film)).put().expectsContinue().sender().value
        XCTAssertEqual(thanks, "thanks")
        XCTAssertEqual(server.requests.map { $0.headers[.expect] }, ["100-continue", "100-continue"])
    }

    func testRedirectWithoutBodyDropsExpectation() async throws {
        let server = try LoopbackServer()
        server.on("/films", .redirect(to: "/done", status: .seeOther))
        server.on("/done", .text("done"))
        let client = APIClient(baseURL: server.url)
        let done = try await client.string.upload("films", .data(film)).expectsContinue().sender().value
        XCTAssertEqual(done, "done")
        XCTAssertEqual(server.requests.map { $0.headers.contains(.expect) }, [true, false])
    }
}

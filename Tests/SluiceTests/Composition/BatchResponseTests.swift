import Sluice
import SluiceTesting
import XCTest

/// Batches whose caller reads responses: status, headers and body besides the model.
final class BatchResponseTests: XCTestCase {
    private func client(_ server: LoopbackServer) -> APIClient {
        addTeardownBlock { server.stop() }
        return APIClient(baseURL: server.url)
    }

    func testTupleBatchGivesTheResponseOfEachRequest() async throws {
        let server = try LoopbackServer()
        server.on("/user", .json(#"{"id":1,"name":"Ada"}"#, headers: ["ETag": #""v1""#]))
        server.on("/motto", .text("No.", status: .forbidden))
        let client = client(server)
        let me: APIRequest<User, ShopError> = client.codable.get("user")
        let sender = client.batchSender(me, client.string.get("motto"), failsFast: false)
        let (user, motto) = await sender.responses
        XCTAssertEqual(user.status, .ok)
        XCTAssertEqual(user.head?.headers["ETag"], #""v1""#)
        XCTAssertEqual(try user.result.get().name, "Ada")
        XCTAssertEqual(motto.status, .forbidden)
        XCTAssertEqual(try motto.filter(status: .forbidden).string(), "No.")
        XCTAssertEqual(motto.failure?.code, .unacceptableStatus)
        XCTAssertNotNil(motto.metrics)
        let results = await sender.results
        XCTAssertEqual(try results.0.get().name, "Ada")
        XCTAssertEqual(server.requestCount, 2)
    }

    func testArrayBatchGivesResponsesInOrder() async throws {
        let server = try LoopbackServer()
        for id in 1...5 {
            server.on("/users/\(id)", .json(#"{"id":\#(id),"name":"\#(id)"}"#, headers: ["X-Id": "\(id)"]))
        }
        let client = client(server)
        let sender = client.batchSender((1...5).map { client.get("users/\($0)", as: User.self) })
        let responses = await sender.responses
        XCTAssertEqual(responses.map { $0.head?.headers["X-Id"] }, ["1", "2", "3", "4", "5"])
        XCTAssertEqual(try responses.map { try $0.json().id.intValue }, [1, 2, 3, 4, 5])
        let users = try await sender.value
        XCTAssertEqual(users.map(\.id), [1, 2, 3, 4, 5])
    }

    func testRequestsWithoutAnOutcomeHaveACancelledResponse() async throws {
        let server = try LoopbackServer()
        server.on("/hang", .hang)
        let client = client(server)
        let sender = client.batchSender([client.data.get("none"), client.data.get("hang")])
        let responses = await sender.responses
        XCTAssertEqual(responses.map(\.status), [.notFound, nil])
        XCTAssertEqual(responses.last?.failure?.isCancellation, true)
    }
}

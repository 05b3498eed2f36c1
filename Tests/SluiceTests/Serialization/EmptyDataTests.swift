import Sluice
import SluiceTesting
import XCTest

/// Responses without a body where a model was expected.
final class EmptyDataTests: XCTestCase {
    private struct Settings: Codable, Sendable, Equatable {
        var theme: String?
    }

    private func shop(_ response: LoopbackResponse) throws -> (APIClient, LoopbackServer) {
        let server = try LoopbackServer()
        server.on("/*", response)
        return (APIClient(baseURL: server.url), server)
    }

    func testNoContentIsNilForAnOptionalModel() async throws {
        let (shop, server) = try shop(.status(.noContent))
        defer { server.stop() }
        let user: User? = try await shop.get("users/1").sender().value
        XCTAssertNil(user)
        let saved: User? = try await shop.put("users/1").json(["name": "Ada"]).sender().value
        XCTAssertNil(saved)
        _ = try await shop.empty.delete("users/1").sender().value
        let failure = await shop.get("users/1", as: User.self).sender().result.failure
        XCTAssertEqual(failure?.code, .decodingFailed)
    }

    func testEmptyBodyOfAnotherStatusFailsUnlessTheRequestAllowsIt() async throws {
        let (shop, server) = try shop(.data(Data(), contentType: "application/json"))
        defer { server.stop() }
        let failure = await shop.get("users/1", as: User?.self).sender().result.failure
        XCTAssertEqual(failure?.code, .decodingFailed)
        let user: User? = try await shop.get("users/1").allowingEmptyBody().sender().value
        XCTAssertNil(user)
        let users: [User] = try await shop.get("users").allowingEmptyBody().sender().value
        XCTAssertEqual(users, [])
        let settings: Settings = try await shop.get("settings").allowingEmptyBody().sender().value
        XCTAssertEqual(settings, Settings())
    }

    func testEmptyBodyOfAResponseIsDecodedOnRequest() async throws {
        let (shop, server) = try shop(.data(Data()))
        defer { server.stop() }
        let response = await shop.data.get("users").sender().response
        XCTAssertNil(try response.decoded(as: User?.self, failsOnEmptyData: false))
        XCTAssertEqual(try response.decoded(as: [User].self, failsOnEmptyData: false), [])
        XCTAssertEqual(try response.decoded(as: Empty.self, failsOnEmptyData: false), Empty())
        XCTAssertThrowsError(try response.decoded(as: [User].self)) { error in
            XCTAssertEqual((error as? SluiceError)?.code, .decodingFailed)
        }
        XCTAssertThrowsError(try response.decoded(as: User.self, failsOnEmptyData: false))
    }
}

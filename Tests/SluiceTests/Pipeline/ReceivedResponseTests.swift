import Sluice
import SluiceTesting
import XCTest

/// Responses that are decoded to other types than the request's model.
final class ReceivedResponseTests: XCTestCase {
    private static let body = #"{"user":{"id":1,"name":"Ada","tags":["a",{"b":2}]},"ok":true,"price":1.10}"#

    private func response(
        _ body: LoopbackResponse = .json(ReceivedResponseTests.body)
    ) async throws -> APIResponse<Data, APIError> {
        let server = try LoopbackServer()
        server.on("/*", body)
        return await APIClient(baseURL: server.url).data.request("x").validate(.none).sender().response
    }

    func testFiltersStatusesByRange() async throws {
        let created = try await response(.json("{}", status: .created))
        XCTAssertEqual(try created.filterSuccesses().status, .created)
        XCTAssertEqual(try created.filter(statuses: 200..<201, 201..<202).status, .created)
        XCTAssertThrowsError(try created.filter(statuses: 200..<201)) { error in
            XCTAssertEqual((error as? SluiceError)?.code, .unacceptableStatus)
            XCTAssertEqual((error as? SluiceError)?.response?.status, .created)
        }
        let missing = try await response(.json("{}", status: .notFound))
        XCTAssertThrowsError(try missing.filterSuccesses())
    }

    func testDecodesModelsStringsAndRawJSONAtPaths() async throws {
        let response = try await response()
        XCTAssertEqual(try response.decoded(as: User.self, at: "user"), User(id: 1, name: "Ada"))
        XCTAssertEqual(try response.string(at: "user.name"), "Ada")
        XCTAssertEqual(try response.string(at: "user.tags[1].b"), "2")
        XCTAssertEqual(try response.string(at: "price"), "1.10")
        XCTAssertEqual(try response.string(at: "ok"), "true")
        XCTAssertEqual(try response.json(at: "user>tags>1"), ["b": 2])
        XCTAssertEqual(try response.json().user.id.int, 1)
        XCTAssertEqual(try response.rawJSON(at: "user.tags"), #"["a",{"b":2}]"#)
        XCTAssertEqual(try response.rawJSON(), Self.body)
        XCTAssertEqual(try response.string(), Self.body)
    }

    func testMissingValueIsErrorNamingPath() async throws {
        let response = try await response()
        XCTAssertThrowsError(try response.string(at: "user.mail")) { XCTAssertTrue("\($0)".contains("mail"), "\($0)") }
        XCTAssertThrowsError(try response.string(at: "user.tags")) { XCTAssertTrue("\($0)".contains("user.tags")) }
        XCTAssertThrowsError(try response.decoded(as: User.self)) { error in
            XCTAssertEqual((error as? SluiceError)?.code, .decodingFailed)
        }
        XCTAssertThrowsError(try response.image()) { XCTAssertEqual(($0 as? SluiceError)?.code, .decodingFailed) }
    }

    func testFailedRequestHasResponseWithFailure() async throws {
        let server = try LoopbackServer()
        server.on("/x", .json(#"{"message":"no"}"#, status: .forbidden))
        let client = APIClient(baseURL: server.url)
        let refused = await client.codable.request("x", as: User.self).sender().response
        XCTAssertFalse(refused.isSuccess)
        XCTAssertEqual(refused.failure?.code, .unacceptableStatus)
        XCTAssertEqual(try refused.string(at: "message"), "no")
        let lost = await client.codable.request("http://127.0.0.1:1/", as: User.self).sender().response
        XCTAssertFalse(lost.isSuccess)
        XCTAssertNil(lost.status)
        XCTAssertThrowsError(try lost.string()) { XCTAssertEqual(($0 as? SluiceError)?.code, .cannotConnect) }
    }

    func testTruncatedResponseIsNotDecoded() async throws {
        let response = try await response(.truncated(Data("abc".utf8), announced: 10))
        XCTAssertThrowsError(try response.string()) { XCTAssertEqual(($0 as? SluiceError)?.code, .truncatedBody) }
        XCTAssertThrowsError(try response.filterSuccesses())
    }

    func testFiltersClosedRangesAndSingleStatuses() async throws {
        let missing = try await response(.json("{}", status: .notFound))
        XCTAssertEqual(try missing.filter(statuses: 404...404).filter(status: .notFound).status, .notFound)
        XCTAssertThrowsError(try missing.filter(status: .ok))
    }
}

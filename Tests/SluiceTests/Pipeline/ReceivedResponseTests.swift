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

    func testFiltersByTheLargestInteger() async throws {
        let odd = ServerResponse(
            request: HTTPRequest(scheme: "http", authority: "shop.test", path: "/"),
            head: HTTPResponse(status: HTTPStatus(rawValue: .max)),
            body: Data()
        )
        XCTAssertEqual(try odd.filter(status: HTTPStatus(rawValue: .max)).head.status.rawValue, .max)
        XCTAssertThrowsError(try odd.filter(status: .ok))
        let created = try await response(.json("{}", status: .created))
        XCTAssertEqual(try created.filter(statuses: 0...Int.max).status, .created)
        XCTAssertThrowsError(try created.filter(status: HTTPStatus(rawValue: .max)))
        XCTAssertThrowsError(try created.filter(statuses: Int.max...Int.max))
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

    func testDecodesByDecoderAndEnvelopeOfClient() async throws {
        let server = try LoopbackServer()
        server.on("/ok", .json(#"{"code":0,"msg":"ok","data":{"user":{"id":"1","name":"Ada"}}}"#))
        server.on("/no", .json(#"{"code":7,"msg":"no","data":null}"#))
        let client = APIClient(baseURL: server.url) {
            $0.modelDecoder = LenientJSONDecoder()
            $0.envelope = Envelope(status: "code", success: 0, message: "msg", payload: "data")
        }
        let response = await client.data.get("ok").sender().response
        XCTAssertEqual(try response.decoded(at: "user"), User(id: 1, name: "Ada"))
        XCTAssertEqual(try response.decoded(as: [String: User].self)["user"]?.name, "Ada")
        XCTAssertThrowsError(try response.decoded(as: User.self, at: "user", by: JSONDecoder()))
        // The body itself, which the other functions read too.
        XCTAssertEqual(try response.received().decoded(as: Int.self, at: "code"), 0)
        XCTAssertEqual(try response.string(at: "data.user.name"), "Ada")
        let refused = await client.get("no", as: User.self).sender().response
        XCTAssertThrowsError(try refused.decoded(as: User.self)) { error in
            XCTAssertEqual((error as? SluiceError)?.code, .envelopeFailed)
        }
        let bare = await client.get("ok", as: JSON.self).envelope(nil).sender().response
        XCTAssertEqual(try bare.decoded(as: Int.self, at: "code"), 0)
        let strict = await client.codable(modelDecoder: JSONDecoder()).get("ok", as: JSON.self).sender().response
        XCTAssertThrowsError(try strict.decoded(as: User.self, at: "user"))
    }

    func testResponseThatIsCreatedIsReadLikeAReceivedOne() throws {
        let preview = APIResponse<User, ShopError>(
            result: .success(User(id: 1, name: "Ada")),
            head: HTTPResponse(status: .created, headers: ["ETag": "1"]),
            body: Data(#"{"id":1,"name":"Ada"}"#.utf8)
        )
        XCTAssertTrue(preview.isSuccess)
        XCTAssertEqual(preview.status, .created)
        XCTAssertEqual(try preview.filterSuccesses().decoded(as: User.self), User(id: 1, name: "Ada"))
        let refusal = ShopError(RequestFailure(error: SluiceError(.timedOut, "It took too long.")))
        let failed = APIResponse<User, ShopError>(result: .failure(refusal))
        XCTAssertFalse(failed.isSuccess)
        XCTAssertThrowsError(try failed.result.get())
        XCTAssertThrowsError(try failed.decoded(as: User.self))
    }

    func testFiltersClosedRangesAndSingleStatuses() async throws {
        let missing = try await response(.json("{}", status: .notFound))
        XCTAssertEqual(try missing.filter(statuses: 404...404).filter(status: .notFound).status, .notFound)
        XCTAssertThrowsError(try missing.filter(status: .ok))
    }
}

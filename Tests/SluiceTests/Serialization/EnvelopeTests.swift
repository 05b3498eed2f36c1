import Foundation
import Sluice
import SluiceTesting
import XCTest

/// An API that wraps all responses in an envelope.
final class EnvelopeTests: XCTestCase {
    /// The servers of the test. A server stops when it is deallocated.
    private var servers: [LoopbackServer] = []

    override func tearDown() {
        servers = []
    }

    private func shop(_ json: String, status: HTTPStatus = .ok) throws -> APIClient {
        let server = try LoopbackServer()
        servers.append(server)
        server.on("/*", .json(json, status: status))
        return APIClient(baseURL: server.url) {
            $0.envelope = Envelope(status: "code", success: 0, "OK", message: "msg", payload: "data")
        }
    }

    func testRequestsDecodePayload() async throws {
        let shop = try shop(#"{"code":0,"msg":"fine","data":{"id":1,"name":"Ada"}}"#)
        let user: User = try await shop.codable.request("users/1").sender().value
        XCTAssertEqual(user, User(id: 1, name: "Ada"))
        let name = try await shop.json.request("users/1", as: JSON.self).sender().value.name.string
        XCTAssertEqual(name, "Ada")
    }

    func testKeyPathStartsInPayload() async throws {
        let shop = try shop(#"{"code":"OK","data":{"users":[{"id":1,"name":"Ada"}]}}"#)
        let user: User = try await shop.codable.request("users").keyPath("users[0]").sender().value
        XCTAssertEqual(user.name, "Ada")
    }

    func testMessageHasAPathByDefaultAndMayBeMissing() async throws {
        let server = try LoopbackServer()
        servers.append(server)
        server.on("/refused", .json(#"{"code":7,"message":"sold out"}"#))
        server.on("/silent", .json(#"{"code":7}"#))
        let shop = APIClient(baseURL: server.url) {
            $0.envelope = Envelope(status: "code", success: 0, payload: "data")
        }
        let refused = await shop.get("refused", as: User.self).sender().result.failure
        XCTAssertEqual(refused?.envelope, EnvelopeFailure(code: 7, message: "sold out"))
        let silent = await shop.get("silent", as: User.self).sender().result.failure
        XCTAssertEqual(silent?.envelope, EnvelopeFailure(code: 7, message: nil))
    }

    func testStatusAsStringCountsAsSuccess() async throws {
        let shop = try shop(#"{"code":"0","data":[1,2]}"#)
        let numbers: [Int] = try await shop.codable.request("numbers").sender().value
        XCTAssertEqual(numbers, [1, 2])
    }

    func testFailedEnvelopeIsTypedErrorWithCodeAndMessage() async throws {
        struct Refusal: ErrorSerializable {
            let code: Int?
            let message: String?
            init(_ failure: RequestFailure) {
                code = failure.envelope?.code.int
                message = failure.envelope?.message
            }
        }
        let shop = try shop(#"{"code":40001,"msg":"Sold out.","data":null}"#)
        let request: APIRequest<User, Refusal> = shop.codable.request("users/1")
        do {
            _ = try await request.sender().value
            XCTFail("The request did not fail.")
        } catch {
            XCTAssertEqual(error.code, 40001)
            XCTAssertEqual(error.message, "Sold out.")
        }
        let error = await shop.codable.request("users/1", as: User.self).sender().result.failure
        XCTAssertEqual(error?.code, .envelopeFailed)
        XCTAssertEqual(error?.envelope?.description, "40001: Sold out.")
        XCTAssertEqual(error?.description.contains("Sold out"), false)
    }

    func testErrorOfFailedStatusContainsEnvelope() async throws {
        let shop = try shop(#"{"code":7,"msg":"No such user."}"#, status: .notFound)
        let error = await shop.codable.request("users/1", as: User.self).sender().result.failure
        XCTAssertEqual(error?.code, .unacceptableStatus)
        XCTAssertEqual(error?.envelope?.message, "No such user.")
    }

    func testBodyWithoutEnvelopeNamesMissingMember() async throws {
        let error = try await shop(#"{"id":1}"#).codable.request("x", as: User.self).sender().result.failure
        XCTAssertEqual(error?.code, .decodingFailed)
        XCTAssertTrue(error?.underlyingError is JSONPathFailure)
        XCTAssertEqual(error?.description.contains("code"), true)
        let noJSON = try await shop("<html>").codable.request("x", as: User.self).sender().result.failure
        XCTAssertEqual(noJSON?.code, .decodingFailed)
    }

    func testMissingPayloadIsNilOrErrorNamingIt() async throws {
        let shop = try shop(#"{"code":0}"#)
        let none: User? = try await shop.codable.request("x").sender().value
        XCTAssertNil(none)
        let error = await shop.codable.request("x", as: User.self).sender().result.failure
        XCTAssertEqual(error?.code, .decodingFailed)
        XCTAssertEqual(error?.description.contains("data"), true)
    }

    func testOutcomeHasMessageWithOrWithoutPayload() async throws {
        let fine = try shop(#"{"code":0,"msg":"fine","data":{"id":1,"name":"Ada"}}"#)
        let outcome = try await fine.codable.request("x", as: User.self).outcome().sender().value
        XCTAssertTrue(outcome.isSuccess)
        XCTAssertEqual(outcome.message, "fine")
        XCTAssertEqual(outcome.payload?.name, "Ada")
        let refused = try shop(#"{"code":3,"msg":"no"}"#)
        let (isSuccess, message) = try await refused.empty.post("logout").outcome().sender().value.summary
        XCTAssertFalse(isSuccess)
        XCTAssertEqual(message, "no")
        let payload = try await refused.codable.request("x", as: User.self).outcome().sender().value.payload
        XCTAssertNil(payload)
    }

    func testOutcomeOfAResponseWithoutContentIsASuccess() async throws {
        let shop = try shop("", status: .noContent)
        let outcome = try await shop.empty.post("logout").outcome().sender().value
        XCTAssertTrue(outcome.isSuccess)
        let user = try await shop.codable.request("x", as: User?.self).outcome().sender().value
        XCTAssertTrue(user.isSuccess)
    }

    func testErrorOfAnOwnSerializerIsOfItsStep() async throws {
        let shop = try shop("{}")
        let request = shop.serialized { _ -> Int in
            throw SluiceError(.decodingFailed, "odd")
        }
        let response = await request.get("x").sender().response
        XCTAssertEqual(response.failure?.step, .serialization)
        XCTAssertEqual(response.body, Data("{}".utf8))
    }

    func testOutcomeOfAFailedStatusHasItsMessage() async throws {
        let shop = try shop(#"{"code":500,"msg":"Try later."}"#, status: .internalServerError)
        let response = await shop.codable.request("x", as: User.self).outcome().sender().response
        let outcome = try response.result.get()
        XCTAssertFalse(outcome.isSuccess)
        XCTAssertEqual(outcome.code, 500)
        XCTAssertEqual(outcome.message, "Try later.")
        XCTAssertEqual(outcome.failure?.code, .unacceptableStatus)
        XCTAssertEqual(response.status, .internalServerError)
        XCTAssertEqual(response.failure?.code, .unacceptableStatus)
        let page = try self.shop("<html>", status: .badGateway)
        let gateway = try await page.empty.post("logout").outcome().sender().value
        XCTAssertFalse(gateway.isSuccess)
        XCTAssertEqual(gateway.code, .null)
        XCTAssertEqual(gateway.message?.contains("502"), true)
    }

    func testOutcomeWithoutConnectionSaysSo() async throws {
        let envelope = Envelope(status: "code", success: 0, message: "msg", payload: "data")
        let client = APIClient(baseURL: "http://127.0.0.1:1") { $0.envelope = envelope }
        let (isSuccess, message) = try await client.empty.post("logout").outcome().sender().value.summary
        XCTAssertFalse(isSuccess)
        XCTAssertEqual(message?.isEmpty, false)
        let outcome = try await client.get("x", as: User.self).outcome().sender().value
        XCTAssertEqual(outcome.failure?.code, .cannotConnect)
        XCTAssertFalse(outcome.isSuccess)
        XCTAssertEqual(outcome.code, .null)
        XCTAssertNil(outcome.payload)
        // A request that cannot be sent at all is a mistake of the program.
        let invalid = await client.get("x", as: User.self).baseURL("no URL").outcome().sender().result.failure
        XCTAssertEqual(invalid?.code, .invalidURL)
        let sender = client.get("x", as: User.self).outcome().sender()
        sender.cancel()
        let cancelled = await sender.result.failure
        XCTAssertEqual(cancelled?.isCancellation, true)
    }

    func testFailedOutcomeIsNotStored() async throws {
        let server = try LoopbackServer()
        servers.append(server)
        server.on("/x", .json(#"{"code":500,"msg":"Try later."}"#, status: .internalServerError))
        let client = APIClient(baseURL: server.url) {
            $0.envelope = Envelope(status: "code", success: 0, message: "msg", payload: "data")
            $0.cache = CacheStore(storage: nil)
        }
        let request = client.get("x", as: User.self).outcome()
        _ = try await request.dataSource(.cacheElseServer).sender().value
        let stored = try await request.dataSource(.cache).sender().value
        XCTAssertEqual(stored.failure?.code, .cacheMiss)
    }

    func testRefusedOutcomeOfAnAcceptedStatusIsNotStored() async throws {
        let server = try LoopbackServer()
        servers.append(server)
        server.on(
            "/x",
            .json(#"{"code":0,"data":{"id":1,"name":"Ada"}}"#),
            .json(#"{"code":3,"msg":"Try later."}"#)
        )
        server.on("/y", .json(#"{"code":3}"#), .json(#"{"code":0,"data":{"id":2,"name":"Bea"}}"#))
        let client = APIClient(baseURL: server.url) {
            $0.envelope = Envelope(status: "code", success: 0, message: "msg", payload: "data")
            $0.cache = CacheStore(storage: nil)
        }
        let request = client.get("x", as: User.self).outcome()
        let stored = try await request.dataSource(.cacheElseServer).sender().value
        XCTAssertEqual(stored.payload?.name, "Ada")
        let refused = try await request.dataSource(.refresh).sender().value
        XCTAssertEqual(refused.message, "Try later.")
        let kept = try await request.dataSource(.cache).sender().value
        XCTAssertEqual(kept.payload?.name, "Ada")
        // A response that a client without an envelope has stored is not used either.
        let plain = APIClient(baseURL: server.url) { $0.cache = client.configuration.cache }
        _ = try await plain.get("y", as: JSON.self).dataSource(.cacheElseServer).sender().value
        let sent = try await client.get("y", as: User.self).outcome().dataSource(.cacheElseServer).sender().value
        XCTAssertEqual(sent.payload?.name, "Bea")
    }

    func testDownloadedFileIsDecodedAsABody() async throws {
        let folder = try DownloadFolder()
        let shop = try shop(#"{"code":0,"data":{"users":[{"id":1,"name":"Ada"}]}}"#)
        let file = folder.url.appendingPathComponent("user.json")
        let user = try await shop.download("x", to: .file(file, ifExists: .overwrite)).decoded(as: User.self)
            .keyPath("users[0]").sender().value
        XCTAssertEqual(user.name, "Ada")
        let whole = try await shop.download("x", to: .file(file, ifExists: .overwrite)).envelope(nil).decoded(
            as: JSON.self
        )
        .sender().value
        XCTAssertEqual(whole.code, 0)
        let refused = try self.shop(#"{"code":3,"msg":"no"}"#)
        let error = await refused.download("x", to: .file(file, ifExists: .overwrite)).decoded(as: User.self).sender()
            .result.failure
        XCTAssertEqual(error?.code, .envelopeFailed)
        XCTAssertEqual(error?.envelope, EnvelopeFailure(code: 3, message: "no"))
        let snakeCase = JSONDecoder()
        snakeCase.keyDecodingStrategy = .convertFromSnakeCase
        let names = try self.shop(#"{"first_name":"Ada"}"#)
        let name = try await names.codable(modelDecoder: snakeCase).get("x", as: FirstName.self)
            .download(to: .file(file, ifExists: .overwrite)).envelope(nil).decoded(as: FirstName.self).sender().value
        XCTAssertEqual(name.firstName, "Ada")
    }

    private struct FirstName: Decodable {
        let firstName: String
    }

    func testRequestOverridesOrDisablesEnvelope() async throws {
        let shop = try shop(#"{"error":{"used":true,"text":"hi"},"result":[{"id":1,"name":"Ada"}]}"#)
        let other = Envelope(status: "error.used", success: true, message: "error>text", payload: "result>0")
        let user: User = try await shop.codable.request("x").envelope(other).sender().value
        XCTAssertEqual(user.name, "Ada")
        let whole: JSON = try await shop.json.request("x").envelope(nil).sender().value
        XCTAssertEqual(whole.result.array?.count, 1)
    }

    func testTextIsUnwrappedOnlyWithEnvelopeOfRequest() async throws {
        let text = #"{"code":3,"data":"a\"b"}"#
        let shop = try shop(text)
        let string = try await shop.string.request("x").sender().value
        XCTAssertEqual(string, text)
        let own = Envelope(status: "code", success: 3, message: "msg", payload: "data")
        let payload = try await shop.string.request("x").envelope(own).sender().value
        XCTAssertEqual(payload, #"a"b"#)
    }

    func testEmptyBodyNeedsNoEnvelope() async throws {
        let server = try LoopbackServer()
        server.on("/*", .data(Data(), status: .noContent))
        let shop = APIClient(baseURL: server.url) {
            $0.envelope = Envelope(status: "code", success: 0, message: "msg", payload: "data")
        }
        _ = try await shop.empty.post("logout").sender().value
    }

    func testEnvelopeOfRequestReadsFailedStatus() async throws {
        let shop = try shop(#"{"status":{"code":7,"text":{"de":"nein"}}}"#, status: .badRequest)
        let own = Envelope(status: "status.code", success: 0, message: "status.text", payload: "data")
        let request = shop.codable.request("x", as: User.self)
        let error = await request.envelope(own).sender().result.failure
        XCTAssertEqual(error?.envelope, EnvelopeFailure(code: 7, message: #"{"de":"nein"}"#))
        let none = await request.envelope(nil).sender().result.failure
        XCTAssertNil(none?.envelope)
    }

    func testModifiersApplyAfterOutcome() async throws {
        let plain = try LoopbackServer()
        servers.append(plain)
        plain.on("/ok", .json(#"{"code":0,"data":{"user":{"id":1,"name":"Ada"}}}"#))
        plain.on("/none", .data(Data()))
        let envelope = Envelope(status: "code", success: 0, message: "msg", payload: "data")
        let client = APIClient(baseURL: plain.url)
        let request = client.get("ok", as: User.self).outcome().envelope(envelope).keyPath("user")
        let payload = try await request.sender().value.payload
        XCTAssertEqual(payload?.name, "Ada")
        let none = try await client.get("none", as: User?.self).outcome().allowingEmptyBody().sender().value
        XCTAssertTrue(none.isSuccess)
        XCTAssertEqual(none.payload, .some(nil))
        let undeclared = await client.get("ok", as: User.self).outcome().sender().result.failure
        XCTAssertEqual(undeclared?.code, .unsupported)
    }
}

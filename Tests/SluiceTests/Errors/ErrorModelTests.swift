import Foundation
import SluiceTesting
import XCTest

@testable import Sluice

final class ErrorModelTests: XCTestCase {
    func testCustomErrorIsDecodedFromTheErrorBody() async throws {
        let server = try LoopbackServer()
        server.on("/users/2", .json(#"{"message":"There is no user 2."}"#, status: .notFound))
        let request: APIRequest<User, ShopError> = APIClient(baseURL: server.url).codable.request("users/2")
        do {
            _ = try await request.sender().value
            XCTFail("The request did not fail.")
        } catch {
            // No cast: the request throws a ShopError.
            XCTAssertEqual(error.message, "There is no user 2.")
            XCTAssertEqual(error.status, 404)
        }
    }

    func testFailureHasTheStatusAndAPIErrorDecodesTheBody() async throws {
        struct Problem: Decodable { let message: String }
        struct Own: ErrorSerializable {
            let status: HTTPStatus?
            init(_ failure: RequestFailure) { status = failure.status }
        }
        let server = try LoopbackServer()
        server.on("/users/2", .json(#"{"message":"There is no user 2."}"#, status: .notFound))
        let client = APIClient(baseURL: server.url)
        let found = await client.get("users/2", as: User.self).sender().result.failure
        let error = try XCTUnwrap(found)
        XCTAssertEqual(try error.decoded(as: Problem.self).message, "There is no user 2.")
        XCTAssertThrowsError(try error.decoded(as: User.self))
        XCTAssertNil(error.authorizationError)
        let own = await client.get("users/2", as: User.self, error: Own.self).sender().result.failure
        XCTAssertEqual(own?.status, .notFound)
        server.stop()
        let unreachable = await client.get("users/2", as: User.self).sender().result.failure
        XCTAssertNil(unreachable?.status)
        XCTAssertThrowsError(try XCTUnwrap(unreachable).decoded(as: Problem.self))
    }

    func testCustomErrorIsCreatedWithoutAResponse() async throws {
        let server = try LoopbackServer()
        server.stop()
        let request: APIRequest<User, ShopError> = APIClient(baseURL: server.url).codable.request("users/2")
        let error = await request.sender().result.failure
        XCTAssertEqual(error?.status, nil)
        XCTAssertEqual(error?.message.contains("The connection to \(server.authority) could not be established"), true)
    }

    func testAPIErrorHasRequestResponseAndBody() async throws {
        let server = try LoopbackServer()
        server.on("/users/2", .json(#"{"message":"no"}"#, status: .conflict, headers: ["X-Trace": "t1"]))
        let request = APIClient(baseURL: server.url).data.request("users/2")
        let response = await request.sender().response
        let error = try XCTUnwrap(response.result.failure)
        XCTAssertEqual(error.code, .unacceptableStatus)
        XCTAssertEqual(error.error.step, .validation)
        XCTAssertEqual(error.status, .conflict)
        XCTAssertEqual(error.response?.headers["x-trace"], "t1")
        XCTAssertEqual(error.request?.url, "\(server.url)/users/2")
        XCTAssertEqual(error.body, Data(#"{"message":"no"}"#.utf8))
        XCTAssertEqual(response.status, .conflict)
        XCTAssertEqual(response.body, error.body)
        XCTAssertEqual(response.metrics?.bytesReceived, 16)
    }

    func testTypedAPIErrorHasTheErrorBodyDecoded() async throws {
        struct Problem: Decodable, Sendable { let message: String }
        let server = try LoopbackServer()
        server.on("/users/2", .json(#"{"message":"no"}"#, status: .conflict), .text("?", status: .conflict))
        let request: APIRequest<User, TypedAPIError<Problem>> = APIClient(baseURL: server.url).codable
            .request("users/2")
        let decoded = await request.sender().result.failure
        XCTAssertEqual(decoded?.errorBody?.message, "no")
        XCTAssertEqual(decoded?.status, .conflict)
        let other = await request.sender().result.failure
        XCTAssertNil(other?.errorBody)
        XCTAssertEqual(other?.status, .conflict)
    }

    func testDecodingFailureHasTypePathAndBodyPrefix() async throws {
        struct Page: Decodable, Sendable { let items: [User] }
        let server = try LoopbackServer()
        server.on("/page", .json(#"{"items":[{"id":1,"name":"Ada"},{"id":"two","name":"Bob"}]}"#))
        let request = APIClient(baseURL: server.url).codable.request("page", as: Page.self)
        let error = try await XCTUnwrapAsync(await request.sender().result.failure)
        XCTAssertEqual(error.code, .decodingFailed)
        XCTAssertEqual(error.error.step, .serialization)
        let failure = try XCTUnwrap(error.underlyingError as? DecodingFailure)
        XCTAssertEqual(failure.type, "Page")
        XCTAssertEqual(failure.codingPath, "items[1].id")
        XCTAssertTrue(failure.bodyPrefix.hasPrefix(#"{"items":[{"id":1"#))
        XCTAssertTrue(failure.cause is DecodingError)
        // The description contains nothing of the body, so that it can be logged.
        XCTAssertTrue(error.description.contains("Page"), error.description)
        XCTAssertTrue(error.description.contains("items[1].id"), error.description)
        XCTAssertFalse(error.description.contains("Ada"), error.description)
        XCTAssertTrue(error.error.expandedDescription.contains("Ada"))
    }

    func testEmptyAndInvalidBodiesFailToDecode() async throws {
        let server = try LoopbackServer()
        server.on("/user", .data(Data()), .text("<html>"))
        let request = APIClient(baseURL: server.url).codable.request("user", as: User.self)
        let empty = await request.sender().result.failure
        XCTAssertEqual(empty?.code, .decodingFailed)
        XCTAssertEqual(empty?.description.contains("the body is empty"), true)
        let html = await request.sender().result.failure
        XCTAssertEqual(html?.code, .decodingFailed)
        XCTAssertEqual((html?.underlyingError as? DecodingFailure)?.bodyPrefix, "<html>")
    }

    func testBeginningOfBodyIsThatOfTheRedactedBody() {
        let filler = String(repeating: "a", count: 190)
        for (body, beginning) in [
            (#"{"value":"s3cr3t","about":"\#(filler)","name":"password"}"#, #"{"value":"REDACTED","about":"#),
            (#"{"d":"s3cr3t","about":"\#(filler)","kty":"RSA"}"#, #"{"d":"REDACTED","about":"aaa"#),
            ("é" + String(repeating: "ü", count: 200), "éüü"),
        ] {
            let text = DecodingFailure.beginning(of: Data(body.utf8))
            XCTAssertTrue(text.hasPrefix(beginning), text)
            XCTAssertLessThanOrEqual(text.utf8.count, 200)
            XCTAssertFalse(text.contains("\u{FFFD}"))
        }
    }

    func testBodyWithASecretThatCannotBeLocatedHasNoBeginning() {
        let filler = String(repeating: "a", count: 300)
        // Malformed, with the name of the secret after its value.
        for body in [
            #"{"value":"s3cr3t","about":"\#(filler)","name":"password""#,
            #"<a><b>s3cr3t</b>\#(filler)<name>password</name>"#,
            #"{"value":"s3cr3t","about":"\#(String(repeating: filler, count: 4000))","name":"password"}"#,
        ] {
            let text = DecodingFailure.beginning(of: Data(body.utf8))
            XCTAssertTrue(text.hasPrefix("(") && text.hasSuffix(")"), text)
            XCTAssertFalse(text.contains("s3cr3t"), text)
        }
        XCTAssertEqual(DecodingFailure.beginning(of: Data("\u{0}\u{1}ab".utf8)), "\u{0}\u{1}ab")
    }

    func testDescriptionContainsNoSecrets() async throws {
        let server = try LoopbackServer()
        server.on("/login", .text("secret-body", status: .unauthorized, headers: ["Set-Cookie": "secret-cookie"]))
        let request = APIClient(baseURL: server.url).data.request("login")
            .query("token", "secret-query")
            .header("Authorization", "secret-header")
        let error = try await XCTUnwrapAsync(await request.sender().result.failure)
        XCTAssertFalse("\(error)".contains("secret"), "\(error)")
        XCTAssertTrue("\(error)".contains("401"), "\(error)")
        XCTAssertTrue("\(error)".contains("/login"), "\(error)")
    }
}

/// XCTUnwrap takes an autoclosure that cannot await.
func XCTUnwrapAsync<Value>(_ value: Value?, file: StaticString = #filePath, line: UInt = #line) async throws -> Value {
    try XCTUnwrap(value, file: file, line: line)
}

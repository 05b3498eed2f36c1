import Foundation
import Sluice
import SluiceTesting
import XCTest

/// The sentences of errors say what was found, where, and what was expected.
final class ErrorMessagesTests: XCTestCase {
    private enum Level: String, Decodable { case low, high }
    private enum Shape: Decodable { case circle(Int), square }
    private enum Tone: String, JSONDecodable { case minor, major }

    private struct Track: Decodable, Sendable {
        var id: Int?
        var loud: Bool?
        var small: UInt8?
        var level: Level?
        var token: Level?
        var shape: Shape?
        var tags: [String]?
        var owner: User?
        var date: Date?
        var url: URL?
    }

    /// Returns the sentence about a body, after the method and URL.
    private func sentence<Model>(
        _ body: String,
        _ request: (APIClient) -> APIRequest<Model, APIError>
    ) async throws -> String {
        let server = try LoopbackServer()
        server.on("/x", .json(body))
        let error = await request(APIClient(baseURL: server.url)).sender().result.failure
        XCTAssertEqual(error?.description, error.map { "GET \(server.url)/x: \($0.error.reason)" })
        return error?.error.reason ?? ""
    }

    private func reason(_ body: String, file: StaticString = #filePath, line: UInt = #line) async throws -> String {
        let sentence = try await sentence(body) { $0.codable.get("x", as: Track.self) }
        let prefix = "The response could not be decoded as Track: "
        XCTAssertTrue(sentence.hasPrefix(prefix), sentence, file: file, line: line)
        return String(sentence.dropFirst(prefix.count))
    }

    func testWrongTypeSaysPathExpectedAndFound() async throws {
        let cases = [
            (#"{"id":"one"}"#, "at “id”, expected Int, found a string."),
            (#"{"id":{}}"#, "at “id”, expected Int, found an object."),
            (#"{"loud":1}"#, "at “loud”, expected Bool, found a number."),
            (#"{"tags":{}}"#, "at “tags”, expected an array, found an object."),
            (#"{"tags":["a",true]}"#, "at “tags[1]”, expected String, found a boolean."),
            (#"{"owner":7}"#, "at “owner”, expected an object, found a number."),
            (#"{"owner":{"name":"Ada"}}"#, "at “owner”, the key “id” is missing."),
            (#"{"owner":{"id":null,"name":"Ada"}}"#, "at “owner.id”, expected Int, found null."),
            (#"{"small":300}"#, "at “small”, expected UInt8, found a number that does not fit."),
            (#"{"id":1.5}"#, "at “id”, expected Int, found a number that does not fit."),
            (#"{"date":"today"}"#, "at “date”, expected Double, found a string."),
            (#"{"date":"2026-01x02"}"#, "at “date”, expected Double, found a string."),
            (
                #"{"date":"2026-01-02T03:04:05Z"}"#,
                "at “date”, expected Double, found a string with a date. For a value of the type Date, set the "
                    + "dateDecodingStrategy of the client's modelDecoder to “.iso8601”."
            ),
            (#"{"url":""}"#, "at “url”, expected a URL."),
            ("[]", "expected an object, found an array."),
            ("null", "expected an object, found null."),
        ]
        for (body, expected) in cases {
            let reason = try await reason(body)
            XCTAssertEqual(reason, expected, body)
        }
    }

    /// The strategies of the client's decoder make the other value valid.
    func testNumberThatDoesNotFitIsNotBlamedOnAnotherValue() async throws {
        struct Level: Decodable {
            let gain: Double
            let step: UInt8
        }
        let server = try LoopbackServer()
        server.on("/x", .json(#"{"gain":"inf","step":300}"#))
        let client = APIClient(baseURL: server.url) {
            let decoder = JSONDecoder()
            decoder.nonConformingFloatDecodingStrategy = .convertFromString(
                positiveInfinity: "inf",
                negativeInfinity: "-inf",
                nan: "nan"
            )
            $0.modelDecoder = decoder
        }
        let error = await client.get("x", as: Level.self).sender().result.failure
        let reason = "a number does not fit the type that the model declares for it."
        XCTAssertEqual(error?.error.reason, "The response could not be decoded as Level: \(reason)")
    }

    /// The path that a `JSONDecoder` reports lacks the key of the date.
    func testPathOfDateIsShown() async throws {
        struct Issue: Decodable {
            let openedAt: Date
        }
        let server = try LoopbackServer()
        server.on("/x", .json(#"[{"opened_at":"2026-01-02T03:04:05Z"},{"opened_at":"yesterday"}]"#))
        let client = APIClient(baseURL: server.url) {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            decoder.dateDecodingStrategy = .iso8601
            $0.modelDecoder = decoder
        }
        let error = await client.get("x", as: [Issue].self).sender().result.failure
        let reason = "at “[1].openedAt”, expected a date in ISO 8601 format."
        XCTAssertEqual(error?.error.reason, "The response could not be decoded as Array<Issue>: \(reason)")
    }

    func testUnknownEnumValueIsShown() async throws {
        let long = String(repeating: "x", count: 100)
        let cases = [
            (#"{"level":"purple"}"#, "at “level”, “purple” is not a value of Level."),
            (#"{"level":"a\nb"}"#, "at “level”, “a?b” is not a value of Level."),
            (#"{"level":"\#(long)"}"#, "at “level”, “\(long.prefix(40))…” is not a value of Level."),
            // The key indicates a secret.
            (#"{"token":"s3cret"}"#, "at “token”, the value is not a value of Level."),
            (#"{"shape":{"triangle":{}}}"#, "at “shape”, “triangle” is not a case of Shape."),
            (#"{"shape":{}}"#, "at “shape”, expected an object with one key, a case of Shape."),
        ]
        for (body, expected) in cases {
            let reason = try await reason(body)
            XCTAssertEqual(reason, expected, body)
        }
        let tone = try await sentence(#"{"tone":"loud"}"#) { $0.json.get("x", as: Tone.self).keyPath("tone") }
        XCTAssertEqual(tone, "The response could not be decoded as Tone: at “tone”, “loud” is not a value of Tone.")
    }

    func testBodyThatIsNotJSONIsNamed() async throws {
        let page = "\n<!DOCTYPE html><html><body>Bad gateway</body></html>"
        let html = try await reason(page)
        XCTAssertEqual(html, "the body is HTML, not JSON.")
        let xml = try await reason("<?xml version=\"1.0\"?><error/>")
        XCTAssertEqual(xml, "the body is XML, not JSON.")
        let cut = try await reason(#"{"id":1"#)
        XCTAssertTrue(cut.hasPrefix("the text is not valid JSON: ") && cut.hasSuffix("(line 1, column 8)."), cut)
        let empty = try await reason("")
        XCTAssertEqual(empty, "the body is empty.")
        let value = try await sentence(page) { $0.json.get("x", as: JSON.self) }
        XCTAssertEqual(value, "The response could not be decoded as JSON: the body is HTML, not JSON.")
        let part = try await sentence(page) { $0.codable.get("x", as: Track.self).keyPath("data") }
        XCTAssertEqual(part, "The response has no model: the body is HTML, not JSON.")
    }

    func testKeyPathSaysWhereItEnds() async throws {
        let body = #"{"data":{"items":[{"id":1}]}}"#
        let cases: [(JSONPath, String)] = [
            ("data.users", "`data` has no member `users`."),
            ("data.items[3]", "`data.items` has 1 element; there is no element [3]."),
            (
                "data.items[0",
                "`data` has no member `items[0`, whose bracket is part of the key: write [0] for an element, or [\"key\"]."
            ),
        ]
        for (path, expected) in cases {
            let sentence = try await sentence(body) { $0.codable.get("x", as: Track.self).keyPath(path) }
            XCTAssertEqual(sentence, "The response has no model: \(expected)")
        }
    }

    func testUnacceptableContentTypeIsNamed() async throws {
        let sentence = try await sentence("{}") { $0.data.get("x").validate(contentTypes: "text/csv", "text/plain") }
        XCTAssertEqual(
            sentence,
            "The response's content type “application/json” is not accepted. Accepted: text/csv, text/plain."
        )
        let server = try LoopbackServer()
        server.on("/x", .raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", thenClose: true))
        let bare = APIClient(baseURL: server.url).data.get("x").validate(contentTypes: "text/csv")
        let reason = await bare.sender().result.failure?.error.reason
        XCTAssertEqual(reason, "The response has no content type. Accepted: text/csv.")
        server.on("/events", .data(Data("<html>".utf8), contentType: "text/html"))
        do {
            for try await _ in APIClient(baseURL: server.url).stream("events").serverSentEvents() {}
            XCTFail("The stream did not fail.")
        } catch {
            XCTAssertEqual(
                error.error.reason,
                "The response is not an event stream: its content type is “text/html”, not text/event-stream."
            )
        }
    }

    func testEnvelopeErrorHasTheCodeButNotTheMessage() async throws {
        let server = try LoopbackServer()
        server.on("/x", .json(#"{"code":40101,"msg":"Ada must sign in","data":null}"#))
        let client = APIClient(baseURL: server.url) {
            $0.envelope = Envelope(status: "code", success: 0, message: "msg", payload: "data")
        }
        let error = await client.codable.get("x", as: User.self).sender().result.failure
        XCTAssertEqual(
            error?.error.reason,
            "The envelope of the response reports that the request failed with the code “40101”."
        )
        XCTAssertEqual(error?.envelope?.message, "Ada must sign in")
        server.on("/y", .json("{}"))
        let bare = await client.codable.get("y", as: User.self).sender().result.failure
        XCTAssertEqual(bare?.error.reason, "The response has no envelope: The value has no member `code`.")
    }

    func testInvalidBaseURLIsShownWithoutSecrets() async {
        let cases = [
            (
                "shop.example/v1",
                "“shop.example/v1” is not valid: it is not absolute; begin it with http:// or https://."
            ),
            ("", "is not valid: it is empty; begin it with http:// or https://."),
            (
                "https://shop.example:http",
                "“https://shop.example:http” is not valid: its port is not a number from 1 to 65535."
            ),
            (
                "htp://shop.example",
                "“htp://shop.example” is not valid: the scheme “htp” is not supported; use http or https."
            ),
            (
                "https://ada:s3cret@shop.example/?key=s3cret",
                "“https://REDACTED@shop.example/” is not valid: "
                    + "it contains a user name; send credentials in an Authorization header instead."
            ),
            (
                "ada:s3cret@shop.example",
                "“REDACTED@shop.example” is not valid: it is not absolute; begin it with http:// or https://."
            ),
        ]
        for (url, expected) in cases {
            let error = await APIClient(baseURL: url).data.get("users").sender().result.failure
            XCTAssertEqual(error?.description, "The base URL \(expected)")
        }
        let whole = await APIClient().data.get("https://shop.example:x/users").sender().result.failure
        XCTAssertEqual(
            whole?.description,
            "The URL “https://shop.example:x/users” is not valid: its port is not a number from 1 to 65535."
        )
    }

    func testCancelledRequestIsNamedWithoutSecrets() async throws {
        let server = try LoopbackServer()
        server.on("/*", .hang)
        let client = APIClient(baseURL: server.url)
        let request = client.data.delete("users").query("token", "s3cret")
        let expected = "DELETE \(server.url)/users: The request was cancelled."
        let early = request.sender()
        early.cancel()
        let error = await early.result.failure
        XCTAssertEqual(error?.description, expected)
        XCTAssertEqual(error?.localizedDescription, expected)
        let late = request.sender()
        let waiting = Task { await late.result.failure }
        await server.waitForRequests(1)
        late.cancel()
        let lateText = await waiting.value?.description
        XCTAssertEqual(lateText, expected)
        let task = Task { await request.sender().result.failure?.description }
        await server.waitForRequests(2)
        task.cancel()
        let taskText = await task.value
        XCTAssertEqual(taskText, expected)
        let download = client.download("film", to: .temporary).sender()
        download.cancel()
        let downloadText = await download.result.failure?.description
        XCTAssertEqual(downloadText, "GET \(server.url)/film: The request was cancelled.")
    }

    func testLocalizedDescriptionIsTheSentence() async throws {
        let server = try LoopbackServer()
        server.on("/users", .json("{}", status: .notFound))
        let client = APIClient(baseURL: server.url)
        let sentence = "GET \(server.url)/users: The server responded with status 404."
        let request = client.codable.get("users", as: User.self)
        let error = try await XCTUnwrapAsync(await request.sender().result.failure)
        XCTAssertEqual(error.description, sentence)
        let typed: APIRequest<User, TypedAPIError<User>> = client.codable.get("users")
        let typedError = try await XCTUnwrapAsync(await typed.sender().result.failure)
        let template: URITemplate = "users/{id"
        let expansion = await client.data.get(template.expanding(["id": 1])).sender().result.failure
        let errors: [any Error] = [
            error, error.error, typedError, SluiceError(.timedOut, "Too slow."),
            EnvelopeFailure(code: 7, message: "No."), GateRefusal(gate: "RateLimit", retryAfter: .seconds(2)),
            JSONDecodingFailure(expected: "a colour", found: 1), TLSFailure(.expired),
            TokenStoreError("The token cannot be saved."), try XCTUnwrap(expansion?.underlyingError),
        ]
        for error in errors { XCTAssertEqual(error.localizedDescription, "\(error)") }
        XCTAssertEqual(errors[2].localizedDescription, sentence)
        XCTAssertEqual(
            errors[5].localizedDescription,
            "The RateLimit did not admit the request. Try again in 2.0 seconds."
        )
    }
}

import Sluice
import SluiceTesting
import XCTest

final class UploadTests: XCTestCase {
    private func echoServer() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on("/*", .echo)
        return server
    }

    func testUploadsFileWithTypeOfExtension() async throws {
        let server = try echoServer()
        let client = APIClient(baseURL: server.url)
        let bytes = Data(repeating: UInt8(ascii: "x"), count: 300_000)
        let picture = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString).png")
        try bytes.write(to: picture)
        defer { try? FileManager.default.removeItem(at: picture) }
        let echo: LoopbackEcho = try await client.upload("pictures", .file(picture)).sender().value
        XCTAssertEqual(echo.method, "POST")
        XCTAssertEqual(echo.target, "/pictures")
        XCTAssertEqual(echo.values(for: .contentType), ["image/png"])
        XCTAssertEqual(echo.values(for: .contentLength), ["300000"])
        XCTAssertEqual(Data(base64Encoded: echo.base64), bytes)
        let typed: LoopbackEcho = try await client.upload("pictures", .file(picture, contentType: "image/x-own"))
            .sender().value
        XCTAssertEqual(typed.values(for: .contentType), ["image/x-own"])
    }

    func testOtherMethodsKeepBody() async throws {
        let server = try echoServer()
        let client = APIClient(baseURL: server.url)
        let upload: APIRequest<LoopbackEcho, APIError> = client.upload("notes/1", .data(Data("text".utf8)))
        let sent = try await [
            upload.sender().value, upload.put().sender().value, upload.patch().sender().value,
            upload.method("PROPPATCH").sender().value,
        ]
        XCTAssertEqual(sent.map(\.method), ["POST", "PUT", "PATCH", "PROPPATCH"])
        XCTAssertEqual(sent.map(\.text), ["text", "text", "text", "text"])
        XCTAssertEqual(
            sent.flatMap { $0.values(for: .contentType) },
            Array(repeating: "application/octet-stream", count: 4)
        )
    }

    func testUploadsStreamWithLengthOrChunked() async throws {
        let server = try echoServer()
        let client = APIClient(baseURL: server.url)
        let known: LoopbackEcho = try await client.upload("logs", .stream(Chunks("one ", "two"), length: 7)).sender()
            .value
        XCTAssertEqual(known.text, "one two")
        XCTAssertEqual(known.values(for: .contentLength), ["7"])
        let unknown: LoopbackEcho = try await client.upload(
            "logs",
            .stream(Chunks("one ", "two"), contentType: "text/plain")
        ).sender().value
        XCTAssertEqual(unknown.text, "one two")
        XCTAssertEqual(unknown.values(for: .transferEncoding), ["chunked"])
        XCTAssertEqual(unknown.values(for: .contentType), ["text/plain"])
    }

    func testUploadsFormWithBoundary() async throws {
        let server = try echoServer()
        let client = APIClient(baseURL: server.url)
        var form = MultipartForm(boundary: "b")
        form.append(.text("Ada", name: "user"))
        let echo: LoopbackEcho = try await client.upload("users", .multipart(form)).sender().value
        XCTAssertEqual(echo.values(for: .contentType), ["multipart/form-data; boundary=b"])
        XCTAssertEqual(
            echo.text,
            "--b\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\nAda\r\n--b--\r\n"
        )
    }

    func testUploadsHaveAnyKindOfModel() async throws {
        let server = try echoServer()
        let client = APIClient(baseURL: server.url)
        let data = Data("text".utf8)
        let json = try await client.upload("json", .data(data), as: JSON.self).sender().value
        XCTAssertEqual(json.text.stringValue, "text")
        let string = try await client.string.upload("string", .data(data, contentType: "text/plain")).sender().value
        XCTAssertTrue(string.contains(#""text":"text""#))
        let form: MultipartForm = [.text("Ada", name: "user")]
        _ = await client.empty.upload("form", .multipart(form)).allowingEmptyBody().sender().response
        let kept = try await client.data.upload("data", .stream(Chunks("text"), length: 4)).sender().value
        XCTAssertFalse(kept.isEmpty)
        XCTAssertEqual(server.requests.map(\.method), [.post, .post, .post, .post])
    }

    func testFailureHasErrorModelOfRequest() async throws {
        let server = try LoopbackServer()
        server.on("/users", .json(#"{"message":"too large"}"#, status: 413))
        let client = APIClient(baseURL: server.url)
        let upload: APIRequest<User, ShopError> = client.upload("users", .data(Data("text".utf8)))
        let error = await upload.sender().result.failure
        XCTAssertEqual(error?.message, "too large")
        let text: APIRequest<String, ShopError> = client.string.upload(
            "users",
            .multipart([.text("Ada", name: "user")])
        )
        let textError = await text.sender().result.failure
        XCTAssertEqual(textError?.status, 413)
        let plain = await client.upload("users", .data(Data()), as: User.self).sender().result.failure
        XCTAssertEqual(plain?.status, 413)
    }

    func testMissingFileFailsBeforeSending() async throws {
        let server = try echoServer()
        let client = APIClient(baseURL: server.url)
        let missing = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        let error = await client.data.upload("files", .file(missing)).sender().result.failure
        XCTAssertEqual(error?.code, .bodyUnavailable)
        XCTAssertEqual(server.connections, 0)
    }

    func testUsesMethodOfEndpoint() async throws {
        struct Replace: Endpoint {
            func draft() -> RequestDraft { RequestDraft(method: .put, path: "files/1") }
        }
        let server = try echoServer()
        let client = APIClient(baseURL: server.url)
        let echo: LoopbackEcho = try await client.upload(Replace(), .data(Data("text".utf8))).sender().value
        XCTAssertEqual(echo.method, "PUT")
        XCTAssertEqual(echo.text, "text")
    }
}

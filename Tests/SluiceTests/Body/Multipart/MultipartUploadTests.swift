import Sluice
import SluiceTesting
import XCTest

final class MultipartUploadTests: XCTestCase {
    private func upload(
        _ form: MultipartForm,
        to server: LoopbackServer,
        _ path: String = "upload"
    ) async -> Result<Data, APIError> {
        let request = APIClient(baseURL: server.url).data.request(path).post()
            .multipart(form)
        return await request.sender().result
    }

    private func uploadServer() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on(.post, "/upload", .text("thanks"))
        return server
    }

    func testUploadsTextDataAndFileWithContentLength() async throws {
        let server = try uploadServer()
        let file = try TemporaryFile(Data(repeating: UInt8(ascii: "x"), count: 700_000))
        defer { file.remove() }
        var form = MultipartForm(boundary: "b")
        form.append(.text("Ada", name: "user"))
        form.append(.data(Data("PNG".utf8), name: "picture", fileName: "a.png"))
        form.append(.file(file.url, name: "archive", fileName: "a.zip"))
        _ = try await upload(form, to: server).get()
        let request = try XCTUnwrap(server.requests.first)
        XCTAssertEqual(request.headers[.contentType], "multipart/form-data; boundary=b")
        XCTAssertEqual(request.headers[.contentLength], "\(request.body.count)")
        let head = "--b\r\nContent-Disposition: form-data; name="
        XCTAssertEqual(
            String(decoding: request.body, as: UTF8.self),
            "\(head)\"user\"\r\n\r\nAda\r\n"
                + "\(head)\"picture\"; filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\nPNG\r\n"
                + "\(head)\"archive\"; filename=\"a.zip\"\r\nContent-Type: application/zip\r\n\r\n"
                + String(repeating: "x", count: 700_000) + "\r\n--b--\r\n"
        )
    }

    func testStreamWithLengthIsSentWithContentLength() async throws {
        let server = try uploadServer()
        let form: MultipartForm = [.stream(Chunks("one ", "two"), length: 7, name: "s")]
        _ = try await upload(form, to: server).get()
        let request = try XCTUnwrap(server.requests.first)
        XCTAssertEqual(request.headers[.contentLength], "\(request.body.count)")
        XCTAssertTrue(String(decoding: request.body, as: UTF8.self).contains("\r\n\r\none two\r\n--"))
    }

    func testStreamWithoutLengthIsSentChunked() async throws {
        let server = try uploadServer()
        let form: MultipartForm = [.text("Ada", name: "user"), .stream(Chunks("one ", "two"), name: "s")]
        _ = try await upload(form, to: server).get()
        let request = try XCTUnwrap(server.requests.first)
        XCTAssertEqual(request.headers[.transferEncoding], "chunked")
        XCTAssertTrue(String(decoding: request.body, as: UTF8.self).contains("\r\n\r\none two\r\n--"))
    }

    func testUploadsNestedFormAndEmptyForm() async throws {
        let server = try uploadServer()
        let inner = MultipartForm(.mixed, boundary: "i").adding(.text("A"), .text(""))
        let form = MultipartForm(boundary: "o").adding(.nested(inner, name: "n"))
        _ = try await upload(form, to: server).get()
        _ = try await upload(MultipartForm(boundary: "o"), to: server).get()
        XCTAssertEqual(
            server.requests.map { String(decoding: $0.body, as: UTF8.self) },
            [
                "--o\r\nContent-Disposition: form-data; name=\"n\"\r\nContent-Type: multipart/mixed; boundary=i\r\n\r\n"
                    + "--i\r\n\r\nA\r\n--i\r\n\r\n\r\n--i--\r\n\r\n--o--\r\n",
                "--o--\r\n",
            ]
        )
    }

    func testMissingFileFailsBeforeConnecting() async throws {
        let server = try uploadServer()
        let file = try TemporaryFile(Data("here".utf8))
        defer { file.remove() }
        let missing = MultipartForm.Part.file(URL(filePath: "/no/such/file"), name: "missing")
        let here = MultipartForm.Part.file(file.url, name: "here")
        let forms: [MultipartForm] = [[missing], [here, .text("a", name: "b"), missing, here]]
        for form in forms {
            let error = await upload(form, to: server).failure
            XCTAssertEqual(error?.code, .bodyUnavailable)
            XCTAssertEqual(
                error?.error.reason,
                "The part “missing” cannot be sent. The file “/no/such/file” cannot be read: No such file or directory."
            )
            XCTAssertEqual(error?.error.request?.path, "/upload")
        }
        XCTAssertEqual(server.connections, 0)
    }

    func testFileThatShrinksDuringUploadFailsTheRequest() async throws {
        let server = try uploadServer()
        let file = try TemporaryFile(Data(count: 1000))
        defer { file.remove() }
        let chunks = Chunks("first") { try? file.write(Data(count: 999)) }
        let form: MultipartForm = [.stream(chunks, length: 5, name: "s"), .file(file.url, name: "f")]
        let error = await upload(form, to: server).failure
        XCTAssertEqual(error?.code, .bodyLengthMismatch)
        XCTAssertEqual(
            error?.error.reason,
            "The file of the part “f” had 1000 bytes when the request started, but has 999 now."
        )
        await server.waitForOpenConnections { $0 == 0 }
        XCTAssertEqual(server.requests.count, 0)
    }

    func testStreamWithDifferentLengthFailsTheRequest() async throws {
        let server = try uploadServer()
        for length in [Int64(3), 5] {
            let form: MultipartForm = [.stream(Chunks("four"), length: length, name: "s"), .text("a", name: "b")]
            let error = await upload(form, to: server).failure
            XCTAssertEqual(error?.code, .bodyLengthMismatch)
        }
        await server.waitForOpenConnections { $0 == 0 }
        XCTAssertEqual(server.requests.count, 0)
    }

    func testRedirectResendsReplayableFormsOnly() async throws {
        let server = try uploadServer()
        server.on(.post, "/moved", .redirect(to: "/upload", status: 307))
        let file = try TemporaryFile(Data("file".utf8))
        defer { file.remove() }
        let form: MultipartForm = [.file(file.url, name: "f")]
        _ = try await upload(form, to: server, "moved").get()
        XCTAssertEqual(server.requests.map(\.path), ["/moved", "/upload"])
        XCTAssertEqual(server.requests[0].body, server.requests[1].body)
        let error = await upload(form.adding(.stream(Chunks("a"), name: "s")), to: server, "moved").failure
        XCTAssertEqual(error?.code, .bodyNotReplayable)
    }

    #if os(Linux)
    func testCancellationClosesTheFileOfTheUpload() async throws {
        let server = try UnreadingServer()
        let file = try TemporaryFile(Data(count: 64 << 20))
        defer { file.remove() }
        let (starts, start) = AsyncStream<Void>.makeStream()
        let form: MultipartForm = [.stream(Chunks("a") { start.yield() }, name: "s"), .file(file.url, name: "f")]
        let sender = APIClient(baseURL: server.url).data.request("upload").post().multipart(form).sender()
        let task = Task { await sender.result }
        for await _ in starts { break }
        while file.openDescriptors == 0 { await Task.yield() }
        sender.cancel()
        let code = await task.value.failure?.code
        XCTAssertEqual(code, .cancelled)
        while file.openDescriptors > 0 { await Task.yield() }
    }

    func testTimeOutClosesTheFileOfTheUpload() async throws {
        let server = try UnreadingServer()
        let file = try TemporaryFile(Data(count: 64 << 20))
        defer { file.remove() }
        let form: MultipartForm = [.file(file.url, name: "f")]
        let result = await APIClient(baseURL: server.url).data.request("upload").post().multipart(form)
            .timeout(total: .milliseconds(200)).sender().result
        XCTAssertEqual(result.failure?.code, .timedOut)
        while file.openDescriptors > 0 { await Task.yield() }
    }
    #endif
}

#if os(Linux)
/// Accepts connections and reads nothing, so that the upload of a large body stalls.
private final class UnreadingServer {
    private let descriptor: Int32
    let url: String

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { [descriptor] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0 && listen(descriptor, 8) == 0
            }
        }
        XCTAssertTrue(isListening)
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
    }

    deinit {
        close(descriptor)
    }
}
#endif

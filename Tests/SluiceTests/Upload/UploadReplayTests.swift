import Sluice
import SluiceTesting
import XCTest

/// Every source of an upload, with every reason to send it twice.
final class UploadReplayTests: XCTestCase {
    /// More than is sent in one piece with the head, and more than the upload pipe holds.
    private static let bytes = Data((0..<1_400_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
    private static let chunks = stride(from: 0, to: bytes.count, by: 600_000).map {
        bytes[$0..<min($0 + 600_000, bytes.count)]
    }

    private struct Source {
        let name: String
        let isReplayable: Bool
        let request: (APIClient) -> APIRequest<Data, APIError>
    }

    private func sources(_ file: URL) -> [Source] {
        var stream = Chunks()
        stream.chunks = Self.chunks
        var form = MultipartForm(boundary: "b")
        form.append(.text("Ada", name: "user"))
        form.append(.file(file, name: "file", fileName: "a.bin"))
        let once = form.adding(.stream(stream, name: "once"))
        let again = form.adding(.stream(stream, name: "again", isReplayable: true))
        let length = Int64(Self.bytes.count)
        return [
            Source(name: "data", isReplayable: true) { $0.data.upload("upload", .data(Self.bytes)) },
            Source(name: "a few bytes", isReplayable: true) { $0.data.upload("upload", .data(Data("few".utf8))) },
            Source(name: "no bytes", isReplayable: true) { $0.data.upload("upload", .data(Data())) },
            Source(name: "file", isReplayable: true) { $0.data.upload("upload", .file(file)) },
            Source(name: "stream", isReplayable: false) { $0.data.upload("upload", .stream(stream)) },
            Source(name: "stream with length", isReplayable: false) {
                $0.data.upload("upload", .stream(stream, length: length))
            },
            Source(name: "replayable stream", isReplayable: true) {
                $0.data.upload("upload", .stream(stream, isReplayable: true))
            },
            Source(name: "replayable stream with length", isReplayable: true) {
                $0.data.upload("upload", .stream(stream, length: length, isReplayable: true))
            },
            Source(name: "form", isReplayable: true) { $0.data.upload("upload", .multipart(form)) },
            Source(name: "form with a stream", isReplayable: false) { $0.data.upload("upload", .multipart(once)) },
            Source(name: "form with a replayable stream", isReplayable: true) {
                $0.data.upload("upload", .multipart(again))
            },
        ]
    }

    /// Runs a check for each source, with and without compression.
    private func forEachSource(
        _ check: (Source, LoopbackServer, APIClient, _ name: String) async throws -> Void
    ) async throws {
        let file = try TemporaryFile(Self.bytes)
        defer { file.remove() }
        for isCompressed in [false, true] {
            for source in sources(file.url) {
                let server = try LoopbackServer()
                let client = APIClient(baseURL: server.url) {
                    $0.retry = RetryPolicy(maximumAttempts: 2, backoff: .constant(.zero))
                    if isCompressed { $0.requestInterceptors = [CompressBody()] }
                }
                try await check(source, server, client, isCompressed ? source.name + ", compressed" : source.name)
                server.stop()
            }
        }
    }

    func testRetryResendsSameBytesOrNone() async throws {
        try await forEachSource { source, server, client, name in
            server.on("/upload", .status(.serviceUnavailable), .text("done"))
            let response = await source.request(client).put().sender().response
            let bodies = server.requests.map(\.body)
            if source.isReplayable {
                XCTAssertEqual(bodies.count, 2, name)
                XCTAssertEqual(bodies.first, bodies.last, name)
            } else {
                XCTAssertEqual(bodies.count, 1, name)
                XCTAssertEqual(response.status, .serviceUnavailable, name)
            }
            try self.expect(server.requests.last, source, name)
        }
    }

    func testRedirectWithBodyResendsSameBytesOrFails() async throws {
        for status in [HTTPStatus.temporaryRedirect, .permanentRedirect] {
            try await forEachSource { source, server, client, name in
                server.on("/upload", .redirect(to: "/moved", status: status))
                server.on("/moved", .text("done"))
                let response = await source.request(client).sender().response
                let bodies = server.requests.map(\.body)
                if source.isReplayable {
                    XCTAssertEqual(server.requests.map(\.path), ["/upload", "/moved"], name)
                    XCTAssertEqual(server.requests.map(\.method), [.post, .post], name)
                    XCTAssertEqual(bodies.first, bodies.last, name)
                } else {
                    XCTAssertEqual(server.requests.map(\.path), ["/upload"], name)
                    XCTAssertEqual(response.result.failure?.code, .bodyNotReplayable, name)
                }
            }
        }
    }

    func testRedirectToGETDropsBody() async throws {
        try await forEachSource { source, server, client, name in
            server.on("/upload", .redirect(to: "/done", status: .seeOther))
            server.on("/done", .text("done"))
            _ = try await source.request(client).sender().value
            let last = try XCTUnwrap(server.requests.last, name)
            XCTAssertEqual(last.method, .get, name)
            XCTAssertEqual(last.body.count, 0, name)
            XCTAssertFalse(last.headers.contains { $0.name.rawValue.hasPrefix("Content-") }, name)
        }
    }

    /// The transport replaces a connection that was used before. A new connection that fails is left to the policy.
    func testClosedConnectionResendsSameBytesOrFails() async throws {
        for isReused in [true, false] {
            try await forEachSource { source, server, client, name in
                let name = isReused ? name : name + ", new connection"
                server.on("/warm", .text("warm"))
                server.on("/upload", .drop, .text("done"))
                let observer = NotingObserver([.retrying, .finished])
                var request = source.request(client).put().observer(observer)
                if isReused {
                    _ = try await client.string.get("warm").sender().value
                    request = request.retry(.none)
                }
                let response = await request.sender().response
                await eventually { observer.events.contains { $0.contains("finished") } }
                let retries = observer.events.count { $0.contains("retrying") }
                let uploads = server.requests(to: "/upload")
                if source.isReplayable {
                    XCTAssertEqual(response.status, .ok, name)
                    XCTAssertEqual(uploads.count, 2, name)
                    XCTAssertEqual(Set(uploads.map(\.body)).count, 1, name)
                    XCTAssertEqual(retries, isReused ? 0 : 1, name)
                } else {
                    XCTAssertEqual(response.failure?.code, isReused ? .bodyNotReplayable : .connectionLost, name)
                    XCTAssertEqual(uploads.count, 1, name)
                    XCTAssertEqual(retries, 0, name)
                }
            }
        }
    }

    /// Checks that the received body equals the source, unless it is compressed.
    private func expect(_ request: LoopbackRequest?, _ source: Source, _ name: String) throws {
        let request = try XCTUnwrap(request, name)
        guard !request.headers.contains(.contentEncoding) else {
            return XCTAssertTrue(request.body.starts(with: [0x1F, 0x8B]), name)
        }
        switch source.name {
        case "a few bytes": XCTAssertEqual(request.body, Data("few".utf8))
        case "no bytes": XCTAssertEqual(request.body, Data())
        case let form where form.hasPrefix("form"):
            XCTAssertTrue(request.body.starts(with: Data("--b\r\n".utf8)), name)
            XCTAssertTrue(request.body.suffix(7) == Data("--b--\r\n".utf8), name)
            XCTAssertNotNil(request.body.range(of: Self.bytes), name)
        default: XCTAssertTrue(request.body == Self.bytes, name)
        }
    }
}

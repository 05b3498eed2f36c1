import Sluice
import SluiceTesting
import XCTest

/// Downloads from faulty servers give a typed error or the correct file, and never another content under its name.
final class DownloadBadServerTests: XCTestCase {
    private func failure(
        of response: LoopbackResponse,
        _ others: LoopbackResponse...,
        change: (DownloadAPIRequest<DownloadedFile, APIError>) -> DownloadAPIRequest<DownloadedFile, APIError> = { $0 },
        in fixture: DownloadFixture
    ) async -> SluiceError.Code? {
        let responses = Shared([response] + others)
        fixture.server.on("/file") { request in
            responses.change { $0.count > 1 ? $0.removeFirst() : $0[0] }
        }
        let code = await change(fixture.download()).sender().response.failure?.code
        XCTAssertNil(fixture.saved)
        return code
    }

    func testUnrequestedPartIsRefused() async throws {
        let fixture = try DownloadFixture()
        let code = await failure(of: .resource(fixture.resource.withFaults(.unrequestedPart(0..<500_000))), in: fixture)
        XCTAssertEqual(code, .invalidResponse)
    }

    func testPartWithWrongOrMissingRangeIsRefused() async throws {
        for fault in [LoopbackResource.Fault.shiftedRange(by: -7), .noContentRange] {
            let fixture = try DownloadFixture()
            let code = await failure(
                of: .resource(fixture.resource).interrupted(after: 300_000),
                .resource(fixture.resource.withFaults(fault)),
                in: fixture
            )
            XCTAssertEqual(code, .invalidResponse, "\(fault)")
        }
    }

    func testOwnRangeIsRefusedBeforeAnythingIsSent() async throws {
        let fixture = try DownloadFixture()
        let error = await fixture.download().header("Range", "bytes=0-9").sender().result.failure
        XCTAssertEqual(error?.code, .unsupported)
        XCTAssertEqual(error?.error.step, .building)
        XCTAssertEqual(fixture.server.requestCount, 0)
    }

    func testRestOfAShortPartIsRequestedAgain() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on(
            "/file",
            .resource(fixture.resource).interrupted(after: 300_000),
            .resource(fixture.resource.withFaults(.shortPart(by: 1000))),
            .resource(fixture.resource)
        )
        _ = try await fixture.download().sender().value
        XCTAssertEqual(fixture.ranges, [nil, "bytes=300000-", "bytes=999000-"])
        XCTAssertEqual(fixture.saved, fixture.contents)
    }

    func testDifferentTotalLengthRestartsTheDownload() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on(
            "/file",
            .resource(fixture.resource).interrupted(after: 300_000),
            .resource(fixture.resource.withFaults(.total(2_000_000))),
            .resource(fixture.resource)
        )
        _ = try await fixture.download().sender().value
        XCTAssertEqual(fixture.ranges, [nil, "bytes=300000-", nil])
        XCTAssertEqual(fixture.saved, fixture.contents)
    }

    /// The start of a chunked body that never ends.
    private func brokenChunks(_ head: String, _ data: Data) -> LoopbackResponse {
        let size = String(data.count, radix: 16)
        return .raw(
            Data("HTTP/1.1 \(head)\r\nTransfer-Encoding: chunked\r\n\r\n\(size)\r\n".utf8) + data,
            thenClose: true
        )
    }

    func testPartWithoutTotalLengthIsContinued() async throws {
        let fixture = try DownloadFixture()
        let contents = fixture.contents
        let resource = fixture.resource
        let part = LoopbackResponse.data(
            contents.dropFirst(300_000).prefix(1000),
            status: .partialContent,
            headers: ["ETag": "\"1\"", "Content-Range": "bytes 300000-300999/*"]
        )
        let beginning = brokenChunks("200 OK\r\nETag: \"1\"", contents.prefix(300_000))
        fixture.server.on("/file") { request in
            switch request.headers["Range"] {
            case nil: beginning
            case "bytes=300000-": part
            case "bytes=1000000-": resource.response(to: request)
            default: resource.withFaults(.total(nil)).response(to: request)
            }
        }
        _ = try await fixture.download().expectedLength(1_000_000).sender().value
        XCTAssertEqual(fixture.saved, contents)
        XCTAssertEqual(fixture.ranges.dropFirst(), ["bytes=300000-", "bytes=301000-", "bytes=1000000-"])
    }

    func testPartWithoutValidatorRestartsTheDownload() async throws {
        let fixture = try DownloadFixture()
        let other = Data(fixture.contents.reversed())
        let rest = LoopbackResponse.data(
            other.dropFirst(300_000),
            status: .partialContent,
            headers: ["Content-Range": "bytes 300000-999999/1000000"]
        )
        fixture.server.on("/file", .resource(fixture.resource).interrupted(after: 300_000), rest, .data(other))
        _ = try await fixture.download().sender().value
        XCTAssertEqual(fixture.saved, other, "no mixture of two versions")
    }

    func testMissingLastChunkAfterAllBytesIsAccepted() async throws {
        let fixture = try DownloadFixture()
        let rest = brokenChunks(
            "206 Partial Content\r\nETag: \"1\"\r\nContent-Range: bytes 300000-999999/1000000",
            fixture.contents.dropFirst(300_000)
        )
        fixture.server.on("/file", .resource(fixture.resource).interrupted(after: 300_000), rest)
        _ = try await fixture.download().sender().value
        XCTAssertEqual(fixture.saved, fixture.contents)
        XCTAssertEqual(fixture.server.requestCount, 2)
    }

    func testInvalidChecksumFailsBeforeSending() async throws {
        let fixture = try DownloadFixture()
        for text in ["", "sha256:2cf24d", String(repeating: "g", count: 64), String(repeating: "٣", count: 64)] {
            let failure = await fixture.download().sha256(text).sender().response.failure
            XCTAssertEqual(failure?.code, .invalidChecksum, text)
        }
        XCTAssertEqual(fixture.server.requestCount, 0)
    }

    func testChecksumMismatchFailsTheDownload() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on("/file", .text("hello"))
        let right = "2CF24DBA5FB0A30E26E83B2AC5B9E29E1B161E5C1FA7425E73043362938B9824"
        let wrong = await fixture.download().sha256(String(repeating: "0", count: 64)).sender().response
        XCTAssertEqual(wrong.failure?.code, .checksumMismatch)
        XCTAssertEqual(fixture.names, [])
        let file = try await fixture.download().sha256(right).sender().value
        XCTAssertEqual(file.sha256, right.lowercased())
        XCTAssertEqual(fixture.saved, Data("hello".utf8))
    }

    func testUnexpectedLengthFailsTheDownload() async throws {
        let fixture = try DownloadFixture()
        let announced = await failure(of: .text("hello"), change: { $0.expectedLength(6) }, in: fixture)
        XCTAssertEqual(announced, .lengthMismatch)
        let unannounced = try DownloadFixture()
        let code = await failure(
            of: .chunked([Data("hello".utf8)]),
            change: { $0.expectedLength(6) },
            in: unannounced
        )
        XCTAssertEqual(code, .lengthMismatch)
        XCTAssertEqual(unannounced.names, [])
    }

    func testTruncatedBodyOfUnknownLengthFails() async throws {
        let fixture = try DownloadFixture()
        let code = await failure(of: .chunked([fixture.contents]).interrupted(after: 500_000), in: fixture)
        XCTAssertTrue([.truncatedBody, .connectionLost].contains(code), "\(String(describing: code))")
        XCTAssertEqual(fixture.names, [])
    }

    func testEncodedBodyIsDecoded() async throws {
        let fixture = try DownloadFixture()
        // "hello", compressed with gzip.
        let zipped = Data([
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10, 0x36, 5, 0, 0, 0,
        ])
        fixture.server.on("/file", .data(zipped, headers: ["Content-Encoding": "gzip", "ETag": "\"1\""]))
        let file = try await fixture.download().sender().value
        XCTAssertEqual(fixture.saved, Data("hello".utf8))
        XCTAssertEqual(file.length, 5)
        XCTAssertEqual(fixture.server.requests.first?.headers["Accept-Encoding"], "identity")
    }

    func testErrorContainsTheFolderThatCannotBeCreated() async throws {
        let fixture = try DownloadFixture()
        try Data().write(to: fixture.file)
        let below = fixture.file.appending(path: "below/file.bin")
        let response = await fixture.client.download("file", to: .file(below)).sender().response
        XCTAssertEqual(response.failure?.code, .cannotWriteFile)
        XCTAssertEqual(response.failure?.reason.contains(fixture.file.lastPathComponent), true)
        XCTAssertEqual(fixture.server.requestCount, 0)
    }

    func testInvalidURLFailsBeforeCreatingFiles() async throws {
        let fixture = try DownloadFixture()
        let response = await APIClient().download("file", to: .file(fixture.file)).sender().response
        XCTAssertEqual(response.failure?.code, .invalidURL)
        XCTAssertEqual(fixture.names, [])
    }
}

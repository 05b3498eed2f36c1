import Sluice
import SluiceTesting
import XCTest

final class DownloadResumeTests: XCTestCase {
    /// Returns a fixture with a working server, after an earlier download left 400,000 bytes.
    private func interrupted() async throws -> DownloadFixture {
        let fixture = try DownloadFixture()
        fixture.server.on(
            "/file",
            .resource(fixture.resource).interrupted(after: 400_000),
            .status(.notFound),
            .resource(fixture.resource)
        )
        _ = await fixture.download().sender().response
        return fixture
    }

    func testTruncatedDownloadIsResumedInOneSend() async throws {
        let fixture = try DownloadFixture()
        let broken = LoopbackResponse.resource(fixture.resource).interrupted(after: 300_000)
        fixture.server.on("/file", broken, broken, .resource(fixture.resource))
        let file = try await fixture.download().sender().value
        XCTAssertEqual(fixture.saved, fixture.contents)
        XCTAssertEqual(file.resumedBytes, 0)
        XCTAssertEqual(fixture.ranges, [nil, "bytes=300000-", "bytes=600000-"])
        XCTAssertEqual(fixture.server.requests.map { $0.headers["If-Range"] }, [nil, "\"1\"", "\"1\""])
        XCTAssertEqual(fixture.names, ["file.bin"])
    }

    func testLongDownloadRenewsItsTokenAfterEachProgress() async throws {
        let fixture = try DownloadFixture()
        let tokens = Shared(0)
        fixture.server.on("/token") { _ in
            let number = tokens.change { number in
                number += 1
                return number
            }
            return .json(#"{"access_token":"t\#(number)","token_type":"Bearer"}"#)
        }
        // Each token is accepted for one part of the file.
        let parts = Shared(0)
        let resource = fixture.resource
        fixture.server.on("/file") { request in
            let part = parts.change { part in
                guard request.headers["Authorization"] == "Bearer t\(part + 1)" else { return -1 }
                part += 1
                return part
            }
            guard part > 0 else { return .status(.unauthorized, headers: ["WWW-Authenticate": "Bearer"]) }
            let response = resource.response(to: request)
            return part < 4 ? response.interrupted(after: 200_000) : response
        }
        let oauth = OAuth2(
            .clientCredentials(id: "i", secret: "s"),
            tokenURL: "\(fixture.server.url)/token"
        )
        let client = APIClient(baseURL: fixture.server.url) { $0.gates = [oauth] }
        _ = try await fixture.download(by: client).sender().value
        XCTAssertEqual(fixture.saved, fixture.contents)
        XCTAssertEqual(parts.read, 4)
    }

    func testRedirectToAnotherResourceStartsAgain() async throws {
        let fixture = try DownloadFixture()
        let other = Data(fixture.contents.reversed())
        fixture.server.on("/file", .redirect(to: "/v1.bin"), .redirect(to: "/v2.bin"))
        fixture.server.on("/v1.bin", .resource(fixture.resource).interrupted(after: 300_000))
        fixture.server.on("/v2.bin", .resource(LoopbackResource(other, eTag: "\"1\"")))
        _ = try await fixture.download().sender().value
        XCTAssertEqual(fixture.saved, other)
    }

    func testRedirectToAnotherFolderResumes() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on("/file", .redirect(to: "/signed-1/file.bin"), .redirect(to: "/signed-2/file.bin"))
        fixture.server.on("/signed-1/file.bin", .resource(fixture.resource).interrupted(after: 300_000))
        fixture.server.on("/signed-2/file.bin", .resource(fixture.resource))
        _ = try await fixture.download().sender().value
        XCTAssertEqual(fixture.saved, fixture.contents)
        XCTAssertEqual(fixture.ranges, [nil, nil, "bytes=300000-", "bytes=300000-"])
    }

    /// Each attempt after the change brings new bytes, though none as many as before the change.
    func testProgressIsCountedAnewAfterTheResourceChanged() async throws {
        let fixture = try DownloadFixture()
        let other = LoopbackResource(Data(fixture.contents.reversed()), eTag: "\"2\"")
        let attempts = Shared(0)
        fixture.server.on("/file") { [resource = fixture.resource] request in
            let attempt = attempts.change { count in
                count += 1
                return count
            }
            if attempt == 1 { return resource.response(to: request).interrupted(after: 950_000) }
            return attempt < 12
                ? other.response(to: request).interrupted(after: 80_000) : other.response(to: request)
        }
        _ = try await fixture.download().sender().value
        XCTAssertEqual(fixture.saved, other.data)
        XCTAssertEqual(attempts.read, 12)
    }

    func testDiscardingWithoutAFolderDoesNothing() async throws {
        let fixture = try DownloadFixture()
        let file = fixture.folder.appending(path: "missing/file.bin")
        try await fixture.client.download("file", to: .file(file)).discardPartialFile()
        XCTAssertEqual(fixture.names, [])
    }

    func testLaterSendResumesAFailedDownload() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on(
            "/file",
            .resource(fixture.resource).interrupted(after: 400_000),
            .status(.serviceUnavailable),
            .resource(fixture.resource)
        )
        let failed = await fixture.download().sender().response
        XCTAssertEqual(failed.failure?.code, .unacceptableStatus)
        XCTAssertNil(fixture.saved, "no file before the download is complete")
        let file = try await fixture.download().sender().value
        XCTAssertEqual(fixture.saved, fixture.contents)
        XCTAssertEqual(file.resumedBytes, 400_000)
        XCTAssertEqual(fixture.ranges.last, "bytes=400000-")
        XCTAssertEqual(fixture.names, ["file.bin"])
    }

    func testRefusedResponseKeepsTheBytesOfAnEarlierSend() async throws {
        let fixture = try await interrupted()
        fixture.server.on(
            "/file",
            .json(#"{"message":"being prepared"}"#, status: .accepted),
            .resource(fixture.resource)
        )
        let download = fixture.download().validate(statuses: 200...200)
        let refused = await download.sender().response
        XCTAssertEqual(refused.failure?.code, .unacceptableStatus)
        XCTAssertEqual(refused.failure?.response?.status, .accepted)
        XCTAssertEqual(String(decoding: refused.body, as: UTF8.self), #"{"message":"being prepared"}"#)
        let file = try await download.sender().value
        XCTAssertEqual(file.resumedBytes, 400_000)
        XCTAssertEqual(fixture.saved, fixture.contents)
        XCTAssertEqual(fixture.ranges.suffix(2), ["bytes=400000-", "bytes=400000-"])
    }

    func testContentTypeIsCheckedBeforeAnythingIsWritten() async throws {
        let fixture = try await interrupted()
        fixture.server.on(
            "/file",
            .data(Data("<p>Sign in</p>".utf8), contentType: "text/html"),
            .resource(fixture.resource)
        )
        let refused = await fixture.download().validate(contentTypes: "application/octet-stream").sender().response
        XCTAssertEqual(refused.failure?.code, .unacceptableContentType)
        XCTAssertEqual(String(decoding: refused.body, as: UTF8.self), "<p>Sign in</p>")
        XCTAssertNil(fixture.saved)
        let other = await fixture.download().validate(contentTypes: "application/zip").sender().response
        XCTAssertEqual(other.failure?.code, .unacceptableContentType)
        let file = try await fixture.download().validate(contentTypes: "application/octet-stream").sender().value
        XCTAssertEqual(file.resumedBytes, 400_000)
        XCTAssertEqual(fixture.saved, fixture.contents)
    }

    func testCancelledDownloadIsResumedByTheNextSend() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on(
            "/file",
            .resource(fixture.resource).interrupted(after: 500_000, by: .hang),
            .resource(fixture.resource)
        )
        let sender = fixture.download().sender()
        let task = Task { await sender.result }
        for await progress in sender.downloadProgress where progress.completed == 500_000 { sender.cancel() }
        let result = await task.value
        XCTAssertEqual(result.failure?.code, .cancelled)
        let file = try await fixture.download().sender().value
        XCTAssertEqual(file.resumedBytes, 500_000)
        XCTAssertEqual(fixture.saved, fixture.contents)
        XCTAssertEqual(fixture.ranges, [nil, "bytes=500000-"])
    }

    func testChangedResourceIsDownloadedFromTheStart() async throws {
        let fixture = try DownloadFixture()
        let changed = LoopbackResource(Data(fixture.contents.reversed()), eTag: "\"2\"")
        fixture.server.on("/file", .resource(fixture.resource).interrupted(after: 300_000), .resource(changed))
        _ = try await fixture.download().sender().value
        XCTAssertEqual(fixture.saved, changed.data)
        XCTAssertEqual(fixture.ranges, [nil, "bytes=300000-"])
    }

    func testPartOfAnotherVersionCausesACompleteDownload() async throws {
        let fixture = try DownloadFixture()
        let changed = LoopbackResource(Data(fixture.contents.reversed()), eTag: "\"2\"").withFaults(.ignoringIfRange)
        fixture.server.on("/file", .resource(fixture.resource).interrupted(after: 300_000), .resource(changed))
        _ = try await fixture.download().sender().value
        XCTAssertEqual(fixture.saved, changed.data)
        XCTAssertEqual(fixture.ranges, [nil, "bytes=300000-", nil])
    }

    func testShrunkResourceIsDownloadedFromTheStart() async throws {
        let fixture = try DownloadFixture()
        let shrunk = LoopbackResource(fixture.contents.prefix(1000), eTag: "\"1\"")
        fixture.server.on("/file", .resource(fixture.resource).interrupted(after: 300_000), .resource(shrunk))
        _ = try await fixture.download().sender().value
        XCTAssertEqual(fixture.saved, fixture.contents.prefix(1000))
        XCTAssertEqual(fixture.ranges, [nil, "bytes=300000-", nil])
    }

    func testConstantlyChangingResourceFails() async throws {
        let fixture = try DownloadFixture()
        let number = Shared(0)
        let contents = fixture.contents
        fixture.server.on("/file") { request in
            let version = number.change { number in
                number += 1
                return number
            }
            let resource = LoopbackResource(contents, eTag: "\"\(version)\"").withFaults(.ignoringIfRange)
            return resource.response(to: request).interrupted(after: 300_000)
        }
        let response = await fixture.download().sender().response
        XCTAssertEqual(response.failure?.code, .resourceChanged)
        XCTAssertNil(fixture.saved)
    }

    func testUnusablePartsAreNotRequestedForLong() async throws {
        let fixture = try DownloadFixture()
        let contents = fixture.contents
        let wholes = Shared(0)
        fixture.server.on("/file") { request in
            if request.headers["Range"] != nil {
                // The part has no entity tag.
                let range = "bytes 300000-999999/1000000"
                return .data(contents.dropFirst(300_000), status: .partialContent, headers: ["Content-Range": range])
            }
            let number = wholes.change { number in
                number += 1
                return number
            }
            let whole = LoopbackResponse.data(contents, headers: ["ETag": "\"1\""])
            return number < 5 ? whole.interrupted(after: 300_000) : whole
        }
        let client = APIClient(baseURL: fixture.server.url) { $0.randomness = { .min } }
        _ = try await fixture.download(by: client).sender().value
        XCTAssertEqual(fixture.saved, contents)
        XCTAssertEqual(fixture.ranges.count { $0 != nil }, 2)
    }

    func testDownloadWithoutStrongValidatorIsNotResumed() async throws {
        let fixture = try DownloadFixture()
        let weak = LoopbackResource(fixture.contents, eTag: "W/\"1\"")
        fixture.server.on("/file", .resource(weak).interrupted(after: 300_000), .resource(weak))
        let failed = await fixture.download().sender().response
        XCTAssertEqual(failed.failure?.code, .truncatedBody)
        XCTAssertEqual(fixture.names, [], "no partial file without a strong validator")
        _ = try await fixture.download().sender().value
        XCTAssertEqual(fixture.saved, fixture.contents)
        XCTAssertEqual(fixture.ranges, [nil, nil])
    }

    func testServerWithoutRangesSendsTheWholeFileAgain() async throws {
        let fixture = try DownloadFixture()
        let plain = LoopbackResource(fixture.contents, eTag: "\"1\"", acceptsRanges: false)
        fixture.server.on("/file", .resource(plain).interrupted(after: 300_000), .resource(plain))
        _ = try await fixture.download().sender().value
        XCTAssertEqual(fixture.saved, fixture.contents)
        XCTAssertEqual(fixture.server.requestCount, 2)
    }

    func testResumesWithoutProgressBackOffAndFail() async throws {
        let fixture = try DownloadFixture()
        let dead = LoopbackResponse.resource(fixture.resource).interrupted(after: 0)
        fixture.server.on("/file", .resource(fixture.resource).interrupted(after: 300_000), dead)
        let clock = TestClock()
        let client = APIClient(baseURL: fixture.server.url) {
            $0.clock = clock
            $0.randomness = { .max }
        }
        let sender = fixture.download(by: client).maximumResumptions(3).sender()
        let response = Task { await sender.response }
        for seconds in [0.5, 1.0] {
            await clock.waitForSleepers(1)
            XCTAssertEqual((clock.pendingSleeps.first ?? .zero) / .seconds(1), seconds, accuracy: 0.001)
            clock.advance(by: .seconds(5))
        }
        let failure = await response.value.failure
        XCTAssertEqual(failure?.code, .truncatedBody)
        XCTAssertEqual(fixture.server.requestCount, 4)
        XCTAssertNil(fixture.saved)
    }

    func testNonIdempotentRequestIsNotResumed() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on(
            .post,
            "/file",
            .data(fixture.contents, headers: ["ETag": "\"1\""]).interrupted(after: 300_000)
        )
        let export: APIRequest<Data, APIError> = fixture.client.data.request("file").post().json(["rows": 3])
        let response = await export.download(to: .file(fixture.file)).sender().response
        XCTAssertEqual(response.failure?.code, .truncatedBody)
        XCTAssertEqual(fixture.server.requestCount, 1)
        XCTAssertEqual(fixture.names, [])
    }

    /// Completes a download that fails because another file has appeared at its destination.
    private func leaveCompletePart(of fixture: DownloadFixture, _ signal: LoopbackSignal) async throws {
        let sender = fixture.download().sender()
        async let refused = sender.response
        await fixture.server.waitForRequests(1)
        try Data("mine".utf8).write(to: fixture.file)
        signal.fire()
        let code = await refused.failure?.code
        XCTAssertEqual(code, .fileExists)
        try FileManager.default.removeItem(at: fixture.file)
    }

    func testCompletePartIsValidatedWithOneByte() async throws {
        let fixture = try DownloadFixture()
        let signal = LoopbackSignal()
        fixture.server.on(
            "/file",
            .resource(fixture.resource).paused(after: 500_000, until: signal),
            .resource(fixture.resource)
        )
        try await leaveCompletePart(of: fixture, signal)
        let file = try await fixture.download().sender().value
        XCTAssertEqual(fixture.ranges, [nil, "bytes=999999-"])
        XCTAssertEqual(file.resumedBytes, 1_000_000)
        XCTAssertEqual(fixture.saved, fixture.contents)
    }

    func testRefusedLastByteOfACompletePartIsItsConfirmation() async throws {
        let fixture = try DownloadFixture()
        let signal = LoopbackSignal()
        let refusal = LoopbackResponse.data(Data(), status: 416, headers: ["Content-Range": "bytes */1000000"])
        fixture.server.on("/file", .resource(fixture.resource).paused(after: 500_000, until: signal), refusal)
        try await leaveCompletePart(of: fixture, signal)
        let file = try await fixture.download().sender().value
        XCTAssertEqual(fixture.ranges, [nil, "bytes=999999-"])
        XCTAssertEqual(file.length, 1_000_000)
        XCTAssertEqual(fixture.saved, fixture.contents)
    }

    func testAttemptTimeOutEndsWithTheHead() async throws {
        let fixture = try DownloadFixture()
        let signal = LoopbackSignal()
        fixture.server.on("/file", .resource(fixture.resource).paused(after: 500_000, until: signal), .hang)
        let clock = TestClock()
        let client = APIClient(baseURL: fixture.server.url) {
            $0.retry = RetryPolicy(maximumAttempts: 1, attemptTimeout: .seconds(10))
            $0.clock = clock
        }
        let sender = fixture.download(by: client).sender()
        let value = Task { await sender.result }
        await fixture.wait(for: 500_000, of: sender)
        clock.advance(by: .seconds(600))
        signal.fire()
        _ = try await value.value.get()
        XCTAssertEqual(fixture.saved, fixture.contents)
        let stalled = client.download("file", to: .temporary).sender()
        async let response = stalled.response
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        let failure = await response.failure
        XCTAssertEqual(failure?.code, .timedOut)
    }

    func testRetryTimeCountsFromTheLastByte() async throws {
        let fixture = try DownloadFixture()
        let signal = LoopbackSignal()
        fixture.server.on(
            "/file",
            .resource(fixture.resource).paused(after: 300_000, until: signal).interrupted(after: 400_000),
            .status(.serviceUnavailable),
            .resource(fixture.resource)
        )
        let clock = TestClock()
        let client = APIClient(baseURL: fixture.server.url) {
            $0.retry = .standard
            $0.clock = clock
        }
        let sender = fixture.download(by: client).sender()
        let value = Task { await sender.result }
        await fixture.wait(for: 300_000, of: sender)
        clock.advance(by: .seconds(3600))
        signal.fire()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        _ = try await value.value.get()
        XCTAssertEqual(fixture.saved, fixture.contents)
    }

    func testDiscardPartRemovesThePartialDownload() async throws {
        let fixture = try await interrupted()
        XCTAssertEqual(fixture.names.count, 2)
        try await fixture.download().discardPartialFile()
        XCTAssertEqual(fixture.names, [])
        let file = try await fixture.download().sender().value
        XCTAssertEqual(file.resumedBytes, 0)
    }

    func testProgressOfAResumedDownloadCoversTheWholeLength() async throws {
        let fixture = try await interrupted()
        let signal = LoopbackSignal()
        fixture.server.on("/file", .resource(fixture.resource).paused(after: 100_000, until: signal))
        let sender = fixture.download().sender()
        async let value = sender.value
        // The bytes of the earlier download count from the start.
        try await waitUntil("a part of the rest has arrived") {
            await sender.downloadProgress.first { _ in true }?.completed == 500_000
        }
        let half = await sender.downloadProgress.first { _ in true }
        XCTAssertEqual(half?.total, 1_000_000)
        signal.fire()
        _ = try await value
        let last = await sender.downloadProgress.reduce(into: nil as TransferProgress?) { $0 = $1 }
        XCTAssertEqual(last?.attempt, 1)
        XCTAssertEqual(last?.completed, 1_000_000)
        XCTAssertEqual(last?.total, 1_000_000)
    }

    func testRetriesResumeTheDownload() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on(
            "/file",
            .resource(fixture.resource).interrupted(after: 400_000),
            .status(.serviceUnavailable),
            .resource(fixture.resource)
        )
        let clock = TestClock()
        let client = APIClient(baseURL: fixture.server.url) {
            $0.retry = .standard
            $0.clock = clock
        }
        let sender = fixture.download(by: client).sender()
        async let value = sender.value
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        _ = try await value
        XCTAssertEqual(fixture.ranges, [nil, "bytes=400000-", "bytes=400000-"])
        XCTAssertEqual(fixture.saved, fixture.contents)
    }

    func testResumesAfterTheFolderHasMoved() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on(
            "/file",
            .resource(fixture.resource).interrupted(after: 500_000),
            .resource(fixture.resource)
        )
        let first = await fixture.download().maximumResumptions(0).sender().response
        XCTAssertEqual(first.failure?.code, .truncatedBody)
        let moved = fixture.folder.appendingPathExtension("moved")
        try FileManager.default.moveItem(at: fixture.folder, to: moved)
        defer { try? FileManager.default.removeItem(at: moved) }
        let file = moved.appending(path: "file.bin")
        let downloaded = try await fixture.client.download("file", to: .file(file)).sender().value
        XCTAssertEqual(downloaded.resumedBytes, 500_000)
        XCTAssertEqual(try Data(contentsOf: file), fixture.contents)
    }
}

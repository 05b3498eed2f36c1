import Sluice
import SluiceTesting
import XCTest

final class DownloadTests: XCTestCase {
    func testDownloadWritesTheFileToItsDestination() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on("/file", .resource(fixture.resource))
        let sender = fixture.download().sender()
        let url = try await sender.responseURL
        XCTAssertEqual(url.path, fixture.file.path)
        XCTAssertEqual(fixture.saved, fixture.contents)
        XCTAssertEqual(fixture.names, ["file.bin"])
        let response = await sender.response
        XCTAssertEqual(response.head?.status, .ok)
        XCTAssertEqual(response.file?.length, 1_000_000)
        XCTAssertEqual(response.file?.resumedBytes, 0)
        let file = try await sender.value
        XCTAssertEqual(file, response.file)
        XCTAssertEqual(fixture.server.requestCount, 1)
    }

    func testSuggestedNameStaysInTheFolder() async throws {
        let fixture = try DownloadFixture(bytes: 10)
        var resource = fixture.resource
        resource.headers["Content-Disposition"] = "attachment; filename=\"../../etc/passwd\""
        fixture.server.on("/file", .resource(resource))
        for name in ["passwd", "passwd 2", "passwd 3"] {
            let url = try await fixture.client.download("file", to: .suggested(in: fixture.folder)).sender().responseURL
            XCTAssertEqual(url.lastPathComponent, name)
            XCTAssertEqual(
                url.deletingLastPathComponent().standardizedFileURL.path,
                fixture.folder.standardizedFileURL.path
            )
        }
    }

    func testExistingFileIsKeptUnlessOverwritten() async throws {
        let fixture = try DownloadFixture(bytes: 10)
        fixture.server.on("/file", .resource(fixture.resource))
        try Data("mine".utf8).write(to: fixture.file)
        let refused = await fixture.download().sender().response
        XCTAssertEqual(refused.failure?.code, .fileExists)
        XCTAssertEqual(refused.failure?.step, .file)
        XCTAssertEqual(fixture.saved, Data("mine".utf8))
        XCTAssertEqual(fixture.server.requestCount, 0, "fails before sending")
        let overwriting = fixture.client.download("file", to: .file(fixture.file, ifExists: .overwrite))
        _ = try await overwriting.sender().value
        XCTAssertEqual(fixture.saved, fixture.contents)
    }

    func testErrorResponseHasItsBodyAndCreatesNoFile() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on("/file", .json(#"{"message":"gone fishing"}"#, status: .notFound))
        do {
            _ = try await fixture.download().sender().value
            XCTFail("The download did not fail.")
        } catch {
            XCTAssertEqual(error.code, .unacceptableStatus)
            XCTAssertEqual(error.status, .notFound)
            XCTAssertEqual(String(decoding: error.body, as: UTF8.self), #"{"message":"gone fishing"}"#)
        }
        XCTAssertEqual(fixture.names, [])
    }

    func testErrorStatusIsNotSavedWithoutValidation() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on("/file", .json("{}", status: .notFound))
        let response = await fixture.download().validate(.none).sender().response
        XCTAssertEqual(response.failure?.code, .unacceptableStatus)
        XCTAssertEqual(fixture.names, [])
    }

    func testModelIsDecodedFromTheFile() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on("/user", .json(#"{"id":1,"name":"Ada"}"#))
        let user: User = try await fixture.client.download("user", to: .file(fixture.file)).decoded().sender().value
        XCTAssertEqual(user, User(id: 1, name: "Ada"))
        XCTAssertEqual(fixture.names, ["file.bin"])
    }

    func testUndecodableFileIsKeptAndInTheError() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on("/user", .text("no JSON"))
        let request = fixture.client.download("user", to: .file(fixture.file)).decoded(as: User.self)
        do {
            _ = try await request.sender().value
            XCTFail("The file was decoded.")
        } catch {
            XCTAssertEqual(error.code, .decodingFailed)
            XCTAssertEqual(error.fileURL?.path, fixture.file.path)
        }
        XCTAssertEqual(fixture.saved, Data("no JSON".utf8))
    }

    private enum Archive: Target {
        case backup(day: Int)

        var baseURL: String { "" }
        var path: String { "backups" }
        var task: MethodTask {
            switch self {
            case .backup(let day): .get(.parameters(["day": day]))
            }
        }
    }

    func testTargetIsDownloadedWithItsParameters() async throws {
        let fixture = try DownloadFixture(bytes: 10)
        fixture.server.on("/backups", .resource(fixture.resource))
        let download = fixture.client.download(Archive.backup(day: 3), to: .file(fixture.file))
        _ = try await download.baseURL(fixture.server.url).sender().value
        XCTAssertEqual(fixture.saved, fixture.contents)
        XCTAssertEqual(fixture.server.requests.map(\.target), ["/backups?day=3"])
    }

    func testDownloadSendsParametersAndBody() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on(.post, "/export") { request in .data(request.body) }
        let export: APIRequest<Data, APIError> = fixture.client.data.request("export").post().json(["rows": 3])
        let file = try await export.query("format", "csv").download(to: .file(fixture.file)).sender().value
        XCTAssertEqual(fixture.saved, Data(#"{"rows":3}"#.utf8))
        XCTAssertEqual(file.length, 10)
        XCTAssertEqual(fixture.server.requests.first?.target, "/export?format=csv")
    }

    func testBodyOfUnknownLengthIsDownloaded() async throws {
        let fixture = try DownloadFixture()
        let pieces = [fixture.contents.prefix(300_000), fixture.contents.dropFirst(300_000)].map { Data($0) }
        fixture.server.on("/file", .chunked(pieces))
        _ = try await fixture.download().sender().value
        XCTAssertEqual(fixture.saved, fixture.contents)
    }

    func testEmptyFileIsDownloaded() async throws {
        let fixture = try DownloadFixture(bytes: 0)
        fixture.server.on("/file", .resource(fixture.resource))
        let file = try await fixture.download().sender().value
        XCTAssertEqual(file.length, 0)
        XCTAssertEqual(fixture.saved, Data())
    }

    func testOnlyTheTotalTimeOutOfTheRequestApplies() async throws {
        let fixture = try DownloadFixture()
        let signal = LoopbackSignal()
        fixture.server.on("/file", .resource(fixture.resource).paused(after: 500_000, until: signal))
        let client = APIClient(baseURL: fixture.server.url) { $0.timeouts.total = .nanoseconds(1) }
        let late = await fixture.download(by: client).timeout(total: .nanoseconds(1)).sender().response
        XCTAssertEqual(late.failure?.code, .timedOut)
        signal.fire()
        _ = try await fixture.download(by: client).sender().value
        XCTAssertEqual(fixture.saved, fixture.contents)
    }

    func testOnlyTheBodyLimitOfTheRequestApplies() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on("/file", .resource(fixture.resource))
        let client = APIClient(baseURL: fixture.server.url) { $0.limits.body = 1000 }
        _ = try await fixture.download(by: client).sender().value
        XCTAssertEqual(fixture.saved, fixture.contents)
        let limited = await client.download("file", to: .temporary).limits(ResponseLimits(body: 1000)).sender().response
        XCTAssertEqual(limited.failure?.code, .bodyTooLarge)
    }

    func testProgressEndsAtTheWholeLength() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on("/file", .resource(fixture.resource))
        let sender = fixture.download().sender()
        let progress = Task { await sender.downloadProgress.reduce(into: [TransferProgress]()) { $0.append($1) } }
        _ = try await sender.value
        let last = await progress.value.last
        XCTAssertEqual(last?.completed, 1_000_000)
        XCTAssertEqual(last?.total, 1_000_000)
    }

    func testTemporaryFileIsNotRemovedAfterTheDownload() async throws {
        let fixture = try DownloadFixture(bytes: 100)
        fixture.server.on("/file", .resource(fixture.resource))
        let url = try await fixture.client.download("file", to: .temporary).sender().responseURL
        defer { try? FileManager.default.removeItem(at: url) }
        XCTAssertEqual(try Data(contentsOf: url), fixture.contents)
    }

    func testObserversReceiveAFileConflict() async throws {
        let fixture = try DownloadFixture(bytes: 100)
        let signal = LoopbackSignal()
        fixture.server.on("/file", .resource(fixture.resource).paused(after: 50, until: signal))
        let ends = Shared<[SluiceError.Code?]>([])
        let client = APIClient(baseURL: fixture.server.url) { $0.observers = [EndObserver(ends: ends)] }
        let sender = fixture.download(by: client).sender()
        async let response = sender.response
        await fixture.server.waitForRequests(1)
        try Data("first".utf8).write(to: fixture.file)
        signal.fire()
        let failure = await response.failure
        XCTAssertEqual(failure?.code, .fileExists)
        await client.observersCaughtUp()
        XCTAssertEqual(ends.read, [.fileExists])
        XCTAssertEqual(fixture.saved, Data("first".utf8))
    }
}

private struct EndObserver: RequestObserver {
    let ends: Shared<[SluiceError.Code?]>

    func observe(_ event: RequestEvent, of request: ObservedRequest) {
        guard case .finished(let outcome) = event else { return }
        ends.change { ends in
            if case .failure(let error) = outcome { ends.append(error.code) } else { ends.append(nil) }
        }
    }
}

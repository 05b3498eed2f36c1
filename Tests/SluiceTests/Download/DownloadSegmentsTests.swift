import Sluice
import SluiceTesting
import XCTest

final class DownloadSegmentsTests: XCTestCase {
    private func segmentedDownload(_ fixture: DownloadFixture) -> DownloadAPIRequest<DownloadedFile, APIError> {
        fixture.download().segments(4, ofAtLeast: 100_000)
    }

    func testLargeFileIsDownloadedInConcurrentSegments() async throws {
        let fixture = try DownloadFixture()
        let resource = fixture.resource
        let signal = LoopbackSignal()
        // No segment but the first ends before four of them are in progress.
        fixture.server.on("/file") { request in
            let isProbe = request.headers["Range"] == "bytes=0-99999"
            return isProbe ? resource.response(to: request) : .after(signal, resource.response(to: request))
        }
        let sender = segmentedDownload(fixture).sender()
        async let value = sender.value
        await fixture.server.waitForRequests(5)
        signal.fire()
        let file = try await value
        XCTAssertEqual(file.length, 1_000_000)
        XCTAssertEqual(fixture.saved, fixture.contents)
        XCTAssertEqual(
            Set(fixture.ranges),
            [
                "bytes=0-99999", "bytes=100000-324999", "bytes=325000-549999", "bytes=550000-774999",
                "bytes=775000-999999",
            ]
        )
        XCTAssertEqual(fixture.names, ["file.bin"])
    }

    func testSegmentThatFailsBeforeItsFirstByteIsSentAgain() async throws {
        let fixture = try DownloadFixture()
        let resource = fixture.resource
        let refusals = Shared(2)
        fixture.server.on("/file") { request in
            let response = resource.response(to: request)
            guard request.headers["Range"]?.hasPrefix("bytes=325000-") == true else { return response }
            let isRefused = refusals.change { left in
                left -= 1
                return left >= 0
            }
            return isRefused ? response.interrupted(afterBytesOnWire: 0) : response
        }
        _ = try await segmentedDownload(fixture).sender().value
        XCTAssertEqual(fixture.saved, fixture.contents)
    }

    func testEmptyFileIsDownloaded() async throws {
        let fixture = try DownloadFixture(bytes: 0)
        // RFC 9110 §15.5.17: no range of an empty representation can be satisfied.
        fixture.server.on("/file") { request in
            request.headers["Range"] == nil
                ? .text("") : .status(HTTPStatus(416), headers: ["Content-Range": "bytes */0"])
        }
        let file = try await segmentedDownload(fixture).sender().value
        XCTAssertEqual(file.length, 0)
        XCTAssertEqual(fixture.saved, Data())
        XCTAssertEqual(fixture.ranges, ["bytes=0-99999", nil])
    }

    func testUnsafeRequestIsSentOnce() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on("/file", .text("exported", headers: ["ETag": "\"1\"", "Accept-Ranges": "bytes"]))
        let request = fixture.client.data.post("file").download(to: .file(fixture.file))
        _ = try await request.segments(4, ofAtLeast: 2).sender().value
        XCTAssertEqual(fixture.saved, Data("exported".utf8))
        XCTAssertEqual(fixture.ranges, [nil])
    }

    func testSegmentsOfAnyLengthAreAllowed() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on("/file", .resource(fixture.resource))
        _ = try await fixture.download().segments(4, ofAtLeast: .max).sender().value
        XCTAssertEqual(fixture.saved, fixture.contents)
    }

    func testServerWithoutRangesSendsOneResponse() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on("/file", .resource(LoopbackResource(fixture.contents, eTag: "\"1\"", acceptsRanges: false)))
        _ = try await segmentedDownload(fixture).sender().value
        XCTAssertEqual(fixture.saved, fixture.contents)
        XCTAssertEqual(fixture.server.requestCount, 1)
    }

    func testFileWithoutValidatorIsNotSegmented() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on("/file", .resource(LoopbackResource(fixture.contents)))
        _ = try await segmentedDownload(fixture).sender().value
        XCTAssertEqual(fixture.saved, fixture.contents)
        XCTAssertEqual(fixture.ranges, ["bytes=0-99999", nil])
    }

    func testSmallFileNeedsOneRequest() async throws {
        let fixture = try DownloadFixture(bytes: 5000)
        fixture.server.on("/file", .resource(fixture.resource))
        _ = try await segmentedDownload(fixture).sender().value
        XCTAssertEqual(fixture.saved, fixture.contents)
        XCTAssertEqual(fixture.server.requestCount, 1)
    }

    func testFileChangedBetweenSegmentsIsDownloadedAgain() async throws {
        let fixture = try DownloadFixture()
        let new = LoopbackResource(Data(fixture.contents.reversed()), eTag: "\"2\"")
        fixture.server.on("/file", .resource(fixture.resource), .resource(fixture.resource), .resource(new))
        _ = try await segmentedDownload(fixture).sender().value
        XCTAssertEqual(fixture.saved, new.data)
    }

    func testTruncatedSegmentsAreResumed() async throws {
        let fixture = try DownloadFixture()
        let resource = fixture.resource
        let broken = Shared<Set<String>>([])
        fixture.server.on("/file") { request in
            let range = request.headers["Range"] ?? ""
            let breaks = range != "bytes=0-99999" && broken.change { $0.count < 3 && $0.insert(range).inserted }
            return breaks ? resource.response(to: request).interrupted(after: 50_000) : resource.response(to: request)
        }
        _ = try await segmentedDownload(fixture).sender().value
        XCTAssertEqual(fixture.saved, fixture.contents)
        XCTAssertEqual(fixture.server.requestCount, 8)
    }

    func testObserversReceiveTheEndOfEveryTransfer() async throws {
        let fixture = try DownloadFixture()
        let resource = fixture.resource
        fixture.server.on("/file") { request in
            let isLast = request.headers["Range"] == "bytes=775000-999999"
            return isLast ? .status(.internalServerError) : resource.response(to: request)
        }
        let observer = NotingObserver([.began, .finished])
        let activity = ActivityCounter()
        let client = APIClient(baseURL: fixture.server.url) { $0.observers = [observer, activity] }
        let download = fixture.download(by: client).segments(4, ofAtLeast: 100_000)
        _ = await download.sender().response
        await client.observersCaughtUp()
        let began = observer.events.count { $0.contains("began") }
        XCTAssertEqual(began, 5)
        XCTAssertEqual(observer.events.count { $0.contains("finished") }, began)
        XCTAssertEqual(activity.count, 0)
        try Data().write(to: fixture.file)
        _ = await download.sender().response
        await client.observersCaughtUp()
        XCTAssertEqual(observer.events.last, "0 finished fileExists")
        XCTAssertEqual(activity.count, 0)
    }

    func testFailedSegmentKeepsTheBytesOfTheOthers() async throws {
        let fixture = try DownloadFixture()
        let resource = fixture.resource
        let isDown = Shared(true)
        fixture.server.on("/file") { request in
            let isLast = request.headers["Range"] == "bytes=775000-999999"
            return isLast && isDown.read ? .status(.internalServerError) : resource.response(to: request)
        }
        let failed = await segmentedDownload(fixture).sender().response
        XCTAssertEqual(failed.failure?.code, .unacceptableStatus)
        XCTAssertNil(fixture.saved)
        isDown.change { $0 = false }
        let file = try await segmentedDownload(fixture).sender().value
        XCTAssertGreaterThanOrEqual(file.resumedBytes, 100_000)
        XCTAssertEqual(fixture.saved, fixture.contents)
    }
}

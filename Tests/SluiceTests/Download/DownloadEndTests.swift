import Sluice
import SluiceTesting
import XCTest

/// Every download ends, whatever the server sends.
final class DownloadEndTests: XCTestCase {
    /// A clock without pauses.
    private struct InstantClock: SluiceClock {
        let pauses = Shared<[Duration]>([])
        var now: ContinuousClock.Instant { .now }
        var date: Date { Date() }

        func sleep(for duration: Duration) async throws {
            try Task.checkCancellation()
            pauses.change { $0.append(duration) }
        }
    }

    private let clock = InstantClock()

    private func client(
        _ fixture: DownloadFixture,
        configure: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> APIClient {
        APIClient(baseURL: fixture.server.url) {
            $0.clock = clock
            $0.randomness = { .max }
            configure(&$0)
        }
    }

    func testServerThatIgnoresRangesAndBreaksOffEndsTheDownload() async throws {
        let fixture = try DownloadFixture()
        let plain = LoopbackResource(fixture.contents, eTag: "\"1\"", acceptsRanges: false)
        let count = Shared(0)
        fixture.server.on("/file") { request in
            let number = count.change { count in
                count += 1
                return count
            }
            let response = plain.response(to: request)
            return number < 100 ? response.interrupted(after: 300_000) : response
        }
        let response = await fixture.download(by: client(fixture)).sender().response
        XCTAssertEqual(response.failure?.code, .truncatedBody)
        XCTAssertEqual(fixture.server.requestCount, 6)
        XCTAssertEqual(
            clock.pauses.read.dropFirst().map { ($0 / .milliseconds(1)).rounded() },
            [500, 1000, 2000, 4000]
        )
        XCTAssertEqual(clock.pauses.read.first, .zero)
        XCTAssertEqual(fixture.ranges.dropFirst(), ArraySlice(repeating: "bytes=300000-", count: 5))
    }

    func testRetriesDoNotProlongADownloadWithoutProgress() async throws {
        let fixture = try DownloadFixture()
        let plain = LoopbackResource(fixture.contents, eTag: "\"1\"", acceptsRanges: false)
        let count = Shared(0)
        fixture.server.on("/file") { request in
            let number = count.change { count in
                count += 1
                return count
            }
            let response = plain.response(to: request)
            return number < 100 ? response.interrupted(after: 300_000) : response
        }
        let patient = client(fixture) { $0.retry = RetryPolicy(maximumAttempts: 4) }
        let response = await fixture.download(by: patient).sender().response
        XCTAssertEqual(response.failure?.code, .truncatedBody)
        XCTAssertEqual(fixture.server.requestCount, 9, "six resumptions and three retries")
    }

    /// Servers that break off at random, ignore ranges and change the resource.
    func testRandomServersThatBreakOffEndTheDownload() async throws {
        for seed in 0..<30 as Range<UInt64> { try await runInterrupted(seed) }
    }

    private func runInterrupted(_ seed: UInt64) async throws {
        let fixture = try DownloadFixture(bytes: 100_000)
        let random = Shared(SeededGenerator(seed: seed))
        let count = Shared(0)
        let contents = fixture.contents
        fixture.server.on("/file") { request in
            let number = count.change { count in
                count += 1
                return count
            }
            return random.change { random in
                var resource = LoopbackResource(
                    contents,
                    eTag: Int.random(in: 0..<8, using: &random) == 0 ? "\"2\"" : "\"1\"",
                    acceptsRanges: Bool.random(using: &random)
                )
                if Int.random(in: 0..<6, using: &random) == 0 { resource = resource.withFaults(.ignoringIfRange) }
                let response = resource.response(to: request)
                guard number < 1000 else { return response }
                // Multiples of a few lengths, so that attempts often reach the same byte.
                return response.interrupted(after: Int.random(in: 0..<8, using: &random) * 5000, by: .close)
            }
        }
        let segments = random.change { Int.random(in: 1...3, using: &$0) }
        let retry = random.change { Bool.random(using: &$0) ? RetryPolicy.standard : .none }
        let response = await fixture.download(by: client(fixture) { $0.retry = retry })
            .segments(segments, ofAtLeast: 10_000).sender().response
        XCTAssertEqual(fixture.saved, response.file == nil ? nil : contents, "seed \(seed)")
        XCTAssertLessThan(fixture.server.requestCount, 500, "seed \(seed)")
    }

    /// A server that sends a byte at a time, in whole responses or in responses that break off.
    func testServerThatSendsAByteAtATimeIsNotFlooded() async throws {
        for breaksOff in [false, true] {
            let fixture = try DownloadFixture(bytes: 40)
            let contents = fixture.contents
            fixture.server.on("/file") { request in
                let range = request.headers["Range"]?.dropFirst("bytes=".count).prefix { $0 != "-" }
                guard let first = range.flatMap({ Int($0) }) else {
                    return .data(contents, headers: ["ETag": "\"1\""]).interrupted(after: 1)
                }
                let end = breaksOff ? contents.count : first + 1
                let part = LoopbackResponse.data(
                    contents[first..<end],
                    status: .partialContent,
                    headers: ["ETag": "\"1\"", "Content-Range": "bytes \(first)-\(end - 1)/\(contents.count)"]
                )
                return end - first > 1 ? part.interrupted(after: 1) : part
            }
            let clock = InstantClock()
            let client = client(fixture) { $0.clock = clock }
            _ = try await fixture.download(by: client).sender().value
            XCTAssertEqual(fixture.saved, contents)
            XCTAssertEqual(fixture.server.requestCount, 40)
            let pauses = clock.pauses.read.filter { $0 > .zero }
            XCTAssertGreaterThan(pauses.count, 25, "breaks off: \(breaksOff)")
        }
    }

    func testClientTotalTimeoutAppliesToDownloadsIfAsked() async throws {
        let fixture = try DownloadFixture()
        fixture.server.on("/file", .resource(fixture.resource).interrupted(after: 500_000, by: .hang))
        let clock = TestClock()
        let client = APIClient(baseURL: fixture.server.url) {
            $0.clock = clock
            $0.timeouts.total = .seconds(60)
            $0.limitsDownloadTime = true
        }
        let sender = fixture.download(by: client).sender()
        let response = Task { await sender.response }
        await fixture.wait(for: 500_000, of: sender)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(60))
        let failure = await response.value.failure
        XCTAssertEqual(failure?.code, .timedOut)
        XCTAssertEqual(fixture.names.count, 2, "the partial file is kept for a later send")
    }

    func testTotalTimeoutOfTheClientCoversAllRequestsOfADownload() async throws {
        let fixture = try DownloadFixture()
        let dead = LoopbackResponse.resource(fixture.resource).interrupted(after: 0)
        fixture.server.on("/file", .resource(fixture.resource).interrupted(after: 300_000), dead)
        let clock = TestClock()
        let client = APIClient(baseURL: fixture.server.url) {
            $0.clock = clock
            $0.randomness = { .max }
            $0.timeouts.total = .seconds(20)
            $0.limitsDownloadTime = true
        }
        let sender = fixture.download(by: client).maximumResumptions(100).sender()
        let response = Task { await sender.response }
        // The sleepers are the time-out and the pause between two attempts. The last pause ends after the time-out.
        for seconds in [0.5, 1, 2, 4, 8, 4.5] {
            await clock.waitForSleepers(2)
            clock.advance(by: .seconds(seconds))
        }
        let failure = await response.value.failure
        XCTAssertEqual(failure?.code, .timedOut)
        XCTAssertEqual(fixture.server.requestCount, 7)
    }

    func testRequestTotalTimeoutReplacesThatOfTheClient() async throws {
        let fixture = try DownloadFixture()
        let signal = LoopbackSignal()
        fixture.server.on("/file", .resource(fixture.resource).paused(after: 500_000, until: signal))
        let clock = TestClock()
        let client = APIClient(baseURL: fixture.server.url) {
            $0.clock = clock
            $0.timeouts.total = .seconds(60)
            $0.limitsDownloadTime = true
        }
        let sender = fixture.download(by: client).timeout(total: .seconds(600)).sender()
        let result = Task { await sender.result }
        await fixture.wait(for: 500_000, of: sender)
        clock.advance(by: .seconds(300))
        signal.fire()
        _ = try await result.value.get()
        XCTAssertEqual(fixture.saved, fixture.contents)
    }

    /// The first download was cancelled, and an interceptor that ignores that still holds its partial file.
    func testTimeoutCoversTheWaitForAnEarlierDownload() async throws {
        struct Stuck: RequestInterceptor {
            let isEntered = AsyncSignal()
            let isOver = AsyncSignal()

            func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
                isEntered.open()
                await isOver.wait()
                return request
            }
        }
        let fixture = try DownloadFixture(bytes: 10)
        fixture.server.on("/file", .resource(fixture.resource))
        let stuck = Stuck()
        let first = fixture.download().intercept(stuck).sender()
        let running = Task { await first.response }
        await stuck.isEntered.wait()
        first.cancel()
        _ = await running.value
        let total = fixture.download().timeout(total: .milliseconds(100))
        let timedOut = await total.sender().response
        XCTAssertEqual(timedOut.failure?.code, .timedOut)
        let late = await Deadline.withDeadline(.milliseconds(100)) { await fixture.download().sender().response }
        XCTAssertEqual(late.failure?.code, .timedOut)
        stuck.isOver.open()
        _ = try await fixture.download().sender().value
        XCTAssertEqual(fixture.saved, fixture.contents)
    }

    func testMappedTotalTimeoutCoversAllRequestsOfADownload() async throws {
        let fixture = try DownloadFixture()
        let resource = fixture.resource
        let clock = TestClock()
        fixture.server.on("/file") { request in
            guard request.headers["Range"] == "bytes=0-99999" else { return .hang }
            clock.advance(by: .seconds(40))
            return resource.response(to: request)
        }
        let client = APIClient(baseURL: fixture.server.url) {
            $0.clock = clock
            $0.requestMapping = { request in
                var request = request
                request.setTimeouts(total: .seconds(60))
                return request
            }
        }
        let sender = fixture.download(by: client).segments(2, ofAtLeast: 100_000).sender()
        let response = Task { await sender.response }
        await fixture.server.waitForRequests(3)
        clock.advance(by: .seconds(20))
        let failure = await response.value.failure
        XCTAssertEqual(failure?.code, .timedOut)
    }

    func testDownloadAfterItsDeadlineTouchesNothing() async throws {
        let fixture = try DownloadFixture(bytes: 10)
        fixture.server.on("/file", .resource(fixture.resource))
        let response = await fixture.download().deadline(.after(.seconds(-1))).sender().response
        XCTAssertEqual(response.failure?.code, .timedOut)
        XCTAssertEqual(fixture.server.requestCount, 0)
        XCTAssertEqual(fixture.names, [])
    }

    func testTemporaryFileOfACancelledConversionIsRemoved() async throws {
        struct Waiting: DataDecoder {
            let isConverting = AsyncSignal()
            let mayEnd = DispatchSemaphore(value: 0)

            func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
                isConverting.open()
                mayEnd.wait()
                return try JSONDecoder().decode(type, from: data)
            }
        }
        let server = try LoopbackServer()
        let contents = Data("[\(UInt64.random(in: .min ... .max))]".utf8)
        server.on("/numbers", .data(contents, contentType: "application/json"))
        let decoder = Waiting()
        let client = APIClient(baseURL: server.url) { $0.modelDecoder = decoder }
        let request: DownloadAPIRequest<[UInt64], APIError> = client.download("numbers", to: .temporary).decoded()
        let sender = request.sender()
        let caller = Task { await sender.response }
        await decoder.isConverting.wait()
        let folder = FileManager.default.temporaryDirectory
        let file = try FileManager.default.contentsOfDirectory(atPath: folder.path).first {
            $0.hasPrefix("sluice-") && (try? Data(contentsOf: folder.appending(path: $0))) == contents
        }
        let path = try folder.appending(path: XCTUnwrap(file)).path
        caller.cancel()
        let response = await caller.value
        XCTAssertEqual(response.failure?.code, .cancelled)
        decoder.mayEnd.signal()
        await eventually { !FileManager.default.fileExists(atPath: path) }
    }

    func testTemporaryFileThatAClosureHasReceivedStays() async throws {
        let fixture = try DownloadFixture(bytes: 10)
        fixture.server.on("/file", .resource(fixture.resource))
        let file = Shared<URL?>(nil)
        let isConverting = AsyncSignal()
        let mayEnd = AsyncSignal()
        let hasEnded = AsyncSignal()
        let client = APIClient(baseURL: fixture.server.url) { $0.plugins = [Ended(signal: hasEnded)] }
        let sender = client.download("file", to: .temporary).serialized { downloaded, _ in
            file.change { $0 = downloaded.url }
            isConverting.open()
            await mayEnd.wait()
            return 1
        }
        .sender()
        let caller = Task { await sender.response }
        await isConverting.wait()
        caller.cancel()
        _ = await caller.value
        mayEnd.open()
        await hasEnded.wait()
        let isDrained = await client.drain(within: .seconds(60))
        XCTAssertTrue(isDrained)
        let url = try XCTUnwrap(file.read)
        XCTAssertEqual(try Data(contentsOf: url), fixture.contents)
        try FileManager.default.removeItem(at: url)
    }

    private struct Ended: Plugin {
        let signal: AsyncSignal

        func didFinish(_ result: Result<any Sendable, any Error>, context: RequestContext) { signal.open() }
    }
}

import Sluice
import SluiceTesting
import XCTest

/// The events of requests that are refused before they are sent.
final class UnsentRequestTests: XCTestCase {
    private struct Quiet: Plugin {}

    /// A plugin lets each request run in a task.
    private static let plugins: [[any Plugin]] = [[], [Quiet()]]

    func testRefusedHostIsReportedAlikeWithAndWithoutATask() async throws {
        for plugins in Self.plugins {
            for cache in [nil, CacheStore(storage: nil)] {
                let observer = NotingObserver()
                let client = APIClient(baseURL: "http://internal.test") {
                    $0.connection.hosts = HostRules(allowing: ["api.test"])
                    $0.plugins = plugins
                    $0.cache = cache
                    $0.observers = [observer]
                }
                let error = await client.string.get("x").sender().result.failure
                XCTAssertEqual(error?.code, .hostRefused)
                await client.observersCaughtUp()
                XCTAssertEqual(observer.events, ["0 began /x", "0 finished hostRefused"])
            }
        }
    }

    func testRefusedHostBehindARedirectIsReportedAlikeWithAndWithoutATask() async throws {
        let server = try LoopbackServer()
        server.on("/x", .redirect(to: "http://internal.test/"))
        for plugins in Self.plugins {
            let observer = NotingObserver()
            let client = APIClient(baseURL: server.url) {
                $0.connection.hosts = HostRules(allowing: ["127.0.0.1"])
                $0.plugins = plugins
                $0.observers = [observer]
            }
            let error = await client.string.get("x").sender().result.failure
            XCTAssertEqual(error?.code, .hostRefused)
            await client.observersCaughtUp()
            XCTAssertEqual(
                observer.events,
                [
                    "0 began /x", "1 sending /x", "1 redirected 302 /", "1 received hostRefused",
                    "0 finished hostRefused",
                ]
            )
        }
    }

    func testRefusedHostSaysNothingAboutTheServer() async throws {
        let breaker = CircuitBreaker(of: 1)
        let client = APIClient(baseURL: "http://internal.test") {
            $0.connection.hosts = HostRules(allowing: ["api.test"])
            $0.gates = [breaker]
        }
        for _ in 0..<3 {
            let error = await client.string.get("x").sender().result.failure
            XCTAssertEqual(error?.code, .hostRefused)
        }
    }

    func testDownloadThatIsRefusedBeforeItIsSentBeginsAndFinishes() async throws {
        let fixture = try DownloadFixture(bytes: 10)
        try Data("first".utf8).write(to: fixture.file)
        let observer = NotingObserver()
        let client = APIClient(baseURL: fixture.server.url) { $0.observers = [observer] }
        let missing = fixture.folder.appending(path: "none/file.bin")
        let downloads = [
            fixture.download(by: client), fixture.download(by: client).sha256("none"),
            client.download("file", to: .file(missing, createsDirectories: false)),
        ]
        var codes: [SluiceError.Code?] = []
        for download in downloads { codes.append(await download.sender().response.failure?.code) }
        await client.observersCaughtUp()
        let expected = codes.flatMap { ["0 began /file", "0 finished \($0.map(String.init(describing:)) ?? "")"] }
        XCTAssertEqual(observer.events, expected)
        XCTAssertFalse(codes.contains(nil))
        XCTAssertEqual(fixture.server.connections, 0)
    }

    func testDownloadThatCannotBeBuiltOnlyFinishes() async throws {
        let fixture = try DownloadFixture(bytes: 10)
        let observer = NotingObserver()
        let client = APIClient(baseURL: "no url") { $0.observers = [observer] }
        let error = await fixture.download(by: client).sender().response.failure
        await client.observersCaughtUp()
        XCTAssertEqual(observer.events, ["0 finished \(error.map { "\($0.code)" } ?? "")"])
    }
}

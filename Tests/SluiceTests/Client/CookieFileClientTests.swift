import Foundation
import Sluice
import SluiceTesting
import XCTest

/// Client cookie jars that are stored in a file.
final class CookieFileClientTests: XCTestCase {
    private var folder = URL(filePath: "/")
    private var path: String { folder.appending(path: "cookies.txt").path }

    override func setUpWithError() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "sluice-jar-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    override func tearDown() {
        // A jar may still write after its release.
        try? FileManager.default.removeItem(at: folder)
    }

    private func server() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on("/set") { .text("", headers: ["Set-Cookie": $0.headers["X-Set"] ?? ""]) }
        server.on("/*", .echo)
        return server
    }

    private static func set(_ cookie: String, _ client: APIClient) async throws {
        _ = try await client.empty.get("set").header("X-Set", cookie).sender().value
    }

    private func sent(_ client: APIClient, _ path: String = "echo") async throws -> [String] {
        let echo: LoopbackEcho = try await client.codable.get(path).sender().value
        return echo.values(for: .cookie)
    }

    func testSavedCookiesAreLoadedByANewJar() async throws {
        let server = try server()
        let first = CookieJar(file: path)
        let before = APIClient(baseURL: server.url) { $0.cookies = first }
        try await Self.set("session=s1", before)
        try await Self.set("lasting=l1; Max-Age=3600; HttpOnly; Path=/", before)
        try await first.save()
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        XCTAssertEqual(mode, 0o600)
        let second = CookieJar(file: path)
        let after = APIClient(baseURL: server.url) { $0.cookies = second }
        let cookies = try await sent(after)
        XCTAssertEqual(cookies.first.map { Set($0.split(separator: "; ")) }, ["session=s1", "lasting=l1"])
        let kept = await second.cookies
        XCTAssertEqual(kept.map(\.name), ["lasting", "session"])
        XCTAssertEqual(kept.map(\.isHTTPOnly), [true, false])
        XCTAssertEqual(kept.map { $0.expires == nil }, [false, true])
        XCTAssertEqual(kept.map(\.domain), ["127.0.0.1", "127.0.0.1"])
    }

    func testReceivedCookiesAreSavedAutomatically() async throws {
        let server = try server()
        let file = URL(filePath: path)
        let client = APIClient(baseURL: server.url) { $0.cookies = CookieJar(file: file.path) }
        try await Self.set("a=1; Max-Age=3600", client)
        try await waitUntil(within: .seconds(600)) {
            (try? String(contentsOf: file, encoding: .utf8).contains("\ta\t1\n")) == true
        }
        try await Self.set("a=; Max-Age=0", client)
        try await waitUntil(within: .seconds(600)) { try !String(contentsOf: file, encoding: .utf8).contains("\ta\t") }
    }

    func testExpiredCookiesInTheFileAreNotSent() async throws {
        let server = try server()
        let text = [("old", "1000000000"), ("new", "4000000000"), ("session", "0")].map {
            "127.0.0.1\tFALSE\t/\tFALSE\t\($1)\t\($0)\t1\n"
        }
        try Data(text.joined().utf8).write(to: URL(filePath: path))
        let jar = CookieJar(file: path)
        let client = APIClient(baseURL: server.url) { $0.cookies = jar }
        let cookies = try await sent(client)
        XCTAssertEqual(cookies.first.map { Set($0.split(separator: "; ")) }, ["new=1", "session=1"])
        await jar.removeAll { $0.expires == nil }
        let rest = try await sent(client)
        XCTAssertEqual(rest, ["new=1"])
    }

    func testUnreadableFileIsReportedAndRequestsSucceed() async throws {
        let server = try server()
        let failures = Shared<[SluiceError]>([])
        // A folder, which even root cannot read as a file.
        let jar = CookieJar(file: folder.path) { error in failures.change { $0.append(error) } }
        let client = APIClient(baseURL: server.url) { $0.cookies = jar }
        try await Self.set("a=1", client)
        let cookies = try await sent(client)
        XCTAssertEqual(cookies, ["a=1"])
        XCTAssertEqual(failures.read.map(\.code), [.cookieFileFailed])
        do {
            try await jar.save()
            XCTFail("The file was written.")
        } catch {
            XCTAssertEqual(error.code, .cookieFileFailed)
        }
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), [])
    }

    func testConcurrentRequestsAndSavesLoseNoCookies() async throws {
        let server = try server()
        let jar = CookieJar(file: path)
        let clients = (0..<2).map { _ in APIClient(baseURL: server.url) { $0.cookies = jar } }
        try await withThrowingTaskGroup { group in
            for index in 0..<40 {
                group.addTask { try await Self.set("c\(index)=1; Path=/", clients[index % 2]) }
                if index % 8 == 0 { group.addTask { try await jar.save() } }
            }
            try await group.waitForAll()
        }
        try await jar.save()
        let read = await CookieJar(file: path).cookies
        XCTAssertEqual(read.count, 40)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        XCTAssertEqual(names, ["cookies.txt"])
    }

    func testCancelledRequestsDoNotDamageTheJar() async throws {
        let server = try server()
        server.on("/hang", .hang)
        let jar = CookieJar(file: path)
        let client = APIClient(baseURL: server.url) { $0.cookies = jar }
        for _ in 0..<20 {
            let sender = client.empty.get("hang").sender()
            let task = Task { await sender.result }
            sender.cancel()
            let result = await task.value
            XCTAssertEqual(result.failure?.code, .cancelled)
        }
        try await Self.set("a=1", client)
        let cookies = try await sent(client)
        XCTAssertEqual(cookies, ["a=1"])
        try await jar.save()
        let kept = await CookieJar(file: path).cookies
        XCTAssertEqual(kept.map(\.name), ["a"])
    }
}

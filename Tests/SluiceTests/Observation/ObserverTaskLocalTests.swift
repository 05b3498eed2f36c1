import Dispatch
import Sluice
import SluiceTesting
import XCTest

private enum Caller {
    @TaskLocal static var name = "nobody"
    @TaskLocal static var object: Marker?

    final class Marker: Sendable {}
}

/// Notes the caller's name at each event.
private final class CallerNotes: RequestObserver {
    let usesTaskLocals: Bool
    private let notes = Shared<[String: Set<String>]>([:])
    private let eventCount = Shared(0)

    init(usesTaskLocals: Bool = true) {
        self.usesTaskLocals = usesTaskLocals
    }

    /// The names noted for each route.
    var names: [String: Set<String>] { notes.read }
    var count: Int { eventCount.read }

    func observe(_ event: RequestEvent, of request: ObservedRequest) {
        let name = Caller.name + (Deadline.current == nil ? "" : " with a deadline")
        notes.change { $0[request.route, default: []].insert(name) }
        eventCount.change { $0 += 1 }
    }
}

final class ObserverTaskLocalTests: XCTestCase {
    func testEveryEventHasTheValuesOfTheCaller() async throws {
        let server = try LoopbackServer()
        server.on("/old", .redirect(to: "/new"))
        server.on("/new", .status(.serviceUnavailable), .text("ok"))
        let (first, second) = (CallerNotes(), CallerNotes())
        let client = APIClient(baseURL: server.url) {
            $0.observers = [first, second]
            $0.retry = RetryPolicy(backoff: .constant(.zero))
        }
        try await Caller.$name.withValue("ada") { _ = try await client.string.request("old").sender().value }
        await client.observersCaughtUp()
        XCTAssertEqual(first.names, ["old": ["ada"]])
        XCTAssertEqual(second.names, ["old": ["ada"]])
        XCTAssertEqual(first.count, 11)
    }

    func testConcurrentCallersKeepTheirValues() async throws {
        let server = try LoopbackServer()
        server.on("/c", .text("ok"))
        let notes = CallerNotes()
        let client = APIClient(baseURL: server.url) { $0.observers = [notes] }
        try await withThrowingTaskGroup { group in
            for number in 0..<200 {
                group.addTask {
                    try await Caller.$name.withValue("\(number)") {
                        _ = try await client.string.get("c").route("\(number)").sender().value
                    }
                }
            }
            try await group.waitForAll()
        }
        await client.observersCaughtUp()
        XCTAssertEqual(notes.names.count, 200)
        for (route, names) in notes.names { XCTAssertEqual(names, [route]) }
    }

    func testCallbacksKeepTheValuesOfTheirThread() async throws {
        let server = try LoopbackServer()
        server.on("/a", .text("ok"))
        let notes = CallerNotes()
        let client = APIClient(baseURL: server.url) { $0.observers = [notes] }
        let ended = AsyncSignal()
        DispatchQueue.global().async {
            Caller.$name.withValue("thread") {
                _ = client.string.get("a").send { (_: APIResponse<String, APIError>) in ended.open() }
            }
        }
        await ended.wait()
        await client.observersCaughtUp()
        XCTAssertEqual(notes.names, ["a": ["thread"]])
    }

    func testValuesOfSluiceAreNotSet() async throws {
        let server = try LoopbackServer()
        server.on("/a", .text("ok"))
        let notes = CallerNotes()
        let client = APIClient(baseURL: server.url) { $0.observers = [notes] }
        try await Caller.$name.withValue("ada") {
            try await Deadline.$current.withValue(Deadline(.now + .seconds(60))) {
                _ = try await client.string.get("a").sender().value
            }
        }
        await client.observersCaughtUp()
        XCTAssertEqual(notes.names, ["a": ["ada"]])
    }

    func testObserverMayDeclineTheValues() async throws {
        let server = try LoopbackServer()
        server.on("/a", .text("ok"))
        let notes = CallerNotes(usesTaskLocals: false)
        let client = APIClient(baseURL: server.url) { $0.observers = [notes] }
        try await Caller.$name.withValue("ada") { _ = try await client.string.get("a").sender().value }
        await client.observersCaughtUp()
        XCTAssertEqual(notes.names, ["a": ["nobody"]])
    }

    func testLogLinesHaveTheMetadataOfTheCaller() async throws {
        let server = try LoopbackServer()
        server.on("/a", .text("ok"))
        server.on("/b", .status(.notFound))
        for level in [RequestLog.Level.failures, .summary, .full] {
            let lines = Shared<[String]>([])
            let client = APIClient(baseURL: server.url) {
                $0.observers = [RequestLog(level) { line in lines.change { $0.append(Caller.name) } }]
            }
            await Caller.$name.withValue("ada") {
                _ = await client.string.get("a").sender().result
                _ = await client.string.get("b").sender().result
            }
            await client.observersCaughtUp()
            XCTAssertGreaterThanOrEqual(lines.read.count, level == .failures ? 1 : 2)
            XCTAssertEqual(Set(lines.read), ["ada"])
        }
    }

    func testUnsentRequestHasTheValuesOfItsCaller() async throws {
        let notes = CallerNotes()
        let client = APIClient(baseURL: "https://shop.example") { $0.observers = [notes] }
        await Caller.$name.withValue("ada") {
            _ = await client.string.get("ftp://shop.example/a").route("a").sender().result
        }
        await client.observersCaughtUp()
        XCTAssertEqual(notes.names, ["a": ["ada"]])
    }

    func testValuesAreReleasedWithTheRequest() async throws {
        let server = try LoopbackServer()
        server.on("/a", .text("ok"))
        let client = APIClient(baseURL: server.url) { $0.observers = [CallerNotes()] }
        weak var kept: Caller.Marker?
        do {
            let marker = Caller.Marker()
            kept = marker
            try await Caller.$object.withValue(marker) { _ = try await client.string.get("a").sender().value }
        }
        await client.observersCaughtUp()
        // The last event is released on the observer's queue, and the request with the end of its transfer.
        while kept != nil { await Task.yield() }
    }
}

import Sluice
import SluiceHTTP
import SluiceTesting
import XCTest

final class ActivityCounterTests: XCTestCase {
    private func began(_ id: UInt64, _ counter: ActivityCounter) {
        counter.observe(.began(LoggedLines.request()), of: ObservedRequest(id: RequestID(rawValue: id)))
    }

    private func finished(_ id: UInt64, _ counter: ActivityCounter) {
        let error = SluiceError(.cancelled, "Cancelled.")
        counter.observe(.finished(.failure(error)), of: ObservedRequest(id: RequestID(rawValue: id)))
    }

    func testReportsFirstAndLastRequest() {
        let reported = Locked<[Bool]>([])
        let counter = ActivityCounter { isActive in reported.withLock { $0.append(isActive) } }
        XCTAssertFalse(counter.isActive)
        began(1, counter)
        began(2, counter)
        XCTAssertEqual(counter.count, 2)
        finished(1, counter)
        XCTAssertTrue(counter.isActive)
        finished(2, counter)
        began(3, counter)
        XCTAssertEqual(reported.withLock { $0 }, [true, false, true])
        XCTAssertEqual(counter.interests, [.began, .finished])
    }

    func testCountsEachRequestOnceAndNeverBelowZero() {
        let counter = ActivityCounter()
        finished(1, counter)
        XCTAssertEqual(counter.count, 0)
        began(1, counter)
        began(1, counter)
        XCTAssertEqual(counter.count, 1)
        finished(1, counter)
        finished(1, counter)
        XCTAssertEqual(counter.count, 0)
    }

    func testIsIdleAfterMissedEvents() {
        let reported = Locked<[Bool]>([])
        let counter = ActivityCounter { isActive in reported.withLock { $0.append(isActive) } }
        began(1, counter)
        counter.didDrop(3)
        finished(1, counter)
        XCTAssertEqual(reported.withLock { $0 }, [true, false])
    }

    func testSaysWhichRequestsBeginAndEnd() async throws {
        let server = try LoopbackServer()
        addTeardownBlock { server.stop() }
        server.on("/feed", .text("ok"))
        let signal = LoopbackSignal()
        server.on("/users/7", .after(signal, .text("ok")))
        let reported = Locked<[String]>([])
        let activity = ActivityCounter { isActive, request in
            reported.withLock { $0.append("\(request.route) \(isActive ? "begins" : "ends")") }
        }
        let client = APIClient(baseURL: server.url) { $0.observers = [activity] }
        let user = Task { try await client.string.get("users/7").sender().value }
        await server.waitForRequests(1)
        _ = try await client.string.get("feed").sender().value
        await client.observersCaughtUp()
        XCTAssertEqual(activity.requests.map(\.route), ["users/{}"])
        signal.fire()
        _ = try await user.value
        await client.observersCaughtUp()
        XCTAssertEqual(
            reported.withLock { $0 },
            ["users/{} begins", "feed begins", "feed ends", "users/{} ends"]
        )
        XCTAssertTrue(activity.requests.isEmpty)
    }

    func testSaysThatLostRequestsEnd() {
        let reported = Locked<[String]>([])
        let counter = ActivityCounter { isActive, request in
            reported.withLock { $0.append("\(request.id) \(isActive)") }
        }
        began(1, counter)
        began(2, counter)
        counter.didDrop(3)
        finished(1, counter)
        finished(4, counter)
        XCTAssertEqual(reported.withLock { $0 }, ["#1 true", "#2 true", "#1 false", "#2 false"])
    }

    func testEachStreamGetsNewestValue() async {
        let counter = ActivityCounter()
        var early = counter.changes.makeAsyncIterator()
        let first = await early.next(isolation: nil)
        began(1, counter)
        var late = counter.changes.makeAsyncIterator()
        let seen = await [early.next(isolation: nil), late.next(isolation: nil)]
        finished(1, counter)
        began(2, counter)
        finished(2, counter)
        let last = await [early.next(isolation: nil), late.next(isolation: nil)]
        XCTAssertEqual([first] + seen + last, [false, true, true, false, false])
    }

    func testSkipsOvertakenChange() async {
        let counter = ActivityCounter()
        var changes = counter.changes.makeAsyncIterator()
        began(1, counter)
        let first = await changes.next(isolation: nil)
        finished(1, counter)
        began(2, counter)
        // The counter is active again, and no reader was informed of the pause.
        let second = Task { [changes] in
            var changes = changes
            return await changes.next(isolation: nil)
        }
        finished(2, counter)
        let next = await second.value
        XCTAssertEqual([first, next], [true, false])
    }

    func testStreamEndsWhenCounterIsDeallocated() async {
        var counter: ActivityCounter? = ActivityCounter()
        let changes = counter?.changes
        counter = nil
        var seen: [Bool] = []
        if let changes { for await change in changes { seen.append(change) } }
        XCTAssertEqual(seen, [false])
    }

    func testCallbackCanCallCounterWithoutDeadlock() {
        let holder = Locked<ActivityCounter?>(nil)
        let reported = Locked<[Bool]>([])
        let counter = ActivityCounter { isActive in
            reported.withLock { $0.append(isActive) }
            guard isActive, let counter = holder.withLock({ $0 }) else { return }
            let error = SluiceError(.cancelled, "Cancelled.")
            counter.observe(.finished(.failure(error)), of: ObservedRequest(id: RequestID(rawValue: 1)))
        }
        holder.withLock { $0 = counter }
        began(1, counter)
        holder.withLock { $0 = nil }
        XCTAssertEqual(reported.withLock { $0 }, [true, false])
    }

    func testIsIdleAfterConcurrentRequests() async {
        let reported = Locked<[Bool]>([])
        let counter = ActivityCounter { isActive in reported.withLock { $0.append(isActive) } }
        let request = LoggedLines.request()
        await withTaskGroup(of: Void.self) { group in
            for id in UInt64(0)..<200 {
                group.addTask {
                    let observed = ObservedRequest(id: RequestID(rawValue: id))
                    counter.observe(.began(request), of: observed)
                    await Task.yield()
                    counter.observe(.finished(.failure(SluiceError(.cancelled, ""))), of: observed)
                }
            }
        }
        XCTAssertEqual(counter.count, 0)
        let all = reported.withLock { $0 }
        XCTAssertEqual(all.last, false)
        // Each value differs from the one before.
        XCTAssertEqual(all, all.indices.map { $0 % 2 == 0 })
    }
}

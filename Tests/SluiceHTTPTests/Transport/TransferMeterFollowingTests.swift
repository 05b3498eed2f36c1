import SluiceTesting
import XCTest

@testable import SluiceHTTP

/// The progress of requests that share the transfer of another request.
final class TransferMeterFollowingTests: XCTestCase {
    private let clock = TestClock()

    func testFollowerShowsTheLeadersCountUntilItEnds() async {
        let leader = TransferMeter(clock: clock)
        let reporter = leader.begin(uploading: 10)
        let follower = TransferMeter(clock: clock)
        follower.follow(leader)
        reporter.sent(10)
        reporter.expected(100)
        reporter.received(40)
        XCTAssertEqual(follower.snapshot(.download).progress.completed, 40)
        XCTAssertEqual(follower.snapshot(.download).progress.total, 100)
        XCTAssertFalse(follower.snapshot(.download).isFinal)
        follower.end()
        reporter.received(100)
        XCTAssertTrue(follower.snapshot(.download).isFinal)
        XCTAssertEqual(follower.snapshot(.download).progress.completed, 40)
        XCTAssertEqual(follower.snapshot(.download).progress.attempt, 1)
        XCTAssertEqual(follower.snapshot(.upload).progress.completed, 10)
        XCTAssertEqual(leader.snapshot(.download).progress.completed, 100)
        XCTAssertFalse(leader.snapshot(.download).isFinal)
    }

    func testEarlierListenerSeesTheLeadersCount() async {
        let (leader, follower) = (TransferMeter(clock: clock), TransferMeter(clock: clock))
        let reporter = leader.begin(uploading: 0)
        let seen = Task { [clock] in
            var seen: [Int64] = []
            for await progress in TransferProgressSequence(follower, .download, clock: clock) {
                seen.append(progress.completed)
            }
            return seen
        }
        follower.follow(leader)
        reporter.received(40)
        await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(50))
        await clock.waitForSleepers(1)
        reporter.received(100)
        clock.advance(by: .milliseconds(50))
        await clock.waitForSleepers(1)
        leader.end()
        follower.end(received: 120)
        let values = await seen.value
        XCTAssertEqual(values.last, 120)
        XCTAssertTrue(values.contains(100))
    }

    func testListenerAlwaysNoticesTheStartOfFollowing() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<500 {
                let (leader, follower) = (TransferMeter(), TransferMeter())
                leader.begin(uploading: 0).received(40)
                group.addTask {
                    let progress = TransferProgressSequence(follower, .download, clock: SystemClock())
                    for await progress in progress where progress.completed == 40 { break }
                }
                group.addTask { follower.follow(leader) }
            }
        }
    }

    func testEndedMeterDoesNotFollow() {
        let (leader, follower) = (TransferMeter(clock: clock), TransferMeter(clock: clock))
        follower.end()
        follower.follow(leader)
        leader.begin(uploading: 0).received(5)
        XCTAssertTrue(follower.snapshot(.download).isFinal)
        XCTAssertEqual(follower.snapshot(.download).progress.completed, 0)
    }
}

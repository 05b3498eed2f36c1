import Testing

@testable import Sluice

@Suite struct TokenBucketsTests {
    private static let start = ContinuousClock.now

    /// A state, its clock, and the numbers of the requests so far.
    private struct Scene {
        var buckets: TokenBuckets<Int>
        var lastID = 0
        var now = TokenBucketsTests.start

        init(
            _ rate: TokenBucket.Rate = .init(10, every: .seconds(1), burst: 1),
            maximumWaiting: Int = 100,
            maximumWait: Duration? = nil
        ) {
            buckets = TokenBuckets(rate: rate, maximumWaiting: maximumWaiting, maximumWait: maximumWait)
        }

        mutating func arrive(_ key: String = "a") -> TokenBuckets<Int>.Arrival {
            lastID += 1
            return buckets.arrive(lastID, id: lastID, key, now: now)
        }

        /// The time at which the next token is due, from the start.
        mutating func due() -> Duration? {
            buckets.nextDueTime().map { $0 - TokenBucketsTests.start }
        }

        mutating func release(at milliseconds: Int) -> [Int] {
            now = TokenBucketsTests.start + .milliseconds(milliseconds)
            return buckets.release(now: now)
        }
    }

    @Test func thoseWithoutATokenWaitInTheirOrder() {
        var scene = Scene()
        #expect((1...4).map { _ in scene.arrive() } == [.admitted, .waiting, .waiting, .waiting])
        #expect(scene.due() == .milliseconds(100))
        #expect(scene.release(at: 99) == [])
        #expect(scene.release(at: 100) == [2])
        #expect(scene.due() == .milliseconds(200))
        #expect(scene.buckets.take("a", now: scene.now) == false)
        #expect(scene.release(at: 300) == [3])
        #expect(scene.buckets.waiting == 1)
        #expect(scene.release(at: 400) == [4])
        #expect(scene.due() == nil)
    }

    @Test func nobodyOvertakesThoseWhoWait() {
        var scene = Scene()
        _ = scene.arrive()
        _ = scene.arrive()
        scene.now = Self.start + .seconds(1)
        #expect(scene.buckets.take("a", now: scene.now) == false)
        #expect(scene.arrive() == .waiting)
        #expect(scene.release(at: 1000) == [2])
        #expect(scene.release(at: 1100) == [3])
    }

    @Test func eachKeyHasItsOwnTokens() {
        var scene = Scene()
        #expect(
            ["a", "b", "a", "b", "c"].map { scene.arrive($0) } == [.admitted, .admitted, .waiting, .waiting, .admitted]
        )
        #expect(Set(scene.release(at: 100)) == [3, 4])
    }

    @Test(arguments: [(-1, 0), (0, 0), (2, 2)])
    func asManyOfAKeyWaitAsMay(_ maximum: Int, _ waiting: Int) {
        var scene = Scene(maximumWaiting: maximum)
        _ = scene.arrive()
        for _ in 0..<waiting { #expect(scene.arrive() == .waiting) }
        #expect(scene.arrive() == .full(waiting: waiting))
        #expect(scene.arrive("b") == .admitted)
    }

    @Test func whoWouldWaitTooLongIsToldSoAtOnce() {
        var scene = Scene(maximumWait: .milliseconds(150))
        #expect(
            (1...4).map { _ in scene.arrive() }
                == [.admitted, .waiting, .tooLong(.milliseconds(200)), .tooLong(.milliseconds(200))]
        )
        // A request that leaves makes room for another.
        #expect(scene.buckets.leave(id: 2, "a") == 2)
        #expect(scene.arrive() == .waiting)
        var impatient = Scene(maximumWait: .zero)
        #expect((1...2).map { _ in impatient.arrive() } == [.admitted, .tooLong(.milliseconds(100))])
        var patient = Scene(maximumWait: .seconds(Int64.max))
        #expect((1...2).map { _ in patient.arrive() } == [.admitted, .waiting])
    }

    @Test func whoLeavesGivesUpItsPlace() {
        var scene = Scene()
        for _ in 0..<4 { _ = scene.arrive() }
        #expect(scene.buckets.leave(id: 2, "a") == 2)
        #expect(scene.buckets.leave(id: 2, "a") == nil)
        #expect(scene.release(at: 100) == [3])
        #expect(scene.buckets.leave(id: 3, "a") == nil)
        #expect(scene.buckets.leave(id: 4, "a") == 4)
        #expect(scene.due() == nil)
        #expect(scene.buckets.waiting == 0)
        #expect(scene.release(at: 200) == [])
    }

    @Test func aTokenThatIsPutBackGoesToWhoWaits() {
        var scene = Scene()
        for _ in 0..<3 { _ = scene.arrive() }
        #expect(scene.buckets.putBack("a", now: scene.now) == [2])
        #expect(scene.due() == .milliseconds(100))
        #expect(scene.buckets.putBack("unknown", now: scene.now) == [])
        #expect(scene.release(at: 100) == [3])
    }

    @Test func aClosedKeyKeepsAllWaitingUntilItOpens() {
        var scene = Scene(.init(10, every: .seconds(1), burst: 2))
        #expect(scene.buckets.close("a", until: Self.start + .seconds(30), now: scene.now).isEmpty)
        #expect((1...3).map { _ in scene.arrive() } == [.waiting, .waiting, .waiting])
        #expect(scene.arrive("b") == .admitted)
        #expect(scene.due() == .seconds(30))
        #expect(scene.buckets.close("a", until: Self.start + .seconds(60), now: scene.now).isEmpty)
        #expect(scene.release(at: 30_000) == [])
        #expect(scene.due() == .seconds(60))
        #expect(scene.release(at: 60_000) == [1, 2])
        #expect(scene.release(at: 60_100) == [3])
    }

    @Test func whenAKeyIsClosedThoseForWhomItIsTooLateLeave() {
        var scene = Scene(maximumWait: .seconds(10))
        for _ in 0..<4 { _ = scene.arrive() }
        // The second request's token is then due at 9.95 s, and the third's after its maximum wait of ten seconds.
        let until = Self.start + .milliseconds(9950)
        let refused = scene.buckets.close("a", until: until, now: scene.now)
        #expect(refused.map(\.0) == [3, 4])
        #expect(refused.map(\.1) == [.milliseconds(10_050), .milliseconds(10_050)])
        #expect(scene.buckets.waiting == 1)
        #expect(scene.due() == .milliseconds(9950))
        #expect(scene.arrive() == .tooLong(.milliseconds(10_050)))
        #expect(scene.release(at: 9950) == [2])
    }

    @Test func keysThatAreIdleAreForgotten() {
        var scene = Scene()
        for host in 0..<20_000 {
            scene.now = Self.start + .milliseconds(host)
            #expect(scene.buckets.take("\(host)", now: scene.now) == true)
        }
        #expect(scene.buckets.keyCount <= 1024)
    }

    @Test func keysThatAreNotIdleAreKept() {
        var scene = Scene(.init(1, every: .seconds(60)))
        _ = scene.buckets.close("closed", until: Self.start + .seconds(3600), now: scene.now)
        _ = scene.arrive("waiting")
        _ = scene.arrive("waiting")
        for host in 0..<5000 { _ = scene.arrive("\(host)") }
        #expect(scene.arrive("closed") == .waiting)
        #expect(scene.arrive("17") == .waiting)
        #expect(Set(scene.release(at: 60_000)).isSuperset(of: [2]))
    }

    @Test func thoseWhoComeAndLeaveLeaveNothingBehind() {
        var scene = Scene()
        _ = scene.buckets.close("a", until: Self.start + .seconds(3600), now: scene.now)
        for _ in 0..<10_000 {
            _ = scene.arrive()
            #expect(scene.buckets.leave(id: scene.lastID, "a") == scene.lastID)
        }
        #expect(scene.buckets.scheduledCount <= 1)
    }
}

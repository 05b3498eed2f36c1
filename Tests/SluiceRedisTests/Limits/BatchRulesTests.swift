#if os(Linux)
import Foundation
import SluiceRedis
import Testing

@testable import SluiceRedis

/// The sizes of batches, and replies of the scripts.
struct BatchRulesTests {
    /// A limit, and what a machine and the server hold of it.
    struct Row: Sendable {
        let count: Int
        let period: Duration
        var burst: Int?
        let hold: Duration
        let capacity: Int
        let ahead: Int
    }

    @Test(arguments: [
        Row(count: 100, period: .seconds(1), hold: .milliseconds(100), capacity: 90, ahead: 9),
        Row(count: 1_000_000, period: .seconds(1), hold: .milliseconds(100), capacity: 900_000, ahead: 90_000),
        Row(count: 10, period: .seconds(1), burst: 1000, hold: .milliseconds(100), capacity: 999, ahead: 1),
        Row(count: 1000, period: .seconds(1), burst: 10, hold: .milliseconds(2), capacity: 8, ahead: 0),
        Row(count: 5, period: .seconds(60), hold: .milliseconds(100), capacity: 4, ahead: 0),
        Row(count: 4, period: .seconds(1), hold: .zero, capacity: 4, ahead: 0),
        Row(count: 1, period: .seconds(3600), hold: .zero, capacity: 1, ahead: 0),
        Row(count: 0, period: .zero, burst: -1, hold: .zero, capacity: 1, ahead: 0),
    ])
    func burstCoversThePermitsThatMachinesHold(row: Row) {
        let rules = BatchRules(row.count, every: row.period, burst: row.burst)
        #expect(rules.hold == row.hold)
        #expect(rules.capacity == row.capacity)
        #expect(rules.maximumAhead == row.ahead)
        // Those of a span and those that were held before are within the burst.
        #expect(Double(rules.capacity) + rules.hold / rules.interval <= Double(rules.burst) + 0.000_001)
    }

    @Test(arguments: [
        (1, Duration.seconds(1)), (1_000_000_000, .seconds(1)), (1_000_000_000, .seconds(366 * 86_400)),
        (3, .seconds(86_400)),
        (1_000_000_000, .microseconds(1)), (7, .seconds(3600)),
    ])
    func numbersOfTheServerAreExact(count: Int, period: Duration) {
        let rules = BatchRules(count, every: period)
        #expect(Double(rules.periodTicks) * Double(max(rules.capacity, rules.count) + 1) < 0x1p53)
        // Rounding never makes a limit faster.
        #expect(Double(rules.periodTicks) * Double(rules.tick) >= period / .microseconds(1))
        #expect(
            Double(rules.periodTicks) * Double(rules.tick) <= period / .microseconds(1) * 1.001 + Double(rules.tick)
        )
    }

    @Test(arguments: [(0.0, 0), (19, 0), (20, 1), (100, 5), (1000, 9), (1e12, 9), (-1, 0)])
    func permitsAreTakenAheadForTheRateSeen(rate: Double, ahead: Int) {
        #expect(BatchRules(100, every: .seconds(1)).ahead(rate) == ahead)
    }

    @Test func ratesAreMeasuredOverSpansOfTenMilliseconds() {
        let start = ContinuousClock.now
        var meter = DemandMeter(now: start)
        meter.count()
        meter.measure(now: start + .milliseconds(9))
        #expect(meter.rate == 0)
        for _ in 0..<9 { meter.count() }
        meter.measure(now: start + .milliseconds(100))
        #expect(meter.rate == 50)
        for _ in 0..<100 { meter.count() }
        meter.measure(now: start + .milliseconds(1100))
        #expect(meter.rate == 75)
        meter.measure(now: start + .seconds(3600))
        #expect(meter.rate == 37.5)
    }

    @Test func repliesOfOtherShapesAreErrors() throws {
        let permits = try BucketReply(.array([.integer(3), .integer(20), .integer(0), .integer(7)]), wanted: 5)
        #expect(permits == BucketReply(granted: 3, wait: .microseconds(20), fullTime: 7))
        let slots = try SlotsReply(
            .array([.integer(3), .integer(9), .integer(70_000)]),
            wanted: 4,
            running: 2,
            lease: .seconds(10)
        )
        #expect(slots == SlotsReply(held: 3, fairShare: 9, settling: .seconds(10)))
        for reply in [
            .null, .integer(3), .array([]), .array([.integer(1), .integer(2)]),
            .array([.integer(-1), .integer(0), .integer(0)]),
            .array([.integer(6), .integer(0), .integer(0)]), .array([.text("x"), .integer(0), .integer(0)]),
            .array([.integer(1), .integer(-1), .integer(0)]),
        ] as [RedisValue] {
            let longer = reply.elements.map { RedisValue.array($0 + [.integer(7)]) } ?? reply
            #expect(throws: RedisError.self) { try BucketReply(longer, wanted: 5) }
            #expect(throws: RedisError.self) { try SlotsReply(reply, wanted: 5, running: 0, lease: .seconds(10)) }
        }
        let few = RedisValue.array([.integer(1), .integer(1), .integer(0)])
        #expect(throws: RedisError.self) { try SlotsReply(few, wanted: 5, running: 2, lease: .seconds(10)) }
    }
}
#endif

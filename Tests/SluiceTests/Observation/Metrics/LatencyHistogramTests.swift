import Foundation
import SluiceTesting
import Testing

@testable import Sluice

@Suite struct LatencyHistogramTests {
    /// True if the difference is within the documented error.
    private func isClose(_ estimate: Duration, _ exact: Duration) -> Bool {
        let difference = abs((estimate - exact) / .nanoseconds(1))
        return difference <= exact / .nanoseconds(1) / 128 + 0.5
    }

    private func exactPercentile(_ percent: Double, _ sorted: [Int64]) -> Duration {
        // In integers: thousandths of a percent.
        let rank = max(1, (Int((percent * 1000).rounded()) * sorted.count + 99_999) / 100_000)
        return .nanoseconds(sorted[rank - 1])
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func percentilesAreWithinOnePercent(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        // Uniform over the powers of two, so that every octave up to 73 minutes occurs.
        let values = (0..<5000).map { _ in
            Int64.random(in: 0...(1 << Int64.random(in: 0...(seed % 2 == 0 ? 42 : 24), using: &random)), using: &random)
        }
        var histogram = LatencyHistogram()
        for value in values { histogram.record(.nanoseconds(value)) }
        let sorted = values.map { min($0, 1 << 42) }.sorted()
        for percent in [0, 0.1, 1, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100] {
            let estimate = try #require(histogram.percentile(percent))
            #expect(isClose(estimate, exactPercentile(percent, sorted)), "\(percent)")
        }
        #expect(histogram.count == values.count)
        #expect(histogram.minimum == .nanoseconds(values.min() ?? 0))
        #expect(histogram.maximum == .nanoseconds(values.max() ?? 0))
        #expect(histogram.sum == .nanoseconds(values.reduce(0, +)))
    }

    @Test func percentilesAreNearestRanks() {
        var histogram = LatencyHistogram()
        for thousand in 1...5 {
            for _ in 0..<999 { histogram.record(.milliseconds(1)) }
            histogram.record(.seconds(10))
            #expect(histogram.percentile(99.9).map { $0 < .milliseconds(2) } == true, "\(thousand)")
            #expect(histogram.percentile(99.95).map { $0 > .seconds(9) } == true, "\(thousand)")
        }
    }

    @Test func bucketsContainTheirValues() {
        for exponent in 0..<42 {
            for offset in [0, 1, (1 << exponent) / 3, (1 << exponent) - 1] {
                let value = UInt64(1 << exponent + offset)
                let index = LatencyHistogram.Bucket.index(of: value)
                let middle = LatencyHistogram.Bucket.middle(of: index)
                #expect((0..<LatencyHistogram.Bucket.count).contains(index))
                #expect(LatencyHistogram.Bucket.index(of: middle) == index)
                #expect(abs(Double(middle) - Double(value)) <= Double(value) / 128, "\(value)")
            }
        }
        #expect(LatencyHistogram.Bucket.index(of: .max) == LatencyHistogram.Bucket.count - 1)
    }

    @Test func emptyHistogramHasNoFigures() {
        let histogram = LatencyHistogram()
        #expect(histogram.percentile(50) == nil)
        #expect(histogram.mean == nil && histogram.minimum == nil && histogram.maximum == nil)
        #expect(histogram.sum == .zero && histogram.counts.isEmpty)
    }

    @Test(arguments: [-1, -.infinity, .nan, 0] as [Double])
    func percentilesOutOfBoundsAreMinimumAndMaximum(_ percent: Double) {
        var histogram = LatencyHistogram()
        histogram.record(.milliseconds(3))
        histogram.record(.milliseconds(8))
        let shortest = histogram.percentile(percent)
        #expect(shortest.map { isClose($0, .milliseconds(3)) } == true)
        #expect(histogram.percentile(.infinity) == .milliseconds(8))
        #expect(histogram.percentile(1000) == .milliseconds(8))
    }

    @Test func durationsOutOfBoundsCountAtBounds() {
        var histogram = LatencyHistogram()
        for duration in [.seconds(-5), .zero, .seconds(Int64.max), .seconds(1 << 40)] as [Duration] {
            histogram.record(duration)
        }
        #expect(histogram.count == 4)
        #expect(histogram.minimum == .zero)
        #expect(histogram.percentile(50) == .zero)
        #expect(histogram.maximum.map { $0 >= .seconds(9_000_000_000) } == true)
    }

    @Test func longDurationsDoNotExceedBucketLimit() {
        var histogram = LatencyHistogram()
        histogram.record(.nanoseconds(1))
        histogram.record(.seconds(1 << 30))
        #expect(histogram.counts.count <= LatencyHistogram.Bucket.count)
        var narrow = LatencyHistogram()
        for milliseconds in 1...100 { narrow.record(.milliseconds(milliseconds)) }
        #expect(narrow.counts.count <= 8 * LatencyHistogram.Bucket.perOctave)
    }

    @Test(arguments: [11, 12, 13] as [UInt64])
    func mergingEqualsRecordingTogether(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var parts = Array(repeating: LatencyHistogram(), count: 4)
        var whole = LatencyHistogram()
        for index in 0..<400 {
            let value = UInt64.random(in: 0...(1 << (UInt64(index % 40))), using: &random)
            whole.record(nanoseconds: value)
            parts[index % 3].record(nanoseconds: value)
        }
        var merged = LatencyHistogram()
        for part in parts { merged.merge(part) }
        #expect(merged == whole)
    }

    @Test func roundTripsThroughJSON() throws {
        var histogram = LatencyHistogram()
        for milliseconds in [1, 1, 2, 3, 500, 90_000] { histogram.record(.milliseconds(milliseconds)) }
        let data = try JSONEncoder().encode(histogram)
        #expect(try JSONDecoder().decode(LatencyHistogram.self, from: data) == histogram)
        let json = try JSON(parsing: String(decoding: data, as: UTF8.self))
        #expect(json["count"].int == 6 && json.maximum.int == 90_000_000_000 && json.p50.int != nil)
        let empty = try JSONDecoder().decode(LatencyHistogram.self, from: JSONEncoder().encode(LatencyHistogram()))
        #expect(empty == LatencyHistogram())
    }

    @Test(arguments: [
        #"{"buckets":[2368,1],"minimum":1,"maximum":1,"sum":1}"#,
        #"{"buckets":[-1,1],"minimum":1,"maximum":1,"sum":1}"#,
        #"{"buckets":[1,-1],"minimum":1,"maximum":1,"sum":1}"#, #"{"buckets":[1,0],"minimum":1,"maximum":1,"sum":1}"#,
        #"{"buckets":[1,9223372036854775807],"minimum":1,"maximum":1,"sum":1}"#, #"{"buckets":[1,1]}"#,
        #"{"buckets":[1,4611686018427387903,2,1],"minimum":1,"maximum":1,"sum":1}"#, #"{"buckets":"x"}"#,
        #"{"buckets":[1,1],"minimum":-1,"maximum":1,"sum":1}"#,
    ])
    func rejectsInvalidJSON(_ text: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(LatencyHistogram.self, from: Data(text.utf8))
        }
    }

    @Test func inconsistentFiguresDoNotTrap() throws {
        let text = #"{"buckets":[2367,4611686018427387903],"minimum":5,"maximum":0,"sum":18446744073709551615}"#
        var histogram = try JSONDecoder().decode(LatencyHistogram.self, from: Data(text.utf8))
        histogram.merge(histogram)
        histogram.record(.seconds(1))
        for percent in [0, 50, 99.999, 100] { #expect(histogram.percentile(percent) != nil) }
        #expect(histogram.mean != nil)
    }
}

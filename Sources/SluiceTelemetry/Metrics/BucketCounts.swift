/// The counts of durations in buckets with fixed bounds.
struct BucketCounts: Equatable, Sendable {
    /// The bounds that the semantic conventions recommend, in seconds.
    static let conventionalBounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

    /// The counts: one for each bound, of values up to and with it, and one for the values above all.
    private(set) var counts: [UInt64]
    private(set) var count: UInt64 = 0
    private(set) var sum = 0.0
    private(set) var minimum = Double.infinity
    private(set) var maximum = -Double.infinity

    init(bounds: [Double]) {
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    mutating func record(_ value: Double, bounds: [Double]) {
        // At most a few dozen bounds, and most durations are short.
        let index = bounds.firstIndex { value <= $0 } ?? bounds.count
        counts[index] += 1
        count += 1
        sum += value
        minimum = min(minimum, value)
        maximum = max(maximum, value)
    }

    /// Adds the counts of another value with the same bounds.
    mutating func merge(_ other: BucketCounts) {
        for (index, added) in other.counts.enumerated() where counts.indices.contains(index) { counts[index] += added }
        count += other.count
        sum += other.sum
        minimum = min(minimum, other.minimum)
        maximum = max(maximum, other.maximum)
    }
}

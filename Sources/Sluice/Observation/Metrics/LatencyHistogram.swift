/// How often something took how long, in little memory and to within one percent.
///
/// ```swift
/// var histogram = LatencyHistogram()
/// for duration in durations { histogram.record(duration) }
/// histogram.percentile(99)  // nine in ten of a hundred were at least as fast
/// ```
///
/// It counts nanoseconds in buckets that are as wide as a 64th of the power of two below them, as HDR histograms do: a percentile is off by
/// 1/128 (0.8 %) of its value at most, from nothing to 73 minutes; what took longer counts as that long. It holds at most 2,368 numbers,
/// and only those between the shortest and the longest. Histograms of the same thing can be merged, from several processes too.
public struct LatencyHistogram: Sendable, Hashable {
    /// The counts of the buckets from `first` on, whole octaves of them.
    private(set) var counts: [Int] = []
    private(set) var first = 0
    private var sumOfNanoseconds: UInt64 = 0
    private var least: UInt64 = 0
    private var most: UInt64 = 0
    /// How many were recorded.
    public private(set) var count = 0

    /// So many that one more is no matter: what is read or merged holds no more.
    private static let limit = Int.max / 2

    /// Makes one of nothing.
    public init() {}

    /// What all took together; stops counting after 584 years.
    public var sum: Duration { Duration(nanoseconds: sumOfNanoseconds) }
    /// What they took on average; nil if there are none.
    public var mean: Duration? { count == 0 ? nil : Duration(nanoseconds: sumOfNanoseconds / UInt64(count)) }
    /// The shortest, exactly; nil if there are none.
    public var minimum: Duration? { count == 0 ? nil : Duration(nanoseconds: least) }
    /// The longest, exactly; nil if there are none.
    public var maximum: Duration? { count == 0 ? nil : Duration(nanoseconds: most) }

    /// Counts a duration; a negative one as none.
    public mutating func record(_ duration: Duration) {
        record(nanoseconds: duration.nanoseconds)
    }

    mutating func record(nanoseconds: UInt64) {
        let bucket = Bucket.index(of: nanoseconds)
        if bucket < first || bucket >= first + counts.count { cover(bucket) }
        counts[bucket - first] += 1
        extend(nanoseconds, nanoseconds, sum: nanoseconds)
        count += 1
    }

    /// Counts all that the other has counted.
    public mutating func merge(_ other: LatencyHistogram) {
        guard other.count > 0, count <= Self.limit - other.count else { return }
        cover(other.first)
        cover(other.first + other.counts.count - 1)
        for (offset, added) in other.counts.enumerated() { counts[other.first - first + offset] += added }
        extend(other.least, other.most, sum: other.sumOfNanoseconds)
        count += other.count
    }

    /// The duration that so many in a hundred did not exceed, by the nearest rank; nil if there are none.
    ///
    /// - Parameter percent: From 0, the shortest, to 100, the longest; what is beyond counts as these.
    /// - Returns: A duration that is off by 0.8 % at most.
    public func percentile(_ percent: Double) -> Duration? {
        guard count > 0 else { return nil }
        let share = min(max(percent.isNaN ? 0 : percent, 0), 100) / 100
        let rank = max(1, (share * Double(count)).rounded(.up))
        if rank >= Double(count) { return maximum }
        var seen = 0
        for (offset, amount) in counts.enumerated() {
            seen += amount
            if Double(seen) >= rank {
                return Duration(nanoseconds: min(max(Bucket.middle(of: first + offset), least), most))
            }
        }
        return maximum
    }

    private mutating func extend(_ least: UInt64, _ most: UInt64, sum: UInt64) {
        self.least = count == 0 ? least : min(self.least, least)
        self.most = max(self.most, most)
        let (total, isOver) = sumOfNanoseconds.addingReportingOverflow(sum)
        sumOfNanoseconds = isOver ? .max : total
    }

    /// Makes room for a bucket's octave.
    private mutating func cover(_ bucket: Int) {
        let octave = bucket / Bucket.perOctave * Bucket.perOctave
        if counts.isEmpty {
            first = octave
            counts = Array(repeating: 0, count: Bucket.perOctave)
        } else if octave < first {
            counts.insert(contentsOf: repeatElement(0, count: first - octave), at: 0)
            first = octave
        } else if octave >= first + counts.count {
            counts.append(contentsOf: repeatElement(0, count: octave + Bucket.perOctave - first - counts.count))
        }
    }
}

extension LatencyHistogram {
    /// The buckets: one a nanosecond below 128, and then 64 in each octave.
    enum Bucket {
        static let perOctave = 64
        /// 2^42 ns are 73 minutes.
        static let count = 37 * perOctave
        private static let longest: UInt64 = 1 << 42 - 1

        static func index(of nanoseconds: UInt64) -> Int {
            let value = min(nanoseconds, longest)
            if value < 64 { return Int(value) }
            let shift = 57 - value.leadingZeroBitCount
            return (shift + 1) * perOctave + Int((value >> UInt64(shift)) & 63)
        }

        static func middle(of index: Int) -> UInt64 {
            guard index >= perOctave else { return UInt64(index) }
            let shift = UInt64(index / perOctave - 1)
            return (UInt64(perOctave + index % perOctave) << shift) + (1 << shift) / 2
        }
    }
}

extension LatencyHistogram: Codable {
    private enum CodingKeys: String, CodingKey {
        case count, sum, minimum, maximum, p50, p90, p99, p999, buckets
    }

    /// Writes nanoseconds: what the percentiles are, for a reader, and for a merge the buckets that hold something as pairs of number and count.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(count, forKey: .count)
        try container.encode(sumOfNanoseconds, forKey: .sum)
        guard count > 0 else { return }
        try container.encode(least, forKey: .minimum)
        try container.encode(most, forKey: .maximum)
        for (key, percent) in [(CodingKeys.p50, 50), (.p90, 90), (.p99, 99), (.p999, 99.9)] {
            try container.encodeIfPresent(percentile(percent)?.nanoseconds, forKey: key)
        }
        let pairs = counts.enumerated().filter { $0.element > 0 }.flatMap { [first + $0.offset, $0.element] }
        try container.encode(pairs, forKey: .buckets)
    }

    /// Reads the buckets and the exact figures; the percentiles follow from these.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let pairs = try container.decodeIfPresent([Int].self, forKey: .buckets) ?? []
        for (bucket, amount) in zip(pairs, pairs.dropFirst()).enumerated().filter({ $0.offset % 2 == 0 }).map(\.element)
        {
            guard (0..<Bucket.count).contains(bucket), amount > 0, amount <= Self.limit - count else {
                throw DecodingError.dataCorruptedError(
                    forKey: .buckets,
                    in: container,
                    debugDescription:
                        "A histogram's buckets are pairs of a number below \(Bucket.count) and a positive count."
                )
            }
            cover(bucket)
            counts[bucket - first] += amount
            count += amount
        }
        guard count > 0 else { return }
        least = try container.decode(UInt64.self, forKey: .minimum)
        most = try container.decode(UInt64.self, forKey: .maximum)
        sumOfNanoseconds = try container.decode(UInt64.self, forKey: .sum)
    }
}

extension Duration {
    /// Whole nanoseconds; none for a negative duration, and no more than 292 years.
    var nanoseconds: UInt64 {
        // Below 18 seconds one word holds it, and no division of two is needed.
        if let attoseconds = UInt64(exactly: attoseconds) { return attoseconds / 1_000_000_000 }
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        return min(UInt64(seconds), 9_000_000_000) * 1_000_000_000 + UInt64(attoseconds) / 1_000_000_000
    }

    init(nanoseconds: UInt64) {
        self = .nanoseconds(Int64(clamping: nanoseconds))
    }

}

/// A histogram of durations with an error of less than one percent and a small memory footprint.
///
/// ```swift
/// let latency = metrics.snapshot().total.latency
/// latency.percentile(99)      // 99 of 100 requests took at most this long
/// ```
///
/// Nanoseconds are counted in buckets whose width is 1/64 of the power of two below them, as in HDR histograms. A
/// percentile is therefore off by at most 1/128 (0.8 %) of its value, from 0 to 73 minutes. Longer durations count as
/// 73 minutes. The histogram holds at most 2,368 counts, and only those between the shortest and the longest duration.
/// Histograms of the same quantity can be merged, also across processes.
public struct LatencyHistogram: Sendable, Hashable {
    /// The counts of the buckets starting at `first`, in whole octaves.
    private(set) var counts: [Int] = []
    private(set) var first = 0
    private var sumOfNanoseconds: UInt64 = 0
    private var least: UInt64 = 0
    private var most: UInt64 = 0
    /// The number of recorded durations.
    public private(set) var count = 0

    /// The maximum count that is decoded or merged. It leaves room for further recordings without overflow.
    private static let limit = Int.max / 2

    /// The sum of the durations, at most 292 years.
    public var sum: Duration { Duration(nanoseconds: sumOfNanoseconds) }
    /// The average duration; nil if the histogram is empty.
    public var mean: Duration? { count == 0 ? nil : Duration(nanoseconds: sumOfNanoseconds / UInt64(count)) }
    /// The exact shortest duration; nil if the histogram is empty.
    public var minimum: Duration? { count == 0 ? nil : Duration(nanoseconds: least) }
    /// The exact longest duration; nil if the histogram is empty.
    public var maximum: Duration? { count == 0 ? nil : Duration(nanoseconds: most) }

    /// Records a duration. A negative one counts as zero.
    mutating func record(_ duration: Duration) {
        record(nanoseconds: duration.nanoseconds)
    }

    mutating func record(nanoseconds: UInt64) {
        let bucket = Bucket.index(of: nanoseconds)
        if bucket < first || bucket >= first + counts.count { cover(bucket) }
        counts[bucket - first] += 1
        extend(nanoseconds, nanoseconds, sum: nanoseconds)
        count += 1
    }

    /// Adds the counts of another histogram.
    public mutating func merge(_ other: LatencyHistogram) {
        guard other.count > 0, count <= Self.limit - other.count else { return }
        cover(other.first)
        cover(other.first + other.counts.count - 1)
        for (offset, added) in other.counts.enumerated() { counts[other.first - first + offset] += added }
        extend(other.least, other.most, sum: other.sumOfNanoseconds)
        count += other.count
    }

    /// Returns the duration that a percentage of the durations did not exceed, by the nearest rank; nil if the
    /// histogram is empty.
    ///
    /// - Parameter percent: From 0, the shortest, to 100, the longest. Values outside are clamped.
    /// - Returns: A duration that is off by at most 0.8 %.
    public func percentile(_ percent: Double) -> Duration? {
        guard count > 0 else { return nil }
        let exact = Swift.min(Swift.max(percent.isNaN ? 0 : percent, 0), 100) * Double(count) / 100
        // 99.9 % of 1000 is the rank 999, although 99.9 has no exact form.
        let rank = Swift.max(1, (exact * (1 - 4 * Double.ulpOfOne)).rounded(.up))
        if rank >= Double(count) { return maximum }
        var seen = 0
        for (offset, amount) in counts.enumerated() {
            seen += amount
            if Double(seen) >= rank {
                return Duration(nanoseconds: Swift.min(Swift.max(Bucket.middle(of: first + offset), least), most))
            }
        }
        return maximum
    }

    private mutating func extend(_ least: UInt64, _ most: UInt64, sum: UInt64) {
        self.least = count == 0 ? least : Swift.min(self.least, least)
        self.most = Swift.max(self.most, most)
        let (total, isOver) = sumOfNanoseconds.addingReportingOverflow(sum)
        sumOfNanoseconds = isOver ? .max : total
    }

    /// Extends the counts to include a bucket's octave.
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
    /// The buckets: one per nanosecond below 128, then 64 per octave.
    enum Bucket {
        static let perOctave = 64
        /// 2^42 ns are 73 minutes.
        static let count = 37 * perOctave
        private static let longest: UInt64 = 1 << 42 - 1

        static func index(of nanoseconds: UInt64) -> Int {
            let value = Swift.min(nanoseconds, longest)
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

    /// Encodes nanoseconds: the percentiles for human readers, and the buckets that are not empty, as pairs of number
    /// and count, for merging.
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

    /// Decodes the buckets and the exact values. The percentiles are computed from them.
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
    /// The duration in whole nanoseconds; 0 for a negative duration, and at most 285 years.
    var nanoseconds: UInt64 {
        // Below 18 seconds the attoseconds fit one word, which saves a second division.
        if let attoseconds = UInt64(exactly: attoseconds) { return attoseconds / 1_000_000_000 }
        return Swift.min(UInt64(clamping: attoseconds / 1_000_000_000), 9_000_000_000_000_000_000)
    }

    init(nanoseconds: UInt64) {
        self = .nanoseconds(Int64(clamping: nanoseconds))
    }
}

/// The counts of durations in exponential buckets, as a native histogram of Prometheus has them.
///
/// The buckets of schema 3 divide each power of two into eight, so that a quantile is off by at most 5 %. Bucket `i` has the values up to `2^(i/8)` seconds.
struct NativeHistogram: Equatable, Sendable {
    /// A run of buckets without gaps.
    struct Span: Equatable, Sendable {
        /// The number of buckets between this run and the one before; for the first run, its first bucket.
        let offset: Int
        var length: Int
    }

    static let schema = 3
    /// Values up to this one, about a microsecond, count as zero.
    static let zeroThreshold = 0x1p-20
    /// Longer durations, 18 hours, count as this one. It bounds the number of buckets.
    private static let longest = 0x1p16
    /// The bounds within a power of two: `2^(i/8)`.
    private static let steps = [
        1, 1.0905077326652577, 1.189207115002721, 1.2968395546510096, 1.4142135623730951, 1.5422108254079407,
        1.681792830507429, 1.8340080864093424,
    ]

    private(set) var zeroCount: UInt64 = 0
    private(set) var counts: [Int: UInt64] = [:]

    /// Returns the number of the bucket that has a positive value.
    static func bucket(of value: Double) -> Int {
        let significand = value.significand
        return Int(value.exponent) * steps.count + steps.count { $0 < significand }
    }

    mutating func record(_ value: Double) {
        if value > Self.zeroThreshold {
            counts[Self.bucket(of: min(value, Self.longest)), default: 0] += 1
        } else {
            zeroCount += 1
        }
    }

    /// The runs of buckets, and the differences between each count and the one before it.
    var encoded: (spans: [Span], deltas: [Int64]) {
        var (spans, deltas): ([Span], [Int64]) = ([], [])
        var (end, previous) = (0, Int64(0))
        for (bucket, count) in counts.sorted(by: { $0.key < $1.key }) {
            if bucket == end, !spans.isEmpty {
                spans[spans.count - 1].length += 1
            } else {
                spans.append(Span(offset: bucket - end, length: 1))
            }
            deltas.append(Int64(clamping: count) - previous)
            previous = Int64(clamping: count)
            end = bucket + 1
        }
        return (spans, deltas)
    }
}

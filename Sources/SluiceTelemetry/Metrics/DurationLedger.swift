/// The durations of requests by their attributes, in a limited number of series.
struct DurationLedger: Sendable {
    /// The counts of a period.
    struct Collection: Sendable, Equatable {
        let start: UInt64
        let end: UInt64
        let series: [[Attribute]: BucketCounts]
        /// True if the next collection begins where this one ends.
        let isDelta: Bool
    }

    /// The attributes of all series beyond the limit.
    static let overflow = [Attribute("otel.metric.overflow", .bool(true))]

    let bounds: [Double]
    private let limit: Int
    private let isDelta: Bool
    private var start: UInt64
    private var series: [[Attribute]: BucketCounts] = [:]
    /// The number of durations that were counted in the series of the overflow.
    private(set) var overflowed = 0

    /// Creates an empty ledger.
    ///
    /// - Parameters:
    ///   - bounds: The bounds of the buckets, ascending.
    ///   - limit: The number of series, with that of the overflow.
    ///   - isDelta: True if each collection has only what followed the last one.
    ///   - start: The time at which counting begins, in nanoseconds since 1970.
    init(bounds: [Double], limit: Int, isDelta: Bool, start: UInt64) {
        self.bounds = bounds
        self.limit = max(1, limit)
        self.isDelta = isDelta
        self.start = start
    }

    var isEmpty: Bool { series.isEmpty }

    mutating func record(_ seconds: Double, _ attributes: [Attribute]) {
        var key = attributes
        if series[key] == nil, series.count >= limit - (series[Self.overflow] == nil ? 1 : 0) {
            key = Self.overflow
            overflowed += 1
        }
        series[key, default: BucketCounts(bounds: bounds)].record(seconds, bounds: bounds)
    }

    /// Returns what was counted; nil if nothing was. A delta is removed.
    mutating func collect(at end: UInt64) -> Collection? {
        if series.isEmpty { return nil }
        defer {
            if isDelta {
                start = end
                series = [:]
            }
        }
        return Collection(start: start, end: end, series: series, isDelta: isDelta)
    }

    /// Puts back what could not be exported, to be exported with what follows.
    mutating func restore(_ collection: Collection) {
        guard collection.isDelta else { return }
        start = min(start, collection.start)
        for (attributes, counts) in collection.series {
            let isFull = series[attributes] == nil && series.count >= limit - (series[Self.overflow] == nil ? 1 : 0)
            series[isFull ? Self.overflow : attributes, default: BucketCounts(bounds: bounds)].merge(counts)
        }
    }
}

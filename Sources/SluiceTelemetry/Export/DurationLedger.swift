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

    /// The longest step back of the clock, in nanoseconds, that is ignored.
    private static let tolerance: UInt64 = 60_000_000_000

    let bounds: [Double]
    private let limit: Int
    private let isDelta: Bool
    private var start: UInt64
    /// The end of the latest collection.
    private var latest: UInt64
    private(set) var series: [[Attribute]: BucketCounts] = [:]
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
        latest = start
    }

    mutating func record(_ seconds: Double, _ attributes: [Attribute]) {
        var key = attributes
        if series[key] == nil, series.count >= limit - (series[Self.overflow] == nil ? 1 : 0) {
            key = Self.overflow
            overflowed += 1
        }
        series[key, default: BucketCounts(bounds: bounds)].record(seconds, bounds: bounds)
    }

    /// Returns what was counted; nil if nothing was. A delta is removed.
    ///
    /// If the clock was set back, the series start again at its new time. They begin with a collection without a length, which tells the
    /// receiver of totals that they are no growth: a reset with an unknown start, as the data model of OpenTelemetry calls it.
    mutating func collect(at time: UInt64) -> Collection? {
        if series.isEmpty { return nil }
        if latest > time, latest - time > Self.tolerance { start = time }
        // Another collection may have read its time later and come first.
        let end = max(time, start)
        latest = end
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

// MARK: - Bucket counts

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

// MARK: - Metric messages

extension DurationLedger.Collection {
    private enum Temporality: UInt32 {
        case delta = 1
        case cumulative = 2
    }

    /// The message `Metric` of `http.client.request.duration`.
    ///
    /// - Parameters:
    ///   - bounds: The bounds that were counted with.
    ///   - limit: The longest text of an attribute.
    /// - Returns: The message.
    func message(bounds: [Double], limit: Int?) -> ProtobufMessage {
        let temporality: Temporality = isDelta ? .delta : .cumulative
        let points = series.map { point($0, $1, bounds, limit) }
        let histogram = ProtobufMessage {
            $0.add(1, "dataPoints", .messages(points))
            $0.add(2, "aggregationTemporality", .enumeration(temporality.rawValue))
        }
        return ProtobufMessage {
            $0.add(1, "name", .string("http.client.request.duration"))
            $0.add(2, "description", .string("Duration of HTTP client requests."))
            $0.add(3, "unit", .string("s"))
            $0.add(9, "histogram", .message(histogram))
        }
    }

    private func point(_ attributes: [Attribute], _ counts: BucketCounts, _ bounds: [Double], _ limit: Int?)
        -> ProtobufMessage
    {
        ProtobufMessage {
            $0.add(2, "startTimeUnixNano", .fixed64(start))
            $0.add(3, "timeUnixNano", .fixed64(end))
            $0.add(4, "count", .fixed64(counts.count))
            $0.add(5, "sum", .double(counts.sum))
            $0.add(6, "bucketCounts", .fixed64s(counts.counts))
            $0.add(7, "explicitBounds", .doubles(bounds))
            $0.add(9, "attributes", attributes.messages(limit: limit))
            $0.add(11, "min", .double(counts.minimum))
            $0.add(12, "max", .double(counts.maximum))
        }
    }
}

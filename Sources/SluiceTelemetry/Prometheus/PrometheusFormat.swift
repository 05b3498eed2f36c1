import SluiceFoundation

/// A format of the pages that Prometheus reads.
enum PrometheusFormat: CaseIterable {
    /// The text format 0.0.4.
    case text
    /// OpenMetrics 1.0.
    case openMetrics
    /// Messages `io.prometheus.client.MetricFamily`, each after its length.
    case protobuf

    var contentType: String {
        switch self {
        case .text: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        case .protobuf: "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
        }
    }

    /// Returns the format with the highest weight in a header `Accept` (RFC 9110 §12.5.1); text if none is named.
    ///
    /// - Parameters:
    ///   - accept: The value of the header.
    ///   - hasProtobuf: True if protobuf may be chosen.
    /// - Returns: A format.
    static func best(for accept: String, hasProtobuf: Bool) -> PrometheusFormat {
        guard accept.utf8.count <= 4096, accept.utf8.allSatisfy({ $0 < 0x80 }) else { return .text }
        var best: (format: PrometheusFormat, weight: Double) = (.text, 0)
        for range in accept.lowercased().split(separator: ",") {
            let parts = range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            let format: PrometheusFormat? =
                switch parts.first {
                case "text/plain": .text
                case "application/openmetrics-text" where !parts.contains("version=0.0.1"): .openMetrics
                case "application/vnd.google.protobuf"
                where hasProtobuf && parts.contains("proto=io.prometheus.client.metricfamily")
                    && parts.contains("encoding=delimited"):
                    .protobuf
                default: nil
                }
            let weight = parts.first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            // Of equal ones, the first.
            if let format, weight > best.weight { best = (format, weight) }
        }
        return best.format
    }

    /// Returns the bytes of a page.
    func encoded(_ families: [MetricFamily]) -> Data {
        let families = families.filter { !$0.samples.isEmpty }
        switch self {
        case .text, .openMetrics:
            var text = PrometheusText(isOpenMetrics: self == .openMetrics)
            for family in families { text.append(family) }
            return Data((self == .openMetrics ? text.text + "# EOF\n" : text.text).utf8)
        case .protobuf:
            var writer = ProtobufWriter()
            for family in families { writer.append(delimited: family.message) }
            return Data(writer.bytes)
        }
    }
}

// MARK: - Text

private struct PrometheusText {
    let isOpenMetrics: Bool
    private(set) var text = ""

    init(isOpenMetrics: Bool) {
        self.isOpenMetrics = isOpenMetrics
    }

    mutating func append(_ family: MetricFamily) {
        let counter = family.kind == .counter ? "\(family.name)_total" : family.name
        // The text format knows nothing of the suffix.
        let name = isOpenMetrics ? family.name : counter
        text += "# HELP \(name) \(family.help)\n# TYPE \(name) \(family.kind.rawValue)\n"
        if isOpenMetrics, let unit = family.unit { text += "# UNIT \(name) \(unit)\n" }
        for sample in family.samples {
            switch sample.value {
            case .count(let count): append(counter, sample.labels, "\(count)")
            case .histogram(let histogram, let bounds):
                for (bound, count) in histogram.classic.cumulative(bounds) {
                    let limit = ("le", bound.isInfinite ? "+Inf" : "\(bound)")
                    append("\(name)_bucket", sample.labels + [limit], "\(count)")
                }
                append("\(name)_sum", sample.labels, "\(histogram.classic.sum)")
                append("\(name)_count", sample.labels, "\(histogram.classic.count)")
            }
        }
    }

    private mutating func append(_ name: String, _ labels: [(name: String, value: String)], _ value: String) {
        text += name
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",") + "}"
        }
        text += " \(value)\n"
    }

    /// Escapes characters that would end the value or the line. Works on bytes, because a combining mark hides a quote
    /// from a comparison of characters.
    private static func escaped(_ value: String) -> String {
        var bytes: [UInt8] = []
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "\\"), UInt8(ascii: "\""): bytes += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "\n"): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

// MARK: - Protobuf

extension MetricFamily {
    /// The message `MetricFamily` of Prometheus's schema `metrics.proto`.
    fileprivate var message: ProtobufMessage {
        let type: UInt32 =
            switch kind {
            case .counter: 0
            case .gauge: 1
            case .histogram: 4
            }
        return ProtobufMessage {
            $0.add(1, "name", .string(kind == .counter ? "\(name)_total" : name))
            $0.add(2, "help", .string(help))
            $0.add(3, "type", .enumeration(type))
            $0.add(4, "metric", .messages(samples.map { $0.message(kind) }))
        }
    }
}

extension MetricFamily.Sample {
    fileprivate func message(_ kind: MetricFamily.Kind) -> ProtobufMessage {
        let labels = labels.map { label in
            ProtobufMessage {
                $0.add(1, "name", .string(label.name))
                $0.add(2, "value", .string(label.value))
            }
        }
        return ProtobufMessage { metric in
            metric.add(1, "label", .messages(labels))
            switch value {
            case .count(let count):
                let number = ProtobufMessage { $0.add(1, "value", .double(Double(count))) }
                if kind == .gauge { metric.add(2, "gauge", .message(number)) }
                if kind == .counter { metric.add(3, "counter", .message(number)) }
            case .histogram(let histogram, let bounds):
                metric.add(7, "histogram", .message(histogram.message(bounds)))
            }
        }
    }
}

extension PrometheusLedger.Histogram {
    /// The message `Histogram`: the classic buckets, and the native ones if there are any.
    fileprivate func message(_ bounds: [Double]) -> ProtobufMessage {
        ProtobufMessage { histogram in
            histogram.add(1, "sample_count", .uint64(classic.count))
            histogram.add(2, "sample_sum", .double(classic.sum))
            let buckets = classic.cumulative(bounds).map { bucket in
                ProtobufMessage {
                    $0.add(1, "cumulative_count", .uint64(bucket.count))
                    $0.add(2, "upper_bound", .double(bucket.bound))
                }
            }
            histogram.add(3, "bucket", .messages(buckets))
            guard let native else { return }
            histogram.add(5, "schema", .sint(Int64(NativeHistogram.schema)))
            histogram.add(6, "zero_threshold", .double(NativeHistogram.zeroThreshold))
            histogram.add(7, "zero_count", .uint64(native.zeroCount))
            let (spans, deltas) = native.encoded
            let messages = spans.map { span in
                ProtobufMessage {
                    $0.add(1, "offset", .sint(Int64(span.offset)))
                    $0.add(2, "length", .uint32(UInt32(clamping: span.length)))
                }
            }
            histogram.add(12, "positive_span", .messages(messages))
            histogram.add(13, "positive_delta", .sints(deltas))
        }
    }
}

// MARK: - Metric family

/// A metric with all its series, in the model that the formats of Prometheus share.
struct MetricFamily {
    enum Kind: String {
        case counter
        case gauge
        case histogram
    }

    struct Sample {
        enum Value {
            case count(UInt64)
            case histogram(PrometheusLedger.Histogram, [Double])
        }

        let labels: [(name: String, value: String)]
        let value: Value

        init(_ labels: [(name: String, value: String)], _ value: Value) {
            self.labels = labels
            self.value = value
        }
    }

    /// The name, without the suffix `_total` of counters.
    let name: String
    let help: String
    let kind: Kind
    let unit: String?
    let samples: [Sample]

    init(_ name: String, _ help: String, _ kind: Kind, _ unit: String?, _ samples: [Sample]) {
        self.name = name
        self.help = help
        self.kind = kind
        self.unit = unit
        self.samples = samples
    }
}

extension BucketCounts {
    /// The buckets as Prometheus has them: each with the number of values up to its bound, the last without a bound.
    func cumulative(_ bounds: [Double]) -> [(bound: Double, count: UInt64)] {
        var sum: UInt64 = 0
        return zip(bounds + [.infinity], counts).map { bound, count in
            sum += count
            return (bound, sum)
        }
    }
}

// MARK: - Native histogram

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

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

/// A writer of the text formats.
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

/// A metric with all its series, in the model that the formats of Prometheus share.
struct MetricFamily {
    enum Kind: String {
        case counter
        case gauge
        case histogram
    }

    /// One series.
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

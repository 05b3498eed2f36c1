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

/// The bytes of a file that have been received: sorted half-open ranges that neither overlap nor touch.
package struct ByteRanges: Sendable, Hashable {
    package private(set) var ranges: [Range<Int64>] = []

    package init() {}

    package init(_ ranges: some Sequence<Range<Int64>>) {
        for range in ranges { insert(range) }
    }

    /// The total number of bytes.
    package var count: Int64 { ranges.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) } }

    package var isEmpty: Bool { ranges.isEmpty }

    /// The end of the last range; 0 if there is none.
    package var end: Int64 { ranges.last?.upperBound ?? 0 }

    /// The end of the range that begins at 0; 0 if there is none.
    package var prefix: Int64 {
        guard let first = ranges.first, first.lowerBound == 0 else { return 0 }
        return first.upperBound
    }

    /// Adds a range. Its part below 0 is ignored.
    package mutating func insert(_ range: Range<Int64>) {
        var merged = range.clamped(to: 0..<Int64.max)
        if merged.isEmpty { return }
        // The ranges from `first` up to `end` overlap or touch it.
        let first = firstIndex { $0.upperBound >= merged.lowerBound }
        var end = first
        while end < ranges.count, ranges[end].lowerBound <= merged.upperBound {
            merged = min(merged.lowerBound, ranges[end].lowerBound)..<max(merged.upperBound, ranges[end].upperBound)
            end += 1
        }
        ranges.replaceSubrange(first..<end, with: CollectionOfOne(merged))
    }

    /// Returns true if all bytes of a range have been received.
    package func contains(_ range: Range<Int64>) -> Bool {
        if range.isEmpty { return true }
        let index = firstIndex { $0.upperBound > range.lowerBound }
        return index < ranges.count && ranges[index].lowerBound <= range.lowerBound
            && ranges[index].upperBound >= range.upperBound
    }

    /// Returns the ranges that are missing from a file of a given length.
    package func missing(upTo length: Int64) -> [Range<Int64>] {
        var missing: [Range<Int64>] = []
        var position: Int64 = 0
        for range in ranges where position < length {
            if range.lowerBound > position { missing.append(position..<min(range.lowerBound, length)) }
            position = range.upperBound
        }
        if position < length { missing.append(position..<length) }
        return missing
    }

    /// Returns the index of the first range for which a condition is true, by binary search. It must also be true for
    /// all later ranges.
    private func firstIndex(where condition: (Range<Int64>) -> Bool) -> Int {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = low + (high - low) / 2
            if condition(ranges[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension ByteRanges: Codable {
    /// Decodes pairs of a lower and an upper bound. Throws for pairs that are not a range.
    package init(from decoder: any Decoder) throws {
        for pair in try decoder.singleValueContainer().decode([[Int64]].self) {
            guard pair.count == 2, pair[0] >= 0, pair[0] < pair[1] else {
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(
                        codingPath: decoder.codingPath,
                        debugDescription: "The bounds are not a valid range."
                    )
                )
            }
            insert(pair[0]..<pair[1])
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(ranges.map { [$0.lowerBound, $0.upperBound] })
    }
}

/// The single byte range of a `Range` field (RFC 9110 §14.1.2).
package enum ByteRangeRequest: Sendable, Hashable {
    /// The bytes between two positions, both included; up to the end of the representation if the second one is
    /// missing.
    case from(Int64, through: Int64?)
    /// The given number of bytes at the end of the representation.
    case suffix(Int64)

    /// The bytes of a representation that a range selects.
    package enum Extent: Sendable, Hashable {
        case bytes(Range<Int64>)
        /// The range selects no byte of the representation.
        case unsatisfiable
        /// The entire representation, because a 206 cannot express the range: a suffix range of an empty
        /// representation.
        case everything
    }

    /// Parses the field value. Returns nil for other units, for several ranges and for malformed values, which are left
    /// to the server.
    package init?(_ text: String) {
        let bytes = text.utf8[...]
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")),
            bytes[..<equals].elementsEqual("bytes".utf8, by: { $0.asciiLowercased == $1 })
        else { return nil }
        // A list may have empty members (§5.6.1.2).
        var members = FieldElements(bytes[equals...].dropFirst())
        guard let member = members.next(), members.next() == nil, let dash = member.firstIndex(of: UInt8(ascii: "-"))
        else { return nil }
        let first = member[..<dash]
        let last = member[dash...].dropFirst()
        if first.isEmpty {
            guard let count = last.decimalNumber(overflow: .max) else { return nil }
            self = .suffix(count)
            return
        }
        guard let first = first.decimalNumber(overflow: .max) else { return nil }
        if last.isEmpty {
            self = .from(first, through: nil)
            return
        }
        guard let last = last.decimalNumber(overflow: .max), first <= last else { return nil }
        self = .from(first, through: last)
    }

    /// Returns the bytes that the range selects in a representation of `total` bytes.
    package func extent(of total: Int64) -> Extent {
        switch self {
        case .from(let first, let last):
            guard first < total else { return .unsatisfiable }
            return .bytes(first..<min(last ?? .max, total - 1) + 1)
        case .suffix(0):
            return .unsatisfiable
        case .suffix(let count):
            return total > 0 ? .bytes(max(0, total - count)..<total) : .everything
        }
    }
}

/// The value of a `Content-Range` in bytes (RFC 9110 §14.4).
package struct ContentRange: Sendable, Hashable {
    /// The bytes in the response; nil if none of the requested bytes exist, as in `bytes */100`.
    package let range: Range<Int64>?
    /// The length of the whole resource; nil if the server does not know it, as in `bytes 0-9/*`.
    package let length: Int64?

    /// Parses a field value. Nil for another unit and for invalid values: an end before the start or beyond the length,
    /// or numbers that do not fit an `Int64`.
    package init?(_ text: String) {
        let unit = "bytes "
        let bytes = text.utf8
        guard bytes.count > unit.utf8.count,
            zip(bytes, unit.utf8).allSatisfy({ $0.asciiLowercased == $1 }),
            let slash = bytes.lastIndex(of: UInt8(ascii: "/"))
        else { return nil }
        let span = bytes.dropFirst(unit.utf8.count).prefix(upTo: slash)
        let whole = bytes[bytes.index(after: slash)...]
        if whole.elementsEqual("*".utf8) {
            length = nil
        } else {
            guard let number = whole.decimalNumber() else { return nil }
            length = number
        }
        if span.elementsEqual("*".utf8) {
            if length == nil { return nil }
            range = nil
            return
        }
        guard let dash = span.firstIndex(of: UInt8(ascii: "-")), let first = span[..<dash].decimalNumber(),
            let last = span[span.index(after: dash)...].decimalNumber(), first <= last, last < length ?? .max
        else { return nil }
        range = first..<last + 1
    }
}

// MARK: - Byte ranges

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

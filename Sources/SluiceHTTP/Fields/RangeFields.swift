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

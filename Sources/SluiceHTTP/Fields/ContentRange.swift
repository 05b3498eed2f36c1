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

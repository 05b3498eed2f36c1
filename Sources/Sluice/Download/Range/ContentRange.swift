/// The value of a `Content-Range` in bytes (RFC 9110 §14.4).
struct ContentRange: Sendable, Hashable {
    /// The bytes that the response holds; nil where none of those asked for are there, `bytes */100`.
    let range: Range<Int64>?
    /// The length of the whole; nil where the server does not know it, `bytes 0-9/*`.
    let length: Int64?

    /// Reads a field's value; nil for another unit and for what is not valid: an end before the beginning or behind the
    /// length, numbers that no file has.
    init?(_ text: String) {
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
            guard let number = Self.number(whole) else { return nil }
            length = number
        }
        if span.elementsEqual("*".utf8) {
            if length == nil { return nil }
            range = nil
            return
        }
        guard let dash = span.firstIndex(of: UInt8(ascii: "-")), let first = Self.number(span[..<dash]),
            let last = Self.number(span[span.index(after: dash)...]), first <= last, last < length ?? .max
        else { return nil }
        range = first..<last + 1
    }

    /// A number of nothing but digits that an Int64 can hold.
    private static func number(_ digits: Substring.UTF8View) -> Int64? {
        guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(Substring(digits))
    }
}

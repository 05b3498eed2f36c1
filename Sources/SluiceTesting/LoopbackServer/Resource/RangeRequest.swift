import SluiceHTTP

/// The part of a resource that a `Range` field requests (RFC 9110 §14.2).
enum RangeRequest: Equatable {
    /// The whole resource: there is no `Range` field, or it is ignored.
    case whole
    /// A satisfiable range.
    case part(Range<Int>)
    /// An unsatisfiable range, answered with 416.
    case unsatisfiable

    /// Parses the value of a `Range` field.
    ///
    /// A malformed value, a unit other than bytes, or several ranges are ignored, as §14.2 allows.
    ///
    /// - Parameters:
    ///   - field: The value, or nil if there is no field.
    ///   - length: The length of the resource in bytes.
    init(_ field: String?, length: Int) {
        self = field.flatMap { RangeRequest.read($0, length: length) } ?? .whole
    }

    private static func read(_ field: String, length: Int) -> RangeRequest? {
        guard let equals = field.utf8.firstIndex(of: UInt8(ascii: "=")), field[..<equals].lowercased() == "bytes" else {
            return nil
        }
        // A list may contain empty elements (§5.6.1.2).
        let specs = field[field.utf8.index(after: equals)...].utf8.split(separator: UInt8(ascii: ",")).map(trimmed)
            .filter { !$0.isEmpty }
        guard specs.count == 1, let spec = specs.first, let dash = spec.firstIndex(of: UInt8(ascii: "-")) else {
            return nil
        }
        let (before, after) = (spec[..<dash], spec[spec.index(after: dash)...])
        if before.isEmpty { return number(after).flatMap { suffix($0, of: length) } }
        guard let first = number(before) else { return nil }
        var last = Int.max
        if !after.isEmpty {
            guard let number = number(after), number >= first else { return nil }
            last = number
        }
        guard first < length else { return .unsatisfiable }
        return .part(first..<min(last, length - 1) + 1)
    }

    /// Returns a suffix range. For an empty file, returns nil, because no `Content-Range` can describe an empty range.
    private static func suffix(_ count: Int, of length: Int) -> RangeRequest? {
        guard count > 0 else { return .unsatisfiable }
        return length > 0 ? .part(max(0, length - count)..<length) : nil
    }

    /// Parses decimal digits. A number that overflows becomes `Int.max`, which is past the end of any resource.
    private static func number(_ digits: Substring.UTF8View) -> Int? {
        guard !digits.isEmpty else { return nil }
        var number = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isTooLargeBy) = tens.addingReportingOverflow(Int(digit - UInt8(ascii: "0")))
            number = isTooLarge || isTooLargeBy ? .max : sum
        }
        return number
    }

    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        let isBlank = { (byte: UInt8) in byte == 32 || byte == 9 }
        guard let last = text.lastIndex(where: { !isBlank($0) }) else { return text.prefix(0) }
        return text[...last].drop(while: isBlank)
    }
}

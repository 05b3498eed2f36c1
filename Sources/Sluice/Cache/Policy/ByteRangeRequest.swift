import SluiceHTTP

/// The one range of bytes that a `Range` asks for (RFC 9110 §14.1.2).
enum ByteRangeRequest: Sendable, Hashable {
    /// From a byte to another, that included; without one to the end.
    case from(Int64, through: Int64?)
    /// The last so many.
    case suffix(Int64)

    /// What of a representation is meant.
    enum Extent: Sendable, Hashable {
        case bytes(Range<Int64>)
        /// It has none of these.
        case unsatisfiable
        /// All of it, where no 206 could say so: the last bytes of nothing.
        case everything
    }

    /// Reads a field's value; nil for other units, several ranges and what is malformed, which are for the server to read.
    init?(_ text: String) {
        let bytes = text.utf8[...].trimmingListSpace
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")),
            bytes[..<equals].elementsEqual("bytes".utf8, by: { $0.asciiLowercased == $1 })
        else { return nil }
        // A list may have empty members (§5.6.1.2).
        let members = bytes[equals...].dropFirst().split(separator: UInt8(ascii: ",")).map(\.trimmingListSpace)
            .filter { !$0.isEmpty }
        guard members.count == 1, let member = members.first, let dash = member.firstIndex(of: UInt8(ascii: "-")) else {
            return nil
        }
        let first = member[..<dash]
        let last = member[dash...].dropFirst()
        if first.isEmpty {
            guard let count = Self.number(last) else { return nil }
            self = .suffix(count)
            return
        }
        guard let first = Self.number(first) else { return nil }
        if last.isEmpty {
            self = .from(first, through: nil)
            return
        }
        guard let last = Self.number(last), first <= last else { return nil }
        self = .from(first, through: last)
    }

    /// What it means of a representation of a length.
    func extent(of total: Int64) -> Extent {
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

    /// A number of nothing but digits; the greatest there is for one that is greater.
    private static func number(_ digits: Substring.UTF8View) -> Int64? {
        guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(Substring(digits)) ?? .max
    }
}

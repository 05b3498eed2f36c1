/// The grammar of a `tracestate` header (W3C Trace Context §3.3.1): up to 32 members, each a key and a value.
enum TraceState {
    /// Returns true if a value is valid.
    static func isValid(_ text: String) -> Bool {
        var keys: Set<Substring> = []
        var count = 0
        for member in text.split(separator: ",", omittingEmptySubsequences: false) {
            let member = member.trimmingSpaces
            // Members may be empty, but not all of them.
            if member.isEmpty { continue }
            count += 1
            guard count <= 32, let sign = member.utf8.firstIndex(of: UInt8(ascii: "=")), isKey(member[..<sign]),
                isValue(member[sign...].dropFirst()), keys.insert(member[..<sign]).inserted
            else { return false }
        }
        return count > 0
    }

    /// Returns true for a vendor name, or a tenant and a system separated by `@`.
    private static func isKey(_ key: Substring) -> Bool {
        let parts = key.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2 else {
            return parts.count == 1 && isName(key, limit: 256, beginsWithDigit: false)
        }
        return isName(parts[0], limit: 241, beginsWithDigit: true)
            && isName(parts[1], limit: 14, beginsWithDigit: false)
    }

    private static func isName(_ name: Substring, limit: Int, beginsWithDigit: Bool) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard let first = name.utf8.first, name.utf8.count <= limit else { return false }
        guard letters.contains(first) || beginsWithDigit && digits.contains(first) else { return false }
        return name.utf8.allSatisfy { letters.contains($0) || digits.contains($0) || "_-*/".utf8.contains($0) }
    }

    /// Returns true for printable ASCII without commas and equals signs, not ending with a space.
    private static func isValue(_ value: Substring) -> Bool {
        guard let last = value.utf8.last, last != 0x20, value.utf8.count <= 256 else { return false }
        return value.utf8.allSatisfy {
            (0x20...0x7E).contains($0) && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=")
        }
    }
}

extension Substring {
    /// The text without leading and trailing spaces and tabs.
    fileprivate var trimmingSpaces: Substring {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        var text = utf8.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text = text.dropLast() }
        return Substring(text)
    }
}

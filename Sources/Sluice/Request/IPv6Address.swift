/// The text of IPv6 addresses (RFC 3986 §3.2.2, RFC 4291 §2.2).
enum IPv6Address {
    /// Whether a text without brackets and zone is an address.
    static func isValid(_ text: ArraySlice<UInt8>) -> Bool {
        let colon = UInt8(ascii: ":")
        let gap = text.indices.dropLast().first { text[$0] == colon && text[$0 + 1] == colon }
        guard let gap else { return groupCount(text, mayEndInIPv4: true) == 8 }
        // The gap stands for one group of zeros at least; a second gap would be an empty group.
        guard let before = groupCount(text[..<gap], mayEndInIPv4: false),
            let after = groupCount(text[(gap + 2)...], mayEndInIPv4: true)
        else { return false }
        return before + after <= 7
    }

    /// How many groups of 16 bits there are; nil if one is malformed.
    private static func groupCount(_ text: ArraySlice<UInt8>, mayEndInIPv4: Bool) -> Int? {
        if text.isEmpty { return 0 }
        var groups = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        var count = 0
        if mayEndInIPv4, let last = groups.last, last.contains(UInt8(ascii: ".")) {
            guard isIPv4(last) else { return nil }
            groups.removeLast()
            count = 2
        }
        return groups.allSatisfy(isGroup) ? count + groups.count : nil
    }

    private static func isGroup(_ text: ArraySlice<UInt8>) -> Bool {
        (1...4).contains(text.count) && text.allSatisfy { PercentEncoding.hexadecimal($0) != nil }
    }

    /// Four numbers to 255 without leading zeros, which some readers take for octal.
    private static func isIPv4(_ text: ArraySlice<UInt8>) -> Bool {
        let numbers = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return numbers.count == 4
            && numbers.allSatisfy { number in
                guard (1...3).contains(number.count), number.count == 1 || number.first != UInt8(ascii: "0") else {
                    return false
                }
                return number.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                    && UInt8(String(decoding: number, as: UTF8.self)) != nil
            }
    }
}

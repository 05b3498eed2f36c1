/// An IPv4 or IPv6 address.
public struct IPAddress: Sendable, Hashable, LosslessStringConvertible {
    /// The upper half of an IPv6 address; 0 for IPv4.
    let high: UInt64
    /// The lower half of an IPv6 address, or the IPv4 address.
    let low: UInt64
    package let isIPv4: Bool

    /// Creates an IPv4 address.
    public init(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) {
        self.init(version4: UInt32(a) << 24 | UInt32(b) << 16 | UInt32(c) << 8 | UInt32(d))
    }

    init(version4 bits: UInt32) {
        high = 0
        low = UInt64(bits)
        isIPv4 = true
    }

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
        isIPv4 = false
    }

    /// Creates an address from its bytes in network order.
    ///
    /// - Returns: nil for anything but 4 or 16 bytes.
    package init?(bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        let number = { (bytes: ArraySlice<UInt8>) in bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        switch bytes.count {
        case 4: self.init(version4: UInt32(truncatingIfNeeded: number(bytes[...])))
        case 16: self.init(high: number(bytes[..<8]), low: number(bytes[8...]))
        default: return nil
        }
    }

    /// Parses an address: four decimal numbers up to 255 without leading zeros, or an IPv6 form of RFC 4291 §2.2,
    /// without brackets or zone.
    ///
    /// - Returns: nil for anything else, including `127.1` and `0x7f000001`, which some parsers accept.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        if bytes.contains(UInt8(ascii: ":")) {
            guard let groups = IPAddress.groups(bytes[...]) else { return nil }
            let number = { (groups: ArraySlice<UInt16>) in groups.reduce(UInt64(0)) { $0 << 16 | UInt64($1) } }
            self.init(high: number(groups[..<4]), low: number(groups[4...]))
        } else {
            guard let bits = IPAddress.version4(bytes[...]) else { return nil }
            self.init(version4: bits)
        }
    }

    /// Parses the eight groups of an IPv6 address.
    private static func groups(_ text: ArraySlice<UInt8>) -> [UInt16]? {
        let colon = UInt8(ascii: ":")
        guard let gap = text.indices.dropLast().first(where: { text[$0] == colon && text[$0 + 1] == colon }) else {
            return groups(text, mayEndInVersion4: true).flatMap { $0.count == 8 ? $0 : nil }
        }
        // `::` stands for at least one group of zeros. A second `::` leaves an empty group, which is invalid.
        guard let before = groups(text[..<gap], mayEndInVersion4: false),
            let after = groups(text[(gap + 2)...], mayEndInVersion4: true), before.count + after.count <= 7
        else { return nil }
        return before + Array(repeating: 0, count: 8 - before.count - after.count) + after
    }

    /// Parses groups separated by colons.
    private static func groups(_ text: ArraySlice<UInt8>, mayEndInVersion4: Bool) -> [UInt16]? {
        if text.isEmpty { return [] }
        var result: [UInt16] = []
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if mayEndInVersion4, index == parts.count - 1, part.contains(UInt8(ascii: ".")) {
                guard let bits = version4(part) else { return nil }
                result += [UInt16(truncatingIfNeeded: bits >> 16), UInt16(truncatingIfNeeded: bits)]
            } else {
                guard let group = group(part) else { return nil }
                result.append(group)
            }
        }
        return result
    }

    private static func group(_ text: ArraySlice<UInt8>) -> UInt16? {
        let isSign = { (byte: UInt8) in byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") }
        guard (1...4).contains(text.count), !text.contains(where: isSign) else { return nil }
        return UInt16(String(decoding: text, as: UTF8.self), radix: 16)
    }

    private static func version4(_ text: ArraySlice<UInt8>) -> UInt32? {
        let numbers = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard numbers.count == 4 else { return nil }
        var bits: UInt32 = 0
        for number in numbers {
            // Some parsers read a leading zero as octal.
            guard (1...3).contains(number.count), number.count == 1 || number.first != UInt8(ascii: "0"),
                number.allSatisfy(\.isDigit),
                let byte = UInt8(String(decoding: number, as: UTF8.self))
            else { return nil }
            bits = bits << 8 | UInt32(byte)
        }
        return bits
    }

    /// The bytes in network order.
    package var bytes: [UInt8] {
        let eight = { (number: UInt64) in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
        }
        return isIPv4 ? Array(eight(low).suffix(4)) : eight(high) + eight(low)
    }

    /// True for 127.0.0.0/8 and its IPv4-mapped form, and for ::1.
    package var isLoopback: Bool {
        if isIPv4 { return low >> 24 == 127 }
        return high == 0 && (low == 1 || low >> 24 == 0xFFFF_7F)
    }

    /// The canonical text; RFC 5952's for IPv6.
    public var description: String {
        let bytes = bytes
        if isIPv4 { return bytes.map { String($0) }.joined(separator: ".") }
        // RFC 5952 §5: a mapped address ends in the IPv4 notation.
        if high == 0, low >> 32 == 0xFFFF {
            return "::ffff:" + bytes.suffix(4).map { String($0) }.joined(separator: ".")
        }
        let groups = stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
        var gap = 0..<0
        var start = 0
        while start < 8 {
            let end = groups[start...].firstIndex { $0 != 0 } ?? 8
            if end - start > max(1, gap.count) { gap = start..<end }
            start = max(end, start + 1)
        }
        let text = { (groups: ArraySlice<UInt16>) in groups.map { String($0, radix: 16) }.joined(separator: ":") }
        return gap.isEmpty
            ? text(groups[...]) : "\(text(groups[..<gap.lowerBound]))::\(text(groups[gap.upperBound...]))"
    }
}

// MARK: - IP network

/// A block of addresses with a common prefix, such as `10.0.0.0/8` or `fc00::/7` (RFC 4632 §3.1, RFC 4291 §2.3).
package struct IPNetwork: Sendable, Hashable, LosslessStringConvertible {
    /// The first address of the block.
    package let address: IPAddress
    /// The number of leading bits that all addresses of the block share.
    package let prefixLength: Int

    /// Creates a block. Bits of the address after the prefix are cleared. A block of IPv4-mapped addresses, unless it has
    /// all of them, is the block of their IPv4 addresses.
    ///
    /// - Returns: nil if the prefix is negative or longer than the address.
    package init?(_ address: IPAddress, prefixLength: Int) {
        guard (0...(address.isIPv4 ? 32 : 128)).contains(prefixLength) else { return nil }
        // The block of all mapped addresses does not stand for all of IPv4.
        let mapped = prefixLength > 96 ? address.mapped : nil
        self.prefixLength = mapped == nil ? prefixLength : prefixLength - 96
        self.address = (mapped ?? address).masked(to: self.prefixLength)
    }

    /// Parses `address/length`. An address alone is a block of one address.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(String(parts[0])) else { return nil }
        guard parts.count == 2 else {
            self.init(address, prefixLength: address.isIPv4 ? 32 : 128)
            return
        }
        guard let length = parts[1].utf8.decimalNumber() else { return nil }
        self.init(address, prefixLength: Int(clamping: length))
    }

    /// Returns true if the block contains an address. A block of IPv4 addresses contains their IPv4-mapped forms too. Any
    /// other address of the other IP version is never contained.
    package func contains(_ address: IPAddress) -> Bool {
        let address = self.address.isIPv4 ? address.mapped ?? address : address
        return address.isIPv4 == self.address.isIPv4 && address.masked(to: prefixLength) == self.address
    }

    /// The block as `address/length`.
    package var description: String { "\(address)/\(prefixLength)" }
}

extension IPAddress {
    fileprivate func masked(to length: Int) -> IPAddress {
        if isIPv4 {
            let mask = length == 0 ? 0 : UInt32.max << UInt32(32 - length)
            return IPAddress(version4: UInt32(truncatingIfNeeded: low) & mask)
        }
        let mask = { (bits: Int) in bits <= 0 ? UInt64(0) : bits >= 64 ? .max : UInt64.max << UInt64(64 - bits) }
        return IPAddress(high: high & mask(length), low: low & mask(length - 64))
    }
}

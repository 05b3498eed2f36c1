/// A block of addresses with a common prefix, such as `10.0.0.0/8` or `fc00::/7` (RFC 4632 §3.1, RFC 4291 §2.3).
package struct IPNetwork: Sendable, Hashable, LosslessStringConvertible {
    /// The first address of the block.
    package let address: IPAddress
    /// The number of leading bits that all addresses of the block share.
    package let prefixLength: Int

    /// Creates a block. Bits of the address after the prefix are cleared.
    ///
    /// - Returns: nil if the prefix is negative or longer than the address.
    package init?(_ address: IPAddress, prefixLength: Int) {
        guard (0...(address.isIPv4 ? 32 : 128)).contains(prefixLength) else { return nil }
        self.prefixLength = prefixLength
        self.address = address.masked(to: prefixLength)
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

    /// Returns true if the block contains an address. An address of the other IP version is never contained.
    package func contains(_ address: IPAddress) -> Bool {
        address.isIPv4 == self.address.isIPv4 && address.masked(to: prefixLength) == self.address
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

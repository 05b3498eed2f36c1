#if os(Linux)
import SluiceHTTP

/// An IP address and the zone it is valid in (RFC 4007), without a port.
package struct ScopedAddress: Sendable, Hashable {
    package let address: IPAddress
    /// The interface index of an IPv6 zone, or 0 for none.
    package let scope: UInt32

    package init(_ address: IPAddress, scope: UInt32 = 0) {
        self.address = address
        self.scope = scope
    }

    /// True for 127.0.0.0/8, ::1, and the IPv4-mapped form of the former.
    var isLoopback: Bool {
        let bytes = address.bytes
        if address.isIPv4 { return bytes.first == 127 }
        if bytes.dropLast().allSatisfy({ $0 == 0 }) { return bytes.last == 1 }
        return bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF && bytes[12] == 127
    }
}

extension [ScopedAddress] {
    /// Returns the addresses in order, without duplicates, and at most `limit` of them.
    ///
    /// A list that is too long keeps addresses of both IP versions. A version loses addresses only above half of the limit.
    func trimmed(to limit: Int) -> [ScopedAddress] {
        var seen: Set<ScopedAddress> = []
        let unique = filter { seen.insert($0).inserted }
        if unique.count <= limit { return unique }
        let version4 = unique.count { $0.address.isIPv4 }
        let version6 = unique.count - version4
        var room4 = Swift.max(limit / 2, limit - version6)
        var room6 = limit - Swift.min(room4, version4)
        return unique.filter { address in
            if address.address.isIPv4 {
                room4 -= 1
                return room4 >= 0
            }
            room6 -= 1
            return room6 >= 0
        }
    }
}
#endif

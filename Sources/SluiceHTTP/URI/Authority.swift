/// The rules for host and port (RFC 3986 §3.2), restricted to those that a request can use.
///
/// Host names must be unencoded ASCII, so that a check of the host and the connection see the same name.
package enum Authority {
    private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    /// Returns the fault of an authority, as the end of a sentence; nil if the authority is valid.
    package static func problem(in authority: String) -> String? {
        var authority = authority
        return authority.withUTF8 { problem(in: $0[...]) }
    }

    private static func problem(in bytes: Bytes) -> String? {
        if isPlain(bytes) { return nil }
        if bytes.contains(UInt8(ascii: "@")) {
            return "it contains a user name; send credentials in an Authorization header instead"
        }
        if bytes.first == UInt8(ascii: "[") { return problem(inBracketed: bytes) }
        let colon = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        if colon == 0, bytes.count < 2 || bytes[1] != UInt8(ascii: ":") { return "it has no host" }
        if bytes[colon...].dropFirst().contains(UInt8(ascii: ":")) {
            return "its host contains a colon; write an IPv6 address in brackets, as in http://[::1]:8080"
        }
        return problem(inName: bytes[..<colon]) ?? problem(inPort: bytes[colon...])
    }

    /// Returns true for a name or an IPv4 address, optionally with a port. One pass is enough for the usual authority.
    private static func isPlain(_ bytes: Bytes) -> Bool {
        let name = bytes.prefix(while: \.isUnreserved)
        return !name.isEmpty && problem(inPort: bytes[name.endIndex...]) == nil
    }

    private static func problem(inName name: Bytes) -> String? {
        if name.isEmpty { return "it has no host" }
        if name.contains(where: { $0 >= 0x80 }) {
            return
                "its host contains a character that is not ASCII; write an international name in Punycode, as in xn--…"
        }
        if name.contains(UInt8(ascii: "%")) { return "its host is percent-encoded; write it without percent-encoding" }
        // RFC 3986 also allows sub-delimiters, but no host name that can be resolved contains them.
        return name.allSatisfy(\.isUnreserved) ? nil : "its host contains a character that is not allowed in a host"
    }

    private static func problem(inBracketed bytes: Bytes) -> String? {
        guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")) else {
            return "its IPv6 address is not closed with “]”"
        }
        var address = bytes[1..<bracket]
        if let percent = address.firstIndex(of: UInt8(ascii: "%")) {
            let zone = address[percent...]
            // A zone has at most 15 bytes, the limit for interface names on Linux.
            guard zone.starts(with: "%25".utf8), (4...18).contains(zone.count),
                zone.dropFirst(3).allSatisfy(\.isUnreserved)
            else {
                return "its IPv6 address has a zone that is not valid; write it as in [fe80::1%25eth0]"
            }
            address = address[..<percent]
        }
        if IPAddress(String(decoding: address, as: UTF8.self))?.isIPv4 != false {
            return "its brackets do not contain an IPv6 address"
        }
        return problem(inPort: bytes[(bracket + 1)...])
    }

    /// Checks a port with its colon. The text may be empty.
    private static func problem(inPort text: Bytes) -> String? {
        if text.isEmpty { return nil }
        guard text.first == UInt8(ascii: ":"), let port = text.dropFirst().decimalNumber(), (1...65535).contains(port)
        else { return "its port is not a number from 1 to 65535" }
        return nil
    }
}

extension UInt8 {
    /// True if the byte is an unreserved character, allowed anywhere in a URL (RFC 3986 §2.3).
    @inlinable package var isUnreserved: Bool {
        // One bit for each ASCII character: digits, letters and "-._~".
        let bits: UInt64 = self < 64 ? 0x03FF_6000_0000_0000 : 0x47FF_FFFE_87FF_FFFE
        return self < 128 && bits >> UInt64(self & 63) & 1 == 1
    }
}

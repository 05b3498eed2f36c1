#if os(Linux)
import Glibc
import SluiceHTTP

/// A host from a URL, without brackets, parsed as an address or as a name to look up.
enum LookupTarget: Hashable {
    case address(ScopedAddress)
    case name(LookupName)
    /// A text that cannot be looked up: empty, too long, or with a character that would end or change the name.
    case invalid

    /// The maximum length of a name in bytes (RFC 1035 §2.3.4).
    private static var maximumLength: Int { 255 }

    /// Parses a host.
    ///
    /// - Parameters:
    ///   - host: A name, an IPv4 address, or an IPv6 address with or without a zone. The delimiter of the zone is `%` (RFC 4007 §11) or
    ///     `%25` (RFC 6874). Other forms of IPv4 addresses, such as `127.1`, are names, which the system's resolver understands.
    ///   - interfaceIndex: Returns the index of an interface for its name, or 0 for none.
    init(_ host: String, interfaceIndex: (String) -> UInt32 = { if_nametoindex($0) }) {
        let bytes = host.utf8
        guard (1...LookupTarget.maximumLength).contains(bytes.count), !bytes.contains(0) else {
            self = .invalid
            return
        }
        if bytes.contains(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "%") }) {
            self = LookupTarget.zoned(host, interfaceIndex).map { .address($0) } ?? .invalid
            return
        }
        let name = bytes.last == UInt8(ascii: ".") ? String(host.dropLast()) : host
        if let address = IPAddress(name) {
            self = .address(ScopedAddress(address))
        } else {
            self = name.isEmpty ? .invalid : .name(LookupName(key: name, text: host))
        }
    }

    /// Parses an IPv6 address with or without a zone.
    private static func zoned(_ host: String, _ interfaceIndex: (String) -> UInt32) -> ScopedAddress? {
        let parts = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let text = parts.first, let address = IPAddress(String(text)), !address.isIPv4 else { return nil }
        guard parts.count == 2 else { return ScopedAddress(address) }
        var zone = parts[1]
        if zone.utf8.count > 2, zone.hasPrefix("25") { zone = zone.dropFirst(2) }
        guard !zone.isEmpty else { return nil }
        let index = interfaceIndex(String(zone))
        if index > 0 { return ScopedAddress(address, scope: index) }
        guard zone.utf8.allSatisfy(\.isDigit), let number = UInt32(zone) else { return nil }
        return ScopedAddress(address, scope: number)
    }
}

/// A name to look up.
struct LookupName: Hashable {
    /// The name that equal look-ups share: lower-case ASCII letters, no trailing dot.
    let key: String
    /// The name for the system's resolver. A trailing dot prevents the use of the search list.
    let text: String

    /// Creates the look-up of a name. A name below `.localhost` becomes `localhost` (RFC 6761 §6.3).
    fileprivate init(key: String, text: String) {
        // Only ASCII letters are lower-cased: Unicode would convert other letters (U+212A) into ASCII.
        let lowercased = String(decoding: key.utf8.map(\.asciiLowercased), as: UTF8.self)
        let isLocal = HostPattern.isLocalhost(lowercased)
        self.key = isLocal ? LookupName.localhost : lowercased
        self.text = isLocal ? LookupName.localhost : text
    }

    private static var localhost: String { "localhost" }
    private static let loopbacks = [
        ScopedAddress(IPAddress(bytes: Array(repeating: 0, count: 15) + [1]) ?? IPAddress(127, 0, 0, 1)),
        ScopedAddress(IPAddress(127, 0, 0, 1)),
    ]
    private static var maximumAddresses: Int { 32 }

    /// Returns the final answer for the name from the system's result: without duplicates and with at most 32 addresses.
    ///
    /// `localhost` resolves to loopback addresses only, even if the system does not know it (RFC 6761 §6.3).
    func answer(from result: Result<[ScopedAddress], Resolver.Failure>) -> Result<[ScopedAddress], Resolver.Failure> {
        if key == LookupName.localhost {
            guard case .success(let addresses) = result, !addresses.isEmpty, addresses.allSatisfy(\.address.isLoopback)
            else {
                return .success(LookupName.loopbacks)
            }
        }
        return result.flatMap { addresses in
            addresses.isEmpty ? .failure(.notFound) : .success(addresses.trimmed(to: LookupName.maximumAddresses))
        }
    }
}
#endif

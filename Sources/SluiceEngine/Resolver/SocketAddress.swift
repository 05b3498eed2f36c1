#if os(Linux)
import SluiceHTTP
import SluiceLibc

/// An IP address and a port, to connect a socket to.
package struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
    package let address: IPAddress
    package let port: UInt16
    /// The interface index of an IPv6 zone (RFC 4007), or 0 for none.
    package let scope: UInt32

    package init(address: IPAddress, port: UInt16, scope: UInt32 = 0) {
        self.address = address
        self.port = port
        self.scope = scope
    }

    init(_ address: ScopedAddress, port: UInt16) {
        self.init(address: address.address, port: port, scope: address.scope)
    }

    /// Creates an address from a socket address structure.
    ///
    /// - Returns: Nil for another address family, or for a structure that is too short.
    package init?(_ pointer: UnsafePointer<sockaddr>, length: socklen_t) {
        let raw = UnsafeRawPointer(pointer)
        let family = MemoryLayout<sa_family_t>.size
        guard length >= family else { return nil }
        let bytes: [UInt8]
        switch Int32(raw.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
            var socket = raw.loadUnaligned(as: sockaddr_in.self)
            bytes = withUnsafeBytes(of: &socket.sin_addr) { Array($0) }
            port = UInt16(bigEndian: socket.sin_port)
            scope = 0
        case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
            var socket = raw.loadUnaligned(as: sockaddr_in6.self)
            bytes = withUnsafeBytes(of: &socket.sin6_addr) { Array($0) }
            port = UInt16(bigEndian: socket.sin6_port)
            scope = socket.sin6_scope_id
        default: return nil
        }
        guard let address = IPAddress(bytes: bytes) else { return nil }
        self.address = address
    }

    /// `AF_INET` or `AF_INET6`, as socket(2) takes it.
    package var family: Int32 { address.isIPv4 ? AF_INET : AF_INET6 }

    /// Calls a closure with the address in the form for connect(2). The pointer is valid during the call only.
    package func withSockaddr<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        if address.isIPv4 {
            var socket = sockaddr_in()
            socket.sin_family = sa_family_t(AF_INET)
            socket.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &socket.sin_addr) { $0.copyBytes(from: address.bytes) }
            return SocketAddress.with(socket, body)
        }
        var socket = sockaddr_in6()
        socket.sin6_family = sa_family_t(AF_INET6)
        socket.sin6_port = port.bigEndian
        socket.sin6_scope_id = scope
        withUnsafeMutableBytes(of: &socket.sin6_addr) { $0.copyBytes(from: address.bytes) }
        return SocketAddress.with(socket, body)
    }

    private static func with<Socket, R>(_ socket: Socket, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        withUnsafePointer(to: socket) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<Socket>.size))
            }
        }
    }

    /// The address as `127.0.0.1:80` or `[::1]:80`, without the zone, which is meaningless on other hosts.
    package var description: String {
        address.isIPv4 ? "\(address):\(port)" : "[\(address)]:\(port)"
    }
}

/// An IP address and the zone it is valid in (RFC 4007), without a port.
package struct ScopedAddress: Sendable, Hashable {
    package let address: IPAddress
    /// The interface index of an IPv6 zone, or 0 for none.
    package let scope: UInt32

    package init(_ address: IPAddress, scope: UInt32 = 0) {
        self.address = address
        self.scope = scope
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

// MARK: - Look-up target

/// A host from a URL, without brackets, parsed as an address or as a name to look up.
enum LookupTarget: Hashable {
    case address(ScopedAddress)
    case name(LookupName)
    /// A text that cannot be looked up: empty, too long, below `.invalid`, or with a character that would end or change the name.
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
            self = name.isEmpty || LookupTarget.neverExists(name) ? .invalid : .name(LookupName(name, text: host))
        }
    }

    /// Returns true for a name that no name server may know, which need not be asked (RFC 6761 §6.4).
    private static func neverExists(_ name: String) -> Bool {
        name.utf8.suffix(8).map(\.asciiLowercased).elementsEqual(".invalid".utf8)
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
    /// The name that equal look-ups share: lower-case ASCII letters.
    let key: String
    /// The name for the system's resolver. A trailing dot prevents the use of the search list.
    let text: String

    /// Creates the look-up of a name. A name below `.localhost` becomes `localhost` (RFC 6761 §6.3).
    ///
    /// - Parameters:
    ///   - name: The name without a trailing dot.
    ///   - text: The name with a trailing dot if it has one, which makes it another name.
    fileprivate init(_ name: String, text: String) {
        // Only ASCII letters are lower-cased: Unicode would convert other letters (U+212A) into ASCII.
        func lowercased(_ text: String) -> String { String(decoding: text.utf8.map(\.asciiLowercased), as: UTF8.self) }
        let isLocal = HostPattern.isLocalhost(lowercased(name))
        key = isLocal ? LookupName.localhost : lowercased(text)
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

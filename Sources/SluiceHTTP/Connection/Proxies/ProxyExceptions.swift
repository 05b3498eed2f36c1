/// The hosts reached without a proxy, as listed in the variable `NO_PROXY`, separated by commas or spaces.
///
/// | entry | |
/// |---|---|
/// | `*` | everything |
/// | `example.com`, `.example.com` | that host and all below it |
/// | `192.0.2.1`, `2001:db8::1` | that address, where a URL has it; names are not resolved |
/// | `10.0.0.0/8`, `fd00::/8` | all addresses of the block |
/// | `example.com:8080`, `[2001:db8::1]:8080` | of these, that port only |
///
/// Any other entry is ignored.
public struct ProxyExceptions: Sendable, Hashable {
    private enum Place: Sendable, Hashable {
        case all
        /// A host and all hosts below it, without a leading dot.
        case name(String)
        case network(IPNetwork)
    }

    private struct Entry: Sendable, Hashable {
        let place: Place
        let port: Int?
    }

    private let entries: [Entry]

    /// Parses a list.
    public init(_ text: String) {
        entries = text.split { $0 == "," || $0.isWhitespace }.compactMap { ProxyExceptions.entry(String($0)) }
    }

    /// Returns true if a host is reached without a proxy.
    ///
    /// - Parameters:
    ///   - host: A name, or an address with or without brackets.
    ///   - port: The port of the request.
    /// - Returns: True if an entry matches both.
    public func contains(_ host: String, port: Int) -> Bool {
        if entries.isEmpty { return false }
        let host = HostPattern.normalized(host)
        let address = IPAddress(host)
        return entries.contains { entry in
            if let only = entry.port, only != port { return false }
            switch entry.place {
            case .all: return true
            case .name(let name):
                return address == nil && host.hasSuffix(name)
                    && (host.utf8.count == name.utf8.count
                        || host.utf8.dropLast(name.utf8.count).last == UInt8(ascii: "."))
            case .network(let network): return address.map(network.contains) ?? false
            }
        }
    }

    private static func entry(_ text: String) -> Entry? {
        // Checked before ports, since an IPv6 address without brackets contains colons.
        if let network = IPNetwork(text) { return Entry(place: .network(network), port: nil) }
        var host = text[...]
        var port: Int?
        if text.utf8.first == UInt8(ascii: "[") {
            guard let end = text.utf8.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            host = text[..<end].dropFirst()
            let rest = text[end...].dropFirst()
            if !rest.isEmpty {
                guard rest.utf8.first == UInt8(ascii: ":"), let number = Int(rest.dropFirst()) else { return nil }
                port = number
            }
        } else if let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) {
            guard let number = Int(text[colon...].dropFirst()) else { return nil }
            host = text[..<colon]
            port = number
        }
        if host == "*" { return Entry(place: .all, port: port) }
        if let network = IPNetwork(String(host)) { return Entry(place: .network(network), port: port) }
        if host.hasPrefix("*.") { host.removeFirst() }
        if host.hasPrefix(".") { host.removeFirst() }
        let name = HostPattern.normalized(String(host))
        guard !name.isEmpty, !name.utf8.contains(where: { "*/:[]".utf8.contains($0) }) else { return nil }
        return Entry(place: .name(name), port: port)
    }
}

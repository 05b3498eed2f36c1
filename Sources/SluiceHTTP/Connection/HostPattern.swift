/// A pattern that matches one host, all hosts below a domain, or all hosts.
///
/// ```swift
/// $0.connection.tlsByHost["*.internal.example"] = TLSConfiguration(trust: .only(.file("internal-ca.pem")))
/// ```
///
/// `api.example` matches that host only. `*.example` matches every host below `example` at any depth, but not `example`
/// itself. `*` matches all hosts. Matching ignores case and a trailing dot. An address matches itself; write an IPv6
/// address without brackets. A pattern has no port. Write a name in another script in its ASCII form, as in requests:
/// `xn--bcher-kva.example`.
public struct HostPattern: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    private enum Form: Sendable, Hashable {
        case all
        case host(String)
        /// The suffix of matching names, including its leading dot.
        case below(String)
    }

    private let form: Form

    /// Creates a pattern from its text.
    public init(_ text: String) {
        let name = HostPattern.normalized(text)
        if name == "*" {
            form = .all
        } else if name.hasPrefix("*.") {
            form = .below(String(name.dropFirst()))
        } else {
            form = .host(IPAddress(name)?.description ?? name)
        }
    }

    /// Creates a pattern from a string literal.
    public init(stringLiteral text: String) {
        self.init(text)
    }

    /// Returns true if the pattern matches a host.
    ///
    /// - Parameter host: A name, or an address with or without brackets; no port.
    /// - Returns: True if the host matches.
    package func matches(_ host: String) -> Bool {
        matches(normalized: HostPattern.normalized(host))
    }

    func matches(normalized host: String) -> Bool {
        switch form {
        case .all: true
        case .host(let name): name == host
        case .below(let suffix): host.utf8.count > suffix.utf8.count && host.hasSuffix(suffix)
        }
    }

    /// The specificity of the pattern. If several patterns match, the one with the highest value applies.
    var precision: Int {
        switch form {
        case .all: 0
        case .below(let suffix): suffix.utf8.count
        case .host: Int.max
        }
    }

    /// Returns the value of the most specific pattern of a table that matches a host; nil if none matches.
    ///
    /// - Parameters:
    ///   - host: A host as ``normalized(_:)`` returns it.
    ///   - table: The values by pattern.
    /// - Returns: The value.
    package static func value<Value>(for host: String, in table: [HostPattern: Value]) -> Value? {
        if table.isEmpty { return nil }
        return table.filter { $0.key.matches(normalized: host) }.max { $0.key.precision < $1.key.precision }?.value
    }

    /// Returns a host in the form used for comparison: lowercase, without brackets, zone or trailing dot, addresses in
    /// canonical form, IPv4-mapped addresses as IPv4.
    package static func normalized(_ host: String) -> String {
        var name = host.utf8.contains { $0 != $0.asciiLowercased } ? host.lowercased() : host
        if name.utf8.first == UInt8(ascii: "[") {
            name = String(name.dropFirst().prefix { $0 != "]" })
        }
        if name.utf8.contains(UInt8(ascii: ":")) { name = String(name.prefix { $0 != "%" }) }
        if name.utf8.last == UInt8(ascii: ".") { name.removeLast() }
        guard let address = IPAddress(name) else { return name }
        return (address.mapped ?? address).description
    }

    /// Returns true for the names of this machine: `localhost` and its subdomains (RFC 6761 §6.3).
    ///
    /// - Parameter name: A name in lowercase without a trailing dot.
    /// - Returns: True if the name is one of them.
    package static func isLocalhost(_ name: String) -> Bool {
        name == "localhost" || name.hasSuffix(".localhost")
    }

    /// Returns true if a normalized host is on this machine: its names, 127.0.0.0/8 and ::1.
    package static func isLoopback(normalized host: String) -> Bool {
        if isLocalhost(host) { return true }
        // Most hosts are names, and the check allocates nothing.
        guard host.hasPrefix("127.") || host.utf8.contains(UInt8(ascii: ":")) else { return false }
        return IPAddress(host)?.isLoopback == true
    }

    /// Returns true if a host ends in a number but is not a canonical address, such as `127.1` or `0x7f000001`, which
    /// resolvers read as addresses.
    static func isDisguisedAddress(_ host: String) -> Bool {
        guard IPAddress(host) == nil, let last = host.split(separator: ".").last else { return false }
        let digits = last.hasPrefix("0x") ? last.dropFirst(2) : last[...]
        return digits.allSatisfy(\.isHexDigit) && (last.hasPrefix("0x") || digits.allSatisfy(\.isNumber))
    }

    /// The pattern's text.
    public var description: String {
        switch form {
        case .all: "*"
        case .host(let name): name
        case .below(let suffix): "*\(suffix)"
        }
    }
}

/// Rules for the host names that requests may go to. They apply to redirect targets too.
///
/// ```swift
/// $0.connection.hosts = HostRules(allowing: ["api.example", "*.cdn.example"])
/// $0.connection.hosts.denied = ["legacy.cdn.example"]
/// ```
///
/// A request to any other host fails with ``SluiceError/Code/hostRefused`` before anything is sent. To restrict the
/// addresses that names resolve to, use ``AddressPolicy``.
public struct HostRules: Sendable, Hashable {
    /// The hosts that are allowed; nil, the default, allows all.
    public var allowed: [HostPattern]?
    /// The hosts that are denied even if ``allowed`` contains them; none by default.
    public var denied: [HostPattern]

    /// Creates rules.
    public init(allowing allowed: [HostPattern]? = nil, denying denied: [HostPattern] = []) {
        self.allowed = allowed
        self.denied = denied
    }

    /// Rules that allow every host.
    public static let all = HostRules()

    /// Returns true if requests may go to a host.
    ///
    /// - Parameter host: A name, or an address with or without brackets; no port.
    /// - Returns: True if the host is allowed and not denied.
    package func allows(_ host: String) -> Bool {
        if self == .all { return true }
        let host = HostPattern.normalized(host)
        // No pattern can match the address that a resolver would read from such a name.
        if HostPattern.isDisguisedAddress(host) { return false }
        if denied.contains(where: { $0.matches(normalized: host) }) { return false }
        return allowed?.contains { $0.matches(normalized: host) } ?? true
    }
}

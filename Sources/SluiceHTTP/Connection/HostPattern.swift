/// A name of a host, or of all hosts below it.
///
/// ```swift
/// $0.connection.tlsByHost["*.internal.example"] = TLSConfiguration(trust: .only(.file("internal-ca.pem")))
/// ```
///
/// `api.example` stands for that host alone, `*.example` for every host below `example` however deep and not for `example`
/// itself, and `*` for all. Letters are compared without regard to case, and a dot at the end makes no difference. An address stands
/// for itself; an IPv6 address is written without brackets.
public struct HostPattern: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    private enum Form: Sendable, Hashable {
        case all
        case host(String)
        /// What the names end with, its dot included.
        case below(String)
    }

    private let form: Form

    /// Makes a pattern of its text.
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

    /// Makes a pattern of its text.
    public init(stringLiteral text: String) {
        self.init(text)
    }

    /// Whether the pattern is for a host.
    ///
    /// - Parameter host: A name, or an address with or without brackets; no port.
    /// - Returns: Whether it is among those that the pattern stands for.
    public func matches(_ host: String) -> Bool {
        matches(normalized: HostPattern.normalized(host))
    }

    func matches(normalized host: String) -> Bool {
        switch form {
        case .all: true
        case .host(let name): name == host
        case .below(let suffix): host.utf8.count > suffix.utf8.count && host.hasSuffix(suffix)
        }
    }

    /// How narrow it is: of several that match, the one with the highest is meant.
    var precision: Int {
        switch form {
        case .all: 0
        case .below(let suffix): suffix.utf8.count
        case .host: Int.max
        }
    }

    /// A host as patterns are compared with it: in small letters, without brackets, zone and the root's dot, addresses in their usual form.
    static func normalized(_ host: String) -> String {
        var name = host.utf8.contains { $0 != $0.asciiLowercased } ? host.lowercased() : host
        if name.utf8.first == UInt8(ascii: "[") {
            name = String(name.dropFirst().prefix { $0 != "]" })
        }
        if name.utf8.contains(UInt8(ascii: ":")) { name = String(name.prefix { $0 != "%" }) }
        if name.utf8.last == UInt8(ascii: ".") { name.removeLast() }
        guard let address = IPAddress(name) else { return name }
        return (address.mapped ?? address).description
    }

    /// Whether a host ends in a number and is yet no address as they are written: `127.1`, `0x7f000001`, which resolvers read as one.
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

extension HTTPOrigin {
    /// The host without brackets and port.
    public var host: String {
        if authority.utf8.first == UInt8(ascii: "[") {
            return String(authority.dropFirst().prefix { $0 != "]" })
        }
        return String(authority.prefix { $0 != ":" })
    }

    /// The port, the scheme's own where none is written.
    public var port: Int {
        let rest = authority.utf8.first == UInt8(ascii: "[") ? authority.drop { $0 != "]" }.dropFirst() : authority[...]
        let digits = rest.drop { $0 != ":" }.dropFirst()
        return Int(digits) ?? (scheme == "https" ? 443 : 80)
    }
}

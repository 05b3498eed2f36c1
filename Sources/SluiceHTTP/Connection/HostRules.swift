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
    public func allows(_ host: String) -> Bool {
        if self == .all { return true }
        let host = HostPattern.normalized(host)
        // No pattern can match the address that a resolver would read from such a name.
        if HostPattern.isDisguisedAddress(host) { return false }
        if denied.contains(where: { $0.matches(normalized: host) }) { return false }
        return allowed?.contains { $0.matches(normalized: host) } ?? true
    }
}

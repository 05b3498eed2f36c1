/// Which hosts requests may go to, by name: a redirect's target is judged as the first host is.
///
/// ```swift
/// $0.connection.hosts = HostRules(allowing: ["api.example", "*.cdn.example"])
/// $0.connection.hosts.denied = ["legacy.cdn.example"]
/// ```
///
/// A request to another fails with ``SluiceError/Code/hostRefused`` before anything is sent. What a name leads to is judged by
/// ``AddressPolicy``.
public struct HostRules: Sendable, Hashable {
    /// The hosts that are allowed; nil, the default, for all.
    public var allowed: [HostPattern]?
    /// The hosts that are not, whatever is allowed; none by default.
    public var denied: [HostPattern]

    /// Makes rules.
    public init(allowing allowed: [HostPattern]? = nil, denying denied: [HostPattern] = []) {
        self.allowed = allowed
        self.denied = denied
    }

    /// Every host.
    public static let all = HostRules()

    /// Whether a host may be asked.
    ///
    /// - Parameter host: A name, or an address with or without brackets; no port.
    /// - Returns: Whether it is allowed and not denied.
    public func allows(_ host: String) -> Bool {
        if self == .all { return true }
        let host = HostPattern.normalized(host)
        // No pattern could tell which.
        if HostPattern.isDisguisedAddress(host) { return false }
        if denied.contains(where: { $0.matches(normalized: host) }) { return false }
        return allowed?.contains { $0.matches(normalized: host) } ?? true
    }
}

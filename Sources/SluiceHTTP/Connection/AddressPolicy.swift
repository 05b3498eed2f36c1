/// The IP addresses that requests may connect to, independent of host names.
///
/// A server that fetches URLs supplied by its users must not let them reach its own network:
///
/// ```swift
/// let fetcher = APIClient { $0.connection.addresses = .publicOnly }
/// ```
///
/// The policy applies to the resolved address of every new and every reused connection, so redirects and names that
/// later resolve to another address are covered too. If a name has several addresses, refused ones are skipped. If none
/// is left, the request fails with ``SluiceError/Code/addressRefused`` before a byte is sent.
///
/// A proxy resolves names itself, and the client cannot check the result. With a policy, a request that would use a
/// proxy fails with the same code.
public struct AddressPolicy: Sendable, Hashable {
    private let allowsPublicOnly: Bool
    private var allowedNetworks: [IPNetwork] = []
    private var deniedNetworks: [IPNetwork] = []

    private init(allowsPublicOnly: Bool) {
        self.allowsPublicOnly = allowsPublicOnly
    }

    /// Allows every address: the default.
    public static let any = AddressPolicy(allowsPublicOnly: false)
    /// Allows public Internet addresses only. Refuses loopback, private, link-local, multicast, reserved and cloud
    /// metadata addresses.
    public static let publicOnly = AddressPolicy(allowsPublicOnly: true)

    /// Returns a copy that also allows some blocks: `try .publicOnly.allowing("10.1.0.0/16")`.
    ///
    /// - Parameter networks: Blocks of addresses with a common prefix, such as `10.0.0.0/8` or `fc00::/7` (RFC 4632 §3.1,
    ///   RFC 4291 §2.3). An address without a prefix length is a block of one address. A block of IPv4-mapped
    ///   addresses, such as `::ffff:10.0.0.0/104`, stands for the block of their IPv4 addresses, here `10.0.0.0/8`. The
    ///   block of all mapped addresses, `::ffff:0:0/96`, does not stand for all IPv4 addresses.
    /// - Returns: A policy.
    /// - Throws: ``SluiceError/Code/invalidConfiguration`` for a text that is not a block.
    public func allowing(_ networks: String...) throws(SluiceError) -> AddressPolicy {
        var policy = self
        policy.allowedNetworks += try AddressPolicy.networks(networks)
        return policy
    }

    /// Returns a copy that refuses some blocks, even if other rules allow them.
    ///
    /// - Parameter networks: Blocks in the format of ``allowing(_:)``.
    /// - Returns: A policy.
    /// - Throws: ``SluiceError/Code/invalidConfiguration`` for a text that is not a block.
    public func denying(_ networks: String...) throws(SluiceError) -> AddressPolicy {
        var policy = self
        policy.deniedNetworks += try AddressPolicy.networks(networks)
        return policy
    }

    private static func networks(_ texts: [String]) throws(SluiceError) -> [IPNetwork] {
        var networks: [IPNetwork] = []
        for text in texts {
            guard let network = IPNetwork(text) else {
                throw SluiceError(
                    .invalidConfiguration,
                    "“\(text)” is not a block of IP addresses. Write it as 10.0.0.0/8 or fc00::/7.",
                    step: .building
                )
            }
            networks.append(network)
        }
        return networks
    }

    /// Returns true if an address may be connected to.
    ///
    /// For an IPv6 address that embeds an IPv4 address, the listed blocks are compared with both.
    public func allows(_ address: IPAddress) -> Bool {
        if self == .any { return true }
        let addresses = [address] + (address.embedded.map { [$0] } ?? [])
        let isListed = { (networks: [IPNetwork]) in networks.contains { addresses.contains(where: $0.contains) } }
        if isListed(deniedNetworks) { return false }
        return !allowsPublicOnly || address.isPublic || isListed(allowedNetworks)
    }
}

extension IPAddress {
    /// True for an address of any host on the Internet, by IANA's registries of special-purpose addresses (RFC 6890) and of
    /// multicast addresses. Cloud metadata services, which hand out credentials, are not public.
    ///
    /// An IPv6 address that embeds an IPv4 address, mapped (RFC 4291 §2.5.5.2), translated (RFC 6052) or by 6to4
    /// (RFC 3056), is public if the embedded address is.
    package var isPublic: Bool {
        if let embedded { return embedded.isPublic }
        // Only 2000::/3 is assigned as global unicast (RFC 4291 §2.4).
        return (isIPv4 || high >> 61 == 0b001) && !IPAddress.special.contains { $0.contains(self) }
    }

    /// The embedded IPv4 address; nil if there is none.
    var embedded: IPAddress? {
        if isIPv4 { return nil }
        if high == 0, low >> 32 == 0xFFFF || low >> 32 == 0 && low > 1 {
            return IPAddress(version4: UInt32(truncatingIfNeeded: low))
        }
        if high == 0x0064_FF9B_0000_0000, low >> 32 == 0 {
            return IPAddress(version4: UInt32(truncatingIfNeeded: low))
        }
        if high >> 48 == 0x2002 { return IPAddress(version4: UInt32(truncatingIfNeeded: high >> 16)) }
        return nil
    }

    /// The IPv4 address that an IPv4-mapped IPv6 address stands for (RFC 4291 §2.5.5.2); nil for other addresses.
    package var mapped: IPAddress? {
        if isIPv4 || high != 0 || low >> 32 != 0xFFFF { return nil }
        return IPAddress(version4: UInt32(truncatingIfNeeded: low))
    }

    /// The blocks that are not public.
    private static let special: [IPNetwork] = [
        // This computer, and the unspecified address, which also connects to this computer.
        "127.0.0.0/8", "0.0.0.0/8",
        // Private networks (RFC 1918), and carriers' shared addresses (RFC 6598).
        "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10",
        // The local link (RFC 3927).
        "169.254.0.0/16",
        // Multicast and broadcast.
        "224.0.0.0/4", "255.255.255.255/32",
        // Reserved for documentation, benchmarks, protocols and future use.
        "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "240.0.0.0/4", "2001::/23", "2001:db8::/32", "3fff::/20",
        // The metadata service of Azure, a global address. Those of other clouds are in the blocks above or outside 2000::/3.
        "168.63.129.16/32",
    ].compactMap { IPNetwork($0) }
}

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
    /// The purposes whose addresses are refused.
    private let refused: Set<AddressPurpose>
    private var allowedNetworks: [IPNetwork] = []
    private var deniedNetworks: [IPNetwork] = []

    private init(refused: Set<AddressPurpose>) {
        self.refused = refused
    }

    /// Allows every address: the default.
    public static let any = AddressPolicy(refused: [])
    /// Allows public Internet addresses only. Refuses loopback, private, link-local, multicast, reserved and cloud
    /// metadata addresses.
    public static let publicOnly = AddressPolicy(refused: Set(AddressPurpose.allCases).subtracting([.global]))

    /// Returns a copy that also allows some blocks: `try .publicOnly.allowing("10.1.0.0/16")`.
    ///
    /// - Parameter networks: Blocks in the format of ``IPNetwork``.
    /// - Returns: A policy.
    /// - Throws: ``SluiceError/Code/invalidConfiguration`` for a text that is not a block.
    public func allowing(_ networks: String...) throws(SluiceError) -> AddressPolicy {
        var policy = self
        policy.allowedNetworks += try AddressPolicy.networks(networks)
        return policy
    }

    /// Returns a copy that refuses some blocks, even if other rules allow them.
    ///
    /// - Parameter networks: Blocks in the format of ``IPNetwork``.
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
                    "“\(text)” is no block of addresses; write one as 10.0.0.0/8 or fc00::/7.",
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
        let forms = [address] + (address.embedded.map { [$0] } ?? [])
        let isListed = { (networks: [IPNetwork]) in networks.contains { forms.contains(where: $0.contains) } }
        if isListed(deniedNetworks) { return false }
        return !refused.contains(address.purpose) || isListed(allowedNetworks)
    }
}

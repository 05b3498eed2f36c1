/// Which addresses requests may connect to, whatever names lead there.
///
/// A server that fetches what its users name must not fetch from its own network for them:
///
/// ```swift
/// let fetcher = APIClient { $0.connection.addresses = .publicOnly }
/// ```
///
/// Judged is the address that is connected to, after the name was resolved, for every connection that is made and every one that is used
/// again, so of every redirect too; a name that leads elsewhere the second time gains nothing. Of several addresses of a name those that
/// are refused are passed over. Where none is left the request fails with ``SluiceError/Code/addressRefused`` before a byte is sent.
///
/// A proxy resolves names itself, out of sight: with a policy, a request that would go by one fails with the same code.
public struct AddressPolicy: Sendable, Hashable {
    /// Purposes that are refused.
    private let refused: Set<AddressPurpose>
    private var allowedNetworks: [IPNetwork] = []
    private var deniedNetworks: [IPNetwork] = []

    private init(refused: Set<AddressPurpose>) {
        self.refused = refused
    }

    /// Every address: the default.
    public static let any = AddressPolicy(refused: [])
    /// Addresses of the Internet at large: not loopback, private, link-local, multicast, reserved ones, nor those of clouds' metadata.
    public static let publicOnly = AddressPolicy(refused: Set(AddressPurpose.allCases).subtracting([.global]))

    /// The same, with some blocks allowed that are not: `try .publicOnly.allowing("10.1.0.0/16")`.
    ///
    /// - Parameter networks: Blocks as ``IPNetwork`` reads them.
    /// - Returns: A policy.
    /// - Throws: ``SluiceError/Code/invalidConfiguration`` for a text that is none.
    public func allowing(_ networks: String...) throws(SluiceError) -> AddressPolicy {
        var policy = self
        policy.allowedNetworks += try AddressPolicy.networks(networks)
        return policy
    }

    /// The same, with some blocks refused, whatever else is allowed.
    ///
    /// - Parameter networks: Blocks as ``IPNetwork`` reads them.
    /// - Returns: A policy.
    /// - Throws: ``SluiceError/Code/invalidConfiguration`` for a text that is none.
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

    /// Whether an address may be connected to. One of version 6 that stands for one of version 4 must be allowed as either.
    public func allows(_ address: IPAddress) -> Bool {
        if self == .any { return true }
        let forms = [address] + (address.embedded.map { [$0] } ?? [])
        let isListed = { (networks: [IPNetwork]) in networks.contains { forms.contains(where: $0.contains) } }
        if isListed(deniedNetworks) { return false }
        return !refused.contains(address.purpose) || isListed(allowedNetworks)
    }
}

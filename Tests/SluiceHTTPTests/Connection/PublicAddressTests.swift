import SluiceHTTP
import Testing

@Suite struct PublicAddressTests {
    private struct Block: Sendable {
        let network: IPNetwork
        let isPublic: Bool
    }

    /// The IANA registries of special-purpose and multicast addresses, and the metadata addresses of cloud providers.
    private static let registry: [(String, Bool)] = [
        ("0.0.0.0/8", false), ("10.0.0.0/8", false), ("100.64.0.0/10", false), ("127.0.0.0/8", false),
        ("169.254.0.0/16", false), ("172.16.0.0/12", false), ("192.0.0.0/24", false),
        ("192.0.2.0/24", false), ("192.88.99.0/24", false), ("192.168.0.0/16", false),
        ("198.18.0.0/15", false), ("198.51.100.0/24", false), ("203.0.113.0/24", false),
        ("224.0.0.0/4", false), ("240.0.0.0/4", false), ("255.255.255.255/32", false),
        ("169.254.169.254/32", false), ("169.254.170.2/32", false), ("169.254.170.23/32", false),
        ("100.100.100.200/32", false), ("168.63.129.16/32", false), ("192.0.0.192/32", false),
        ("2000::/3", true), ("64:ff9b:1::/48", false), ("100::/64", false), ("2001::/23", false),
        ("2001:db8::/32", false), ("3fff::/20", false), ("5f00::/16", false), ("fc00::/7", false),
        ("fe80::/10", false), ("fec0::/10", false), ("ff00::/8", false),
        ("fd00:ec2::254/128", false), ("fd00:ec2::23/128", false), ("fd20:ce::254/128", false),
    ]

    private static let blocks = registry.compactMap { text, isPublic in
        IPNetwork(text).map { Block(network: $0, isPublic: isPublic) }
    }

    /// Returns true if the narrowest block is public.
    private static func expected(_ address: IPAddress) -> Bool {
        blocks.filter { $0.network.contains(address) }.max { $0.network.prefixLength < $1.network.prefixLength }?
            .isPublic ?? address.isIPv4
    }

    @Test func everyBlockOfTheRegistryIsParsed() {
        #expect(Self.blocks.count == Self.registry.count)
    }

    @Test(arguments: registry.map(\.0))
    func publicAddressesEndAtTheBoundariesOfABlock(text: String) throws {
        let network = try #require(IPNetwork(text))
        let first = network.address
        let last = try #require(first.last(prefixLength: network.prefixLength))
        for address in [first, last, first.neighbour(-1), last.neighbour(1)].compactMap({ $0 }) {
            #expect(address.isPublic == Self.expected(address), "\(address)")
        }
    }

    /// RFC 4291 §2.5.5, RFC 6052 §2.1 and RFC 3056 §2.
    @Test(
        arguments: [
            ("::", false), ("::1", false), ("::ffff:127.0.0.1", false), ("::ffff:10.0.0.1", false),
            ("::ffff:169.254.169.254", false), ("::ffff:8.8.8.8", true), ("::127.0.0.1", false),
            ("::169.254.169.254", false), ("::8.8.8.8", true), ("::2", false),
            ("64:ff9b::10.0.0.1", false), ("64:ff9b::169.254.169.254", false), ("64:ff9b::8.8.8.8", true),
            ("64:ff9b:0:0:0:1:a00:1", false), ("2002:7f00:1::", false), ("2002:a9fe:a9fe::1", false),
            ("2002:0808:0808::1", true), ("2002:c0a8:101:1::1", false), ("2001:4860:4860::8888", true),
            ("2606:4700::1111", true), ("8.8.8.8", true), ("1.1.1.1", true), ("192.31.196.1", true),
            ("2001:0:4136:e378:8000:63bf:3fff:fdd2", false), ("4000::1", false), ("::fffe:1.2.3.4", false),
            ("::1:0:0:0", false), ("0:0:0:1::", false),
        ] as [(String, Bool)]
    )
    func embeddedIPv4AddressDecidesWhetherAnAddressIsPublic(text: String, isPublic: Bool) throws {
        #expect(try #require(IPAddress(text)).isPublic == isPublic)
    }
}

extension IPAddress {
    /// Returns the last address of the block that begins with this address.
    fileprivate func last(prefixLength: Int) -> IPAddress? {
        var bytes = bytes
        for bit in prefixLength..<(bytes.count * 8) { bytes[bit / 8] |= 0x80 >> UInt8(bit % 8) }
        return IPAddress(bytes: bytes)
    }

    /// Returns the address before or after this one; nil if there is none.
    fileprivate func neighbour(_ step: Int) -> IPAddress? {
        var bytes = bytes
        for index in bytes.indices.reversed() {
            bytes[index] = step > 0 ? bytes[index] &+ 1 : bytes[index] &- 1
            if bytes[index] != (step > 0 ? 0 : 255) { return IPAddress(bytes: bytes) }
        }
        return nil
    }
}

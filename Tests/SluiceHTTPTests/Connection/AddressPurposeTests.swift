import SluiceHTTP
import Testing

@Suite struct AddressPurposeTests {
    private struct Block: Sendable {
        let network: IPNetwork
        let purpose: AddressPurpose
    }

    /// The IANA registries of special-purpose and multicast addresses, and the metadata addresses of cloud providers.
    private static let registry: [(String, AddressPurpose)] = [
        ("0.0.0.0/8", .loopback), ("10.0.0.0/8", .private), ("100.64.0.0/10", .private), ("127.0.0.0/8", .loopback),
        ("169.254.0.0/16", .linkLocal), ("172.16.0.0/12", .private), ("192.0.0.0/24", .reserved),
        ("192.0.2.0/24", .reserved), ("192.88.99.0/24", .reserved), ("192.168.0.0/16", .private),
        ("198.18.0.0/15", .reserved), ("198.51.100.0/24", .reserved), ("203.0.113.0/24", .reserved),
        ("224.0.0.0/4", .multicast), ("240.0.0.0/4", .reserved), ("255.255.255.255/32", .multicast),
        ("169.254.169.254/32", .metadata), ("169.254.170.2/32", .metadata), ("169.254.170.23/32", .metadata),
        ("100.100.100.200/32", .metadata), ("168.63.129.16/32", .metadata), ("192.0.0.192/32", .metadata),
        ("2000::/3", .global), ("64:ff9b:1::/48", .private), ("100::/64", .reserved), ("2001::/23", .reserved),
        ("2001:db8::/32", .reserved), ("3fff::/20", .reserved), ("5f00::/16", .reserved), ("fc00::/7", .private),
        ("fe80::/10", .linkLocal), ("fec0::/10", .private), ("ff00::/8", .multicast),
        ("fd00:ec2::254/128", .metadata), ("fd00:ec2::23/128", .metadata), ("fd20:ce::254/128", .metadata),
    ]

    private static let blocks = registry.compactMap { text, purpose in
        IPNetwork(text).map { Block(network: $0, purpose: purpose) }
    }

    /// Returns the purpose of the narrowest block.
    private static func expected(_ address: IPAddress) -> AddressPurpose {
        blocks.filter { $0.network.contains(address) }.max { $0.network.prefixLength < $1.network.prefixLength }?
            .purpose
            ?? (address.isIPv4 ? .global : .reserved)
    }

    @Test func everyBlockOfTheRegistryIsParsed() {
        #expect(Self.blocks.count == Self.registry.count)
    }

    @Test(arguments: registry.map(\.0))
    func purposesChangeAtTheBoundariesOfABlock(text: String) throws {
        let network = try #require(IPNetwork(text))
        let first = network.address
        let last = try #require(first.last(prefixLength: network.prefixLength))
        for address in [first, last, first.neighbour(-1), last.neighbour(1)].compactMap({ $0 }) {
            #expect(address.purpose == Self.expected(address), "\(address)")
        }
    }

    /// RFC 4291 §2.5.5, RFC 6052 §2.1 and RFC 3056 §2.
    @Test(
        arguments: [
            ("::", .loopback), ("::1", .loopback), ("::ffff:127.0.0.1", .loopback), ("::ffff:10.0.0.1", .private),
            ("::ffff:169.254.169.254", .metadata), ("::ffff:8.8.8.8", .global), ("::127.0.0.1", .loopback),
            ("::169.254.169.254", .metadata), ("::8.8.8.8", .global), ("::2", .loopback),
            ("64:ff9b::10.0.0.1", .private), ("64:ff9b::169.254.169.254", .metadata), ("64:ff9b::8.8.8.8", .global),
            ("64:ff9b:0:0:0:1:a00:1", .reserved), ("2002:7f00:1::", .loopback), ("2002:a9fe:a9fe::1", .metadata),
            ("2002:0808:0808::1", .global), ("2002:c0a8:101:1::1", .private), ("2001:4860:4860::8888", .global),
            ("2606:4700::1111", .global), ("8.8.8.8", .global), ("1.1.1.1", .global), ("192.31.196.1", .global),
            ("2001:0:4136:e378:8000:63bf:3fff:fdd2", .reserved), ("4000::1", .reserved), ("::fffe:1.2.3.4", .reserved),
            ("::1:0:0:0", .reserved), ("0:0:0:1::", .reserved),
        ] as [(String, AddressPurpose)]
    )
    func embeddedIPv4AddressDecidesThePurpose(text: String, purpose: AddressPurpose) throws {
        #expect(try #require(IPAddress(text)).purpose == purpose)
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

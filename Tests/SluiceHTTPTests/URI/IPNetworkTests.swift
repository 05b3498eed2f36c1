import SluiceHTTP
import Testing

@Suite struct IPNetworkTests {
    @Test(
        arguments: [
            ("10.0.0.0/8", "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"),
            ("192.168.1.77/24", "192.168.1.0", "192.168.1.255", "192.168.0.255", "192.168.2.0"),
            ("172.16.0.0/12", "172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"),
            ("192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.0", "192.0.2.2"),
            ("192.0.2.1/31", "192.0.2.0", "192.0.2.1", "192.0.1.255", "192.0.2.2"),
            ("fc00::/7", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fbff:ffff::", "fe00::"),
            ("2001:db8::/32", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7:ffff::", "2001:db9::"),
            ("2001:db8::/64", "2001:db8::", "2001:db8::ffff:ffff:ffff:ffff", "2001:db7:ffff::", "2001:db8:0:1::"),
            ("2001:db8::/65", "2001:db8::", "2001:db8::7fff:ffff:ffff:ffff", "2001:db7::", "2001:db8:0:0:8000::"),
            ("::1", "::1", "::1", "::", "::2"), ("0.0.0.0/0", "0.0.0.0", "255.255.255.255", "::", "::fffe:10.0.0.1"),
            ("::/0", "::", "ffff::", "0.0.0.0", "127.0.0.1"),
        ] as [(String, String, String, String, String)]
    )
    func blockContainsItsFirstAndLastAddressOnly(
        text: String,
        first: String,
        last: String,
        below: String,
        above: String
    ) throws {
        let network = try #require(IPNetwork(text))
        #expect(network.contains(try #require(IPAddress(first))))
        #expect(network.contains(try #require(IPAddress(last))))
        #expect(!network.contains(try #require(IPAddress(below))))
        #expect(!network.contains(try #require(IPAddress(above))))
        #expect("\(network.address)" == first)
        #expect(IPNetwork("\(network)") == network)
    }

    @Test(arguments: [
        "", "/", "10.0.0.0/", "/8", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10/8", "::/129",
        "fc00::/x",
        "10.0.0.0/ 8", "example.com", "10.0.0.0/255.0.0.0",
    ])
    func rejectsMalformedBlocks(text: String) {
        #expect(IPNetwork(text) == nil)
    }

    @Test(arguments: ["10.0.0.0/8", "::ffff:10.0.0.0/104"])
    func blocksOfMappedAddressesAreThoseOfIPv4(text: String) throws {
        let network = try #require(IPNetwork(text))
        #expect("\(network)" == "10.0.0.0/8")
        #expect(network.contains(try #require(IPAddress("::ffff:10.1.2.3"))))
        #expect(network.contains(IPAddress(10, 1, 2, 3)))
        #expect(!network.contains(try #require(IPAddress("::ffff:11.1.2.3"))))
    }

    @Test func blockOfAllMappedAddressesIsNotAllOfIPv4() throws {
        let network = try #require(IPNetwork("::ffff:0:0/96"))
        #expect(network.contains(try #require(IPAddress("::ffff:10.1.2.3"))))
        #expect(!network.contains(IPAddress(10, 1, 2, 3)))
    }

    @Test(arguments: [-1, 33]) func rejectsPrefixLengthsOutOfRange(length: Int) {
        #expect(IPNetwork(IPAddress(10, 0, 0, 0), prefixLength: length) == nil)
    }
}

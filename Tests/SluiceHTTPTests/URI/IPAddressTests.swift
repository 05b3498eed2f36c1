import SluiceHTTP
import SluiceTesting
import Testing

@Suite struct IPAddressTests {
    /// RFC 5952 §4 and §5, and RFC 4291 §2.2.
    @Test(
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"),
            ("2001:0db8::0001", "2001:db8::1"), ("2001:db8:0:0:0:0:2:1", "2001:db8::2:1"),
            ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
            ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("2001:DB8::AbCd", "2001:db8::abcd"),
            ("2001:db8::0:1:0:0:1", "2001:db8::1:0:0:1"), ("::", "::"), ("::1", "::1"), ("1::", "1::"),
            ("0:0:0:0:0:0:0:0", "::"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"), ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
            ("::ffff:192.0.2.1", "::ffff:192.0.2.1"), ("::ffff:c000:201", "::ffff:192.0.2.1"),
            ("::192.0.2.1", "::c000:201"), ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
            ("1:2:3:4:5:6:192.0.2.1", "1:2:3:4:5:6:c000:201"), ("ff01::101", "ff01::101"),
            ("FF01:0:0:0:0:0:0:101", "ff01::101"),
        ] as [(String, String)]
    )
    func addressesAreParsedAndShownInCanonicalForm(text: String, canonical: String) throws {
        let address = try #require(IPAddress(text))
        #expect("\(address)" == canonical)
        #expect(IPAddress(canonical) == address)
    }

    @Test(arguments: [
        "", " ", "1", "127.1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.-4", "1.2.3.+4", "01.2.3.4", "1.2.3.04",
        "0x7f.0.0.1",
        "0x7f000001", "2130706433", "1.2.3.4 ", " 1.2.3.4", "1..2.3", "1.2.3.", ".1.2.3", "1.2.3.4\0", "a.b.c.d",
        "１.2.3.4", ":",
        ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "12345::",
        "g::", ":1::",
        "1:", "::1:", "+1::", "::+1", "-1::", "::1.2.3", "::1.2.3.256", "1.2.3.4::", "::1.2.3.4:5", "[::1]", "::1%eth0",
        "::1/128",
        "1:2:3:4:5:6:7:192.0.2.1", "::ffff:01.2.3.4", ": :1", "1.2.3.4:80",
    ])
    func rejectsMalformedAddresses(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func randomAddressesRoundTripThroughTextAndBytes() throws {
        var random = SeededGenerator(seed: 5952)
        for _ in 0..<5000 {
            var bytes = (0..<(Bool.random(using: &random) ? 4 : 16)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            // The short form depends on zeros.
            let isSparse = Bool.random(using: &random)
            for index in bytes.indices where isSparse && Int.random(in: 0..<3, using: &random) > 0 {
                bytes[index & ~1] = 0
                bytes[index | 1] = 0
            }
            let address = try #require(IPAddress(bytes: bytes))
            #expect(address.bytes == bytes)
            #expect(address.isIPv4 == (bytes.count == 4))
            #expect(IPAddress("\(address)") == address)
        }
    }

    @Test(arguments: [0, 1, 3, 5, 15, 17])
    func rejectsOtherByteCountsThanFourAndSixteen(count: Int) {
        #expect(IPAddress(bytes: Array(repeating: 1, count: count)) == nil)
    }

    @Test func addressesOfDifferentVersionsAreNotEqual() throws {
        #expect(IPAddress(192, 0, 2, 1) == IPAddress("192.0.2.1"))
        #expect(IPAddress(192, 0, 2, 1) != IPAddress("::ffff:192.0.2.1"))
        #expect(IPAddress(0, 0, 0, 1) != IPAddress("::1"))
    }
}

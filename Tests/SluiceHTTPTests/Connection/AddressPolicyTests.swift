import SluiceHTTP
import Testing

@Suite struct AddressPolicyTests {
    private func allows(_ policy: AddressPolicy, _ text: String) throws -> Bool {
        policy.allows(try #require(IPAddress(text)))
    }

    @Test(
        arguments: [
            ("8.8.8.8", true), ("2606:4700::1111", true), ("::ffff:8.8.8.8", true), ("64:ff9b::8.8.8.8", true),
            ("127.0.0.1", false), ("0.0.0.0", false), ("::", false), ("::1", false), ("10.1.2.3", false),
            ("100.64.0.1", false), ("169.254.169.254", false), ("169.254.1.1", false), ("224.0.0.1", false),
            ("255.255.255.255", false), ("240.0.0.1", false), ("168.63.129.16", false), ("fd00::1", false),
            ("fe80::1", false), ("ff02::1", false), ("::ffff:10.0.0.1", false), ("64:ff9b::7f00:1", false),
            ("2002:a00:1::", false), ("4000::1", false),
        ] as [(String, Bool)]
    )
    func publicOnlyAllowsGlobalAddressesOnly(address: String, isAllowed: Bool) throws {
        #expect(try allows(.publicOnly, address) == isAllowed)
        #expect(try allows(.any, address))
    }

    @Test(
        arguments: [
            ("10.1.0.1", true), ("10.2.0.1", false), ("::ffff:10.1.0.1", true), ("10.1.9.9", false), ("8.8.8.8", true),
            ("8.8.4.4", false), ("::ffff:8.8.4.4", false), ("64:ff9b::8.8.4.4", false), ("fd00::1", true),
            ("fd01::1", false),
        ] as [(String, Bool)]
    )
    func deniedBlocksTakePrecedenceInAnyOrder(address: String, isAllowed: Bool) throws {
        let policy = try AddressPolicy.publicOnly.allowing("10.1.0.0/16", "fd00::/16").denying("10.1.9.0/24", "8.8.4.4")
        #expect(try allows(policy, address) == isAllowed)
        #expect(
            try allows(
                AddressPolicy.publicOnly.denying("10.1.9.0/24", "8.8.4.4").allowing("10.1.0.0/16", "fd00::/16"),
                address
            ) == isAllowed
        )
    }

    @Test func denyingABlockNarrowsAny() throws {
        let policy = try AddressPolicy.any.denying("127.0.0.0/8")
        #expect(policy != .any)
        #expect(try !allows(policy, "127.0.0.1"))
        #expect(try !allows(policy, "::ffff:127.0.0.1"))
        #expect(try allows(policy, "10.0.0.1"))
    }

    @Test(arguments: ["10.0.0.0/33", "example.com", "", "10.0/8"])
    func rejectsMalformedBlocks(text: String) {
        for make in [AddressPolicy.any.allowing, AddressPolicy.any.denying]
            as [(String...) throws(SluiceError) -> AddressPolicy]
        {
            let error = #expect(throws: SluiceError.self) { _ = try make(text) }
            #expect(error?.code == .invalidConfiguration)
        }
    }
}

import Testing

@testable import Sluice

@Suite struct ProofKeyTests {
    /// RFC 7636 appendix B.
    @Test func challengeMatchesRFC7636Example() {
        let key = ProofKey(verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(key.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    /// RFC 7636 appendix A.
    @Test func encodesBase64URL() {
        #expect([3, 236, 255, 224, 193].base64URL == "A-z_4ME")
        #expect([UInt8]().base64URL.isEmpty)
    }

    /// FIPS 180-4's examples.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ])
    func digestMatchesSHA256Examples(_ text: String, _ expected: String) {
        let digest = SystemSHA256.digest(of: Array(text.utf8)) ?? []
        #expect(digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == expected)
    }
}

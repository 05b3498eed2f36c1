#if os(Linux)
import SluiceEngine
import Testing

/// The public suffix list of libpsl.
@Suite struct PublicSuffixesTests {
    @Test(arguments: [
        ("com", true), ("co.uk", true), ("github.io", true), ("unheard-of", true), ("a.ck", true), ("www.ck", false),
        ("example.com", false), ("a.co.uk", false), ("a.unheard-of", false), ("xn--p1ai", true), ("a.xn--p1ai", false),
    ])
    func recognizesPublicSuffixes(_ domain: String, _ isPublic: Bool) {
        #expect(PublicSuffixes.contains(domain) == isPublic)
    }
}
#endif

import Sluice
import Testing

@Suite struct URLAuthorityTests {
    @Test(
        arguments: [
            "a.b", "A.b", "a.b.", "localhost", "a_b.c-d", "127.0.0.1", "xn--bcher-kva.example", "a.b:1", "a.b:65535",
            "a.b:0080", "[::]", "[::1]", "[::1]:443", "[1::]", "[1:2:3:4:5:6:7:8]", "[1::8]", "[1:2:3:4:5:6:7::]",
            "[::2:3:4:5:6:7:8]", "[2001:DB8::abcd]", "[::ffff:1.2.3.4]", "[1:2:3:4:5:6:1.2.3.4]", "[::1.2.3.4]",
            "[fe80::1%25eth0]", "[fe80::1%25eth0]:80", "[fe80::1%25br-0123456789ab]",
        ]
    )
    func keepsValidAuthority(_ authority: String) throws {
        let request = try APIClient(baseURL: "http://\(authority)/v1").data.request("c").httpRequest()
        #expect(request.authority == authority)
        #expect(request.path == "/v1/c")
    }

    static let flaws: [(String, String)] = [
        ("", "has no host"), (":80", "has no host"), (":", "has no host"),
        ("u:secret@a.b", "user name"), ("@a.b", "user name"), ("u@[::1]", "user name"),
        ("[::1", "not closed"), ("[", "not closed"), ("[::1:80", "not closed"),
        ("[]", "not contain an IPv6"), ("[zz]:80", "not contain an IPv6"), ("[a.b]", "not contain an IPv6"),
        ("[127.0.0.1]", "not contain an IPv6"), ("[1]", "not contain an IPv6"),
        ("[:]", "not contain an IPv6"), ("[:::]", "not contain an IPv6"), ("[1::2::3]", "not contain an IPv6"),
        ("[1:2:3:4:5:6:7]", "not contain an IPv6"),
        ("[1:2:3:4:5:6:7:8:9]", "not contain an IPv6"), ("[1:2:3:4:5:6:7:8::]", "not contain an IPv6"),
        ("[1:2:3:4::5:6:7:8]", "not contain an IPv6"),
        ("[12345::]", "not contain an IPv6"), ("[:1]", "not contain an IPv6"), ("[1:]", "not contain an IPv6"),
        ("[::g]", "not contain an IPv6"),
        ("[::1.2.3]", "not contain an IPv6"), ("[::1.2.3.256]", "not contain an IPv6"),
        ("[::01.2.3.4]", "not contain an IPv6"), ("[1.2.3.4::]", "not contain an IPv6"),
        ("[::1.2.3.4:5]", "not contain an IPv6"), ("[v1.a]", "not contain an IPv6"), ("[[::1]]", "not contain an IPv6"),
        ("[::+1]", "not contain an IPv6"),
        ("[fe80::1%eth0]", "zone"), ("[fe80::1%25]", "zone"), ("[fe80::1%]", "zone"), ("[fe80::1%25a%41]", "zone"),
        ("[fe80::1%250123456789abcdef]", "zone"), ("[%25eth0]", "not contain an IPv6"),
        ("::1", "brackets"), ("fe80::1", "brackets"), ("a.b:80:80", "brackets"), ("::", "brackets"),
        ("a.b:", "port"), ("a.b:port", "port"), ("a.b:0", "port"), ("a.b:65536", "port"), ("a.b:+80", "port"),
        ("a.b:-1", "port"), ("a.b:٣", "port"), ("a.b:99999999999999999999", "port"), ("[::1]:", "port"),
        ("[::1]80", "port"), ("[::1]a", "port"), ("[::1]:80:80", "port"),
        ("bücher.example", "Punycode"), ("a.b\u{301}", "Punycode"), ("ａ.b", "Punycode"), ("a。b", "Punycode"),
        ("b%C3%BCcher.example", "percent-encoded"), ("a%2eb", "percent-encoded"), ("%61", "percent-encoded"),
        ("a%00b", "percent-encoded"), ("%", "percent-encoded"),
        ("a b", "not allowed in a host"), ("a\0b", "not allowed in a host"), ("a\nb", "not allowed in a host"),
        ("a\\b", "not allowed in a host"), ("<a>", "not allowed in a host"), ("a!b", "not allowed in a host"),
        ("a,b", "not allowed in a host"), ("a]", "not allowed in a host"), ("a[::1]", "brackets"),
    ]

    @Test(arguments: flaws)
    func rejectsInvalidAuthorityWithReason(_ authority: String, _ reason: String) {
        let error = #expect(throws: SluiceError.self) {
            try APIClient(baseURL: "http://\(authority)/").data.request("c").httpRequest()
        }
        #expect(error?.code == .invalidURL)
        #expect(error?.step == .building)
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
        #expect(error?.reason.hasPrefix("The base URL “http://") == true)
        #expect(error?.reason.contains("” is not valid: it") == true)
        #expect(error?.reason.contains("secret") == false)
    }

    @Test func combiningMarkAfterSlashBelongsToPath() throws {
        let request = try APIClient(baseURL: "http://a.b/\u{301}x").data.request("c").httpRequest()
        #expect(request.authority == "a.b")
        #expect(request.path == "/%CC%81x/c")
    }
}

import SluiceHTTP
import Testing

@Suite struct ProxyTests {
    @Test(
        arguments: [
            ("proxy.example:3128", "http://proxy.example:3128", nil, nil),
            ("proxy.example", "http://proxy.example:80", nil, nil),
            ("http://proxy.example:3128/", "http://proxy.example:3128", nil, nil),
            ("HTTP://proxy.example", "http://proxy.example:80", nil, nil),
            ("https://proxy.example", "https://proxy.example:443", nil, nil),
            ("socks4://proxy.example", "socks4://proxy.example:1080", nil, nil),
            ("socks4a://proxy.example", "socks4a://proxy.example:1080", nil, nil),
            ("socks5://proxy.example", "socks5://proxy.example:1080", nil, nil),
            ("socks5h://127.0.0.1:9050", "socks5h://127.0.0.1:9050", nil, nil),
            ("http://[::1]:3128", "http://[::1]:3128", nil, nil), ("[0:0::1]", "http://[::1]:80", nil, nil),
            ("http://ada:pw@proxy.example:3128", "http://proxy.example:3128", "ada", "pw"),
            ("ada:pw@proxy.example", "http://proxy.example:80", "ada", "pw"),
            ("http://ada@proxy.example", "http://proxy.example:80", "ada", ""),
            ("http://a%40b:p%3Aw%2F@proxy.example", "http://proxy.example:80", "a@b", "p:w/"),
            ("http://ada:p:w@proxy.example", "http://proxy.example:80", "ada", "p:w"),
            ("http://ada:p@w@proxy.example", "http://proxy.example:80", "ada", "p@w"),
        ] as [(String, String, String?, String?)]
    )
    func urlsAreParsedAndShownWithoutCredentials(text: String, shown: String, user: String?, password: String?) throws {
        let proxy = try Proxy(text)
        #expect("\(proxy)" == shown)
        #expect(proxy.credentials?.user == user)
        #expect(proxy.credentials?.password.reveal() == password)
    }

    @Test(arguments: [
        "", "http://", "ftp://proxy.example", "proxy.example:0", "proxy.example:65536", "proxy.example:+80",
        "proxy.example:",
        "proxy.example:80:80", "::1", "[::1", "[::1]80", "[1.2.3.4]:80", "[proxy.example]", "http://proxy.example/path",
        "http://proxy.example?query", "proxy example", "proxy.example\n", "http://ada:%zz@proxy.example",
        "http://ada:s3cret@", "http://a%3Ab:s3cret@proxy.example", "http://ada:s3cret%0A@proxy.example",
        "//proxy.example", "http://bücher.example:3128",
        "socks5://\(String(repeating: "x", count: 256)):s3cret@proxy.example",
    ])
    func malformedURLFailsWithoutShowingThePassword(text: String) {
        let error = #expect(throws: SluiceError.self) { _ = try Proxy(text) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.expandedDescription.contains("s3cret") == false)
    }

    @Test func factoriesEqualTheProxiesOfURLs() throws {
        #expect(try Proxy("http://ada:pw@proxy.example") == .http("proxy.example", user: "ada", password: "pw"))
        #expect(try Proxy("https://proxy.example:443") == .https("proxy.example"))
        #expect(try Proxy("socks5h://proxy.example") == .socks5("proxy.example:1080"))
        #expect(try Proxy("socks5://proxy.example") == .socks5("proxy.example", resolvesNames: false))
        #expect(try Proxy("socks4a://ada@proxy.example") == .socks4("proxy.example", user: "ada"))
        #expect(try Proxy("socks4://proxy.example") == .socks4("proxy.example", resolvesNames: false))
        #expect(Proxy.http("a.example", user: "ada", password: "1") != .http("a.example", user: "ada", password: "2"))
    }

    /// A secret, an optional one and a text are the same password, for each kind of proxy.
    @Test func passwordsAreSecretsOrTexts() throws {
        let (secret, none) = (Secret("pw"), Secret?.none)
        let makers: [(String?, (any SecretConvertible)?) -> Proxy] = [
            { .http("proxy.example", user: $0, password: $1) }, { .https("proxy.example", user: $0, password: $1) },
            { .socks5("proxy.example", user: $0, password: $1) },
        ]
        for make in makers {
            #expect(make("ada", secret) == make("ada", "pw"))
            #expect(make("ada", Optional(secret)) == make("ada", "pw"))
            #expect(make("ada", none) == make("ada", ""))
            #expect(make("ada", secret) != make("ada", none))
            #expect(make(nil, secret).credentials == nil)
        }
        let origin = HTTPOrigin(scheme: "https", authority: "shop.example")
        for selection in [
            ProxySelection.http("proxy.example", user: "ada", password: secret),
            .socks5("proxy.example", user: "ada", password: Optional(secret)),
        ] {
            #expect(try selection.proxy(for: origin)?.credentials?.password == secret)
        }
    }

    @Test func descriptionsContainNoPassword() throws {
        let proxy = try Proxy("http://ada:s3cret@proxy.example:3128")
        var options = ConnectionOptions()
        options.proxy = .always(proxy)
        var dumped = ""
        dump(proxy, to: &dumped)
        dump(proxy.credentials as Any, to: &dumped)
        for text in [
            "\(proxy)", String(reflecting: proxy), "\([proxy])", dumped, String(reflecting: proxy.credentials as Any),
        ] {
            #expect(!text.contains("s3cret"))
        }
        #expect("\(Proxy.http("ada:s3cret@proxy.example"))" == "http://?")
    }
}

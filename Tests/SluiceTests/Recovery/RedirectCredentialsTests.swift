import SluiceHTTP
import SluiceTesting
import Testing

@testable import Sluice

/// The credentials for challenges after redirects between two origins, as they are allowed for each request.
@Suite struct RedirectCredentialsTests {
    private static let home = "https://a.test"

    private static func request(_ url: String) throws -> HTTPRequest {
        try APIClient().data.request(url).httpRequest()
    }

    private static func credentials(_ methods: ChallengeCredentials.Methods) -> ChallengeCredentials {
        ChallengeCredentials(
            user: "ada",
            password: "pw",
            methods: methods,
            origin: HTTPOrigin(scheme: "https", authority: "a.test")
        )
    }

    /// Returns the methods that each request after the first may use at the origin of the credentials.
    private static func methods(
        _ methods: ChallengeCredentials.Methods,
        _ urls: [String]
    ) throws -> [ChallengeCredentials.Methods] {
        let requests = try urls.map(request)
        var chain = RedirectCredentials(credentials(methods), for: requests[0])
        return try zip(requests, requests.dropFirst()).map { request, next in
            var context = TransferContext()
            context.credentials = chain.following(request, to: next)
            return try context.credentials(for: next)?.methods ?? []
        }
    }

    /// A chain of URLs, and the last request's use of Basic and of Digest.
    @Test(
        arguments: [
            // The origin chooses its own paths.
            ("/shop/x", "/admin", true, true), ("/shop/x", "/one /admin", true, true),
            // Another origin may lead back to the caller's space,
            ("/shop/x", "b /shop/x", true, true), ("/shop/x", "b /shop/", true, true),
            ("/shop/x", "b /shop/y/z?q", true, true),
            ("/x", "b /admin", true, true), ("/", "b /admin/x", true, true),
            ("/shop/x?p=/admin/", "b /shop/y", true, true),
            // but to no other path with Basic,
            ("/shop/x", "b /admin", false, true), ("/shop/x", "b /shop", false, true),
            ("/shop/x", "b /shopping/x", false, true),
            ("/shop/x", "b /shop/../admin", false, true), ("/shop/x", "b /shop/%2e%2e/admin", false, true),
            ("/shop/x", "b /shop/..%2fadmin", false, true), ("/shop/x", "b /shop/..;/admin", false, true),
            ("/shop/x?p=/admin/", "b /admin/y", false, true),
            // not by a detour either,
            ("/shop/x", "b c /admin", false, true), ("/shop/x", "b /shop/y /admin", false, true),
            ("/shop/x", "b /admin /other", false, true), ("/shop/x", "b /admin /shop/y", true, true),
            ("/shop/x", "/shop/y b /admin", false, true), ("/shop/x", "b /shop/y b /admin", false, true),
            // and to no path if the caller's own URL has another origin.
            ("b", "/shop/x", false, false), ("b", "/", false, false), ("b", "c /shop/x", false, false),
            ("http://a.test/shop/x", "/shop/x", false, false), ("https://a.test:8443/", "/", false, false),
        ] as [(String, String, Bool, Bool)]
    )
    func basicReturnsOnlyToTheSpaceOfTheCallersURL(_ first: String, _ rest: String, _ basic: Bool, _ digest: Bool)
        throws
    {
        let urls = ([first] + rest.split(separator: " ").map(String.init)).map { part in
            part.hasPrefix("/") ? Self.home + part : part.contains(":") ? part : "https://\(part).test/here"
        }
        #expect(try Self.methods(.basic, urls).last == (basic ? .basic : []))
        #expect(try Self.methods(.digest, urls).last == (digest ? .digest : []))
        #expect(try Self.methods([.basic, .digest], urls).last == (basic ? [.basic, .digest] : digest ? .digest : []))
    }

    /// Random chains of redirects among three origins. A request gets Basic in the folder of the caller's URL, or if no
    /// other origin has redirected.
    @Test func basicNeverLeavesTheCallersSpaceInRandomChains() throws {
        var generator = SeededGenerator(seed: 7)
        let paths = ["/", "/x", "/shop/", "/shop/x", "/shop/x/y", "/shopping", "/admin/x"]
        let origins = [Self.home, Self.home, "https://b.test", "https://c.test"]
        for round in 0..<2000 {
            let urls = (0..<Int.random(in: 2...6, using: &generator)).map { _ in
                origins[Int.random(in: 0..<origins.count, using: &generator)]
                    + paths[Int.random(in: 0..<paths.count, using: &generator)]
            }
            let folder =
                urls[0].hasPrefix(Self.home)
                ? urls[0].prefix(through: urls[0].lastIndex(of: "/") ?? urls[0].startIndex) : nil
            let allowed = try Self.methods(.basic, urls)
            for index in 1..<urls.count {
                let isHome = urls[index].hasPrefix("\(Self.home)/")
                let isLed = urls[..<index].contains { !$0.hasPrefix("\(Self.home)/") }
                let isOwn = folder.map { urls[index].hasPrefix($0) } ?? false
                #expect(
                    allowed[index - 1].contains(.basic) == (isHome && (!isLed || isOwn)),
                    "\(round): \(urls) \(index)"
                )
            }
        }
    }
}

import Testing

@testable import Sluice

@Suite struct RoutePatternTests {
    @Test(
        arguments: [
            ("users", "users"), ("users/42", "users/{}"), ("/users/42/posts?page=2", "/users/{}/posts"), ("", ""),
            ("v2/users", "v2/users"), ("a/3f2504e0-4f89-11d3-9a0c-0305e82c3301/b", "a/{}/b"),
            ("commits/9fceb02d0ae598e95dc970b74767f19372d61af8", "commits/{}"), ("cafe/deadbeef", "cafe/deadbeef"),
            ("files/cafe1234", "files/{}"), ("ids/AbCdEfGhIjKlMnOpQr12x", "ids/{}"), ("2024/01/02", "{}/{}/{}"),
            ("oauth2/token", "oauth2/token"), ("//1//", "//{}//"), ("ü/٣", "ü/٣"), ("x#1", "x"),
        ]
    )
    func replacesSegmentsThatLookLikeIDs(_ path: String, _ route: String) {
        #expect(RoutePattern.route(of: path) == route)
    }

    @Test(arguments: ["cart;jsessionid=hunter", "https://ada:hunter@b.example/users", "a;sid=hunter/7"])
    func showsNoSecret(_ path: String) {
        #expect(!RoutePattern.route(of: path).contains("hunter"))
    }
}

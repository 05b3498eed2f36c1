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

    @Test(arguments: [
        ("users/{id}", "users/{id}"), ("users/{id}{?page,size}", "users/{id}{?page,size}"),
        ("users{?page}#top", "users{?page}"), ("users?key=hunter2{&page}", "users"), ("{+path}/4711", "{+path}/4711"),
        ("cart{;x}/{id}", "cart{;x}/{id}"),
        ("https://ada:hunter2@h/users/{id}", "https://REDACTED@h/users/{id}"),
    ])
    func templateIsItsOwnRoute(template: String, route: String) throws {
        #expect(RoutePattern.route(ofTemplate: template) == route)
    }

    @Test func requestOfATemplateHasItsRoute() async throws {
        struct Noting: RequestInterceptor {
            let routes: Locked<[String]>

            func intercept(_ request: HTTPRequest, context: RequestContext) -> HTTPRequest {
                routes.withLock { $0.append(context.route) }
                return request
            }
        }
        let routes = Locked<[String]>([])
        let client = APIClient(baseURL: "https://h") {
            $0.requestInterceptors = [Noting(routes: routes)]
            $0.transport = AnsweringTransport()
        }
        let template = URITemplate("teams/{team}/users{?page}")
        _ = await client.data.get(template.expanding(["team": "red", "page": 2])).sender().response
        _ = await client.data.get(template.expanding(["team": "blue"])).route("other").sender().response
        #expect(routes.withLock { $0 } == ["teams/{team}/users{?page}", "other"])
    }
}

import Foundation
import SluiceHTTP
import Testing

@testable import Sluice

@Suite struct NextPageTests {
    private let client = APIClient(baseURL: "https://api.example/v1") {
        $0.headers["Authorization"] = "client"
        $0.secretHeaders = ["X-Key"]
    }

    private func sent(
        _ page: NextPage,
        after request: APIRequest<Data, APIError>,
        movedTo url: String? = nil,
        followsOtherOrigins: Bool = false
    ) throws(SluiceError) -> HTTPRequest? {
        let first = try request.httpRequest()
        let current = if let url { try client.data.get(url).httpRequest() } else { first }
        let draft = try request.draft.next(
            page,
            from: current,
            isRedirected: url != nil,
            origin: first.origin,
            followsOtherOrigins: followsOtherOrigins,
            for: client.pipeline
        )
        return try draft?.build(for: client.pipeline)
    }

    @Test func resolvesReferenceAgainstPage() throws {
        let request = client.data.get("users/list").query("q", "a b").header("X-Key", "k").header("X-Other", "o")
        let ways = [
            ("?page=2", "https://api.example/v1/users/list?page=2"), ("more", "https://api.example/v1/users/more"),
            ("../x?y#z", "https://api.example/v1/x?y"), ("/p?a=b%20c&d=ü", "https://api.example/p?a=b%20c&d=%C3%BC"),
            ("//API.example:443/p", "https://API.example:443/p"), ("https://api.example/p", "https://api.example/p"),
            ("", "https://api.example/v1/users/list?q=a%20b"),
        ]
        for (reference, url) in ways {
            let next = try sent(.url(reference), after: request)
            #expect(next?.url == url)
            #expect(next?.headers["X-Key"] == "k")
            #expect(next?.headers["X-Other"] == "o")
            #expect(next?.headers["Authorization"] == "client")
        }
        #expect(try sent(.none, after: request) == nil)
    }

    @Test(
        arguments: [
            "http://api.example/p", "https://api.example:444/p", "//other.example/p", "https://api.example.evil.com/p",
            "ftp://api.example/p", "javascript:alert(1)", "https:///p", "https://[::1/p", "mailto:a@b",
        ]
    )
    func rejectsOtherOrigin(_ reference: String) {
        let error = #expect(throws: SluiceError.self) { try sent(.url(reference), after: client.data.get("users")) }
        #expect(error?.code == .paginationRefused)
    }

    @Test func sendsNoSecretsToAllowedOtherOrigin() throws {
        let request = client.data.get("users")
            .header("X-Key", "k").header("Cookie", "c").header("X-Other", "o")
            .intercept(CustomToken("t", header: "X-Token"))
            .header("X-Token", "t")
        let next = try sent(.url("http://other.example/p"), after: request, followsOtherOrigins: true)
        #expect(next?.url == "http://other.example/p")
        #expect(next?.headers["X-Other"] == "o")
        for name: HTTPHeaderName in ["X-Key", "Cookie", "Authorization", "X-Token"] {
            #expect(next?.headers[name] == nil, "\(name)")
        }
        // A reference that changes only the host must not carry the client's headers to it.
        let moved = try sent(.url("//third.example/p"), after: request.host("cdn.example"), followsOtherOrigins: true)
        #expect(moved?.url == "https://third.example/p")
        #expect(moved?.headers["Authorization"] == nil)
    }

    @Test func clientWithoutBaseURLSendsNoSecretsToAllowedOtherOrigin() throws {
        let client = APIClient {
            $0.headers["Authorization"] = "client"
            $0.headers["X-Other"] = "o"
        }
        let requests = [
            client.data.get("https://api.example/v1/users"),
            client.data.get("users").baseURL("https://api.example/v1"),
        ]
        for request in requests {
            let first = try request.httpRequest()
            #expect(first.headers["Authorization"] == "client")
            let draft = try request.draft.next(
                .url("https://other.example/p"),
                from: first,
                origin: first.origin,
                followsOtherOrigins: true,
                for: client.pipeline
            )
            let next = try draft?.build(for: client.pipeline)
            #expect(next?.url == "https://other.example/p")
            #expect(next?.headers["Authorization"] == nil)
            #expect(next?.headers["X-Other"] == "o")
        }
    }

    @Test func originsOutsideTheBaseURLGetNoSecretsOnTheWayBack() throws {
        let request = client.data.get("https://other.example/users")
        let first = try request.httpRequest()
        #expect(first.headers["Authorization"] == nil)
        var draft = request.draft
        for url in ["https://third.example/p", "https://other.example/q"] {
            let current = try draft.build(for: client.pipeline)
            draft = try #require(
                try draft.next(
                    .url(url),
                    from: current,
                    origin: first.origin,
                    followsOtherOrigins: true,
                    for: client.pipeline
                )
            )
            let next = try draft.build(for: client.pipeline)
            #expect(next.url == url)
            #expect(next.headers["Authorization"] == nil)
        }
    }

    @Test func sendsNoCredentialsOrHostToAllowedOtherOrigin() throws {
        let request = client.data.get("users").credentials(ChallengeCredentials(user: "u", password: "p"))
            .header("Host", "tenant.internal").header("Origin", "https://api.example").header("Referer", "r")
        let draft = try #require(
            try request.draft.next(
                .url("http://other.example/p"),
                from: request.httpRequest(),
                origin: HTTPOrigin(scheme: "https", authority: "api.example"),
                followsOtherOrigins: true,
                for: client.pipeline
            )
        )
        let sent = try draft.build(for: client.pipeline)
        for name: HTTPHeaderName in [.host, .origin, .referer] { #expect(sent.headers[name] == nil, "\(name)") }
        #expect(draft.options.credentials??.origin == HTTPOrigin(scheme: "https", authority: "api.example"))
        let none = try request.credentials(nil).draft.next(
            .url("http://other.example/p"),
            from: request.httpRequest(),
            origin: HTTPOrigin(scheme: "https", authority: "api.example"),
            followsOtherOrigins: true,
            for: client.pipeline
        )
        #expect(none?.options.credentials == .some(.none))
    }

    @Test func rejectsLinkOfPageThatRedirectHasMovedToOtherOrigin() throws {
        let request = client.data.get("users")
        let moved = "https://other.example/users"
        let link = NextPage.url("https://api.example/v1/keys")
        let error = #expect(throws: SluiceError.self) { try sent(link, after: request, movedTo: moved) }
        #expect(error?.code == .paginationRefused)
        #expect(error?.reason.hasPrefix("The current page") == true)
        #expect(try sent(link, after: request, movedTo: moved, followsOtherOrigins: true)?.path == "/v1/keys")
        // The caller chooses where a query leads.
        #expect(try sent(.query("page", "2"), after: request, movedTo: moved)?.path == "/v1/users?page=2")
    }

    @Test func keepsHostOfRequest() throws {
        let request = client.data.get("users").host("cdn.example")
        let next = try sent(.url("?page=2"), after: request)
        #expect(next?.url == "https://cdn.example/v1/users?page=2")
        #expect(next?.headers["Authorization"] == "client")
        #expect(try sent(.query("page", "2"), after: request)?.url == "https://cdn.example/v1/users?page=2")
    }

    @Test func replacesQueryItemInAnyPosition() throws {
        let ways = [
            ("users", "page=2"), ("users?page=1", "page=2"), ("users?a=b&page=1&c=d", "a=b&page=2&c=d"),
            ("users?page=1&page=7&page", "page=2"), ("users?pages=3", "pages=3&page=2"), ("users?a=b&&", "a=b&page=2"),
        ]
        for (path, query) in ways {
            #expect(
                try sent(.query("page", "2"), after: client.data.get(path))?.url
                    == "https://api.example/v1/users?\(query)"
            )
        }
        let encoded = client.data.get("users").query(["page": 1, "q": "x"]).parameters(["limit": 3])
        let next = try sent(.query("page", "a&b=ü"), after: encoded)
        #expect(next?.path.hasPrefix("/v1/users?") == true)
        #expect(
            Set(next?.path.dropFirst("/v1/users?".count).split(separator: "&") ?? []) == [
                "page=a%26b%3D%C3%BC", "q=x", "limit=3",
            ]
        )
        let odd = client.data.get("users").query("page[after]", "1")
        #expect(try sent(.query("page[after]", "2"), after: odd)?.path == "/v1/users?page%5Bafter%5D=2")
    }

    @Test(arguments: ["page[no 1]", "page%5bno%201%5d", "page%5Bno+1]", "%70age[no%201%5D"])
    func replacesQueryItemInAnyEncoding(_ name: String) throws {
        let path = try sent(.query("page[no 1]", "2"), after: client.data.get("users?\(name)=1&a=b"))?.path
        #expect(path == "/v1/users?page%5Bno%201%5D=2&a=b")
    }

    @Test func keepsMethodBodyAndRoute() throws {
        let request = client.data.post("users/7/posts").json(["a": 1])
        let next = try sent(.query("page", "2"), after: request)
        #expect(next?.method == .post)
        #expect(next?.headers[.contentType] == "application/json")
        let form = client.data.request("users").post().parameters(["a": 1]).request
        let posted = try sent(.query("page", "2"), after: form)
        #expect(posted?.url == "https://api.example/v1/users?page=2")
        #expect(posted?.headers[.contentType] == "application/x-www-form-urlencoded")
        let draft = try request.draft.next(
            .url("/v1/users/7/posts?page=2"),
            from: HTTPRequest(scheme: "https", authority: "api.example", path: "/v1/users/7/posts"),
            origin: HTTPOrigin(scheme: "https", authority: "api.example"),
            followsOtherOrigins: false,
            for: client.pipeline
        )
        #expect(draft?.route == "users/{}/posts")
    }

    @Test func detectsRepeatedRequestAsLoop() throws {
        var trail = PageHistory()
        var request = HTTPRequest(scheme: "https", authority: "api.example", path: "/a")
        try trail.add(request)
        request.path = "/b"
        try trail.add(request)
        request.method = .post
        try trail.add(request)
        for text in ["1", "2"] {
            request.body = .data(Data(text.utf8))
            try trail.add(request)
        }
        request.headers["X-Position"] = "2"
        try trail.add(request)
        request.body = .stream(AsyncStream<Data> { $0.finish() })
        try trail.add(request)
        try trail.add(request)
        request.body = .data(Data("2".utf8))
        request.headers["X-Position"] = nil
        let error = #expect(throws: SluiceError.self) { try trail.add(request) }
        #expect(error?.code == .paginationLoop)
    }

    /// A body may be megabytes long, and a walk may have a million pages.
    @Test func historyKeepsNoBodies() throws {
        let released = Locked(0)
        var trail = PageHistory()
        for number in 0..<10 {
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: 100_000, alignment: 1)
            bytes.initializeMemory(as: UInt8.self, repeating: UInt8(number), count: 100_000)
            let release: @Sendable (UnsafeMutableRawPointer, Int) -> Void = { pointer, _ in
                pointer.deallocate()
                released.withLock { $0 += 1 }
            }
            let body = Data(bytesNoCopy: bytes, count: 100_000, deallocator: .custom(release))
            try trail.add(
                HTTPRequest(method: .post, scheme: "https", authority: "api.example", path: "/a", body: .data(body))
            )
        }
        #expect(released.withLock { $0 } == 10)
        withExtendedLifetime(trail) {}
    }
}

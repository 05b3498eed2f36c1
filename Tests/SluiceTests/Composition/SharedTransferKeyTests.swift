import Foundation
import SluiceHTTP
import Testing

@testable import Sluice

@Suite struct SharedTransferKeyTests {
    struct Change: Sendable, CustomStringConvertible {
        let description: String
        let apply: @Sendable (APIRequest<String, APIError>) -> APIRequest<String, APIError>

        init(
            _ name: String,
            _ apply: @escaping @Sendable (APIRequest<String, APIError>) -> APIRequest<String, APIError>
        ) {
            description = name
            self.apply = apply
        }
    }

    private static let client = APIClient(baseURL: "http://a.example") {
        $0.sharing = .safeMethods
        $0.secretHeaders = ["X-Key"]
    }

    private func key(_ request: APIRequest<String, APIError>) throws -> SharedTransferKey? {
        SharedTransferKey(try request.httpRequest(), request.draft, request.client.pipeline)
    }

    private var page: APIRequest<String, APIError> { Self.client.string.get("page") }

    @Test(
        arguments: [
            Change("nothing", { $0 }), Change("another model's rules", { $0.validate(statuses: 200..<500) }),
            Change("an unused stub", { $0.stub(.status(.ok), mode: .never) }),
        ] as [Change]
    )
    func keyIgnoresValidationAndStubs(_ change: Change) throws {
        let plain = try #require(try key(page))
        #expect(try key(change.apply(page)) == plain)
        #expect(try key(change.apply(page))?.hashValue == plain.hashValue)
    }

    @Test(
        arguments: [
            Change("path", { $0.baseURL("http://a.example/v2") }), Change("query", { $0.query("q", "1") }),
            Change("host", { $0.host("b.example") }), Change("scheme", { $0.baseURL("https://a.example") }),
            Change("header", { $0.header("Accept", "text/plain") }),
            Change("authorization", { $0.header("Authorization", "x") }),
            Change("secret", { $0.header("X-Key", "1") }), Change("time-out", { $0.timeout(total: .seconds(1)) }),
            Change("limit", { $0.limits(ResponseLimits(body: 1)) }), Change("method", { $0.method(.head) }),
            Change("tags", { $0.tags("t") }), Change("route", { $0.route("r") }),
            Change("user info", { $0.userInfo("screen", "start") }),
            Change("another value", { $0.userInfo("screen", 1).userInfo("other", nil) }),
            Change("cookies", { $0.cookies(false) }),
            Change("credentials", { $0.credentials(nil) }), Change("gates", { $0.withoutGates() }),
            Change("a gate", { $0.withoutGate(named: "G") }),
            Change("a gate's type", { $0.withoutGate(RateLimit.self) }), Change("priority", { $0.priority(.high) }),
            Change("networks", { $0.networkAccess([]) }), Change("idempotence", { $0.idempotent() }),
        ] as [Change]
    )
    func keyDiffersByRequestAndOptions(_ change: Change) throws {
        #expect(try #require(try key(change.apply(page))) != #require(try key(page)))
        #expect(try key(change.apply(page)) == key(change.apply(page)))
    }

    @Test(
        arguments: [
            Change("interceptor", { $0.intercept(UserAgent("x")) }), Change("retries", { $0.retry(.standard) }),
            Change("redirects", { $0.redirects(RedirectPolicy()) }), Change("hedging", { $0.hedged(.none) }),
            Change("user info", { $0.userInfo("screen", URLBuilder.appending) }),
            Change("caching", { $0.httpCaching(nil) }), Change("observer", { $0.observer(RequestMetrics()) }),
        ] as [Change]
    )
    func optionsOfTheCallerPreventSharing(_ change: Change) throws {
        #expect(try key(change.apply(page)) == nil)
    }

    @Test func onlyBodiesInMemoryAreComparedAndShared() throws {
        let post = Self.client.string.post("page").shared(.allMethods)
        #expect(try key(post.data(Data([1]))) == key(post.data(Data([1]))))
        #expect(try #require(try key(post.data(Data([1])))) != #require(try key(post.data(Data([2])))))
        #expect(try key(post.body(.file(URL(filePath: "/tmp/x")))) == nil)
        let chunks = AsyncStream<Data> { $0.finish() }
        #expect(try key(post.body(.stream(chunks))) == nil)
    }

    @Test func ignoredHeadersDoNotChangeTheKeyButSecretsDo() throws {
        let ignoring = RequestSharing.safeMethods.ignoring("X-ID", "Authorization", "X-Key", "Cookie")
        let only = RequestSharing.safeMethods.comparing(only: "Accept")
        for sharing in [ignoring, only] {
            let plain = page.shared(sharing)
            #expect(try key(plain.header("X-ID", "1")) == key(plain.header("X-ID", "2")))
            #expect(try key(plain.header("Accept", "a")) != key(plain.header("Accept", "b")))
            for secret in ["Authorization", "X-Key", "Cookie", "Proxy-Authorization"] {
                let name = HTTPHeaderName(secret)
                #expect(try key(plain.header(name, "1")) != key(plain.header(name, "2")))
                #expect(try key(plain.header(name, "1")) != key(plain))
            }
        }
    }

    @Test func ignoredHeadersAddUp() throws {
        for sharing in [
            RequestSharing.safeMethods.ignoring("X-ID").ignoring("X-Trace"),
            .safeMethods.comparing(only: "Accept", "X-ID").ignoring("X-ID", "X-Trace"),
        ] {
            let plain = page.shared(sharing)
            #expect(try key(plain.header("X-ID", "1")) == key(plain.header("X-ID", "2")))
            #expect(try key(plain.header("X-Trace", "1")) == key(plain.header("X-Trace", "2")))
            #expect(try key(plain.header("Accept", "a")) != key(plain.header("Accept", "b")))
        }
    }

    @Test func callersMustCompareTheSameHeaders() throws {
        // The first ignores the header, the second has none.
        let ignoring = page.shared(.safeMethods.ignoring("Accept-Language")).header("Accept-Language", "de")
        #expect(try #require(try key(ignoring)) != #require(try key(page)))
    }

    @Test func endpointsThatStepsReadAreCompared() throws {
        let template = URITemplate("users/{id}")
        let plain = Self.client.string.get("users/7").route(template.description)
        let expanded = Self.client.string.get(template.expanding(["id": 7]))
        #expect(try #require(try key(expanded)) != #require(try key(plain)))
        #expect(try key(expanded) == key(expanded))
    }

    @Test func suppliedTokensPreventSharing() throws {
        let interceptors: [(any RequestInterceptor, isShared: Bool)] = [
            (BearerToken("t"), true), (CustomToken("t", header: "X-Key"), true),
            (BasicCredentials(user: "u", password: "p"), true),
            (BearerToken { _ in "t" }, false), (CustomToken { _ in "t" }, false), (SuppliedToken { _ in "t" }, false),
        ]
        for (interceptor, isShared) in interceptors {
            let client = APIClient(baseURL: "http://a.example") {
                $0.sharing = .safeMethods
                $0.requestInterceptors = [interceptor]
            }
            #expect(try (key(client.string.get("me")) != nil) == isShared)
        }
    }

    @Test func changedCookiesDoNotShare() async throws {
        let jar = CookieJar()
        let client = APIClient(baseURL: "http://a.example") {
            $0.sharing = .safeMethods
            $0.cookies = jar
        }
        let cookie = Cookie(name: "sid", value: "ada", domain: "a.example")
        var keys = [try #require(try key(client.string.get("me")))]
        try await jar.set(cookie)
        keys.append(try #require(try key(client.string.get("me"))))
        await jar.removeAll()
        keys.append(try #require(try key(client.string.get("me"))))
        #expect(Set(keys).count == 3)
        #expect(try key(client.string.get("me")) == keys[2])
        let own = try #require(try key(client.string.get("me").cookies(false)))
        await jar.removeAll()
        #expect(try key(client.string.get("me").cookies(false)) == own)
    }

    @Test func anotherOwnerOfTheTokenDoesNotShare() async throws {
        let oauth = OAuth2(.clientCredentials(id: "i", secret: "s"), tokenURL: "https://a.example/token")
        let client = APIClient(baseURL: "http://a.example") {
            $0.sharing = .safeMethods
            $0.gates = [oauth]
        }
        var keys = [try #require(try key(client.string.get("me")))]
        try await oauth.signIn(with: OAuth2.Token(accessToken: "t"))
        keys.append(try #require(try key(client.string.get("me"))))
        try await oauth.signOut()
        keys.append(try #require(try key(client.string.get("me"))))
        #expect(Set(keys).count == 3)
        #expect(try key(client.string.get("me")) == keys[2])
    }
}

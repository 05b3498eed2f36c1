import Sluice
import SluiceTesting
import Testing

/// A client that answers many users: `caching.mode` is `shared`.
@Suite struct SharedCacheModeTests {
    /// Returns a server whose responses name the user, with these fields.
    private static func server(_ headers: HTTPHeaders) throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on("/page") { request in
            .text(request.headers["Authorization"] ?? request.headers["X-Key"] ?? "nobody", headers: headers)
        }
        return server
    }

    private static func texts(
        _ client: APIClient,
        _ users: [String],
        _ header: HTTPHeaderName = "Authorization"
    ) async throws -> [String] {
        var texts: [String] = []
        for user in users {
            texts.append(try await client.string.get("page").header(header, user).sender().value)
        }
        return texts
    }

    @Test(arguments: [
        ("max-age=3600", ["ada", "grace", "ada"], 3), ("max-age=3600, must-revalidate", ["ada", "grace", "ada"], 2),
        ("max-age=3600, public", ["ada", "ada", "ada"], 1), ("s-maxage=3600", ["ada", "ada", "ada"], 1),
        ("s-maxage=3600, private, max-age=3600", ["ada", "grace", "ada"], 3),
    ])
    func responsesWithAuthorizationAreStoredIfTheyAllowIt(directives: String, texts: [String], count: Int) async throws
    {
        let server = try Self.server(["Cache-Control": directives])
        let client = APIClient(baseURL: server.url) {
            $0.cache = CacheStore(storage: nil)
            $0.caching.mode = .shared
        }
        #expect(try await Self.texts(client, ["ada", "grace", "ada"]) == texts)
        #expect(server.requests.count == count)
    }

    @Test func modeIsPrivateByDefault() async throws {
        let server = try Self.server(["Cache-Control": "private, max-age=3600, s-maxage=0"])
        let client = APIClient(baseURL: server.url) { $0.cache = CacheStore(storage: nil) }
        #expect(client.configuration.caching.mode == .private)
        #expect(try await Self.texts(client, ["ada", "ada"]) == ["ada", "ada"])
        #expect(server.requests.count == 1)
    }

    @Test func requestChoosesItsMode() async throws {
        let server = try Self.server(["Cache-Control": "private, max-age=3600"])
        let client = APIClient(baseURL: server.url) { $0.cache = CacheStore(storage: nil) }
        let request = client.string.get("page")
        _ = try await request.sender().value
        let shared = await request.caching { $0.mode = .shared }.sender().response
        #expect(shared.source == .server)
        let usual = await request.sender().response
        #expect(usual.source.isCache)
        #expect(server.requests.count == 2)
    }

    @Test func partitionsStaySeparateAndFollowTheSameRules() async throws {
        let server = try Self.server(["Cache-Control": "s-maxage=3600"])
        let client = APIClient(baseURL: server.url) {
            $0.cache = CacheStore(storage: nil)
            $0.caching.mode = .shared
        }
        for _ in 0..<2 {
            for partition in ["ada", "grace"] {
                let request = client.string.get("page").cachePartition(partition).header("Authorization", partition)
                #expect(try await request.sender().value == partition)
            }
        }
        #expect(server.requests.count == 2)
        server.on("/own", .text("own", headers: ["Cache-Control": "max-age=3600"]))
        for _ in 0..<2 {
            let request = client.string.get("own").cachePartition("ada").header("Authorization", "ada")
            #expect(await request.sender().response.source == .server)
        }
    }

    @Test func secretHeadersAndChallengeCredentialsCountAsAuthorization() async throws {
        let server = try Self.server(["Cache-Control": "max-age=3600"])
        let keyed = APIClient(baseURL: server.url) {
            $0.cache = CacheStore(storage: nil)
            $0.caching.mode = .shared
            $0.caching.partition = "all"
            $0.secretHeaders.append("X-Key")
        }
        #expect(try await Self.texts(keyed, ["ada", "grace"], "X-Key") == ["ada", "grace"])
        let challenged = APIClient(baseURL: server.url) {
            $0.cache = CacheStore(storage: nil)
            $0.caching.mode = .shared
            $0.caching.partition = "all"
            $0.credentials = ChallengeCredentials(user: "ada", password: "x")
        }
        for _ in 0..<2 {
            #expect(await challenged.string.get("page").sender().response.source == .server)
        }
    }

    @Test(arguments: [CacheMode.private, .shared])
    func responseThatVariesByTheAnswerToAChallengeIsNotShared(mode: CacheMode) async throws {
        let server = try LoopbackServer()
        server.on("/me") { request in
            guard let user = request.headers["Authorization"] else {
                return .text("", status: .unauthorized, headers: ["WWW-Authenticate": "Basic realm=\"me\""])
            }
            return .text(user, headers: ["Cache-Control": "public, max-age=3600", "Vary": "Authorization"])
        }
        let client = APIClient(baseURL: server.url) {
            $0.cache = CacheStore(storage: nil)
            $0.caching.mode = mode
        }
        let requests = ["ada", "grace"].map { user in
            client.string.get("me").credentials(ChallengeCredentials(user: user, password: "x"))
        }
        #expect(try await requests[0].sender().value != requests[1].sender().value)
        #expect(await client.string.get("me").sender().response.status == .unauthorized)
    }

    @Test func usersWhoMissTogetherGetTheirOwnResponses() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        server.on("/page") { request in
            let user = request.headers["Authorization"] ?? "nobody"
            return .after(signal, .text(user, headers: ["Cache-Control": "max-age=3600"]))
        }
        let client = APIClient(baseURL: server.url) {
            $0.cache = CacheStore(storage: nil)
            $0.caching.mode = .shared
            $0.caching.partition = "all"
        }
        let users = ["ada", "grace", "joan"]
        let tasks = users.map { user in
            Task { try await client.string.get("page").header("Authorization", user).sender().value }
        }
        await server.waitForRequests(1)
        signal.fire()
        for (user, task) in zip(users, tasks) { #expect(try await task.value == user) }
        #expect(server.requests.count == 3)
    }

    @Test func targetedFieldDecidesInMemoryAndOnDisk() async throws {
        let folder = try DownloadFolder()
        let server = try Self.server(["CDN-Cache-Control": "max-age=3600", "Cache-Control": "no-store", "Expires": "0"])
        let configure: @Sendable (inout APIClient.Configuration, CacheStore) -> Void = {
            $0.cache = $1
            $0.caching.mode = .shared(targetedFields: ["CDN-Cache-Control"])
        }
        let store = CacheStore(directory: folder.url)
        let client = APIClient(baseURL: server.url) { configure(&$0, store) }
        for isCache in [false, true] {
            let response = await client.string.get("page").sender().response
            #expect(response.source.isCache == isCache)
            #expect(response.head?.headers["CDN-Cache-Control"] == "max-age=3600")
        }
        await store.flush()
        let other = CacheStore(directory: folder.url)
        let later = APIClient(baseURL: server.url) { configure(&$0, other) }
        #expect(await later.string.get("page").sender().response.source.isCache)
        // Without the option, the response would not have been stored, and it is not used.
        let usual = APIClient(baseURL: server.url) {
            $0.cache = other
            $0.caching.mode = .shared
        }
        #expect(await usual.string.get("page").sender().response.source == .server)
    }

    @Test func sharedCacheDoesNotUseWhatOnlyAPrivateOneStores() async throws {
        let folder = try DownloadFolder()
        let fields = ["private, max-age=3600", "max-age=3600, private=\"X-A\"", "max-age=3600", "max-age=3600"]
        let server = try LoopbackServer()
        for (number, directives) in fields.enumerated() {
            var headers: HTTPHeaders = ["Cache-Control": directives, "X-A": "1"]
            if number == 2 { headers.append("Set-Cookie", "a=b") }
            server.on("/\(number)", .text("text", headers: headers))
        }
        let store = CacheStore(directory: folder.url)
        let client = APIClient(baseURL: server.url) { $0.cache = store }
        for number in fields.indices { _ = try await client.string.get("\(number)").sender().value }
        await store.flush()
        let other = CacheStore(directory: folder.url)
        let shared = APIClient(baseURL: server.url) {
            $0.cache = other
            $0.caching.mode = .shared
        }
        for number in fields.indices {
            let response = await shared.string.get("\(number)").sender().response
            #expect(response.source.isCache == (number == 3))
        }
    }

    @Test func dataSourceStoresWhateverTheMode() async throws {
        let server = try Self.server(["Cache-Control": "private, max-age=3600"])
        let client = APIClient(baseURL: server.url) {
            $0.cache = CacheStore(storage: nil)
            $0.caching.mode = .shared
        }
        let request = client.string.get("page").header("Authorization", "ada").dataSource(.cacheElseServer)
        _ = try await request.sender().value
        #expect(await request.sender().response.source.isCache)
    }
}

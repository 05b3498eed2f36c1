import Sluice
import SluiceTesting
import XCTest

/// No client receives a private response of another.
final class CachePrivacyTests: XCTestCase {
    private let store = CacheStore(storage: nil)

    private func server() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on("/me") { request in
            let user = request.headers["Authorization"] ?? request.headers["Cookie"] ?? "nobody"
            return .text(user, headers: ["Cache-Control": "max-age=3600"])
        }
        server.on("/public") { request in
            .text(request.headers["Authorization"] ?? "nobody", headers: ["Cache-Control": "public, max-age=3600"])
        }
        return server
    }

    func testStoredResponsesAreSeparatedByCredentials() async throws {
        let server = try server()
        let client = APIClient(baseURL: server.url) { $0.cache = store }
        for _ in 0..<2 {
            for (name, value) in [
                ("Authorization", "ada"), ("Authorization", "grace"), ("Cookie", "sid=1"), ("X-Other", "1"),
            ] {
                let text = try await client.string.get("me").header(HTTPHeaderName(name), value).sender().value
                XCTAssertEqual(text, name == "X-Other" ? "nobody" : value)
            }
        }
        XCTAssertEqual(server.requests.count, 4)
    }

    func testPublicResponsesAreSharedBetweenUsers() async throws {
        let server = try server()
        let client = APIClient(baseURL: server.url) { $0.cache = store }
        for token in ["ada", "grace"] {
            let text = try await client.string.get("public").header("Authorization", token).sender().value
            XCTAssertEqual(text, "ada")
        }
    }

    func testPartitionsAreIsolated() async throws {
        let server = try server()
        let clients = ["a", "b", ""].map { partition in
            APIClient(baseURL: server.url) {
                $0.cache = store
                $0.caching.partition = partition
            }
        }
        for client in clients {
            let response = await client.string.get("me").sender().response
            XCTAssertEqual(response.source, .server)
            let kept = await client.string.get("me").dataSource(.cacheElseServer).httpCaching(nil).sender().response
            XCTAssertEqual(kept.source, .server)
        }
        for client in clients {
            let response = await client.string.get("me").sender().response
            XCTAssertTrue(response.source.isCache)
            let kept = await client.string.get("me").dataSource(.cache).sender().response
            XCTAssertTrue(kept.source.isCache)
        }
        try await store.partition("a").removeAll()
        let gone = await clients[0].string.get("me").dataSource(.cache).sender().response
        XCTAssertEqual(gone.failure?.code, .cacheMiss)
        let left = await clients[1].string.get("me").dataSource(.cache).sender().response
        XCTAssertTrue(left.source.isCache)
    }

    func testRemovalOutdatesFetchesUnderWay() async throws {
        let removals: [(name: String, isOutdated: Bool, remove: @Sendable (CacheStore) async throws -> Void)] = [
            ("the partition", true, { try await $0.partition("ada").removeAll() }),
            ("all", true, { try await $0.removeAll() }),
            ("a tag", true, { try await $0.remove(tag: "mine") }),
            ("a tag of the partition", true, { try await $0.partition("ada").remove(tag: "mine") }),
            ("another partition", false, { try await $0.partition("grace").removeAll() }),
            ("another tag", false, { try await $0.remove(tag: "other") }),
            ("the values", false, { try await $0.partition("ada").memoryAndDisk.removeAll() }),
        ]
        let kinds: [(name: String, source: DataSource, isStreamed: Bool)] = [
            ("HTTP cache", .server, false), ("HTTP cache of a stream", .server, true),
            ("data source", .cacheElseServer, false),
        ]
        for (removal, isOutdated, remove) in removals {
            for (kind, source, isStreamed) in kinds {
                let subject = "\(removal), \(kind)"
                let server = try LoopbackServer()
                let signal = LoopbackSignal()
                let headers: HTTPHeaders = ["Cache-Control": "max-age=3600"]
                server.on("/me", .after(signal, .text("ada", headers: headers)), .text("nobody", headers: headers))
                let store = CacheStore(storage: nil)
                let client = APIClient(baseURL: server.url) {
                    $0.cache = store
                    $0.caching.partition = "ada"
                    $0.caching.tags = ["mine"]
                    $0.caching.source = source
                    if kind == "data source" { $0.caching.http = nil }
                }
                let first = Task {
                    if !isStreamed { return try await client.string.get("me").sender().value }
                    var text = ""
                    for try await line in client.stream("me").lines() { text += line }
                    return text
                }
                await server.waitForRequests(1)
                try await remove(store)
                if isOutdated {
                    // A later request neither joins the fetch nor waits for it.
                    let later = try await client.string.get("me").sender().value
                    XCTAssertEqual(later, "nobody", subject)
                    try await remove(store)
                }
                signal.fire()
                let text = try await first.value
                XCTAssertEqual(text, "ada", subject)
                let again = await client.string.get("me").sender().response
                XCTAssertEqual(again.source.isCache, !isOutdated, subject)
            }
        }
    }

    func testReplacedServersAndClientCertificatesSeparateStoredResponses() async throws {
        struct Named: Transport {
            let name: String

            func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
                let head = HTTPResponse(status: .ok, headers: ["Cache-Control": "max-age=3600"])
                return TransportResponse(head: head, body: ResponseBody(Data(name.utf8)))
            }
        }
        let changes: [(String, @Sendable (inout ConnectionOptions) -> Void)] = [
            ("plain", { _ in }), ("socket a", { $0.unixSocket = "/run/a.sock" }),
            ("socket b", { $0.unixSocket = "/run/b.sock" }),
            ("addresses", { $0.hostAddresses["shop.example"] = [IPAddress(192, 0, 2, 1)] }),
            ("certificate a", { $0.tls.clientCertificate = .pem(certificate: .file("a"), key: .file("k")) }),
            ("certificate b", { $0.tls.clientCertificate = .pem(certificate: .pem("b"), key: .file("k")) }),
            (
                "certificate of the host",
                {
                    $0.tls.clientCertificate = .pem(certificate: .file("a"), key: .file("k"))
                    $0.tlsByHost["shop.example"] = TLSConfiguration(
                        clientCertificate: .pkcs12(.file("c"), password: "")
                    )
                }
            ),
        ]
        for source in [DataSource.server, .cacheElseServer] {
            let clients = changes.map { name, change in
                APIClient(baseURL: "https://shop.example") {
                    $0.cache = store
                    $0.caching.source = source
                    change(&$0.connection)
                    $0.transport = Named(name: name)
                }
            }
            for _ in 0..<2 {
                for (client, change) in zip(clients, changes) {
                    let text = try await client.string.get("me").sender().value
                    XCTAssertEqual(text, change.0)
                }
            }
            let again = await clients[1].string.get("me").sender().response
            XCTAssertTrue(again.source.isCache)
            // A request that changes one server does not concern the responses of the other.
            _ = try await clients[1].string.post("me").sender().value
            let changed = await clients[1].string.get("me").dataSource(.server).sender().response
            XCTAssertFalse(changed.source.isCache)
            let other = await clients[2].string.get("me").dataSource(.server).sender().response
            XCTAssertTrue(other.source.isCache)
        }
    }

    func testTagsOfRevalidationsAreLimitedButNotThoseOfAClient() async throws {
        let server = try LoopbackServer()
        let page = LoopbackResource(Data("page".utf8), eTag: "\"1\"", headers: ["Cache-Control": "no-cache"])
        server.on("/page", .resource(page))
        server.on("/tagged", .text("tagged", headers: ["Cache-Control": "max-age=60"]))
        func client(_ tags: Set<String>) -> APIClient {
            APIClient(baseURL: server.url) {
                $0.cache = store
                $0.caching.tags = tags
            }
        }
        let count = 70
        for number in 0..<count { _ = try await client(["tag \(number)"]).data.get("page").sender().value }
        // The last tags were not added. The first one is still there.
        for (tag, condition) in [("tag \(count - 1)", "\"1\""), ("tag 0", nil)] {
            try await store.remove(tag: tag)
            _ = try await client([]).data.get("page").sender().value
            XCTAssertEqual(server.requests.last?.headers["If-None-Match"], condition)
        }
        let many = client(Set((0..<count).map { "own \($0)" }))
        for isCache in [false, true] {
            let response = await many.string.get("tagged").sender().response
            XCTAssertEqual(response.source.isCache, isCache)
        }
    }

    func testRevalidationKeepsAResponseOffTheDisk() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try LoopbackServer()
        let page = LoopbackResource(Data("page".utf8), eTag: "\"1\"", headers: ["Cache-Control": "no-cache"])
        server.on("/page", .resource(page))
        let store = CacheStore(directory: folder)
        for storesInMemoryOnly in [true, false] {
            let client = APIClient(baseURL: server.url) {
                $0.cache = store
                $0.caching.storesInMemoryOnly = storesInMemoryOnly
            }
            _ = try await client.data.get("page").sender().value
        }
        await store.flush()
        let count = try await store.size.disk.count
        XCTAssertEqual(count, 0)
        XCTAssertEqual(server.requests.map { $0.headers["If-None-Match"] }, [nil, "\"1\""])
    }

    func testRevalidationByAnotherClientKeepsTags() async throws {
        let server = try LoopbackServer()
        let page = LoopbackResource(Data("page".utf8), eTag: "\"1\"", headers: ["Cache-Control": "no-cache"])
        server.on("/page", .resource(page))
        let tagged = APIClient(baseURL: server.url) {
            $0.cache = store
            $0.caching.tags = ["account"]
        }
        let plain = APIClient(baseURL: server.url) { $0.cache = store }
        for client in [tagged, plain] { _ = try await client.data.get("page").sender().value }
        try await store.remove(tag: "account")
        _ = try await plain.data.get("page").sender().value
        let conditions = server.requests.map { $0.headers["If-None-Match"] }
        XCTAssertEqual(conditions, [nil, "\"1\"", nil])
    }

    func testUnsafeRequestOfOneClientOutdatesTheFetchOfAnother() async throws {
        let server = try LoopbackServer()
        let signal = LoopbackSignal()
        let headers: HTTPHeaders = ["Cache-Control": "max-age=3600"]
        server.on(.get, "/page", .after(signal, .text("old", headers: headers)), .text("new", headers: headers))
        server.on(.post, "/page", .status(.noContent))
        let clients = (0..<2).map { _ in APIClient(baseURL: server.url) { $0.cache = store } }
        let first = Task { try await clients[0].string.get("page").sender().value }
        await server.waitForRequests(1)
        _ = try await clients[1].data.post("page").data(Data()).sender().value
        signal.fire()
        let old = try await first.value
        XCTAssertEqual(old, "old")
        let new = try await clients[0].string.get("page").sender().value
        XCTAssertEqual(new, "new")
    }

    #if os(Linux)
    func testUnsafeRequestOutdatesResponsesOfClientsWithOtherBodies() async throws {
        let server = try LoopbackServer()
        let headers: HTTPHeaders = ["Cache-Control": "max-age=3600"]
        server.on(.post, "/*", .status(.noContent))
        for decodes in [true, false] {
            let path = "page\(decodes)"
            server.on(.get, "/\(path)", .text("old", headers: headers), .text("new", headers: headers))
            let clients = [decodes, !decodes].map { decodes in
                var options = SocketTransport.Configuration()
                options.decompressesResponses = decodes
                return APIClient(baseURL: server.url) {
                    $0.cache = store
                    $0.transport = SocketTransport(configuration: options)
                }
            }
            var texts: [String] = []
            for isChanged in [false, false, true] {
                if isChanged { _ = try await clients[1].data.post(path).data(Data()).sender().value }
                texts.append(try await clients[0].string.get(path).sender().value)
            }
            XCTAssertEqual(texts, ["old", "old", "new"], "\(decodes)")
        }
    }
    #endif

    func testCookieOfAPublicResponseIsNotReplayed() async throws {
        let server = try LoopbackServer()
        server.on("/public") { _ in
            .text("all", headers: ["Cache-Control": "public, max-age=3600", "Set-Cookie": "sid=1", "X-A": "1"])
        }
        let client = APIClient(baseURL: server.url) { $0.cache = store }
        for token in ["ada", "grace"] {
            let response = await client.string.get("public").header("Authorization", token).sender().response
            XCTAssertEqual(response.head?.headers["Set-Cookie"], token == "ada" ? "sid=1" : nil)
            XCTAssertEqual(response.head?.headers["X-A"], "1")
        }
        XCTAssertEqual(server.requests.count, 1)
    }

    func testHostFieldCannotFillTheEntriesOfAnotherServer() async throws {
        let (good, evil) = (try LoopbackServer(), try LoopbackServer())
        good.on("/page", .text("good", headers: ["Cache-Control": "max-age=3600"]))
        evil.on("/page", .text("evil", headers: ["Cache-Control": "max-age=3600"]))
        let client = APIClient { $0.cache = store }
        let host = String(good.url.dropFirst("http://".count))
        for _ in 0..<2 {
            let evilText = try await client.string.get("\(evil.url)/page").header("Host", host).sender().value
            let goodText = try await client.string.get("\(good.url)/page").sender().value
            let plainText = try await client.string.get("\(evil.url)/page").sender().value
            XCTAssertEqual([evilText, goodText, plainText], ["evil", "good", "evil"])
        }
        XCTAssertEqual([good.requests.count, evil.requests.count], [1, 2])
    }

    func testPartitionIsUsedAfterTokenRefresh() async throws {
        let server = try server()
        let client = APIClient(baseURL: server.url) {
            $0.cache = store
            $0.caching.partition = "ada"
        }
        for token in ["old", "new"] {
            let text = try await client.string.get("me").header("Authorization", token).sender().value
            XCTAssertEqual(text, "old")
        }
    }

    func testCookieJarsAreIsolated() async throws {
        let server = try server()
        let clients = (0..<2).map { _ in
            APIClient(baseURL: server.url) {
                $0.cache = store
                $0.cookies = CookieJar()
            }
        }
        for client in clients {
            let response = await client.string.get("me").sender().response
            XCTAssertEqual(response.source, .server)
            let again = await client.string.get("me").sender().response
            XCTAssertTrue(again.source.isCache)
        }
    }

    func testRemovalOfCookiesSeparatesUsersOfAJar() async throws {
        let server = try server()
        for mode in [CacheMode.private, .shared] {
            let jar = CookieJar()
            let client = APIClient(baseURL: server.url) {
                $0.cache = store
                $0.caching.mode = mode
                $0.cookies = jar
            }
            for (user, removal) in [("ada", 0), ("grace", 1), ("joan", 2), ("edith", 3)] {
                if removal == 1 { await jar.removeAll() }
                if removal == 2 { await jar.removeAll { $0.name == "sid" } }
                if removal != 3 {
                    let guest = try await client.string.get("me").sender().value
                    XCTAssertEqual(guest, "nobody")
                }
                try await jar.set(Cookie(name: "sid", value: user, domain: "127.0.0.1"))
                for _ in 0..<2 {
                    let text = try await client.string.get("me").sender().value
                    XCTAssertEqual(text, "sid=\(user)")
                }
            }
        }
    }

    /// The response is that of the user who has signed out meanwhile.
    func testResponseOfAUserWhoSignsOutIsNotTheNextUsers() async throws {
        for isDataSource in [false, true] {
            let server = try LoopbackServer()
            let signal = LoopbackSignal()
            let fields: HTTPHeaders = ["Cache-Control": "max-age=3600"]
            server.on("/me", .after(signal, .text("ada", headers: fields)), .text("grace", headers: fields))
            let jar = CookieJar()
            let client = APIClient(baseURL: server.url) {
                $0.cache = CacheStore(storage: nil)
                $0.cookies = jar
                if isDataSource { $0.caching.source = .cacheElseServer }
                if isDataSource { $0.caching.http = nil }
            }
            let first = Task { try await client.string.get("me").sender().value }
            await server.waitForRequests(1)
            await jar.removeAll()
            signal.fire()
            let ada = try await first.value
            XCTAssertEqual(ada, "ada")
            let grace = try await client.string.get("me").sender().value
            XCTAssertEqual(grace, "grace")
        }
    }

    #if os(Linux)
    /// Clients that get encoded bodies have their own entries.
    func testEncodedBodiesAreNotSharedWithClientsThatDecodeThem() async throws {
        let encoded = Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJBwCGphA2BQAAAA==") ?? Data()
        let server = try LoopbackServer()
        let fields: HTTPHeaders = ["Content-Encoding": "gzip", "Cache-Control": "max-age=3600"]
        server.on("/text", .data(encoded, headers: fields))
        var options = SocketTransport.Configuration()
        options.decompressesResponses = false
        var raw = APIClient.Configuration()
        raw.cache = store
        var plain = raw
        raw.transport = SocketTransport(configuration: options)
        for isDataSource in [false, true] {
            if isDataSource {
                raw.caching.http = nil
                raw.caching.source = .cacheElseServer
                plain.caching = raw.caching
            }
            let clients = [raw, plain].map { configuration in APIClient(baseURL: server.url) { $0 = configuration } }
            for _ in 0..<2 {
                let bytes = try await clients[0].data.get("text").sender().value
                XCTAssertEqual(bytes, encoded)
                let text = try await clients[1].data.get("text").sender().value
                XCTAssertEqual(text.count, 5)
            }
        }
        XCTAssertEqual(server.requestCount, 4)
    }
    #endif

    func testDataSourceEntriesAreSeparatedByCredentials() async throws {
        let server = try server()
        let client = APIClient(baseURL: server.url) {
            $0.cache = store
            $0.caching.source = .cacheElseServer
            $0.caching.http = nil
        }
        for token in ["ada", "grace", "ada"] {
            let text = try await client.string.get("me").header("Authorization", token).sender().value
            XCTAssertEqual(text, token)
        }
        XCTAssertEqual(server.requests.count, 2)
    }

    func testInterceptorTokensSeparateStoredResponses() async throws {
        let server = try LoopbackServer()
        server.on("/me") { request in
            .text(request.headers["X-Token"] ?? "nobody", headers: ["Cache-Control": "max-age=3600"])
        }
        let client = APIClient(baseURL: server.url) { $0.cache = store }
        for _ in 0..<2 {
            for token in ["ada", "grace"] {
                let request = client.string.get("me").intercept(CustomToken(token, header: "X-Token"))
                let text = try await request.sender().value
                XCTAssertEqual(text, token)
            }
        }
        XCTAssertEqual(server.requests.count, 2)
    }
}

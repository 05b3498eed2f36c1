#if os(Linux)
import Foundation
import Sluice
import SluiceRedis
import SluiceTesting
import Testing

/// Several clients with caches of their own and one server, as those of several machines.
@Suite(.enabled(if: RedisProcess.canRun))
struct CacheFleetTests {
    let redis: RedisProcess
    let server: LoopbackServer
    let seal: RedisSeal

    init() throws {
        redis = try RedisProcess()
        server = try LoopbackServer()
        seal = try RedisCacheStorageTests.seal()
    }

    private func store(leaseDuration: Duration = .seconds(10), _ server: RedisServer? = nil) -> CacheStore {
        let client = RedisClient(server ?? redis.server)
        return CacheStore(storage: RedisCacheStorage(client, seal: seal, leaseDuration: leaseDuration))
    }

    private func client(_ store: CacheStore) -> APIClient {
        APIClient(baseURL: server.url) {
            $0.cache = store
            $0.caching.tags = ["pages"]
        }
    }

    @Test func oneMachineReadsWhatAnotherHasFetched() async throws {
        server.on("/page", .text("one", headers: ["Cache-Control": "max-age=600"]))
        let (first, second) = (store(), store())
        #expect(try await client(first).string.get("page").sender().value == "one")
        await first.flush()
        let response = await client(second).string.get("page").sender().response
        #expect(try response.result.get() == "one" && response.source != .server)
        #expect(server.requestCount == 1)
    }

    @Test func oneMachineFetchesAndTheOthersWait() async throws {
        let signal = LoopbackSignal()
        server.on("/page", .after(signal, .text("one", headers: ["Cache-Control": "max-age=600"])))
        let clients = (0..<5).map { _ in client(store()) }
        let pages = await withTaskGroup(of: String?.self) { group in
            for client in clients {
                for _ in 0..<10 { group.addTask { try? await client.string.get("page").sender().value } }
            }
            await server.waitForRequests(1)
            signal.fire()
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(pages == Array(repeating: "one", count: 50))
        #expect(server.requestCount == 1)
    }

    @Test func responsesThatAreNotStoredAreFetchedByEach() async throws {
        server.on("/page", .text("one", headers: ["Cache-Control": "no-store"]))
        let clients = (0..<4).map { _ in client(store()) }
        for _ in 0..<2 {
            let pages = await withTaskGroup(of: String?.self) { group in
                for client in clients { group.addTask { try? await client.string.get("page").sender().value } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(pages == Array(repeating: "one", count: 4))
        }
        #expect(server.requestCount == 8)
    }

    @Test(arguments: ["tag", "post"])
    func removalsReachTheMemoryOfAll(_ kind: String) async throws {
        let headers: HTTPHeaders = ["Cache-Control": "max-age=600"]
        server.on(.get, "/page", .text("old", headers: headers), .text("new", headers: headers))
        server.on(.post, "/page", .text("done"))
        let stores = [store(), store()]
        let clients = stores.map(client)
        for client in clients {
            #expect(try await client.string.get("page").sender().value == "old")
            for store in stores { await store.flush() }
        }
        #expect(server.requestCount == 1)
        if kind == "tag" {
            try await stores[1].remove(tag: "pages")
        } else {
            _ = try await clients[1].string.post("page").sender().value
            await stores[1].flush()
        }
        #expect(try await clients[1].string.get("page").sender().value == "new")
        // The news arrives within milliseconds. Without it, the old page would be served for ten minutes.
        while try await clients[0].string.get("page").sender().value != "new" { await Task.yield() }
        #expect(server.requests(to: "/page").filter { $0.method == .get }.count == 2)
    }

    @Test func staleResponsesAreRevalidatedByOne() async throws {
        let headers: HTTPHeaders = ["Cache-Control": "max-age=0, stale-while-revalidate=600", "ETag": "\"1\""]
        let signal = LoopbackSignal()
        server.on(
            "/page",
            .text("one", headers: headers),
            .after(signal, .text("two", headers: ["Cache-Control": "max-age=600"]))
        )
        let stores = (0..<4).map { _ in store() }
        let clients = stores.map(client)
        #expect(try await clients[0].string.get("page").sender().value == "one")
        await stores[0].flush()
        for client in clients { #expect(try await client.string.get("page").sender().value == "one") }
        await server.waitForRequests(2)
        for client in clients { #expect(try await client.string.get("page").sender().value == "one") }
        signal.fire()
        for client in clients {
            while try await client.string.get("page").sender().value != "two" { await Task.yield() }
        }
        #expect(server.requestCount == 2)
    }

    @Test func requestsDoNotNeedTheServer() async throws {
        server.on("/page", .text("one", headers: ["Cache-Control": "max-age=600"]))
        var impatient = RedisServer(unixSocket: redis.socket)
        impatient.backoff.base = .milliseconds(2)
        impatient.backoff.limit = .milliseconds(20)
        let first = store(impatient)
        let client = client(first)
        redis.kill()
        #expect(try await client.string.get("page?killed").sender().value == "one")
        #expect(try await client.string.get("page?killed").sender().value == "one")
        #expect(server.requestCount == 1, "The memory works without the server.")
        try redis.start()
        redis.pause()
        #expect(try await client.string.get("page?paused").sender().value == "one")
        redis.proceed()
        // Storing succeeds again once the client has connected.
        let second = APIClient(baseURL: server.url) { $0.cache = store() }
        var number = 0
        repeat {
            number += 1
            #expect(try await client.string.get("page?\(number)").sender().value == "one")
            await first.flush()
            let count = server.requestCount
            #expect(try await second.string.get("page?\(number)").sender().value == "one")
            if server.requestCount == count { break }
        } while true
    }

    @Test func fullServersAreNamedAndDoNotDisturbRequests() async throws {
        let full = try RedisProcess("--maxmemory", "3mb", "--maxmemory-policy", "noeviction")
        server.on("/*") {
            .text($0.path + String(repeating: "x", count: 100_000), headers: ["Cache-Control": "max-age=600"])
        }
        let warnings = Events()
        let storage = RedisCacheStorage(RedisClient(full.server), seal: seal) { warnings.add($0) }
        let failures = Events()
        let store = CacheStore(storage: storage) { $0.onEvent = { failures.add($0) } }
        let client = client(store)
        for number in 0..<60 {
            #expect(try await client.string.get("page\(number)").sender().value.hasPrefix("/page\(number)x"))
        }
        await store.flush()
        #expect(failures.count > 0)
        while warnings.count == 0 { await Task.yield() }
    }

    @Test func machinesThatStartAgainAreTold() async throws {
        let headers: HTTPHeaders = ["Cache-Control": "max-age=600"]
        server.on("/page", .text("old", headers: headers), .text("new", headers: headers))
        let stores = [store(), store()]
        let clients = stores.map(client)
        for client in clients { #expect(try await client.string.get("page").sender().value == "old") }
        await stores[0].flush()
        // All connections are lost, and with them the news.
        redis.kill()
        try redis.start()
        while (try? await stores[1].remove(tag: "pages")) == nil { await Task.yield() }
        while try await clients[0].string.get("page").sender().value != "new" { await Task.yield() }
    }
}
#endif

#if os(Linux)
import Foundation
import Sluice
import SluiceRedis
import SluiceTesting
import Testing

/// The article on Redis.
@Suite(.enabled(if: RedisProcess.canRun))
struct RedisGuideTests {
    struct Board {
        let redis: RedisClient

        func visits(of page: String) async -> Int? {
            do {
                return try await redis.send(RedisCommand("INCR", "visits/\(page)")).int
            } catch {
                // Nothing depends on the number, so the page is shown without it.
                return nil
            }
        }
    }

    struct FleetLimit: Gate {
        let redis: RedisClient
        let window: RedisScript
        let limit: Int

        var reservesResource: Bool { true }

        func admit(_ request: RequestContext) async throws(SluiceError) -> Permit {
            let count = try? await redis.run(window, keys: ["{limit}"]).int
            // Without a reply of the server, the request is let through.
            if let count, count > limit { throw SluiceError(.rateLimited, "The limit of all machines is reached.") }
            return Permit()
        }
    }

    @Test func serversAndCommands() async throws {
        let (process, port) = try RedisProcess.onPort(
            "--port",
            ["--user", "shop", "on", ">hunter2hunter2", "~*", "+@all"]
        )
        let host = "127.0.0.1"
        var server = RedisServer(host: host, port: port)
        server.user = "shop"
        server.password = Secret("hunter2hunter2")
        server.database = 2
        // The machine of a test may be slow.
        server = server.patient
        let redis = RedisClient(server)
        _ = try await redis.send(RedisCommand("SET", "greeting", "hello", "EX", 60, isIdempotent: true))
        let greeting = try await redis.send(RedisCommand("GET", "greeting", isIdempotent: true)).string
        #expect(greeting == "hello")
        #expect(await Board(redis: redis).visits(of: "home") == 1)
        process.kill()
        #expect(await Board(redis: redis).visits(of: "home") == nil)
    }

    @Test func scriptsLimitAllMachines() async throws {
        let process = try RedisProcess()
        let redis = RedisClient(process.server)
        let window = RedisScript(
            """
            local now = redis.call('TIME')
            local key = KEYS[1] .. ':' .. math.floor(now[1] / 60)
            local count = redis.call('INCR', key)
            if count == 1 then redis.call('PEXPIRE', key, 120000) end
            return count
            """
        )
        let count = try await redis.run(window, keys: ["{limit}"]).int
        #expect(count == 1)
        let web = try LoopbackServer()
        web.on("/", .text("hello"))
        // Two clients stand for two machines. A minute that ends meanwhile starts the count again.
        let clients = (0..<2).map { _ in
            APIClient(baseURL: "\(web.url)") {
                $0.gates = [FleetLimit(redis: RedisClient(process.server), window: window, limit: 4)]
            }
        }
        var refusals = 0
        for number in 0..<20 {
            do {
                _ = try await clients[number % 2].string.get("/").sender().value
            } catch {
                refusals += 1
            }
        }
        #expect((12...17).contains(refusals))
        #expect(web.requestCount == 20 - refusals)
        process.kill()
        #expect(try await clients[0].string.get("/").sender().value == "hello")
    }

    @Test func tokensAndLimitsOfAllMachines() async throws {
        let process = try RedisProcess()
        let redis = RedisClient(process.server)
        let seal = try RedisSeal("0123456789abcdef0123456789abcdef")
        let web = try LoopbackServer()
        web.on(.post, "/token", .json(#"{"access_token":"t","token_type":"Bearer","refresh_token":"r"}"#))
        web.on("/api", .text("hello"))
        let (apiURL, tokenURL, first) = ("\(web.url)/api", "\(web.url)/token", Secret("first"))
        let store = try RedisTokenStore(redis, named: "payments", seal: seal)
        let payments = APIClient(baseURL: apiURL) {
            $0.gates = [OAuth2(.refreshToken(first, id: "shop"), tokenURL: tokenURL) { $0.store = store }]
        }
        #expect(try await payments.string.get("").sender().value == "hello")
        #expect(web.requests(to: "/api").first?.headers[.authorization] == "Bearer t")
        #expect(try await store.load()?.refreshToken == "r")
        let shop = APIClient(baseURL: apiURL) {
            $0.gates = [
                RedisRateLimit(1000, every: .seconds(1), on: redis, named: "shop", maximumWait: .seconds(5)),
                RedisConcurrencyLimit(64, on: redis, named: "shop", whenUnavailable: .local(share: 0.25)),
                RedisCircuitBreaker(CircuitBreaker(), on: redis, named: "shop"),
            ]
        }
        for _ in 0..<10 { #expect(try await shop.string.get("").sender().value == "hello") }
    }

    @Test func sealedValues() async throws {
        let process = try RedisProcess()
        let redis = RedisClient(process.server)
        let key = Secret("0123456789abcdef0123456789abcdef")
        let (user, token) = ("alice", Data("secret".utf8))
        let seal = try RedisSeal(key, encrypts: true)
        let name = try seal.name("token/\(user)")
        _ = try await redis.send(RedisCommand("SET", name, try seal.seal(token, as: name)))
        let stored = try await redis.send(RedisCommand("GET", name)).data
        let opened = stored.flatMap { try? seal.open($0, as: name) }
        #expect(opened == token)
        #expect(stored?.firstRange(of: token) == nil)
    }

    @Test func machinesShareACache() async throws {
        let process = try RedisProcess()
        let server = try LoopbackServer()
        server.on("/items", .text("[]", headers: ["Cache-Control": "max-age=600"]))
        let (redis, apiURL) = (RedisClient(process.server), server.url)
        let seal = try RedisSeal(Secret("0123456789abcdef0123456789abcdef"))
        for _ in 0..<2 {
            let cache = CacheStore(storage: RedisCacheStorage(redis, seal: seal))
            let catalogue = APIClient(baseURL: apiURL) {
                $0.cache = cache
                $0.caching.mode = .shared
                $0.caching.tags = ["catalogue"]
            }
            #expect(try await catalogue.string.get("items").sender().value == "[]")
            await cache.flush()
        }
        #expect(server.requestCount == 1)
    }
}
#endif

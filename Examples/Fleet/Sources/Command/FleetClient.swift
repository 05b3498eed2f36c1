import FleetReport
import Sluice
import SluiceRedis

/// The clients of a service. All services of the fleet have the same configuration, and one Redis.
struct FleetClient: Sendable {
    /// The client for orders, which are not cached.
    let orders: APIClient
    /// The client for pages.
    let pages: APIClient
    let limit: RedisRateLimit
    let cache: CacheStore

    /// Creates the clients. Nothing is connected before it is needed.
    ///
    /// - Parameters:
    ///   - upstream: The base URL of the upstream.
    ///   - socket: The path of Redis's socket.
    ///   - key: The key of the seal, at least 32 random bytes.
    ///   - rules: The numbers of the example.
    /// - Throws: A ``RedisSeal/Failure``.
    init(upstream: String, redis socket: String, key: Secret, rules: FleetRules = FleetRules()) throws {
        var server = RedisServer(unixSocket: socket)
        // Longer than the default, because a machine that runs the example may be busy with other programs. A killed Redis closes its
        // connections, so nothing waits for that time.
        server.commandTimeout = .seconds(5)
        // Shorter than the default, so that a short run shows the return of Redis.
        server.backoff.limit = .milliseconds(500)
        let redis = RedisClient(server)
        let seal = try RedisSeal(key)

        // One token: whichever service finds it about to expire replaces it for all.
        let store = try RedisTokenStore(redis, named: "upstream", seal: seal)
        let token = OAuth2(.refreshToken("r0", id: "fleet"), tokenURL: "\(upstream)/token") { $0.store = store }

        // One limit: while Redis is away, each service keeps to its share.
        let limit = RedisRateLimit(
            rules.rate,
            every: .seconds(1),
            burst: rules.burst,
            on: redis,
            named: "upstream",
            whenUnavailable: .local(share: rules.share)
        )

        // One cache: a page that one service has fetched is served by all.
        let storage = RedisCacheStorage(redis, seal: seal, leaseDuration: .seconds(2))
        let cache = CacheStore(storage: storage)

        orders = APIClient(baseURL: upstream) { $0.gates = [token, limit] }
        // Gates come before the cache, so that with the limit, pages from the cache would wait for it.
        pages = APIClient(baseURL: upstream) {
            $0.gates = [token]
            $0.cache = cache
            $0.caching.mode = .shared
        }
        self.limit = limit
        self.cache = cache
    }
}

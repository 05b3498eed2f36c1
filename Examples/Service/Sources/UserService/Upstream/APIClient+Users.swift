import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension APIClient {
    /// Makes the client that the service asks the upstream with: OAuth 2.0, a cache, retries, and limits that spare the upstream.
    ///
    /// ```swift
    /// let server = UserServer(client: .users(options), maximumTimeout: options.maximumTimeout)
    /// ```
    ///
    /// - Parameters:
    ///   - options: Where the upstream is, and who the service is to it.
    ///   - configure: Changes the configuration from what the service uses.
    /// - Returns: The client. Make one and share it: tokens, cache, connections and limits are its own.
    public static func users(
        _ options: ServiceOptions,
        configure: (inout Configuration) -> Void = { _ in }
    ) -> APIClient {
        APIClient(baseURL: options.upstreamURL) {
            $0.headers["User-Agent"] = "user-service/1.0 (Sluice)"
            $0.gates = [
                OAuth2(
                    .clientCredentials(id: options.clientID, secret: options.clientSecret),
                    tokenURL: options.tokenURL
                ),
                ConcurrencyLimit(64, maximumWaiting: 1_000),
                CircuitBreaker(judging: judgement),
            ]
            $0.cache = cacheStore(options.cacheDirectory)
            // All callers may see what the service may, whichever token it was got with.
            $0.caching.partition = "users"
            $0.caching.http = HTTPCaching(staleIfError: .seconds(300))
            $0.retry = RetryPolicy(maximumAttempts: 3, backoff: Backoff(base: .milliseconds(50), limit: .seconds(1)))
            $0.retryBudget = RetryBudget(ratio: 0.2, reserve: 10)
            // The total comes with each request, of its caller's deadline.
            $0.timeouts.connect = .seconds(1)
            $0.timeouts.idle = .seconds(3)
            $0.limits.body = 1 << 20
            configure(&$0)
        }
    }

    private static func cacheStore(_ directory: String?) -> CacheStore {
        guard let directory else { return CacheStore(storage: nil) }
        return CacheStore(directory: URL(filePath: directory, directoryHint: .isDirectory))
    }

    /// What an outcome says of the upstream: a total time that is up says how patient a caller was, and no caller may open the
    /// circuit for the others by its impatience.
    private static func judgement(_ outcome: TransportOutcome) -> CircuitBreaker.Judgement {
        if case .failure(let error) = outcome, error.code == .timedOut { return .ignored }
        return CircuitBreaker.judgement(of: outcome)
    }
}

import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension APIClient {
    /// Creates the client for the upstream, with OAuth 2.0, a cache, retries, and limits that protect the upstream.
    ///
    /// ```swift
    /// let server = UserServer(client: .users(options), maximumTimeout: options.maximumTimeout)
    /// ```
    ///
    /// - Parameters:
    ///   - options: The address of the upstream and the credentials of the service.
    ///   - configure: Called with the configuration of the service, to change it.
    /// - Returns: The client. Create one and share it: it owns its tokens, cache, connections and limits.
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
                CircuitBreaker(classify: classification),
            ]
            $0.cache = cacheStore(options.cacheDirectory)
            // All callers see the same responses, so all tokens share one partition.
            $0.caching.partition = "users"
            $0.caching.http = HTTPCaching(staleIfError: .seconds(300))
            $0.retry = RetryPolicy(maximumAttempts: 3, backoff: Backoff(base: .milliseconds(50), limit: .seconds(1)))
            $0.retryBudget = RetryBudget(ratio: 0.2, reserve: 10)
            // The total time is that of the caller's deadline.
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

    /// Classifies an outcome for the circuit breaker. A total time-out is set by the caller, so it must not open the
    /// circuit for the other callers.
    private static func classification(_ outcome: TransportOutcome) -> CircuitBreaker.Classification {
        if case .failure(let error) = outcome, error.code == .timedOut { return .ignored }
        return CircuitBreaker.classification(of: outcome)
    }
}

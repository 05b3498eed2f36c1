import Foundation
import Sluice
import SluiceTesting

/// The clients of the faulty server, all with a clock that jumps.
struct Clients: Sendable {
    let url: String
    /// Limits the number of concurrent requests and the length of bodies; has observers.
    let plain: APIClient
    /// Has a cache in memory and in a file, and shares equal requests.
    let cached: APIClient
    let retrying: APIClient
    let shortTimeout: APIClient
    /// Obtains tokens that are soon spent.
    let authorized: APIClient
    let limited: APIClient
    /// Has a circuit breaker.
    let protected: APIClient
    /// Has cookies and credentials.
    let signedIn: APIClient
    let intercepting: APIClient

    init(_ url: String, _ folder: URL, _ chaos: Chaos) {
        self.url = url
        let clock = chaos.clock
        func client(_ configure: (inout APIClient.Configuration) -> Void) -> APIClient {
            APIClient(baseURL: url) {
                $0.timeouts = Timeouts(connect: .seconds(10), idle: .seconds(20), total: .seconds(60))
                $0.limits.body = 1 << 20
                $0.clock = clock
                configure(&$0)
            }
        }
        let metrics = RequestMetrics()
        let archive = HARRecorder(maximumEntries: 50, maximumBodyBytes: 1000)
        plain = client {
            $0.gates = [ConcurrencyLimit(16)]
            $0.observers = [metrics, archive, RequestLog(.full) { _ in }]
        }
        cached = client {
            $0.cache = CacheStore(directory: folder.appending(path: "cache")) { $0.memory.count = 4 }
            $0.sharing = .safeMethods
        }
        retrying = client { $0.retry = RetryPolicy(maximumAttempts: 2) }
        shortTimeout = client { $0.timeouts.idle = .milliseconds(300) }
        authorized = client {
            $0.gates = [
                OAuth2(.clientCredentials(id: "soak", secret: "s3cret"), tokenURL: url + "/token") {
                    // Tokens end by use, and each time that the clock is set.
                    $0.refreshLimit = OAuth2.RefreshLimit(count: 100_000)
                }
            ]
        }
        limited = client { $0.gates = [RateLimit(500, every: .seconds(1), burst: 50)] }
        protected = client { $0.gates = [CircuitBreaker(openFor: .milliseconds(200), upTo: .seconds(1))] }
        signedIn = client {
            $0.cookies = CookieJar()
            $0.credentials = ChallengeCredentials(user: "ada", password: "s3cret")
        }
        intercepting = client { $0.requestInterceptors = [Tag(), UserAgent("soak/1")] }
    }

    private struct Tag: RequestAdapter {
        func adapt(_ request: inout HTTPRequest, context: RequestContext) {
            request.headers["X-Attempt"] = "\(context.attempt)"
            request.addQuery("tag", "1")
        }
    }
}

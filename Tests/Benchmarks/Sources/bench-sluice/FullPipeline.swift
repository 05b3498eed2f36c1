import Measuring
import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension APIClient {
    /// Creates a client with an empty pipeline, or with the pipeline of a production client.
    ///
    /// - `headers`: An empty pipeline that sends the same headers as the full one.
    /// - `cache`: A cache in memory. With a folder, a cache on disk only.
    /// - `guards`: A check of the destination of each request.
    /// - `stub`: A stub in place of the server.
    /// - `cookies`: The given jar. `cookie-header` sends the same headers without a jar.
    /// - `digest`: Answers to challenges. `digest-header` sends the same headers without them.
    init(baseURL: String, pipeline: String?, cookies: CookieJar?) throws(UsageError) {
        switch pipeline {
        case nil: self.init(baseURL: baseURL)
        case "headers":
            self.init(baseURL: baseURL) {
                $0.headers["User-Agent"] = "bench/1.0"
                $0.headers["Authorization"] = "Bearer \(APIClient.token)"
                $0.headers["traceparent"] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            }
        case "full":
            let token = OAuth2.Token(accessToken: APIClient.token)
            let oauth = OAuth2(.refreshToken("r", id: "bench"), tokenURL: "http://127.0.0.1:1/token") {
                $0.store = MemoryTokenStore(token)
                $0.origins = [baseURL]
            }
            self.init(baseURL: baseURL) {
                // A rate that no benchmark reaches.
                $0.gates = [oauth, RateLimit(1_000_000, every: .seconds(1)), CircuitBreaker()]
                $0.requestInterceptors = [UserAgent("bench/1.0"), TraceParent()]
                $0.observers = [RequestMetrics(), RequestLog(.failures)]
            }
        case "cache":
            self.init(baseURL: "\(baseURL)/cached") { $0.cache = CacheStore(storage: nil) }
        case "guards":
            let policy: AddressPolicy
            do throws(SluiceError) {
                policy = try .publicOnly.allowing("127.0.0.1")
            } catch {
                throw UsageError(description: error.description)
            }
            self.init(baseURL: baseURL) {
                $0.connection.addresses = policy
                $0.connection.hosts = HostRules(allowing: ["*.example", "127.0.0.1"], denying: ["internal.example"])
            }
        case "stub":
            self.init(baseURL: baseURL) {
                $0.stubMode = .immediate
                $0.stub = .json(encoding: User.example)
            }
        case "cookies": self.init(baseURL: "\(baseURL)/cookies") { $0.cookies = cookies }
        case "cookie-header": self.init(baseURL: "\(baseURL)/cookies") { $0.headers["Cookie"] = CookieJar.field }
        case "digest":
            self.init(baseURL: "\(baseURL)/digest") {
                $0.credentials = ChallengeCredentials(user: "bench", password: "s3cret", methods: .digest)
            }
        case "digest-header":
            self.init(baseURL: "\(baseURL)/digest") { $0.headers["Authorization"] = APIClient.digest }
        case let folder? where folder.hasPrefix("/"):
            self.init(baseURL: "\(baseURL)/cached") {
                $0.cache = CacheStore(directory: URL(filePath: folder)) { $0.memory.count = 0 }
            }
        case let other?:
            throw UsageError(
                description:
                    "There is no pipeline '\(other)', only 'headers', 'full', 'guards', 'cache', 'stub', 'cookies', 'cookie-header', 'digest', 'digest-header' and '/folder'."
            )
        }
    }

    private static let token = "c2x1aWNlLXNsdWljZS1zbHVpY2U"

    /// An `Authorization` value with the length of a real one.
    private static let digest =
        "Digest username=\"bench\", realm=\"bench\", nonce=\"\(String(repeating: "0", count: 32))\", uri=\"/digest/user.json\", "
        + "algorithm=SHA-256, qop=auth, nc=00000001, cnonce=\"\(String(repeating: "0", count: 32))\", "
        + "response=\"\(String(repeating: "0", count: 64))\""
}

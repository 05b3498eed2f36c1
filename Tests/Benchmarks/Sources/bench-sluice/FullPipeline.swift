import Measuring
import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension APIClient {
    /// Makes a client with nothing between request and transport, or with all that one in production has; `headers` is a client
    /// with nothing that sends the same headers as one with all. `cache` has a cache in memory, and a folder one on disk alone, for what
    /// the server lets be kept; `guards` checks where requests go; `stub` answers by itself what the server would. `cookies` has the
    /// given jar, `digest` answers challenges, and `cookie-header` and `digest-header` send the same headers without doing so.
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
                $0.gates = [oauth]
                $0.requestInterceptors = [UserAgent("bench/1.0"), TraceParent()]
                $0.observers = [RequestMetrics()]
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

    /// An answer to a challenge of the server, of the length of any.
    private static let digest =
        "Digest username=\"bench\", realm=\"bench\", nonce=\"\(String(repeating: "0", count: 32))\", uri=\"/digest/user.json\", "
        + "algorithm=SHA-256, qop=auth, nc=00000001, cnonce=\"\(String(repeating: "0", count: 32))\", "
        + "response=\"\(String(repeating: "0", count: 64))\""
}

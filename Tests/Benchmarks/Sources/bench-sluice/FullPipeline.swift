import Measuring
import Sluice

extension APIClient {
    /// Makes a client with nothing between request and transport, or with all that one in production has.
    init(baseURL: String, pipeline: String?) throws(UsageError) {
        switch pipeline {
        case nil: self.init(baseURL: baseURL)
        case "full":
            let token = OAuth2.Token(accessToken: "c2x1aWNlLXNsdWljZS1zbHVpY2U")
            let oauth = OAuth2(.refreshToken("r", id: "bench"), tokenURL: "http://127.0.0.1:1/token") {
                $0.store = MemoryTokenStore(token)
                $0.origins = [baseURL]
            }
            self.init(baseURL: baseURL) {
                $0.gates = [oauth]
                $0.requestInterceptors = [UserAgent("bench/1.0"), TraceParent()]
                $0.observers = [RequestMetrics()]
            }
        case let other?: throw UsageError(description: "There is no pipeline '\(other)', only 'full'.")
        }
    }
}

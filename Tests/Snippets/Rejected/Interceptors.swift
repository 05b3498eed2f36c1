import Foundation
import Sluice

// Requests, outcomes and contexts in interceptors, plugins and retry policies, as in other libraries.

// error: Write "headers["Accept"] = "text/plain"".
func setValueForField(_ request: inout HTTPRequest) {
    request.setValue("a", forHTTPHeaderField: "X-Tenant")
}

// error: Write "headers["Accept"] = "text/plain"".
func setHeader(_ request: inout HTTPRequest) {
    request.setHeader("X-Tenant", "a")
}

// error: Write "headers["Accept"] = "text/plain"".
func setHeaderLabels(_ request: inout HTTPRequest) {
    request.setHeader(name: "X-Tenant", value: "a")
}

// error: Write "headers.append("Accept", "text/plain")".
func addHeader(_ request: inout HTTPRequest) {
    request.addHeader("X-Tenant", "a")
}

// error: Write "addQuery("page", "2")". The path contains the query.
func queryDictionary(_ request: inout HTTPRequest) {
    request.query["lang"] = "en"
}

// error: Write "addQuery("page", "2")". The path contains the query.
func queryItems(_ request: inout HTTPRequest) {
    request.queryItems.append(URLQueryItem(name: "lang", value: "en"))
}

// error: Write "addQuery("page", "2")".
func queryFunction(_ request: inout HTTPRequest) {
    request.query("lang", "en")
}

// error: Write "addQuery("page", "2")".
func addQueryLabels(_ request: inout HTTPRequest) {
    request.addQuery(name: "lang", value: "en")
}

// error: Write "setTimeouts(total: .seconds(5))".
func timeoutOfARequest(_ request: inout HTTPRequest) {
    request.timeout = .seconds(5)
}

// error: Write "method".
func httpMethod(_ request: inout HTTPRequest) {
    request.httpMethod = .post
}

// error: Write "body = .data(data)".
func httpBody(_ request: inout HTTPRequest) {
    request.httpBody = Data()
}

// error: Set the parts: "path = "/users""
func assignURL(_ request: inout HTTPRequest) {
    request.url = "https://other.example/users"
}

// error: Read the bytes: "try await body.collect(upTo: 1 << 20)".
func bodyBytes(_ request: HTTPRequest) {
    print(request.body.data as Any)
}

// error: Write "request.url".
func contextURL() {
    struct Tenant: RequestAdapter {
        func adapt(_ request: inout HTTPRequest, context: RequestContext) { print(context.url) }
    }
}

// error: Write "request.method".
func contextMethod() {
    struct Tenant: RequestAdapter {
        func adapt(_ request: inout HTTPRequest, context: RequestContext) { print(context.method) }
    }
}

// error: Write "attempt > 1".
func contextIsRetry() {
    struct Tenant: RequestAdapter {
        func adapt(_ request: inout HTTPRequest, context: RequestContext) {
            if context.isRetry { request.headers["X-Retry"] = "1" }
        }
    }
}

// error: Write "try? outcome.get()".
func outcomeResponse() {
    struct Log: Plugin {
        func didReceive(_ outcome: TransportOutcome, context: RequestContext) { print(outcome.response as Any) }
    }
}

// error: Match the failure: "if case .failure(let error) = outcome".
func outcomeError() {
    struct Log: Plugin {
        func didReceive(_ outcome: TransportOutcome, context: RequestContext) { print(outcome.error as Any) }
    }
}

// error: Write "status", or "status?.rawValue" for a number.
func outcomeStatusCode(_ outcome: TransportOutcome) {
    print(outcome.statusCode as Any)
}

// error: Write "outcome.status".
func proposalStatus() {
    show(RetryPolicy { $0.status == .unauthorized })
}

// error: Write "outcome.status".
func proposalStatusOfALabelledClosure() {
    show(RetryPolicy(maximumAttempts: 2, shouldRetry: { proposal in proposal.status == .unauthorized }))
}

// error: Write "try? outcome.get()".
func proposalResponse() {
    show(RetryPolicy(maximumAttempts: 2) { $0.response?.head.status == .unauthorized })
}

// error: Match the failure: "if case .failure(let error) = proposal.outcome".
func proposalError() {
    show(RetryPolicy(maximumAttempts: 2) { $0.error != nil })
}

// error: The "backoff" of the policy determines the delay.
func proposalDelay() {
    show(RetryPolicy(maximumAttempts: 2) { $0.delay < .seconds(1) })
}

// error: Write ".constant(.zero)".
func noBackoff() {
    show(RetryPolicy(maximumAttempts: 2, backoff: .none))
}

// error: "shouldRetry" is synchronous.
func asynchronousShouldRetry() {
    @Sendable func refresh() async -> Bool { true }
    show(RetryPolicy(maximumAttempts: 2) { _ in await refresh() })
}

// error: "shouldRetry" is synchronous.
func asynchronousShouldRetryOfAClient() {
    @Sendable func refresh() async {}
    show(
        APIClient(baseURL: "https://shop.example") {
            $0.retry = RetryPolicy(maximumAttempts: 2, backoff: .constant(.zero)) { proposal in
                guard proposal.outcome.status == .unauthorized else { return proposal.isRetried }
                await refresh()
                return true
            }
        }
    )
}

// error: Write ranges with "shouldRetry: { $0.outcome.status?.isServerError == true }"
func rangesOfStatuses() {
    show(RetryPolicy(maximumAttempts: 3, statuses: [500...599]))
}

// error: Write "RetryPolicy(maximumAttempts: 3)".
func maxAttempts() {
    show(RetryPolicy(maxAttempts: 3))
}

// error: Write "case .began(let request)".
func startedEvent(_ event: RequestEvent) {
    switch event {
    case .started: print("started")
    default: break
    }
}

// error: or conform to RequestAdapter, which has "adapt".
func adaptOfAnInterceptor() {
    struct Tenant: RequestInterceptor {
        func adapt(_ request: inout HTTPRequest, context: RequestContext) { request.headers["X-Tenant"] = "a" }
    }
    show(shop.get("u", as: User.self).intercept(Tenant()))
}

// error: or conform to OutcomeAdapter, which has "adapt".
func adaptOfAResponseInterceptor() {
    struct Maintenance: ResponseInterceptor {
        func adapt(_ outcome: inout TransportOutcome, context: RequestContext) {}
    }
    show(shop.get("u", as: User.self).intercept(response: Maintenance()))
}

// error: or conform to RequestAdapter, which has "adapt".
func interceptInPlace() {
    struct Tenant: RequestInterceptor {
        func intercept(_ request: inout HTTPRequest, context: RequestContext) async throws {
            request.headers["X-Tenant"] = "a"
        }
    }
}

// error: type 'RequestEvent' has no member 'failed'
func failedEvent(_ event: RequestEvent) {
    switch event {
    case .failed(let error): print(error)
    default: break
    }
}

// error: Write "RetryPolicy(maximumAttempts: 3, backoff: .exponential)".
func exponentialRetries() {
    show(APIClient(baseURL: "https://shop.example") { $0.retry = .exponential(maxAttempts: 3) })
}

// error: Write "RetryPolicy(maximumAttempts: 3, backoff: .exponential)".
func exponentialRetriesOfAMaximum() {
    show(RetryPolicy.exponential(maximumAttempts: 3))
}

// error: Write "RetryPolicy(maximumAttempts: 3, statuses: [.badGateway])".
func retryLimitWithStatuses() {
    show(RetryPolicy(limit: 3, statuses: [.badGateway]))
}

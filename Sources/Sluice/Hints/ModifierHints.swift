// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import SluiceFoundation
import SluiceHTTP

// Names and arguments of other libraries, and those that people try first. None can be called: each says what to write.

extension ModifiableRequest {
    @available(*, unavailable, message: "The name is a variable: write \"header(HTTPHeaderName(name), value)\".")
    public func header(_ name: String, _ value: String?) -> Self { self }
    @available(*, unavailable, message: "Write \"headers(HTTPHeaders(fields.map { (HTTPHeaderName($0), $1) }))\".")
    public func headers(_ fields: [String: String]) -> Self { self }
    @available(*, unavailable, message: "Set several headers with \"headers([\"Accept\": \"text/plain\"])\".")
    public func header(_ fields: [String: String]) -> Self { self }
    @available(*, unavailable, message: "Write \"header(\"Accept\", \"text/plain\")\", without labels.")
    public func header(name: HTTPHeaderName, value: String?) -> Self { self }
    @available(*, unavailable, message: "Write the value of a header as text: \"header(\"X-Count\", \"\\(count)\")\".")
    public func header(_ name: HTTPHeaderName, _ value: some BinaryInteger) -> Self { self }
    @available(*, unavailable, message: "Name the header first: \"header(\"Accept\", \"text/plain\")\".")
    public func header(_ value: String?, for name: HTTPHeaderName) -> Self { self }
    @available(*, unavailable, message: "Write \"header(name, value)\"; it replaces an earlier value.")
    public func addHeader(_ name: HTTPHeaderName, _ value: String?) -> Self { self }
    @available(*, unavailable, message: "Write \"header(\"Accept\", \"text/plain\")\".")
    public func setValue(_ value: String?, forHTTPHeaderField name: String) -> Self { self }
    @available(*, unavailable, message: "Write \"header(\"User-Agent\", text)\", or give the client a \"UserAgent\".")
    public func userAgent(_ value: String) -> Self { self }
    @available(*, unavailable, message: "Write \"intercept(BearerToken(token))\", sent to the client's origin only.")
    public func bearerToken(_ token: String) -> Self { self }
    @available(*, unavailable, message: "Write \"intercept(BearerToken(token))\", sent to the client's origin only.")
    public func bearerAuthorization(_ token: String) -> Self { self }
    @available(*, unavailable, message: "Write \"intercept(BearerToken(token))\", sent to the client's origin only.")
    public func bearer(_ token: String) -> Self { self }
    @available(
        *,
        unavailable,
        message: "Write \"intercept(BearerToken(token))\", or \"basicAuthorization(\"ada\", \"s3cret\")\"."
    )
    public func auth(_ authorization: _Authorization) -> Self { self }
    @available(
        *,
        unavailable,
        message: "Write \"intercept(BearerToken(token))\", or \"basicAuthorization(\"ada\", \"s3cret\")\"."
    )
    public func authorization(_ authorization: _Authorization) -> Self { self }
    @available(*, unavailable, message: "Write \"intercept(BearerToken(token))\", sent to the client's origin only.")
    public func authorization(bearer token: String) -> Self { self }
    @available(
        *,
        unavailable,
        message: "Write \"header(\"Authorization\", value)\", or \"intercept(BearerToken(token))\"."
    )
    public func authorization(_ value: String) -> Self { self }
    @available(*, unavailable, message: "Write \"basicAuthorization(\"ada\", \"s3cret\")\", without labels.")
    public func basicAuth(_ user: String, _ password: String) -> Self { self }
    @available(*, unavailable, message: "Write \"basicAuthorization(\"ada\", \"s3cret\")\", without labels.")
    public func basicAuthorization(user: String, password: String) -> Self { self }
    @available(*, unavailable, message: "Write \"basicAuthorization(\"ada\", \"s3cret\")\", without labels.")
    public func basicAuthorization(username: String, password: String) -> Self { self }
    @available(
        *,
        unavailable,
        message:
            "Write \"basicAuthorization(user, password)\", or answer challenges with \"credentials(ChallengeCredentials(user: user, password: password))\"."
    )
    public func authenticate(username: String, password: String) -> Self { self }
    @available(*, unavailable, message: "Write \"credentials(ChallengeCredentials(user: user, password: password))\".")
    public func credentials(user: String, password: String) -> Self { self }
    @available(
        *,
        unavailable,
        message:
            "Write \"header(\"Cookie\", \"name=value\")\", or give the client a cookie jar: \"$0.cookies = CookieJar()\"."
    )
    public func cookie(_ name: String, _ value: String) -> Self { self }
    @available(
        *,
        unavailable,
        message:
            "Write \"header(\"Cookie\", \"name=value\")\", or give the client a cookie jar: \"$0.cookies = CookieJar()\"."
    )
    public func cookies(_ cookies: [String: String]) -> Self { self }
    @available(
        *,
        unavailable,
        message:
            "A client has the jar, \"$0.cookies = CookieJar()\", and \"cookies(false)\" sends a request without it."
    )
    public func cookies(_ jar: CookieJar?) -> Self { self }
    @available(
        *,
        unavailable,
        message: "Write \"header(\"Idempotency-Key\", key)\", or \"intercept(IdempotencyKey())\" for a random key."
    )
    public func idempotencyKey(_ key: String) -> Self { self }
    @available(
        *,
        unavailable,
        message: "Write \"header(\"Idempotency-Key\", key)\", or \"intercept(IdempotencyKey())\" for a random key."
    )
    public func idempotent(key: String) -> Self { self }
    @available(*, unavailable, message: "Write \"query(\"page\", \"2\")\", without labels.")
    public func query(name: String, value: String?) -> Self { self }
    @available(*, unavailable, message: "Write names and values: \"query([\"page\": 2, \"name\": name])\".")
    public func query(_ items: [URLQueryItem]) -> Self { self }
    @available(*, unavailable, message: "Write names and values as a dictionary: \"query([\"page\": \"2\"])\".")
    public func query(_ items: [(String, String)]) -> Self { self }
    @available(*, unavailable, message: "Write \"query([\"page\": 2, \"name\": name])\".")
    public func queryItems(_ items: [URLQueryItem]) -> Self { self }
    @available(*, unavailable, message: "Make the enum Encodable, or pass its \"rawValue\".")
    public func query(_ name: String, _ value: some RawRepresentable) -> Self { self }
    @available(*, unavailable, message: "Make the enum Encodable, or pass its \"rawValue\".")
    public func query(_ values: [String: some RawRepresentable]) -> Self { self }
    @available(*, unavailable, message: "Write \"parameters([\"name\": value])\".")
    public func parameters(_ name: String, _ value: String?) -> Self { self }
    @available(*, unavailable, message: "Write \"query(name, value)\" or \"parameters([name: value])\".")
    public func parameter(_ name: String, _ value: some Encodable) -> Self { self }
    @available(*, unavailable, message: "Give the time-out a unit: \"timeout(total: .seconds(5))\".")
    public func timeout(total seconds: Double) -> Self { self }
    @available(*, unavailable, message: "Write \"timeout(.seconds(5))\".")
    public func timeout(seconds: Double) -> Self { self }
    @available(*, unavailable, message: "Write \"timeout(total: .seconds(60), connect: .seconds(5))\".")
    public func timeout(connect: Duration, total: Duration, idle: Duration? = nil) -> Self { self }
    @available(*, unavailable, message: "Write \"timeout(connect: .seconds(5), idle: .seconds(30))\".")
    public func timeout(connect: Duration, read: Duration) -> Self { self }
    @available(*, unavailable, message: "Write \"timeout(total: .seconds(60), idle: .seconds(30))\".")
    public func timeout(total: Duration, read: Duration) -> Self { self }
    @available(*, unavailable, message: "Write \"timeout(idle: .seconds(30))\", the time without a byte.")
    public func timeout(read: Duration) -> Self { self }
    @available(*, unavailable, message: "Write \"timeout(.seconds(5))\".")
    public func timeout(request: Duration) -> Self { self }
    @available(
        *,
        unavailable,
        message: "Write \"timeout(.seconds(10)).retry(RetryPolicy(attemptTimeout: .seconds(2)))\"."
    )
    public func timeout(total: Duration, attempt: Duration) -> Self { self }
    @available(*, unavailable, message: "Write \"retry(RetryPolicy(attemptTimeout: .seconds(2)))\".")
    public func timeout(attempt: Duration) -> Self { self }
    @available(*, unavailable, message: "Write \"deadline(Deadline(instant))\", or \"deadline(.after(.seconds(5)))\".")
    public func timeout(deadline: ContinuousClock.Instant) -> Self { self }
    @available(*, unavailable, message: "Write \"deadline(deadline)\", or \"deadline(.after(.seconds(5)))\".")
    public func timeout(deadline: Deadline) -> Self { self }
    @available(*, unavailable, message: "Write \"timeouts(Timeouts(total: .seconds(60)))\".")
    @_disfavoredOverload
    public func timeout(_ timeouts: Timeouts) -> Self { self }
    @available(*, unavailable, message: "Write \"timeout(.seconds(5))\".")
    public func timeoutInterval(_ seconds: Double) -> Self { self }
    @available(*, unavailable, message: "A deadline is a point in time: \"deadline(.after(.seconds(5)))\".")
    public func deadline(_ duration: Duration) -> Self { self }
    @available(*, unavailable, message: "Write \"deadline(.after(.seconds(5)))\".")
    public func deadline(_ date: Date) -> Self { self }
    @available(*, unavailable, message: "Write \"deadline(.after(.seconds(5)))\", or \"deadline(Deadline(instant))\".")
    public func deadline(_ instant: ContinuousClock.Instant) -> Self { self }
    @available(*, unavailable, message: "Write \"retry(RetryPolicy(maximumAttempts: 3))\".")
    public func retry(_ attempts: Int) -> Self { self }
    @available(*, unavailable, message: "Write \"retry(RetryPolicy(maximumAttempts: 3))\".")
    public func retry(times attempts: Int) -> Self { self }
    @available(*, unavailable, message: "Write \"retry(RetryPolicy(maximumAttempts: 3))\".")
    public func retry(attempts: Int) -> Self { self }
    @available(*, unavailable, message: "Write \"retry(RetryPolicy(maximumAttempts: 3))\".")
    public func retry(maximumAttempts: Int) -> Self { self }
    @available(*, unavailable, message: "Write \"retry(policy)\".")
    public func retryPolicy(_ policy: RetryPolicy) -> Self { self }
    @available(*, unavailable, message: "Write \"hedged(.after(.milliseconds(300)))\".")
    public func hedged(after delay: Duration) -> Self { self }
    @available(*, unavailable, message: "Write \"redirects(RedirectPolicy(limit: 3))\".")
    public func redirects(_ limit: Int) -> Self { self }
    @available(*, unavailable, message: "Write \"redirects(RedirectPolicy(limit: 3))\".")
    public func redirects(limit: Int) -> Self { self }
    @available(*, unavailable, message: "Write \"redirects(.none)\" to follow no redirect.")
    public func redirects(_ follows: Bool) -> Self { self }
    @available(*, unavailable, message: "Write \"redirects(.none)\" to follow no redirect.")
    public func followsRedirects(_ follows: Bool) -> Self { self }
    @available(*, unavailable, message: "Set \"decide\" of a RedirectPolicy, and pass it: \"redirects(policy)\".")
    public func redirects(_ decide: @Sendable (RedirectProposal) -> RedirectDecision) -> Self { self }
    @available(*, unavailable, message: "Write \"validate(statuses: .ok, .notFound)\".")
    public func accept(_ statuses: [HTTPStatus]) -> Self { self }
    @available(*, unavailable, message: "Write \"validate(statuses: .ok, .notFound)\".")
    public func accept(_ first: HTTPStatus, _ others: HTTPStatus...) -> Self { self }
    @available(*, unavailable, message: "Write \"validate(statuses: 200..<400)\".")
    public func accept(_ statuses: Range<Int>) -> Self { self }
    @available(*, unavailable, message: "Write \"validate(statuses: .ok, .notFound)\".")
    public func accept(statuses: [HTTPStatus]) -> Self { self }
    @available(*, unavailable, message: "Write \"validate(statuses: 200..<400)\".")
    public func accept(statuses: Range<Int>) -> Self { self }
    @available(*, unavailable, message: "Write \"validate(statuses: 200...399)\".")
    public func accept(statuses: ClosedRange<Int>) -> Self { self }
    @available(*, unavailable, message: "Write \"validate(statuses: 200..<300)\".")
    public func validate(_ statuses: Range<Int>) -> Self { self }
    @available(*, unavailable, message: "Write \"validate(statuses: 200...299)\".")
    public func validate(_ statuses: ClosedRange<Int>) -> Self { self }
    @available(*, unavailable, message: "Write \"validate(statuses: 200)\".")
    public func validate(status: Int) -> Self { self }
    @available(*, unavailable, message: "Leave \"validate()\" out: any other status than 2xx fails already.")
    public func validate() -> Self { self }
    @available(*, unavailable, message: "Write the statuses without an array: \"validate(statuses: .ok, .notFound)\".")
    public func validate(statuses: [HTTPStatus]) -> Self { self }
    @available(*, unavailable, message: "Write \"validate(statuses: 200..<300)\".")
    public func validate(statusCode: some Sequence<Int>) -> Self { self }
    @available(*, unavailable, message: "Write \"validate(contentTypes: \"application/json\", \"text/plain\")\".")
    public func validate(contentType: [String]) -> Self { self }
    @available(*, unavailable, message: "Write types one by one, or \"validate(Validation(contentTypes: types))\".")
    public func validate(contentTypes: [String]) -> Self { self }
    @available(*, unavailable, message: "A rule gets the head and the body: \"validate { head, body in … }\".")
    public func validate(_ rule: (HTTPResponse) throws -> Void) -> Self { self }
    @available(*, unavailable, message: "Write \"dataSource(.cacheElseServer, expiration: .seconds(60))\".")
    public func cache(for lifetime: Duration) -> Self { self }
    @available(*, unavailable, message: "Write \"dataSource(.cacheElseServer, expiration: .seconds(60))\".")
    public func cached(for lifetime: Duration) -> Self { self }
    @available(*, unavailable, message: "Write \"cachePolicy(.reload)\".")
    public func cache(_ policy: CachePolicy) -> Self { self }
    @available(*, unavailable, message: "Write \"dataSource(.cacheElseServer, tags: [\"account\"])\".")
    public func cacheTags(_ tags: String...) -> Self { self }
    @available(*, unavailable, message: "Write \"dataSource(.cacheElseServer, tags: [\"account\"])\".")
    public func cacheTags(_ tags: [String]) -> Self { self }
    @available(*, unavailable, message: "Write \"dataSource(.cacheElseServer, tags: [\"account\"])\".")
    public func cacheTag(_ tag: String) -> Self { self }
    @available(*, unavailable, message: "Write \"dataSource(.cacheElseServer, tags: [\"account\"])\".")
    public func cached(tags: Set<String>) -> Self { self }
    @available(*, unavailable, message: "Write \"dataSource(.cacheElseServer, tags: [\"account\"])\".")
    public func cached(tags: String...) -> Self { self }
    @available(*, unavailable, message: "Give the expiration a unit: \"expiration: .seconds(60)\".")
    public func dataSource(_ source: DataSource, expiration seconds: Double) -> Self { self }
    @available(*, unavailable, message: "Write \"cachePolicy(.reload)\".")
    public func noCache() -> Self { self }
    @available(*, unavailable, message: "Declare a RequestAdapter, and pass it: \"intercept(Tenant())\".")
    public func intercept(_ change: (inout HTTPRequest) throws -> Void) -> Self { self }
    @available(*, unavailable, message: "Declare a RequestAdapter, and pass it: \"intercept(Tenant())\".")
    public func intercept(_ change: (inout HTTPRequest, RequestContext) throws -> Void) -> Self { self }
    @available(*, unavailable, message: "Add the interceptors one by one: \"intercept(first).intercept(second)\".")
    public func intercept(_ interceptors: [any RequestInterceptor]) -> Self { self }
    @available(*, unavailable, message: "Write \"intercept(interceptor)\".")
    public func interceptor(_ interceptor: any RequestInterceptor) -> Self { self }
    @available(
        *,
        unavailable,
        message:
            "Give the request a tag, \"tags(\"public\")\", and leave such a request unchanged where the interceptor reads \"context.tags\"."
    )
    public func withoutInterceptors() -> Self { self }
    @available(*, unavailable, message: "Write \"observer(observer)\".")
    public func observe(_ observer: any RequestObserver) -> Self { self }
    @available(*, unavailable, message: "Add the observers one by one: \"observer(first).observer(second)\".")
    public func observers(_ observers: [any RequestObserver]) -> Self { self }
    @available(*, unavailable, message: "Declare a RequestObserver, and pass it: \"observer(SlowRequests())\".")
    public func observer(_ observe: (RequestEvent) -> Void) -> Self { self }
    @available(*, unavailable, message: "Add the plugins one by one: \"plugin(first).plugin(second)\".")
    public func plugins(_ plugins: [any Plugin]) -> Self { self }
    @available(*, unavailable, message: "Gates belong to a client: \"$0.gates = [RateLimit(10, every: .seconds(1))]\".")
    public func gate(_ gate: any Gate) -> Self { self }
    @available(*, unavailable, message: "Proxies belong to a client: \"$0.connection.proxy = proxy\".")
    public func proxy(_ proxy: ProxySelection) -> Self { self }
    @available(*, unavailable, message: "Write \"intercept(CompressBody())\".")
    public func compressed() -> Self { self }
    @available(*, unavailable, message: "Write \"stub(.json(\"{}\"))\" or \"stub(.text(\"…\"))\".")
    public func stub(_ text: String) -> Self { self }
    @available(*, unavailable, message: "Write \"tags(\"public\")\".")
    public func tag(_ tag: String) -> Self { self }
    @available(*, unavailable, message: "Write the tags one after the other: \"tags(\"public\", \"prices\")\".")
    public func tags(_ tags: [String]) -> Self { self }
    @available(*, unavailable, message: "Write \"client.codable(modelDecoder: decoder).get(\"users\")\".")
    public func decoder(_ decoder: any DataDecoder) -> Self { self }
    @available(*, unavailable, message: "Write \"client.codable(modelDecoder: decoder).get(\"users\")\".")
    public func modelDecoder(_ decoder: any DataDecoder) -> Self { self }
    @available(
        *,
        unavailable,
        message:
            "Begin with \"async let value = sender.value\", then write \"for await progress in sender.uploadProgress\"."
    )
    public func uploadProgress(_ show: (TransferProgress) -> Void) -> Self { self }
    @available(
        *,
        unavailable,
        message:
            "Begin with \"async let value = sender.value\", then write \"for await progress in sender.downloadProgress\"."
    )
    public func downloadProgress(_ show: (TransferProgress) -> Void) -> Self { self }
    @available(
        *,
        unavailable,
        message:
            "Begin with \"async let value = sender.value\", then write \"for await progress in sender.uploadProgress\"."
    )
    public func onUploadProgress(_ show: (TransferProgress) -> Void) -> Self { self }
    @available(
        *,
        unavailable,
        message:
            "Begin with \"async let value = sender.value\", then write \"for await progress in sender.downloadProgress\"."
    )
    public func onDownloadProgress(_ show: (TransferProgress) -> Void) -> Self { self }
    @available(*, unavailable, message: "Write \"try request.httpRequest().curlCommand()\".")
    public func cURLDescription() -> String { "" }
    @available(*, unavailable, message: "Write \"try request.httpRequest().curlCommand()\".")
    public var curl: String { "" }
    @available(
        *,
        unavailable,
        message:
            "Begin with \"async let value = sender.value\", then write \"for await progress in sender.uploadProgress\"."
    )
    public var uploadProgress: AsyncStream<TransferProgress> { AsyncStream { _ in } }
    @available(
        *,
        unavailable,
        message:
            "Begin with \"async let value = sender.value\", then write \"for await progress in sender.downloadProgress\"."
    )
    public var downloadProgress: AsyncStream<TransferProgress> { AsyncStream { _ in } }
}

extension ModifiableRequest {
    @available(
        *,
        unavailable,
        message: "Modifiers return a changed copy: write \"request = request.header(\"Accept\", \"text/plain\")\"."
    )
    public var headers: HTTPHeaders {
        get { [:] }
        set {}
    }
    @available(
        *,
        unavailable,
        message: "Modifiers return a changed copy: write \"request = request.query(\"page\", 2)\"."
    )
    public var query: [String: any Encodable & Sendable] {
        get { [:] }
        set {}
    }
    @available(
        *,
        unavailable,
        message: "Modifiers return a changed copy: write \"request = request.timeout(.seconds(5))\"."
    )
    public var timeout: Duration {
        get { .zero }
        set {}
    }
}

extension TypedRequest {
    @available(*, unavailable, message: "Modifiers return a changed copy: write \"request = request.method(.put)\".")
    public var method: HTTPMethod {
        get { .get }
        set {}
    }
}

extension CachePolicy {
    @available(*, unavailable, message: "Write \".standard\".")
    public static var useProtocolCachePolicy: CachePolicy { .standard }
    @available(*, unavailable, message: "Write \".reload\".")
    public static var reloadIgnoringLocalCacheData: CachePolicy { .standard }
    @available(*, unavailable, message: "Write \"dataSource(.cacheElseServer)\" in place of \"cachePolicy\".")
    public static var returnCacheDataElseLoad: CachePolicy { .standard }
    @available(*, unavailable, message: "Write \"dataSource(.cache)\" in place of \"cachePolicy\".")
    public static var returnCacheDataDontLoad: CachePolicy { .standard }
}

// MARK: - Modifiers written as arguments

extension MethodBuilder {
    @available(*, unavailable, message: "Write \"get(\"users\").query([\"page\": 1])\".")
    public func callAsFunction<Model>(_ endpoint: some Endpoint, query: Parameters) -> APIRequest<Model, APIError>
    where Factory == SerializedRequests<Model> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"get(\"users\").query([\"page\": 1])\".")
    public func callAsFunction<Model>(_ endpoint: some Endpoint, parameters: Parameters) -> APIRequest<Model, APIError>
    where Factory == SerializedRequests<Model> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"get(\"users\").headers([\"Accept\": \"text/plain\"])\".")
    public func callAsFunction<Model>(_ endpoint: some Endpoint, headers: HTTPHeaders) -> APIRequest<Model, APIError>
    where Factory == SerializedRequests<Model> { request(factory.request(endpoint)) }
}

extension BodyMethodBuilder {
    @available(*, unavailable, message: "Write \"post(\"users\").query([\"page\": 1])\".")
    public func callAsFunction<Model>(_ endpoint: some Endpoint, query: Parameters) -> BodyRequest<Model, APIError>
    where Factory == SerializedRequests<Model> { BodyRequest(request: request(factory.request(endpoint))) }
    @available(*, unavailable, message: "Write \"post(\"users\").headers([\"Accept\": \"text/plain\"])\".")
    public func callAsFunction<Model>(_ endpoint: some Endpoint, headers: HTTPHeaders) -> BodyRequest<Model, APIError>
    where Factory == SerializedRequests<Model> { BodyRequest(request: request(factory.request(endpoint))) }
    @available(*, unavailable, message: "Write \"post(\"users\").json(user)\".")
    public func callAsFunction<Model>(_ endpoint: some Endpoint, json: some Encodable) -> APIRequest<Model, APIError>
    where Factory == SerializedRequests<Model> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"post(\"users\").json(user)\".")
    public func callAsFunction<Model>(_ endpoint: some Endpoint, body: some Encodable) -> APIRequest<Model, APIError>
    where Factory == SerializedRequests<Model> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"post(\"users\").json(user)\".")
    public func callAsFunction<Model>(_ endpoint: some Endpoint, _ body: some Encodable) -> APIRequest<Model, APIError>
    where Factory == SerializedRequests<Model> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"post(\"users\").json(user)\" or \".body(body)\".")
    public func callAsFunction<Model>(_ endpoint: some Endpoint, body: RequestBody) -> APIRequest<Model, APIError>
    where Factory == SerializedRequests<Model> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"post(\"users\").json(user)\" or \".body(body)\".")
    public func callAsFunction<Model>(_ endpoint: some Endpoint, _ body: RequestBody) -> APIRequest<Model, APIError>
    where Factory == SerializedRequests<Model> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"post(\"files\").data(data, contentType: \"image/png\")\".")
    public func callAsFunction<Model>(_ endpoint: some Endpoint, body: Data) -> APIRequest<Model, APIError>
    where Factory == SerializedRequests<Model> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"post(\"users\").form([\"name\": name])\".")
    public func callAsFunction<Model>(_ endpoint: some Endpoint, form: Parameters) -> APIRequest<Model, APIError>
    where Factory == SerializedRequests<Model> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"post(\"users\").json([\"name\": a])\" or \".form([\"name\": a])\".")
    public func callAsFunction<Model>(_ endpoint: some Endpoint, parameters: Parameters) -> APIRequest<Model, APIError>
    where Factory == SerializedRequests<Model> { request(factory.request(endpoint)) }
    @available(*, unavailable, message: "Write \"post(\"users\").multipart(form)\".")
    public func callAsFunction<Model>(
        _ endpoint: some Endpoint,
        multipart: MultipartForm
    ) -> APIRequest<Model, APIError> where Factory == SerializedRequests<Model> { request(factory.request(endpoint)) }
}

import Foundation
import Sluice

// Arguments at the call, and values without a model.

// error: Write "sender()", and read its outcome: "sender().value".
func valueOfSend() async throws {
    let user: User = try await shop.get("users/1").send().value
    show(user)
}

// error: Say what the response is: add "as: User.self"
func memberWithoutAModel() async throws {
    let name = try await shop.get("users/1").sender().value.name
    print(name)
}

// error: Say what the response is: add "as: User.self"
func loopWithoutAModel() async throws {
    for user in try await shop.get("users").sender().value { print(user) }
}

// error: Write "client.data.get("logo").sender().response". It has a head and a body.
func dataAndResponse() async throws {
    let (data, response) = try await shop.get("logo").sender().value
    print(data, response)
}

// error: Write "get("users/1", as: User.self)", and read "sender().value".
func valueAs() async throws {
    show(try await shop.get("users/1").value(as: User.self))
}

// error: Write "client.json.get("users/1").sender().value".
func jsonOfARequest() async throws {
    print(try await shop.get("users/1", as: User.self).json())
}

// error: Name the model with "as: User.self".
func modelWithoutALabel() async throws {
    show(try await shop.get("users/1", User.self).sender().value)
}

// error: 'responseDecodable(of:completionHandler:)' is unavailable
func responseDecodableWithoutAModel() {
    shop.get("users/1").responseDecodable(of: User.self) { print($0) }
}

// error: Write "post("users").json(user).headers(["Accept": "text/plain"])".
func jsonAndHeaders() async throws {
    let user: User = try await shop.post("users", json: User(id: 1, name: "a"), headers: ["A": "b"]).sender().value
    show(user)
}

// error: Write "get("users").query(["page": 1]).headers(["Accept": "text/plain"])".
func queryAndHeaders() async throws {
    let user: User = try await shop.get("users", query: ["page": 1], headers: ["A": "b"]).sender().value
    show(user)
}

// error: Write "post("users").json(user)" or ".body(body)".
func bodyOfAPost() async throws {
    let user: User = try await shop.post("users", body: .json(User(id: 1, name: "a"))).sender().value
    show(user)
}

// error: Write "post("users").json(user)".
func bodyWithoutALabel() async throws {
    let user: User = try await shop.post("users", User(id: 1, name: "a")).sender().value
    show(user)
}

// error: Write "post("users").json(user)".
func methodAndBody() async throws {
    let user: User = try await shop.request("users", method: .post, body: User(id: 1, name: "a")).sender().value
    show(user)
}

// error: Write "post("users").multipart(form)".
func multipartOfAPost() async throws {
    let user: User = try await shop.post("users", multipart: MultipartForm()).sender().value
    show(user)
}

// error: Write "get("users").timeout(.seconds(5))".
func timeoutOfAGet() async throws {
    let user: User = try await shop.get("users", timeout: .seconds(5)).sender().value
    show(user)
}

// error: Write "get(template.expanding(["id": 1]))".
func templateOfAGet() async throws {
    let template: URITemplate = "users/{id}"
    let user: User = try await shop.get(template).sender().value
    show(user)
}

// error: Set it on a "JSONDecoder", then write "$0.modelDecoder = decoder".
func strategyOfTheDecoder() {
    show(APIClient(baseURL: "https://shop.example") { $0.modelDecoder.keyDecodingStrategy = .convertFromSnakeCase })
}

// error: Write "APIClient(baseURL: url) { $0.headers = ["Accept": "text/plain"] }".
func headersOfAClient() {
    show(APIClient(baseURL: "https://shop.example", headers: ["A": "b"]))
}

private enum SortOrder: String { case ascending }

// error: Make the enum Encodable, or pass its "rawValue".
func enumInAQueryDictionary() async throws {
    let users: [User] = try await shop.get("users").query(["sort": SortOrder.ascending]).sender().value
    print(users)
}

// error: Write "as JSON" after a literal, or pass "try Parameters(any: values)".
func nestedLiteral() async throws {
    let user: User = try await shop.post("users").json(["id": 1, "tags": ["a": 1, "b": "c"]]).sender().value
    print(user)
}

// error: Write "post("files").data(data, contentType: "image/png")".
func dataAsTheBodyOfAnArgument() async throws {
    let user: User = try await shop.put("users/1", body: Data()).sender().value
    print(user)
}

// error: Write "post("users").json(user)" or ".body(body)".
func bodyAsAnArgument() async throws {
    let user: User = try await shop.put("users/1", body: .data(Data(), contentType: "a/b")).sender().value
    print(user)
}

// error: Events and files have "client.stream" and "client.download".
func streamOfARequest() async throws {
    for try await event in shop.get("prices").stream().serverSentEvents() { print(event) }
}

// error: Write "client.stream("prices").serverSentEvents()".
func eventsOfATypedRequest() async throws {
    for try await event in shop.string.get("prices").serverSentEvents() { print(event) }
}

// error: Write "client.download("film", to: .file(url))".
func downloadOfATypedRequest(url: URL) async throws {
    _ = try await shop.data.get("film").download(to: url)
}

private struct Problem: Codable, Error { let detail: String }

// error: For the body of a failed response, write "error: TypedAPIError<Problem>.self".
func bodyOfAnErrorAsTheErrorModel() async throws {
    do {
        _ = try await shop.get("users/1", as: User.self, error: Problem.self).sender().value
    } catch { print(error) }
}

// error: For the body of a failed response, write "error: TypedAPIError<Problem>.self".
func bodyOfAnErrorAsTheErrorModelOfAPost() async throws {
    do {
        _ = try await shop.post("users", as: User.self, error: Problem.self).json(["a": 1]).sender().value
    } catch { print(error) }
}

// error: Declare a RequestAdapter, and append it
func interceptorAsAClosure() {
    _ = APIClient(baseURL: "https://shop.example") {
        $0.requestInterceptors.append { request, context in request.headers["X-Tenant"] = "1" }
    }
}

// error: Write "client.data.get("logo")", and read "sender().value".
func dataOfARequest() async throws {
    _ = try await shop.string.get("logo").data()
}

// error: Write "RetryPolicy(maximumAttempts: 3)".
func attemptsOfAPolicyWithoutALabel() {
    _ = RetryPolicy(3)
}

// error: Write ".none".
func retryNever() async throws {
    let user: User = try await shop.get("users/1").retry(.never).sender().value
    print(user)
}

// error: Write "SuppliedToken { context in await store.token() }".
func tokenOfAnActor(store: TokenVault) {
    _ = APIClient(baseURL: "https://shop.example") {
        $0.requestInterceptors = [BearerToken { _ in await store.token() }]
    }
}

actor TokenVault {
    func token() -> String { "t0k3n" }
}

// error: Write "BearerToken(token)", without a label.
func tokenWithALabel() {
    _ = BearerToken(token: "t0k3n")
}

// error: Write "OAuth2(.clientCredentials(id: id, secret: secret), tokenURL: url)".
func clientCredentialsByLabels() {
    _ = OAuth2(tokenURL: "https://id.example/token", clientID: "a", clientSecret: "s")
}

// error: Write "decoded(as: Problem.self)".
func decodeOfAnError(error: APIError) throws {
    _ = try error.decode(Problem.self)
}

// error: Write "APIClient(baseURL: url) { $0.transport = transport }".
func transportOfAClient(transport: any Transport) {
    _ = APIClient(baseURL: "https://shop.example", transport: transport)
}

// error: Write "$0.requestInterceptors = [BearerToken(token)]".
func bearerTokenOfAConfiguration() {
    _ = APIClient(baseURL: "https://shop.example") { $0.bearerToken = "t0k3n" }
}

// error: Set it on a "JSONDecoder", then write "$0.modelDecoder = decoder".
func keyDecodingStrategyOfAConfiguration() {
    _ = APIClient(baseURL: "https://shop.example") { $0.keyDecodingStrategy = .convertFromSnakeCase }
}

// error: Write "client.download("film", to: .file(URL(filePath: path)))".
func downloadOfATypedRequestToAPath() async throws {
    _ = try await shop.data.get("film").download(to: "/tmp/film")
}

// error: Write "client.stream("prices").serverSentEvents()".
func eventsByTheirShortName() async throws {
    for try await event in shop.string.get("prices").events() { print(event) }
}

// error: Write ".standard".
func defaultRetry() async throws {
    let user: User = try await shop.get("users/1").retry(.default).sender().value
    print(user)
}

// error: Write "basicAuthorization("ada", "s3cret")", without labels.
func basicAuthorizationByAUsername() async throws {
    let user: User = try await shop.get("users/1").basicAuthorization(username: "a", password: "b").sender().value
    print(user)
}

// error: Write "$0.observers = [RequestLog()]".
func loggingOfAConfiguration() {
    _ = APIClient(baseURL: "https://shop.example") { $0.logging = true }
}

// error: Write "$0.modelDecoder", and "$0.errorDecoder" for the bodies of errors.
func jsonDecoderOfAConfiguration() {
    _ = APIClient(baseURL: "https://shop.example") { $0.jsonDecoder = JSONDecoder() }
}

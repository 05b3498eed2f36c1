import Foundation
import SluiceTesting
import Testing

@testable import Sluice

/// Types that hold a secret and do not show it, each created directly.
@Suite struct SecretCarrierTests {
    private static let secret = SecretSearch().secret
    private static let url = "https://ada:\(secret)@a.test/x?access_token=\(secret)&q=1#id_token=\(secret)"
    private static let headers: HTTPHeaders = [
        .authorization: "Bearer \(secret)", .cookie: "s=\(secret)", .proxyAuthorization: "Basic \(secret)",
        "X-Api-Key": HTTPHeaderName(secret).rawValue, "X-Tenant": secret, .setCookie: "a=\(secret)",
        .location: url,
    ]
    private static let body = Data("{\"password\":\"\(secret)\"}".utf8)
    private static let request = HTTPRequest(
        method: .post,
        scheme: "https",
        authority: "ada:\(secret)@a.test",
        path: "/x;token=\(secret)?access_token=\(secret)&next=https%3A%2F%2Fb.c%2F%3Fsig%3D\(secret)",
        headers: headers,
        body: .data(body)
    )
    private static let head = HTTPResponse(status: 500, headers: headers)
    private static let response = ServerResponse(request: request, head: head, body: body)

    private struct Login: Codable, Sendable {
        var password = SecretCarrierTests.secret
        var score = Double.nan
    }

    private struct Trouble: Error {
        let token = SecretCarrierTests.secret
        let header = "Authorization: Bearer \(SecretCarrierTests.secret)"
    }

    private static var error: SluiceError {
        SluiceError(.cannotConnect, "No.", request: request, response: head, underlyingError: Trouble())
    }

    private static func look(_ values: KeyValuePairs<String, Any?>) {
        let search = SecretSearch()
        for (label, value) in values { search.look(label, value) }
        #expect(search.sightings.isEmpty)
        #expect(search.count == 3 * values.count)
    }

    @Test func messagesHideValues() {
        Self.look([
            "request": Self.request, "headers": Self.headers, "field": Self.headers.first, "head": Self.head,
            "body": Self.request.body, "response body": ResponseBody(Self.body),
            "transport response": TransportResponse(head: Self.head, body: ResponseBody(Self.body)),
            "response": Self.response, "outcome": TransportOutcome.success(Self.response),
            "proposal": RedirectProposal(response: Self.head, request: Self.request, next: Self.request),
            "event": RequestEvent.redirected(Self.response, to: Self.request),
            "stub": Stub.json("{\"token\":\"\(Self.secret)\"}"),
            "recorded": RecordedRequest(url: Self.url, headers: Self.headers, body: Self.body),
            "exchange": RecordedExchange(
                request: RecordedRequest(url: Self.url, headers: Self.headers, body: Self.body),
                result: .success(.init(head: Self.head, body: Self.body))
            ),
        ])
        #expect("\(Self.request)" == "POST https://a.test/x;token=REDACTED")
        #expect("\(Self.headers)".contains("Authorization"))
    }

    @Test func errorsHideQueryHeadersAndBody() throws {
        let failure = RequestFailure(error: Self.error, body: Self.body)
        struct Body: Decodable, Sendable { let password: String }
        Self.look([
            "error": Self.error, "failure": failure, "API error": APIError(failure),
            "typed error": TypedAPIError<Body>(failure), "expanded": Self.error.expandedDescription,
            "result": Result<Int, APIError>.failure(APIError(failure)),
            "decoding failure": DecodingFailure(Int.self, body: Self.body, cause: Trouble()),
            "cut short": DecodingFailure(Int.self, body: Self.body.dropLast(), cause: Trouble()),
            "error of OAuth": OAuth2Error(.storeFailed, underlyingError: Trouble()),
            "encoding": SluiceError.bodyEncoding(
                EncodingError.invalidValue(Login(), .init(codingPath: [], debugDescription: ""))
            ).expandedDescription,
        ])
        #expect(TypedAPIError<Body>(failure).errorBody?.password == Self.secret)
    }

    @Test func unsentRequestsShowNamesOnly() throws {
        let client = APIClient(baseURL: Self.url) {
            $0.headers = Self.headers
            $0.credentials = ChallengeCredentials(user: "ada", password: Self.secret)
            $0.stub = .json("{\"token\":\"\(Self.secret)\"}")
        }
        let path = "users?sig=\(Self.secret)"
        let request: APIRequest<Login, APIError> = client.codable.request(path)
        let full = request.query("access_token", Self.secret).query(["api_key": Self.secret])
            .header("X-Tenant", Self.secret)
        let parameters: Parameters = ["password": Self.secret]
        Self.look([
            "client": client, "configuration": client.configuration, "request": full, "draft": full.draft,
            "post": full.post(), "JSON": full.post().json(Login()), "form": full.post().form(["password": Self.secret]),
            "download": request.download(to: .temporary),
            "stream": request.stream(), "sender": full.sender(), "parameters": parameters,
            "task": RequestTask.parameters(parameters), "JSON task": RequestTask.json(Login()),
            "form of parts": [.text(Self.secret, name: "password")] as MultipartForm,
            "context": RequestContext(request: Self.request, client: client),
            "template": URITemplate("users{?token}").expanding(["token": Self.secret]),
        ])
        #expect("\(full)" == "GET users?sig=REDACTED")
        #expect("\(client)".hasPrefix("a client with the base URL https://REDACTED@a.test/x"))
        var dumped = ""
        dump(full, to: &dumped)
        #expect(dumped.contains("access_token"))
        #expect(dumped.contains("api_key"))
    }

    @Test func credentialsHideSecrets() throws {
        let token = OAuth2.Token(accessToken: Self.secret, refreshToken: Self.secret)
        let grants: [OAuth2.Grant] = [
            .clientCredentials(id: "i", secret: Secret(Self.secret)), .refreshToken(Self.secret, id: "i", secret: "s"),
            .password(username: "ada", password: Self.secret, id: "i", secret: Self.secret),
        ]
        let store = MemoryTokenStore(token)
        let gate = OAuth2(grants[0], tokenURL: Self.url) {
            $0.store = store
            $0.revocationURL = "https://a.test"
        }
        Self.look([
            "bearer": BearerToken(Self.secret), "basic": BasicCredentials(user: "ada", password: Self.secret),
            "custom": CustomToken(Self.secret, header: "X-Key"), "supplied": SuppliedToken { _ in Self.secret },
            "challenge": ChallengeCredentials(user: "ada", password: Self.secret), "token": token, "grants": grants,
            "store": store, "gate": gate, "gate's configuration": gate.configuration, "jar": CookieJar(),
            "credential": Credential(token, version: 1, margin: .zero, at: Date()),
            "authorization request": OAuth2.AuthorizationRequest(
                url: "https://a.test/?state=\(Self.secret)",
                state: Self.secret,
                verifier: Self.secret
            ),
            "token request": TokenRequest.refresh(Secret(Self.secret)),
        ])
        #expect(token.accessToken == Self.secret)
        #expect(token.refreshToken == Self.secret)
    }

    @Test func cacheEntriesHideContents() async throws {
        let key = CacheKey(Self.url, in: .responses)
        let stored = StoredResponse(
            method: .get,
            url: Self.url,
            identity: Self.secret,
            head: Self.head,
            requested: Date(),
            received: Date()
        )
        let entry = CacheEntry(key: key, response: stored, body: Self.body, stored: Date())
        let cache = CacheStore(storage: nil)
        try await cache.memory.set(Self.secret, for: "token")
        Self.look(["key": key, "stored": stored, "entry": entry, "cache": cache, "container": cache.memory])
    }

    /// A `Secret` is accepted in place of a `String`, with the same result.
    @Test func secretsAreAcceptedInPlaceOfStrings() async throws {
        let text = Self.secret
        let secret = Secret(text)
        let request = HTTPRequest(scheme: "https", authority: "a.test", path: "/")
        let context = RequestContext(request: request, client: APIClient(baseURL: "https://a.test"))
        let pairs: [(any RequestInterceptor, any RequestInterceptor, String)] = [
            (BearerToken(text), BearerToken(secret), "Bearer \(text)"),
            (BearerToken { _ in text }, BearerToken { _ in secret }, "Bearer \(text)"),
            (CustomToken(text, scheme: "Key"), CustomToken(secret, scheme: "Key"), "Key \(text)"),
            (SuppliedToken { _ in text }, SuppliedToken { _ in secret }, "Bearer \(text)"),
            (
                BasicCredentials(user: "a", password: text), BasicCredentials(user: "a", password: secret),
                "Basic \(Data("a:\(text)".utf8).base64EncodedString())"
            ),
        ]
        for (first, second, value) in pairs {
            for interceptor in [first, second] {
                let sent = try await interceptor.intercept(request, context: context)
                #expect(sent.headers[.authorization] == value)
            }
        }
        #expect(ChallengeCredentials(user: "a", password: text) == ChallengeCredentials(user: "a", password: secret))
        #expect(OAuth2.Token(accessToken: text) == OAuth2.Token(accessToken: secret))
        #expect(try await BearerToken { _ in nil }.intercept(request, context: context).headers.isEmpty)
    }
}

import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@Suite struct StubTransportTests {
    private func send(
        _ stubs: StubTransport,
        _ method: HTTPMethod,
        _ path: String,
        body: RequestBody = .none
    ) async throws -> String {
        let request = HTTPRequest(method: method, scheme: "http", authority: "shop.test", path: path, body: body)
        let response = try await stubs.send(request, context: TransferContext())
        return String(decoding: try await response.body.collect(), as: UTF8.self)
    }

    private func send(_ stubs: StubTransport, _ path: String) async throws -> String {
        try await send(stubs, .get, path)
    }

    @Test func firstMatchingRuleAnswersUpToItsLimit() async throws {
        let stubs = StubTransport()
        stubs.on(.get("/users/{id}"), .text("once"), times: 1)
        stubs.on(.get("/users/1"), .text("then"))
        stubs.on(.path("*"), .text("other"))
        var answers: [String] = []
        for path in ["/users/1", "/users/1", "/users/2"] { answers.append(try await send(stubs, path)) }
        #expect(answers == ["once", "then", "other"])
    }

    @Test func passesPathParametersAndBodyToClosure() async throws {
        let stubs = StubTransport()
        stubs.on(.put("/users/{id}")) { .text("\($0.pathParameters["id"] ?? "") \($0.text ?? "")") }
        let stream = AsyncStream<Data> { continuation in
            continuation.yield(Data("Ada".utf8))
            continuation.finish()
        }
        let answer = try await send(stubs, .put, "/users/7", body: .stream(stream))
        #expect(answer == "7 Ada")
    }

    @Test func recordsRequestsWithBodies() async throws {
        let stubs = StubTransport()
        stubs.on(.any, .status(.ok))
        let file = try TemporaryFile(Data("from a file".utf8))
        defer { file.remove() }
        _ = try await send(stubs, .post, "/gists", body: .file(file.url))
        _ = try await send(stubs, .get, "/gists?page=2")
        #expect(stubs.requests.map(\.method) == [.post, .get])
        #expect(stubs.requests(matching: .post("/gists")).first?.text == "from a file")
        #expect(stubs.count(of: .get("/gists").query("page", "2")) == 1)
        #expect(stubs.count(of: .delete("/gists")) == 0)
        try stubs.verify()
        stubs.reset()
        #expect(stubs.requests.isEmpty)
    }

    @Test func unmatchedRequestFailsWithNearestRule() async throws {
        let stubs = StubTransport()
        stubs.on(.post("/a").header("X"), .status(.ok))
        stubs.on(.get("/users"), .status(.ok))
        stubs.on(.get("/user"), .status(.ok), times: 0)
        let error = try await expectError(.requestUnmatched) { try await send(stubs, .post, "/users?token=s3cret") }
        #expect(!error.description.contains("s3cret"))
        #expect(error.reason.contains("none of the 3 rules matches it, and the closest is “GET /users”."))
        let unmatched = try #require(error.underlyingError as? UnmatchedRequest)
        #expect(unmatched.misses.map(\.rule).first == "GET /users")
        #expect(unmatched.misses.first?.reasons == ["the method is POST"])
        #expect(throws: UnmatchedRequest.self) { try stubs.verify() }
    }

    @Test func unmatchedRequestShowsNoSecret() async throws {
        let stubs = StubTransport()
        let matcher = RequestMatcher.get("/a").query("api_key", "a").header("X-Api-Key", "b").header("Cookie", "c")
        stubs.on(matcher.header("Accept", "d"), .status(.ok))
        var request = HTTPRequest(scheme: "http", authority: "h", path: "/a?api_key=s3cret&api_key=s3cret2")
        request.headers = ["X-Api-Key": "s3cret 3", "Cookie": "session=s3cret4", "Accept": "text/plain"]
        let error = try await expectError(.requestUnmatched) {
            try await stubs.send(request, context: TransferContext())
        }
        let text = (error.underlyingError as? UnmatchedRequest)?.description ?? ""
        #expect(text.contains("the query has api_key=REDACTED"))
        #expect(text.contains("the header is Accept: text/plain"))
        #expect(!text.contains("s3cret"), "\(text)")
    }

    @Test func exhaustedRuleIsNamedAsReason() async throws {
        let stubs = StubTransport()
        stubs.on(.get("/a"), .status(.ok), times: 1)
        _ = try await send(stubs, "/a")
        let error = try await expectError(.requestUnmatched) { try await send(stubs, "/a") }
        let unmatched = error.underlyingError as? UnmatchedRequest
        #expect(unmatched?.misses.first?.reasons == ["it has reached its limit of requests (1)"])
    }

    @Test func resetDuringAMatchCountsAgainstNoLaterRule() async throws {
        let stubs = StubTransport()
        let resetting = RequestMatcher.any.matching { _ in
            stubs.reset()
            stubs.on(.get("/b"), .text("b"), times: 1)
            return true
        }
        stubs.on(resetting, .text("a"))
        let answers = [try await send(stubs, "/a"), try await send(stubs, "/b")]
        #expect(answers == ["a", "b"])
    }

    @Test func unmatchedRequestFailsTestEvenIfErrorIsIgnored() async {
        await #expect(throws: UnmatchedRequest.self) {
            try await withStubTransport { stubs in _ = try? await send(stubs, "/nowhere") }
        }
    }

    @Test func answersPlainStubsOnCallingThread() {
        let stubs = StubTransport()
        stubs.on(.any, .json("{}"))
        let isAnswered = Locked(false)
        let request = HTTPRequest(scheme: "http", authority: "shop.test", path: "/")
        _ = stubs.begin(request, context: TransferContext()) { _ in isAnswered.withLock { $0 = true } }
        #expect(isAnswered.withLock { $0 })
    }

    @Test func passesUnmatchedRequestsThrough() async throws {
        let other = StubTransport()
        other.on(.any, .text("other"))
        let stubs = StubTransport(unmatched: .passThrough(other))
        stubs.on(.get("/mine"), .text("mine"))
        let answers = [try await send(stubs, "/mine"), try await send(stubs, "/theirs")]
        #expect(answers == ["mine", "other"])
        #expect(other.requests.map(\.path) == ["/theirs"])
        try stubs.verify()
    }
}

import Foundation
import Sluice
import SluiceTesting
import XCTest

/// Puts a secret in every possible place, and sends requests that succeed and fail. No text that is printed, logged, recorded or
/// counted contains it.
final class SecretAuditTests: XCTestCase {
    private struct Login: Codable, Sendable {
        let password: String
    }

    private struct Unencodable: Encodable, Sendable {
        let password: String
        let score = Double.nan
    }

    private struct Account: Codable, Sendable {
        let id: Int
        let token: String
    }

    /// A user's error, which shows its secret when it is printed directly.
    private struct Refusal: Error {
        let password: String
    }

    private typealias Planted = APIRequest<Account, APIError>

    private let search = SecretSearch()
    private let observers = SecretObservers()
    private var secret: String { search.secret }

    /// Creates a client whose requests all carry the secret in many places.
    private func client(
        _ baseURL: String,
        _ configure: (inout APIClient.Configuration) -> Void = { _ in }
    ) -> APIClient {
        APIClient(baseURL: baseURL) {
            $0.requestInterceptors = [BearerToken(secret), CustomToken(Secret(secret), header: "X-Api-Key")]
            $0.headers["Proxy-Authorization"] = "Basic \(secret)"
            $0.headers["Cookie"] = "session=\(secret)"
            $0.headers["X-Tenant"] = secret
            $0.secretHeaders = ["X-Tenant"]
            $0.credentials = ChallengeCredentials(user: "ada", password: secret)
            $0.observers = observers.all
            configure(&$0)
        }
    }

    /// Returns a request for each place in a body, all with secrets in their query.
    private func requests(of client: APIClient, to path: String) -> [Planted] {
        let request: Planted = client.codable.request("\(path)?sig=\(secret)", as: Account.self)
            .query("access_token", secret).query(["api_key": secret])
        return [
            request, request.post().json(Login(password: secret)), request.post().form(["password": secret]),
            request.post().multipart([.text(secret, name: "password"), .text("x", name: "other")]),
        ]
    }

    /// Sends requests and examines all their results.
    private func send(_ requests: [Planted], _ label: String) async -> [SluiceError.Code?] {
        var codes: [SluiceError.Code?] = []
        for request in requests {
            let sender = request.sender()
            let response = await sender.response
            search.look("\(label): the request", request)
            search.look("\(label): the request to be sent", try? request.httpRequest())
            search.look("\(label): the sender", sender)
            search.look("\(label): the response", response)
            search.look("\(label): the head", response.head)
            search.look("\(label): the sent request", response.request)
            if let failure = response.result.failure { look(at: failure, label) }
            codes.append(response.failure?.code)
        }
        search.look("\(label): the client", requests.first?.client)
        search.look("\(label): its configuration", requests.first?.client.configuration)
        return codes
    }

    private func look(at failure: APIError, _ label: String) {
        search.look("\(label): the error model", failure)
        search.look("\(label): the error", failure.error)
        search.read("\(label): the expanded description", failure.error.expandedDescription)
        search.read("\(label): the reason", failure.error.reason)
        // Errors of others may show a secret, but only through `underlyingError`.
        let cause = failure.underlyingError
        if !(cause is EncodingError), !(cause is Refusal) { search.look("\(label): the cause", cause) }
    }

    private func assertSecretIsNotFound(file: StaticString = #filePath, line: UInt = #line) async throws {
        try observers.search(with: search)
        XCTAssertTrue(observers.hasRecorded, "The observers have recorded nothing.", file: file, line: line)
        XCTAssertGreaterThan(search.count, 20, file: file, line: line)
        for sighting in search.sightings { XCTFail(sighting, file: file, line: line) }
    }

    func testResponsesDoNotRevealSecret() async throws {
        let server = try LoopbackServer()
        let cookie: HTTPHeaders = ["Set-Cookie": "session=\(secret)", "X-Tenant": secret, "X-Auth-Token": secret]
        let account = #"{"id":1,"token":"\#(secret)"}"#
        server.on("/fine", .json(account, headers: cookie))
        server.on("/json", .json(#"{"errors":[{"password":"\#(secret)"}]}"#, status: 500, headers: cookie))
        server.on("/text", .text("Authorization: Bearer \(secret) is wrong, password=\(secret)", status: 500))
        server.on("/form", .data(Data("password=\(secret)".utf8), contentType: "application/x-www-form-urlencoded"))
        server.on("/type", .json(#"{"id":"one","token":"\#(secret)"}"#))
        server.on("/syntax", .json(#"{"token":"\#(secret)","id":}"#))
        server.on("/short", .json(#"{"token":"\#(secret)"#))
        let client = client(server.url) { $0.cookies = CookieJar() }
        for (path, code) in [
            ("fine", nil), ("json", .unacceptableStatus), ("text", .unacceptableStatus), ("form", .decodingFailed),
            ("type", .decodingFailed), ("syntax", .decodingFailed), ("short", .decodingFailed),
        ] as [(String, SluiceError.Code?)] {
            let codes = await send(requests(of: client, to: path), path)
            XCTAssertEqual(codes, Array(repeating: code, count: 4), path)
        }
        search.look("the jar", client.configuration.cookies)
        for request in server.requests { search.look("the received requests", request) }
        XCTAssertTrue(server.requests.allSatisfy { $0.headers[.authorization] == "Bearer \(secret)" })
        await client.observersCaughtUp()
        try await assertSecretIsNotFound()
    }

    func testRedirectsDoNotRevealSecret() async throws {
        let server = try LoopbackServer()
        let other = try LoopbackServer()
        other.on("/*", .json(#"{"id":1,"token":"\#(secret)"}"#))
        let target = "next?access_token=\(secret)&sig=\(secret)#id_token=\(secret)"
        server.on("/away", .redirect(to: "\(other.url)/\(target)", status: .temporaryRedirect))
        server.on("/scheme", .redirect(to: "ftp://a.test/\(target)"))
        server.on("/user", .redirect(to: "https://ada:\(secret)@a.test/\(target)"))
        server.on("/circle", .redirect(to: "/circle?access_token=\(secret)", status: .temporaryRedirect))
        let client = client(server.url)
        for (path, code) in [
            ("away", nil), ("scheme", .redirectRefused), ("user", .redirectRefused), ("circle", .redirectLoop),
        ] as [(String, SluiceError.Code?)] {
            let codes = await send(requests(of: client, to: path), path)
            XCTAssertEqual(codes, Array(repeating: code, count: 4), path)
        }
        await client.observersCaughtUp()
        try await assertSecretIsNotFound()
    }

    func testNetworkFailuresDoNotRevealSecret() async throws {
        let server = try LoopbackServer()
        server.on("/hang", .hang)
        server.on("/cut", .truncated(Data(#"{"token":"\#(secret)"#.utf8), announced: 1000))
        let stopped = try LoopbackServer()
        stopped.stop()
        let client = client(server.url)
        let hanging = requests(of: client, to: "hang").map { $0.timeout(total: .milliseconds(50)) }
        var codes = await send(hanging, "hang")
        XCTAssertEqual(codes, Array(repeating: .timedOut, count: 4))
        codes = await send(requests(of: client, to: "cut"), "cut")
        XCTAssertFalse(codes.contains(nil))
        codes = await send(requests(of: self.client(stopped.url), to: "stopped"), "stopped")
        XCTAssertEqual(codes, Array(repeating: .cannotConnect, count: 4))
        await client.observersCaughtUp()
        try await assertSecretIsNotFound()
    }

    func testUnsendableRequestsDoNotRevealSecret() async throws {
        let server = try LoopbackServer()
        server.on("/*", .text("fine"))
        let secret = secret
        let client = client(server.url)
        let refusing = self.client(server.url) {
            $0.requestInterceptors.append(SuppliedToken(header: "X-Other") { _ in throw Refusal(password: secret) })
        }
        let request = requests(of: client, to: "x")[0]
        for (label, request, code) in [
            ("user", requests(of: self.client("http://ada:\(secret)@127.0.0.1"), to: "x")[0], .invalidURL),
            ("scheme", requests(of: self.client("ftp://ada:\(secret)@127.0.0.1"), to: "x")[0], .unsupportedScheme),
            ("header", request.header("X-Api-Key", "\(secret)\r\n"), .invalidHeader),
            ("encoding", request.post().json(Unencodable(password: secret)), .encodingFailed),
            ("interceptor", requests(of: refusing, to: "x")[0], .interceptorFailed),
        ] as [(String, Planted, SluiceError.Code)] {
            let codes = await send([request], label)
            XCTAssertEqual(codes, [code], label)
        }
        _ = await send([request], "sent")
        await client.observersCaughtUp()
        try await assertSecretIsNotFound()
    }

    func testAuthorizationServersDoNotRevealSecret() async throws {
        let server = try LoopbackServer()
        let secret = secret
        let token = #"{"access_token":"\#(secret)","token_type":"Bearer","refresh_token":"\#(secret)","expires_in":60}"#
        server.on("/token", .json(token))
        server.on("/typeless", .json(#"{"access_token":"\#(secret)"}"#))
        server.on("/error", .json(#"{"error":"invalid_grant","error_description":"unknown: \#(secret)"}"#, status: 400))
        server.on("/page", .text("password=\(secret)", status: 500))
        server.on("/api", .json(#"{"id":1,"token":"\#(secret)"}"#))
        let grants: [OAuth2.Grant] = [
            .clientCredentials(id: "i", secret: secret), .refreshToken(secret, id: "i", secret: Secret(secret)),
            .password(username: "ada", password: secret, id: "i", secret: secret),
        ]
        for (path, isGood) in [("token", true), ("typeless", false), ("error", false), ("page", false)] {
            for grant in grants {
                let gate = OAuth2(grant, tokenURL: "\(server.url)/\(path)?api_key=\(secret)")
                let client = client(server.url) {
                    $0.gates = [gate]
                    $0.requestInterceptors = []
                }
                let codes = await send([requests(of: client, to: "api")[0]], "\(path) by \(grant)")
                XCTAssertEqual(codes == [nil], isGood, "\(path) by \(grant)")
                search.look("the gate", gate)
                search.look("the grant", grant)
                search.look("the token", try? await gate.token())
                await client.observersCaughtUp()
            }
        }
        try await assertSecretIsNotFound()
    }

    func testCassettesDoNotContainSecret() async throws {
        let server = try LoopbackServer()
        server.on("/fine", .json(#"{"id":1,"token":"\#(secret)"}"#, headers: ["Set-Cookie": "session=\(secret)"]))
        server.on("/json", .json(#"{"errors":[{"password":"\#(secret)"}]}"#, status: 500))
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var redaction = CassetteRedaction.standard
        // A cassette does not know which headers a client treats as secret.
        redaction.headers.append("X-Tenant")
        let file = folder.appending(path: "cassette.json")
        let cassette = CassetteTransport(
            recording: APIClient.Configuration().transport,
            to: file,
            redaction: redaction
        )
        let client = client(server.url) { $0.transport = cassette }
        _ = await send(requests(of: client, to: "fine") + requests(of: client, to: "json"), "recorded")
        let written = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        XCTAssertTrue(written.contains("REDACTED"))
        search.read("the cassette", written)
        search.look("the transport", cassette)
        let replayed = self.client(server.url) {
            $0.transport = CassetteTransport(replaying: file, redaction: redaction)
        }
        _ = await send(requests(of: replayed, to: "replayed"), "replayed")
        let stubs = StubTransport()
        stubs.on(.get("/other"), .json("{}"))
        _ = await send(requests(of: self.client(server.url) { $0.transport = stubs }, to: "fine"), "stubbed")
        search.look("the stubs", stubs)
        search.look("the requests of the stubs", stubs.requests)
        await client.observersCaughtUp()
        try await assertSecretIsNotFound()
    }
}

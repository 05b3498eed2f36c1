import Sluice
import SluiceTesting
import XCTest

/// Downloads of a file that differs for each user, though its date and its length do not.
final class DownloadOwnerTests: XCTestCase {
    private enum Means: CaseIterable {
        case interceptor, ownInterceptor, cookie, cookieOfServer, redirect
    }

    /// A server with a file for the user "a", and another for all other users.
    private final class Files: Sendable {
        let fixture: DownloadFixture
        let others: Data
        /// The number of responses that are to break off after 400,000 bytes.
        let interruptions = Shared(0)

        init() throws {
            let fixture = try DownloadFixture()
            self.fixture = fixture
            others = Data(fixture.contents.reversed())
        }

        /// Returns the file of a user.
        func response(to request: LoopbackRequest, of user: String?, vary: String? = nil) -> LoopbackResponse {
            let date = Date(timeIntervalSince1970: 1_700_000_000)
            let data = user?.hasSuffix("a") == true ? fixture.contents : others
            var resource = LoopbackResource(data, lastModified: date)
            if let vary { resource.headers["Vary"] = vary }
            let response = resource.response(to: request)
            let isInterrupted = interruptions.change { count in
                defer { count = max(0, count - 1) }
                return count > 0
            }
            return isInterrupted ? response.interrupted(after: 400_000) : response
        }
    }

    /// Returns a function that makes a download of a user.
    private func downloads(
        _ files: Files,
        by means: Means
    ) async throws -> (_ user: String) async throws -> DownloadAPIRequest<DownloadedFile, APIError> {
        let (fixture, server) = (files.fixture, files.fixture.server)
        switch means {
        case .interceptor:
            server.on("/file") { files.response(to: $0, of: $0.headers["Authorization"]) }
            return { user in
                fixture.download(by: APIClient(baseURL: server.url) { $0.requestInterceptors = [BearerToken(user)] })
            }
        case .ownInterceptor:
            server.on("/file") { files.response(to: $0, of: $0.headers["X-Token"]) }
            return { fixture.download().intercept(CustomToken($0, header: "X-Token")) }
        case .cookie:
            server.on("/file") { files.response(to: $0, of: $0.headers["Cookie"]) }
            let jars = ["a": CookieJar(), "b": CookieJar()]
            for (user, jar) in jars {
                try await jar.set(Cookie(name: "sid", value: user, domain: "127.0.0.1"))
            }
            return { user in
                fixture.download(by: APIClient(baseURL: server.url) { $0.cookies = jars[user] })
            }
        case .cookieOfServer:
            server.on("/file") { files.response(to: $0, of: $0.headers["Cookie"], vary: "Cookie") }
            server.on(.post, "/users/*") { request in
                .status(.noContent, headers: ["Set-Cookie": "sid=\(request.path.suffix(1)); Path=/"])
            }
            let client = APIClient(baseURL: server.url) { $0.cookies = CookieJar() }
            return { user in
                _ = try await client.data.post("users/\(user)").sender().value
                return fixture.download(by: client)
            }
        case .redirect:
            let other = try LoopbackServer()
            other.on("/file") { files.response(to: $0, of: $0.query) }
            server.on("/file") { request in
                .redirect(to: "\(other.url)/file?user=\(request.headers["Authorization"]?.suffix(1) ?? "")")
            }
            return { user in
                fixture.download(by: APIClient(baseURL: server.url) { $0.requestInterceptors = [BearerToken(user)] })
            }
        }
    }

    func testFileOfAnotherUserIsNotContinued() async throws {
        for means in Means.allCases {
            let files = try Files()
            let fixture = files.fixture
            let download = try await downloads(files, by: means)
            files.interruptions.change { $0 = 1 }
            let failed = try await download("a").maximumResumptions(0).sender().response
            XCTAssertEqual(failed.failure?.code, .truncatedBody, "\(means)")
            let file = try await download("b").sender().value
            XCTAssertEqual(file.resumedBytes, 0, "\(means)")
            XCTAssertEqual(fixture.saved, files.others, "\(means)")
            try FileManager.default.removeItem(at: fixture.file)

            files.interruptions.change { $0 = 1 }
            _ = try await download("a").maximumResumptions(0).sender().response
            let own = try await download("a").sender().value
            // By a `Vary` of cookies, the client cannot tell its own cookies from others.
            XCTAssertEqual(own.resumedBytes, means == .cookieOfServer ? 0 : 400_000, "\(means)")
            XCTAssertEqual(fixture.saved, fixture.contents, "\(means)")
        }
    }

    /// The cookies change after the download has looked at the jar, and before it is sent.
    func testCookieThatChangesWhileTheDownloadIsSentDoesNotContinueTheFile() async throws {
        struct SignIn: RequestInterceptor {
            let jar: CookieJar
            let user: Shared<String?>

            func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
                if let user = user.change({ $0.take() }) {
                    try await jar.set(Cookie(name: "sid", value: user, domain: "127.0.0.1"))
                }
                return request
            }
        }
        let files = try Files()
        let fixture = files.fixture
        fixture.server.on("/file") { files.response(to: $0, of: $0.headers["Cookie"]) }
        let jar = CookieJar()
        try await jar.set(Cookie(name: "sid", value: "a", domain: "127.0.0.1"))
        let user = Shared<String?>(nil)
        let client = APIClient(baseURL: fixture.server.url) {
            $0.cookies = jar
            $0.requestInterceptors = [SignIn(jar: jar, user: user)]
        }
        files.interruptions.change { $0 = 1 }
        let failed = await fixture.download(by: client).maximumResumptions(0).sender().response
        XCTAssertEqual(failed.failure?.code, .truncatedBody)
        user.change { $0 = "b" }
        _ = try await fixture.download(by: client).sender().value
        XCTAssertEqual(fixture.saved, files.others)
        XCTAssertEqual(fixture.ranges, [nil, "bytes=400000-", nil])
    }

    /// Another user signs in at the gate before the second attempt leaves. A renewed token continues the file.
    func testUserWhoSignsInBetweenTwoAttemptsGetsTheirOwnFile() async throws {
        struct SignIn: ResponseInterceptor {
            let oauth: OAuth2

            func intercept(_ outcome: TransportOutcome, context: RequestContext) async -> TransportOutcome {
                if context.attempt == 1 { try? await oauth.signIn(with: OAuth2.Token(accessToken: "1b")) }
                return outcome
            }
        }
        for isOther in [true, false] {
            let files = try Files()
            let fixture = files.fixture
            let oauth = OAuth2(.refreshToken("r", id: "i"), tokenURL: "\(fixture.server.url)/token")
            try await oauth.signIn(with: OAuth2.Token(accessToken: "1a", refreshToken: "r"))
            fixture.server.on("/token", .json(#"{"access_token":"2a","token_type":"Bearer"}"#))
            let isInterrupted = Shared(true)
            fixture.server.on("/file") { request in
                let user = request.headers["Authorization"]
                let wasInterrupted = isInterrupted.change { value in
                    defer { value = false }
                    return !value
                }
                // An API that no longer accepts the first token.
                if wasInterrupted, user == "Bearer 1a" { return .status(.unauthorized) }
                return files.response(to: request, of: user)
            }
            let client = APIClient(baseURL: fixture.server.url) {
                $0.gates = [oauth]
                if isOther { $0.responseInterceptors = [SignIn(oauth: oauth)] }
            }
            files.interruptions.change { $0 = 1 }
            _ = try await fixture.download(by: client).sender().value
            XCTAssertEqual(fixture.saved, isOther ? files.others : fixture.contents, "\(isOther)")
            let ranges = fixture.server.requests.filter { $0.path == "/file" }.map { $0.headers["Range"] }
            let range = "bytes=400000-"
            XCTAssertEqual(ranges, isOther ? [nil, range, nil] : [nil, range, range], "\(isOther)")
        }
    }
}

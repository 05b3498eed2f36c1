import Sluice
import SluiceTesting
import XCTest

/// Steps that move a request to another origin after credentials were added to it.
final class MovedRequestTests: XCTestCase {
    /// Moves requests to another authority, and sets `Authorization` if it has a value for it.
    private struct Move: RequestAdapter {
        let authority: String
        var authorization: String?

        func adapt(_ request: inout HTTPRequest, context: RequestContext) {
            request.authority = authority
            if let authorization { request.headers["Authorization"] = authorization }
        }
    }

    /// Moves requests in a step that needs a task.
    private struct MoveLater: Plugin {
        let authority: String

        func prepare(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
            var request = request
            request.authority = authority
            return request
        }
    }

    /// Returns the credentials that the other origin receives in its only request.
    private func received(
        by other: LoopbackServer,
        after interceptors: [any RequestInterceptor],
        _ plugins: [any Plugin] = []
    ) async throws -> [String?] {
        let client = APIClient(baseURL: "http://home.test") {
            $0.requestInterceptors = interceptors
            $0.plugins = plugins
        }
        _ = try await client.data.get("x").sender().value
        let request = try XCTUnwrap(other.requests.last)
        return [request.headers["Authorization"], request.headers["X-API-Key"]]
    }

    func testCredentialsAreNotSentToTheNewOrigin() async throws {
        let other = try LoopbackServer()
        other.on("/*", .text("ok"))
        let move = Move(authority: other.authority)
        let key = CustomToken("k", header: "X-API-Key")
        let basic = BasicCredentials(user: "a", password: "b")
        let supplied = SuppliedToken { _ in "t" }
        for interceptors: [any RequestInterceptor] in [[BearerToken("t"), key], [basic, key], [supplied, key]] {
            let moved = try await received(by: other, after: interceptors + [move])
            XCTAssertEqual(moved, [nil, nil])
            let movedLater = try await received(by: other, after: interceptors, [MoveLater(authority: other.authority)])
            XCTAssertEqual(movedLater, [nil, nil])
        }
    }

    func testGateThatChoosesAnotherOriginSendsItOnlyItsOwnCredentials() async throws {
        struct Backend: Gate {
            let name = "backend"
            let authority: String
            var authorization: String?

            func admit(_ request: RequestContext) -> Permit {
                Permit(modifyRequest: { request in
                    request.authority = authority
                    if let authorization { request.headers["Authorization"] = authorization }
                })
            }
        }
        let other = try LoopbackServer()
        other.on("/*", .text("ok"))
        let home = "http://home.test"
        let both = CredentialScope.origins(home, other.url)
        let token = OAuth2.Token(accessToken: "o")
        for (isOwn, isForBoth, expected) in [
            (false, false, nil), (true, false, "Bearer b"), (false, true, "Bearer t"),
        ] as [(Bool, Bool, String?)] {
            for usesGate in [false, true] {
                let oauth = OAuth2(.refreshToken("r", id: "i"), tokenURL: "\(home)/token") {
                    $0.origins = isForBoth ? [home, other.url] : [home]
                }
                try await oauth.signIn(with: token)
                let backend = Backend(authority: other.authority, authorization: isOwn ? "Bearer b" : nil)
                let client = APIClient(baseURL: home) {
                    $0.gates = usesGate ? [oauth, backend] : [backend]
                    let bearer = isForBoth ? BearerToken("t", scope: both) : BearerToken("t")
                    $0.requestInterceptors = [CustomToken("k", header: "X-API-Key")] + (usesGate ? [] : [bearer])
                }
                _ = try await client.data.get("x").sender().value
                let received = try XCTUnwrap(other.requests.last).headers
                XCTAssertEqual(received["Authorization"], usesGate && isForBoth ? "Bearer o" : expected)
                XCTAssertNil(received["X-API-Key"])
                _ = try await client.data.get("x").header("Authorization", "Bearer mine").sender().value
                XCTAssertEqual(other.requests.last?.headers["Authorization"], isOwn ? "Bearer b" : "Bearer mine")
            }
        }
        // Another step adds credentials for the new origin, but not these.
        for usesGate in [false, true] {
            let oauth = OAuth2(.refreshToken("r", id: "i"), tokenURL: "\(home)/token") { $0.origins = [other.url] }
            try await oauth.signIn(with: token)
            let backend = Backend(authority: other.authority)
            let client = APIClient(baseURL: home) {
                $0.gates = usesGate ? [oauth, backend] : [backend]
                $0.requestInterceptors = [BearerToken("t")]
                if !usesGate { $0.requestInterceptors.append(BearerToken("b", scope: .origins(other.url))) }
            }
            _ = try await client.data.get("x").sender().value
            let received = try XCTUnwrap(other.requests.last).headers
            XCTAssertNil(received["Authorization"])
        }
    }

    func testCredentialsForTheNewOriginAreSent() async throws {
        let other = try LoopbackServer()
        other.on("/*", .text("ok"))
        let scope = CredentialScope.origins("http://home.test", other.url)
        let move = Move(authority: other.authority)
        let scoped = try await received(by: other, after: [BearerToken("t", scope: scope), move])
        XCTAssertEqual(scoped, ["Bearer t", nil])
        let key = CustomToken("k", scope: .origins(other.url))
        let added = try await received(by: other, after: [BearerToken("t"), move, key])
        XCTAssertEqual(added, ["k", nil])
        let replaced = Move(authority: other.authority, authorization: "Bearer other")
        let own = try await received(by: other, after: [BearerToken("t"), replaced])
        XCTAssertEqual(own, ["Bearer other", nil])
        // The second step adds nothing.
        let first = try await received(by: other, after: [BearerToken("t", scope: scope), BearerToken("u"), move])
        XCTAssertEqual(first, ["Bearer t", nil])
        let callers = APIClient(baseURL: "http://home.test") { $0.requestInterceptors = [BearerToken("t"), move] }
        _ = try await callers.data.get("x").header("Authorization", "Bearer mine").sender().value
        XCTAssertEqual(other.requests.last?.headers["Authorization"], "Bearer mine")
    }
}

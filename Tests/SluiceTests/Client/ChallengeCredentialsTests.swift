import Sluice
import SluiceTesting
import XCTest

final class ChallengeCredentialsTests: XCTestCase {
    private let ada = ChallengeCredentials(user: "ada", password: "pw")

    /// Creates a server that accepts the user Ada, and redirects from `/far` to the root of another server.
    private func server(redirectingTo other: LoopbackServer? = nil) throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on("/*") { request in
            request.headers[.authorization] == "Basic YWRhOnB3"
                ? .text("in \(request.path)")
                : .text("who?", status: .unauthorized, headers: ["WWW-Authenticate": #"Basic realm="x""#])
        }
        if let other { server.on("/far", .redirect(to: "\(other.url)/")) }
        server.on("/near", .redirect(to: "/in", status: .temporaryRedirect))
        return server
    }

    private func authorizations(_ server: LoopbackServer) -> [[String]] {
        server.requests.map { $0.headers.values(for: .authorization) }
    }

    func testClientAnswersChallengesOfItsBaseURL() async throws {
        let server = try server()
        let client = APIClient(baseURL: server.url) { $0.credentials = ada }
        let text = try await client.string.get("a").sender().value
        XCTAssertEqual(text, "in /a")
        XCTAssertEqual(authorizations(server), [[], ["Basic YWRhOnB3"]])
    }

    #if os(Linux)
    func testRepeatedChallengesEndAfterFiveRequests() async throws {
        let server = try LoopbackServer()
        server.on("/") { request in
            let challenge =
                #"Digest realm="x", nonce="\#(request.connection)-\#(UInt32.random(in: 0...9_999_999))", stale=true, qop="auth""#
            return .text("again", status: .unauthorized, headers: ["WWW-Authenticate": "\(challenge)"])
        }
        let client = APIClient(baseURL: server.url) {
            $0.credentials = ChallengeCredentials(user: "ada", password: "pw", methods: .digest)
        }
        let response = await client.data.get("/").sender().response
        XCTAssertEqual(response.status, .unauthorized)
        XCTAssertEqual(server.requestCount, 5)
    }
    #endif

    func testCredentialsAreNotSentAfterCrossOriginRedirect() async throws {
        let other = try server()
        let origin = try server(redirectingTo: other)
        for methods: ChallengeCredentials.Methods in [.basic, [.basic, .digest]] {
            let client = APIClient(baseURL: origin.url) {
                $0.credentials = ChallengeCredentials(user: "ada", password: "pw", methods: methods)
            }
            let response = await client.data.get("far").sender().response
            XCTAssertEqual(response.status, .unauthorized)
            let near = try await client.string.post("near").json([1]).sender().value
            XCTAssertEqual(near, "in /in")
        }
        XCTAssertEqual(authorizations(other), [[], []])
    }

    func testOtherOriginCannotLeadBasicCredentialsToPathOfItsChoice() async throws {
        let origin = try server()
        let other = try LoopbackServer()
        origin.on("/shop/far", .redirect(to: "\(other.url)/admin"))
        origin.on("/shop/near", .redirect(to: "\(other.url)/shop/orders"))
        origin.on("/shop/own", .redirect(to: "/inside"))
        for path in ["/admin", "/shop/orders"] { other.on(path, .redirect(to: "\(origin.url)\(path)")) }
        for methods: ChallengeCredentials.Methods in [.basic, [.basic, .digest]] {
            let client = APIClient(baseURL: origin.url) {
                $0.credentials = ChallengeCredentials(user: "ada", password: "pw", methods: methods)
            }
            let led = await client.data.get("shop/far").sender().response
            XCTAssertEqual(led.status, .unauthorized)
            let started = await client.data.get("\(other.url)/admin").sender().response
            XCTAssertEqual(started.status, .unauthorized)
            XCTAssertEqual(origin.requests(to: "/admin").flatMap { $0.headers.values(for: .authorization) }, [])
            let within = try await client.string.get("shop/own").sender().value
            XCTAssertEqual(within, "in /inside")
            let back = try await client.string.get("shop/near").sender().value
            XCTAssertEqual(back, "in /shop/orders")
            // The credentials only answer a challenge, although the protection space is known.
            let orders = origin.requests(to: "/shop/orders").map { $0.headers.contains(.authorization) }
            XCTAssertEqual(Array(orders.suffix(2)), [false, true])
        }
        XCTAssertTrue(other.requests.allSatisfy { !$0.headers.contains(.authorization) })
    }

    func testCredentialsAreNotSentToAnAbsoluteURLOfAnotherOrigin() async throws {
        let origin = try server()
        let other = try server()
        let client = APIClient(baseURL: origin.url) { $0.credentials = ada }
        let response = await client.data.get("\(other.url)/a").sender().response
        XCTAssertEqual(response.status, .unauthorized)
        XCTAssertEqual(authorizations(other), [[]])
    }

    func testRequestCredentialsAreBoundToTheOriginOfItsURL() async throws {
        let other = try server()
        let origin = try server(redirectingTo: other)
        let client = APIClient(baseURL: origin.url)
        let text = try await client.string.get("\(other.url)/a").credentials(ada).sender().value
        XCTAssertEqual(text, "in /a")
        let response = await client.data.get("far").credentials(ada).sender().response
        XCTAssertEqual(response.status, .unauthorized)
        XCTAssertEqual(authorizations(other), [[], ["Basic YWRhOnB3"], []])
    }

    func testClientWithoutBaseURLRequiresOriginForCredentials() async throws {
        let server = try server()
        let unbound = APIClient { $0.credentials = ada }
        let error = await unbound.data.get("\(server.url)/a").sender().result.failure
        XCTAssertEqual(error?.code, .unsupported)
        XCTAssertEqual(server.requestCount, 0)
        let origin = HTTPOrigin(scheme: "http", authority: server.authority)
        let bound = APIClient {
            $0.credentials = ChallengeCredentials(user: "ada", password: "pw", origin: origin)
        }
        let text = try await bound.string.get("\(server.url)/a").sender().value
        XCTAssertEqual(text, "in /a")
    }

    func testPasswordIsNotInDescriptionOrDump() {
        XCTAssertEqual("\(ada)", "credentials of “ada”")
        var dumped = ""
        dump(ada, to: &dumped)
        dump(TransferContext(credentials: ada), to: &dumped)
        XCTAssertFalse(dumped.contains("pw"))
    }
}

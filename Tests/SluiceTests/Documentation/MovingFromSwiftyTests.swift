import Foundation
import Sluice
import SluiceTesting
import XCTest

/// The guide for users of Swifty.
final class MovingFromSwiftyTests: XCTestCase {
    actor Session {
        private(set) var ticket: String?

        var isOpen: Bool { ticket != nil }
        func open(with ticket: String) { self.ticket = ticket }
    }

    struct Gist: Codable, Sendable {
        let body: String
    }

    struct GitHubAPI: WebService {
        let client: APIClient

        func repositories(of user: String) -> APIRequest<[String], ShopError> {
            server.get("repositories").query(["user": user])
        }
        func createGist(_ text: String) -> APIRequest<Gist, ShopError> {
            server.post("gists").json(["body": text])
        }
    }

    enum Gists {
        static let server = APIClient(baseURL: "https://api.github.com")

        static func all(of user: String) -> APIRequest<[String], ShopError> {
            let path: URITemplate = "users/{user}/gists"
            return server.get(path.expanding(["user": user]))
        }
    }

    struct SignedIn: Constraint {
        let session: Session

        func isSatisfied(for request: RequestContext) async -> Bool {
            if request.tags.contains("public") { return true }
            return await session.isOpen
        }
        func satisfy(for request: RequestContext) async throws {
            let ticket = try await request.client.string.post("sessions").sender().value
            await session.open(with: ticket)
        }
    }

    struct Ticket: RequestInterceptor {
        let session: Session

        func intercept(_ request: HTTPRequest, context: RequestContext) async throws -> HTTPRequest {
            var request = request
            request.headers["X-Ticket"] = await session.ticket
            return request
        }
    }

    struct NoEmptyAnswers: OutcomeAdapter {
        func adapt(_ outcome: inout TransportOutcome, context: RequestContext) {
            guard case .success(let response) = outcome, response.head.status == .noContent else { return }
            outcome = .failure(SluiceError(.validationFailed, "The answer is empty.", request: response.request))
        }
    }

    private func shopServer() throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.on("/repositories", .json(#"["swift"]"#))
        server.on(.post, "/gists") { .data($0.body, contentType: "application/json") }
        server.on(.post, "/echo") { .data($0.body) }
        server.on(.post, "/sessions", .text("t1"))
        server.on("/orders", .text("none"))
        server.on("/nothing", .status(.noContent))
        server.on("/motto", .text("Let it flow."))
        return server
    }

    func testServices() async throws {
        let server = try shopServer()
        let client = APIClient(baseURL: server.url)
        let gist = try await GitHubAPI(client: client).createGist("Hello").sender().value
        let repositories = try await GitHubAPI(client: client).repositories(of: "ada").sender().value
        XCTAssertEqual(gist.body, "Hello")
        XCTAssertEqual(repositories, ["swift"])
        let motto = client.string.get("motto")
            .header("X-Tenant", "t1")
            .basicAuthorization("ada", "s3cret")
            .query(["page": 1, "tags": ["new", "old"]])
            .priority(.high)
            .tags("public", "start")
        let login = client.string.post("echo").form(["user": "ada", "remember": true])
        let upload = client.string.post("echo").data(Data("# Title".utf8), contentType: "text/markdown")
        let texts = try await [motto.sender().value, login.sender().value, upload.sender().value]
        XCTAssertEqual(texts, ["Let it flow.", "remember=1&user=ada", "# Title"])
        XCTAssertEqual(server.requests(to: "/motto").first?.query, "page=1&tags%5B%5D=new&tags%5B%5D=old")
    }

    func testConstraints() async throws {
        let server = try shopServer()
        let session = Session()
        let shop = APIClient(baseURL: server.url) {
            $0.constraints = [SignedIn(session: session)]
        }
        let order = try await shop.string.get("orders").sender().value
        let free = try await shop.string.get("motto").withoutGate(SignedIn.self).sender().value
        XCTAssertEqual([order, free], ["none", "Let it flow."])
        XCTAssertEqual(server.requests.map(\.path), ["/sessions", "/orders", "/motto"])
    }

    func testInterceptors() async throws {
        let server = try shopServer()
        let session = Session()
        await session.open(with: "t1")
        let strict = APIClient(baseURL: server.url) {
            $0.constraints = [SignedIn(session: session)]
            $0.requestInterceptors = [Ticket(session: session)]
            $0.responseInterceptors = [NoEmptyAnswers()]
        }
        let code = await strict.data.get("nothing").sender().response.failure?.code
        XCTAssertEqual(code, .validationFailed)
        XCTAssertEqual(server.requests.first?.headers["X-Ticket"], "t1")
    }

    func testInspector() async throws {
        let server = try shopServer()
        let file = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString).har")
        defer { try? FileManager.default.removeItem(at: file) }
        let recorder = HARRecorder()
        let watched = APIClient(baseURL: server.url) { $0.observers = [recorder, RequestLog(.summary)] }
        _ = try await watched.string.get("motto").sender().value
        await watched.observersCaughtUp()
        try await recorder.write(to: file)
        let har = try HAR(parsing: Data(contentsOf: file))
        XCTAssertEqual(har.entries.count, 1)
    }

    func testMocks() async throws {
        let folder = try DownloadFixture(bytes: 0)
        let fixture = folder.file
        try Data("Let it flow.".utf8).write(to: fixture)
        let client = folder.client
        let mocked = client.string.get("motto").stub(.file(fixture, contentType: "text/plain"))
        let words = try await mocked.sender().value
        XCTAssertEqual(words, "Let it flow.")
        XCTAssertEqual(folder.server.requests.count, 0)
    }
}

import Foundation
import Sluice
import SluiceTesting
import XCTest

#if canImport(Combine)
import Combine
#endif

/// The code of the article "Bridges to other code".
final class BridgesGuideTests: XCTestCase {
    struct User: Codable, Sendable, Equatable {
        var id: Int
        var name: String
    }

    @MainActor final class Profile {
        private(set) var user: User?
        private var loading: RequestSender<User, APIError>?

        func load(from shop: APIClient) {
            loading = shop.get("users/1", as: User.self).send(on: .main) { response in
                self.user = try? response.result.get()
            }
        }

        func stop() { loading?.cancel() }
    }

    func testClassOfTheMainActor() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.on("/users/1", .json(#"{"id":1,"name":"Ada"}"#))
        let profile = Profile()
        await profile.load(from: APIClient(baseURL: server.url))
        try await waitUntil("the user is shown") { await profile.user?.name == "Ada" }
        await profile.stop()
    }

    func testCallbacks() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.on("/users/1", .json(#"{"id":1,"name":"Ada"}"#))
        let shop = APIClient(baseURL: server.url)
        let shown = expectation(description: "shown")
        let logged = expectation(description: "logged")
        let show: @Sendable (User) -> Void = { user in
            XCTAssertEqual(user.name, "Ada")
            shown.fulfill()
        }
        let showFailure: @Sendable (APIError) -> Void = { XCTFail("\($0)") }
        let log: @Sendable (HTTPStatus?) -> Void = { status in
            XCTAssertEqual(status, .ok)
            logged.fulfill()
        }
        let sender = shop.codable.get("users/1", as: User.self).send(on: .main) { response in
            switch response.result {
            case .success(let user): show(user)
            case .failure(let error): showFailure(error)
            }
        }
        await fulfillment(of: [shown], timeout: 60)
        sender.start { response in log(response.status) }
        sender.cancel()
        await fulfillment(of: [logged], timeout: 60)
    }

    #if canImport(Combine)
    func testPublisher() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.on("/users/1", .json(#"{"id":1,"name":"Ada"}"#))
        let shop = APIClient(baseURL: server.url)
        let logged = expectation(description: "logged")
        let log: @Sendable (String) -> Void = { name in
            XCTAssertEqual(name, "Ada")
            logged.fulfill()
        }
        let subscription = shop.codable.get("users/1", as: User.self).publisher()
            .map(\.name)
            .replaceError(with: "nobody")
            .sink { name in log(name) }
        await fulfillment(of: [logged], timeout: 60)
        subscription.cancel()
    }
    #endif
}

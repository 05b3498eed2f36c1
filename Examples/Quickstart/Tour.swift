import Sluice
import SluiceTesting

struct User: Codable, Sendable {
    let id: Int
    let name: String
}

/// The error of this API: the message in the body, or a description of the failure.
struct ShopError: ErrorSerializable, CustomStringConvertible {
    let description: String
    let isCancellation: Bool

    init(_ failure: RequestFailure) {
        struct Body: Decodable { let message: String }
        description = (try? failure.decoded(as: Body.self))?.message ?? failure.error.description
        isCancellation = failure.error.isCancellation
    }
}

/// Runs a success, a typed error and a cancelled request against a server on 127.0.0.1.
func tour() async throws {
    let server = try LoopbackServer()
    server.on(.get, "/users/1", .json(#"{"id":1,"name":"Ada"}"#))
    server.on(.get, "/users/2", .json(#"{"message":"There is no user 2."}"#, status: .notFound))
    server.on(.get, "/users/3", .hang)
    let shop = APIClient(baseURL: server.url)
    print("A server listens on \(server.url).")

    // The request states the types of the model and of the error.
    let first: APIRequest<User, ShopError> = shop.codable.request("users/1")
    let response = await first.sender().response
    let user = try response.result.get()
    print("✓ \(server.url)/users/1 is \(user)\(response.metrics.map { ", in \($0.total)" } ?? "")")

    let second: APIRequest<User, ShopError> = shop.codable.request("users/2")
    switch await second.sender().result {
    case .success(let user): throw UnexpectedResult(description: "\(user) should not be there.")
    case .failure(let error): print("✓ \(server.url)/users/2 failed with a typed error: \(error)")
    }

    let third: APIRequest<User, ShopError> = shop.codable.request("users/3")
    let sender = third.sender()
    async let outcome = sender.result
    await server.waitForRequests(3)
    sender.cancel()
    guard case .failure(let error) = await outcome, error.isCancellation else {
        throw UnexpectedResult(description: "The request should have been cancelled.")
    }
    await server.waitForOpenConnections { $0 <= 1 }
    print("✓ \(server.url)/users/3 was cancelled, and its connection closed: \(error)")
}

/// A result that the tour does not expect.
struct UnexpectedResult: Error, CustomStringConvertible {
    let description: String
}

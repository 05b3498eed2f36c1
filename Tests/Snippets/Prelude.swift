import Sluice

// The declarations that the snippets share.

struct User: Codable, Sendable, Equatable {
    var id: Int
    var name: String
}

struct Order: Codable, Sendable {
    var id: Int
    var total: Double
}

struct ShopError: ErrorSerializable {
    let message: String

    init(_ failure: RequestFailure) {
        message = failure.error.description
    }
}

let shop = APIClient(baseURL: "https://shop.example/v1")
let isNight = Bool.random()

func show(_ value: some Sendable) {}
func send(_ request: APIRequest<User, ShopError>) {}
func sendAny<Model, ErrorModel>(_ request: APIRequest<Model, ErrorModel>) {}

import Sluice

struct User: Decodable, Sendable {
    let id: Int
}

let client = APIClient(baseURL: "http://127.0.0.1:8080")
let request: APIRequest<User, APIError> = client.codable.request("user.json")
print(try await request.sender().value.id)

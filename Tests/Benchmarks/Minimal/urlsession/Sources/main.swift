import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct User: Decodable, Sendable {
    let id: Int
}

if let url = URL(string: "http://127.0.0.1:8080/user.json") {
    let (data, _) = try await URLSession.shared.data(from: url)
    print(try JSONDecoder().decode(User.self, from: data).id)
}

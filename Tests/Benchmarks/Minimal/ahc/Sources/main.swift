import AsyncHTTPClient

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct User: Decodable, Sendable {
    let id: Int
}

let request = HTTPClientRequest(url: "http://127.0.0.1:8080/user.json")
let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
let body = try await response.body.collect(upTo: 1 << 20)
print(try JSONDecoder().decode(User.self, from: Data(body.readableBytesView)).id)

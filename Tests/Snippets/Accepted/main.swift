import Foundation
import Sluice

// The top level of a program, whose variables belong to the main actor.

var name = ""
var folder = URL(filePath: "/tmp")

let client = APIClient(baseURL: "https://shop.example") {
    $0.headers["X-Name"] = name
    name = "configured"
}
let store = CacheStore(directory: folder) {
    $0.expiration = .days(1)
    name = "stored"
}
let gate = OAuth2(.refreshToken("r", id: "tool"), tokenURL: "https://id.example/token") {
    $0.origins = [name]
    name = "signed in"
}
client.get("users/1", as: User.self).send(on: .main) { response in name = "\(response.status ?? 0)" }
let sender = client.get("users/1", as: User.self).sender()
sender.start(on: .main) { response in name = "\(response.status ?? 0)" }
let user: User = try await client.get("users/1").sender().value
name = user.name
for await progress in sender.downloadProgress { name = "\(progress.completed)" }
for try await line in client.stream("log").lines { name += line }
for try await page in client.get("users", as: [User].self).pages(by: .link) { name += "\(page.count)" }
let users = try await client.batch((1...3).map { client.get("\(name)/\($0)", as: User.self) })
Task { name = (try? await sender.value.name) ?? "" }
var graph = RequestGraph()
let first = graph.add("user", client.get("users/1", as: User.self))
let second = graph.add("name", after: first) { "\($0.name)" }
print(try await graph.run().value(of: second), users.count, store, gate)

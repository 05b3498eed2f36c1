import Foundation
import Sluice

// Requests as Alamofire and URLSession spell them.

// error: Write "get("users").query(["page": 1])", "post("users").form(["name": name])"
func methodAndParameters() async throws {
    let user: User = try await shop.request("u", method: .post, parameters: ["name": "Ada"]).sender().value
    show(user)
}

// error: Write "get("users").query(["page": 1])", "post("users").form(["name": name])"
func methodAndParametersAndHandler() {
    shop.request("u", method: .post, parameters: ["name": "Ada"]).responseDecodable(of: User.self) { print($0) }
}

// error: Write "get("users").query(["page": 1])", "post("users").form(["name": name])"
func parametersOfRequest() async throws {
    show(try await shop.request("u", parameters: ["page": 1], as: User.self).sender().value)
}

// error: Write "upload("pictures", .data(data))".
func uploadDataTo() async throws {
    show(try await shop.upload(Data(), to: "u", as: User.self).sender().value)
}

// error: Write "upload("pictures", .data(data))".
func uploadDataToWithoutModel() async throws {
    _ = try await shop.upload(Data(), to: "u").sender().value
}

// error: Write "upload("pictures", .data(data))".
func uploadDataLabel() async throws {
    let user: User = try await shop.upload("u", data: Data()).sender().value
    show(user)
}

// error: Write "send { response in … }", or "sender().response" in async code.
func responseFunction() async throws {
    print(await shop.get("u", as: User.self).response())
}

// error: Write "get("users/1", as: User.self)", and read "sender().value".
func decodeOfARequest() async throws {
    let user = try await shop.get("u").decode(User.self)
    show(user)
}

// error: Begin with "async let value = sender.value", then write "for await progress in sender.downloadProgress".
func onProgress() async throws {
    show(try await shop.get("u", as: User.self).onProgress { print($0) }.sender().value)
}

// error: Write "get("users/1", as: User.self).keyPath("data")".
func keyPathOfACall() async throws {
    show(try await shop.get("u", as: User.self, keyPath: "data").sender().value)
}

// error: Write "get("users/1", as: User.self).keyPath("data")".
func keyPathOfAContextualCall() async throws {
    let user: User = try await shop.post("u", keyPath: "data").sender().value
    show(user)
}

// error: Write "stream("log").lines", ".bytes", ".serverSentEvents()"
func streamRequest() async throws {
    for try await line in shop.streamRequest("log").lines { print(line) }
}

// error: Write "value.url".
func urlOfADownload() async throws {
    let url: URL = try await shop.download("film", to: .temporary).sender().value
    print(url)
}

// error: Write "stream("log").bytes", ".lines" or ".serverSentEvents()".
func loopOverAStream() async throws {
    for try await chunk in shop.stream("log") { print(chunk) }
}

// error: A cancelled request fails with an error whose "isCancellation" is true.
func isCancelledOfASender() {
    print(shop.get("u", as: User.self).sender().isCancelled)
}

// error: Write "APIResponse(result: result, head: HTTPResponse(status: .ok))".
func responseWithStatus() {
    show(APIResponse<User, APIError>(result: .success(User(id: 1, name: "")), status: .ok))
}

// error: Write "JSON(parsing: data)".
func jsonOfData() throws {
    show(try JSON(data: Data()))
}

// error: Write "JSON(parsing: text)".
func jsonOfAString() throws {
    show(try JSON(string: "{}"))
}

// error: Write "json["items"][0]", or as a path "json[path: "items[0]"]".
func severalStepsIntoJSON(_ json: JSON) {
    print(json["items", 0, "name"].stringValue)
}

// error: Write "json["items"][0]", or as a path "json[path: "items[0]"]".
func assignmentSeveralStepsIntoJSON() {
    var json = JSON()
    json["user", "name"] = "Ada"
    show(json)
}

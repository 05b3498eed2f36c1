import Foundation
import Sluice

// First typings in the functions of a service that has an error model of its own, which the context determines.

// error: Write "upload("pictures", .file(url))".
func fileOfAnUpload(url: URL) -> APIRequest<User, ShopError> { shop.upload("u", url) }

// error: Write "upload("pictures", .file(url))".
func labeledFileOfAnUpload(url: URL) -> APIRequest<User, ShopError> { shop.upload("u", file: url) }

// error: Write "upload("pictures", .data(data))".
func dataOfAnUpload(data: Data) -> APIRequest<User, ShopError> { shop.upload("u", data) }

// error: Write "upload("pictures", .data(data))".
func labeledDataOfAnUpload(data: Data) -> APIRequest<User, ShopError> { shop.upload("u", data: data) }

// error: Write "upload("pictures", .multipart(form))".
func formOfAnUpload(form: MultipartForm) -> APIRequest<User, ShopError> { shop.upload("u", form) }

// error: Write "upload("pictures", .multipart(form))".
func labeledFormOfAnUpload(form: MultipartForm) -> APIRequest<User, ShopError> { shop.upload("u", multipart: form) }

// error: Write "get("users").query(["page": 1])".
func parametersOfAGet() -> APIRequest<[User], ShopError> { shop.get("u", parameters: ["page": 1]) }

// error: Write "get("users").query(["page": 1])".
func queryOfAGet() -> APIRequest<[User], ShopError> { shop.get("u", query: ["page": 1]) }

// error: Write "get("users").headers(["Accept": "text/plain"])".
func headersOfAGet() -> APIRequest<[User], ShopError> { shop.get("u", headers: ["Accept": "text/csv"]) }

// error: Write "get("users").query(["page": 1])".
func queryOfARequestThatIsPassed() { send(shop.get("u", query: ["page": 1])) }

// error: Write "get("users").query(["page": 1])".
func queryWithANamedErrorModel() async throws {
    show(try await shop.get("u", as: User.self, error: ShopError.self, query: ["page": 1]).sender().value)
}

// error: Write "post("users").json(user)".
func bodyOfAPost(user: User) -> APIRequest<User, ShopError> { shop.post("u", body: user) }

// error: Write "post("users").json(user)".
func jsonOfAPost(user: User) -> APIRequest<User, ShopError> { shop.post("u", json: user) }

// error: Write "post("users").json(["name": name])" or "post("users").form(["name": name])".
func parametersOfAPost() -> APIRequest<User, ShopError> { shop.post("u", parameters: ["name": "Ada"]) }

// error: Write "get("users")" or "post("users")".
func methodAsAnArgument() -> APIRequest<User, ShopError> { shop.request(.post, "u") }

// error: Write "download("film", to: .file(url))", or ".suggested(in: folder)".
func urlOfADownload(url: URL) -> DownloadAPIRequest<DownloadedFile, ShopError> { shop.download("film", to: url) }

// error: Write "download("film", to: .file(URL(filePath: path)))".
func pathOfADownload() -> DownloadAPIRequest<DownloadedFile, ShopError> { shop.download("film", to: "/tmp/film") }

// error: Put the response into the error
func responseOfAFailure(response: HTTPResponse, data: Data) {
    let error = SluiceError(.unacceptableStatus, "The status is 404.")
    show(ShopError(RequestFailure(error: error, response: response, body: data)).message)
}

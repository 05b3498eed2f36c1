import Foundation
import Sluice

// Bodies and uploads named as elsewhere.

private class NotSendable: Encodable { var a = 1; init() {} }
private enum K: String, Codable { case a }

// error: The types of the values are not known. Write "as JSON" after a literal, or pass "try Parameters(any: values)".
func jsonNested() {
    let r: APIRequest<User, APIError> = shop.post("u").json(["user": ["name": "a", "age": 3]])
    show(r)
}

// error: Say that the values are JSON: "json([1, "a"] as JSON)".
func jsonArrayMixed() {
    let r: APIRequest<User, APIError> = shop.post("u").json([1, "a", true])
    show(r)
}

// error: Say that the values are JSON: "json([1, "a"] as JSON)".
func jsonArrayOfMixedDict() {
    let r: APIRequest<User, APIError> = shop.post("u").json([["a": 1, "b": "x"], ["a": 2, "b": "y"]])
    show(r)
}

// error: The types of the values are not known. Write "as JSON" after a literal, or pass "try Parameters(any: values)".
func jsonAnyDict() {
    let d: [String: Any] = ["a": 1]
    let r: APIRequest<User, APIError> = shop.post("u").json(d)
    show(r)
}

// error: The types of the values are not known. Write "as JSON" after a literal, or pass "try Parameters(any: values)".
func jsonAnySendableDict() {
    let d: [String: any Sendable] = ["a": 1]
    let r: APIRequest<User, APIError> = shop.post("u").json(d)
    show(r)
}

// error: The types of the values are not known. Write "as JSON" after a literal, or pass "try Parameters(any: values)".
func jsonAnyEncodableDict() {
    let d: [String: any Encodable & Sendable] = ["a": 1]
    let r: APIRequest<User, APIError> = shop.post("u").json(d)
    show(r)
}

// error: Write "post("users").json(user)".
func bodyLabel() {
    let r: APIRequest<User, APIError> = shop.post("u", body: User(id: 1, name: ""))
    show(r)
}

// error: Write "post("users").json(user)".
func jsonLabel() {
    let r: APIRequest<User, APIError> = shop.post("u", json: User(id: 1, name: ""))
    show(r)
}

// error: Write "json(value)" or "form(value)".
func bodyMethodValue() {
    let r: APIRequest<User, APIError> = shop.post("u").body(User(id: 1, name: ""))
    show(r)
}

// error: Write "data(data, contentType: "image/png")".
func bodyMethodData() {
    let r: APIRequest<User, APIError> = shop.post("u").body(Data())
    show(r)
}

// error: Write "data(Data(text.utf8), contentType: "text/plain")".
func bodyMethodString() {
    let r: APIRequest<User, APIError> = shop.post("u").body("text")
    show(r)
}

// error: Write "data(Data(text.utf8), contentType: "text/plain")".
func bodyText() {
    let r: APIRequest<User, APIError> = shop.post("u").text("hello")
    show(r)
}

// error: Write "data(Data(text.utf8), contentType: "text/plain")".
func bodyString() {
    let r: APIRequest<User, APIError> = shop.post("u").string("hello")
    show(r)
}

// error: Write "data(Data(bytes))".
func bodyBytes() {
    let b: [UInt8] = [1]
    let r: APIRequest<User, APIError> = shop.post("u").data(b)
    show(r)
}

// error: Write "data(Data(bytes))".
func bodyBytesMethod() {
    let b: [UInt8] = [1]
    let r: APIRequest<User, APIError> = shop.post("u").bytes(b)
    show(r)
}

// error: Write "file(URL(filePath: path))".
func bodyFileString() {
    let r: APIRequest<User, APIError> = shop.put("u").file("/tmp/a")
    show(r)
}

// error: Write "file(url)".
func bodyFileLabel() {
    let r: APIRequest<User, APIError> = shop.put("u").file(at: URL(filePath: "/tmp/a"))
    show(r)
}

// error: Write "body(.stream(chunks))".
func bodyStream() {
    let (s, c) = AsyncStream.makeStream(of: Data.self)
    c.finish()
    let r: APIRequest<User, APIError> = shop.put("u").stream(s)
    show(r)
}

// error: Write "body(.stream(chunks))".
func bodyStreamLength() {
    let (s, c) = AsyncStream.makeStream(of: Data.self)
    c.finish()
    let r: APIRequest<User, APIError> = shop.put("u").stream(s, length: 3)
    show(r)
}

// error: Write "form(["name": name])".
func formURLEncoded() {
    let r: APIRequest<User, APIError> = shop.post("u").urlEncoded(["a": "b"])
    show(r)
}

// error: Write "form(["name": value])".
func formPairs() {
    let r: APIRequest<User, APIError> = shop.post("u").form("a", "b")
    show(r)
}

// error: Write "append(.text("Ada", name: "name"))".
func multipartAdd() {
    var f = MultipartForm()
    f.add(.text("a", name: "b"))
    let r: APIRequest<User, APIError> = shop.post("u").multipart(f)
    show(r)
}

// error: Write "append(.data(data, name: "picture"))".
func multipartAppendAF() {
    var f = MultipartForm()
    f.append(Data(), withName: "b")
    let r: APIRequest<User, APIError> = shop.post("u").multipart(f)
    show(r)
}

// error: Write "append(.file(url, name: …, fileName: …, contentType: …))".
func multipartAppendAFFile() {
    var f = MultipartForm()
    f.append(URL(filePath: "/a"), withName: "b", fileName: "c", mimeType: "d")
    let r: APIRequest<User, APIError> = shop.post("u").multipart(f)
    show(r)
}

// error: Write "multipart([.text("Ada", name: "name")])".
func multipartClosure() {
    let r: APIRequest<User, APIError> = shop.post("u").multipart { $0.append(.text("a", name: "b")) }
    show(r)
}

// error: Write "multipart([.text("Ada", name: "name")])".
func multipartDictValue(fields: [String: String]) {
    let r: APIRequest<User, APIError> = shop.post("u").multipart(fields)
    show(r)
}

// error: Write the parts as an array: "[.text("Ada", name: "name")]".
func multipartDict() {
    let r: APIRequest<User, APIError> = shop.post("u").multipart(["a": "b"])
    show(r)
}

// error: Write the text first, and the label: ".text("Ada", name: "name")".
func multipartNameValue() {
    let f: MultipartForm = [.text("a", "b")]
    show(f)
}

// error: Write ".text("Ada", name: "name")".
func multipartField() {
    let f: MultipartForm = [.field("a", "b")]
    show(f)
}

// error: Write "contentType:" in place of "mimeType:".
func multipartFileMime() {
    let f: MultipartForm = [.file(URL(filePath: "/a"), name: "b", fileName: "c.png", mimeType: "image/png")]
    show(f)
}

// error: Write the number as text: ".text("\(number)", name: "page")".
func multipartInt() {
    let f: MultipartForm = [.text(5, name: "b")]
    show(f)
}

// error: Write ".file(URL(filePath: path), name: "picture")".
func multipartFileString() {
    let f: MultipartForm = [.file("/tmp/a", name: "b")]
    show(f)
}

// error: Append the parts one by one: "form.append(part)".
func multipartArrayVar() {
    let parts = [1, 2].map { MultipartForm.Part.text("\($0)", name: "n") }
    let f = MultipartForm(parts)
    show(f)
}

// error: Append the parts one by one: "form.append(part)".
func multipartArrayVarLabel() {
    let parts = [1, 2].map { MultipartForm.Part.text("\($0)", name: "n") }
    let f = MultipartForm(parts: parts)
    show(f)
}

// error: Write "upload("pictures", .file(url))".
func uploadFileLabel() {
    let r: APIRequest<User, APIError> = shop.upload("u", file: URL(filePath: "/a"))
    show(r)
}

// error: Write "upload("pictures", .data(data))".
func uploadFrom() {
    let r: APIRequest<User, APIError> = shop.upload("u", from: Data())
    show(r)
}

// error: Write "upload("pictures", .file(url))".
func uploadFromFile() {
    let r: APIRequest<User, APIError> = shop.upload("u", fromFile: URL(filePath: "/a"))
    show(r)
}

// error: Write "upload("pictures", .data(data))".
func uploadData() {
    let r: APIRequest<User, APIError> = shop.upload("u", Data())
    show(r)
}

// error: Write "upload("pictures", .file(url))".
func uploadURL() {
    let r: APIRequest<User, APIError> = shop.upload("u", URL(filePath: "/a"))
    show(r)
}

// error: Write "upload("pictures", .data(data))".
func uploadTo() {
    let r: APIRequest<User, APIError> = shop.upload(Data(), to: "u")
    show(r)
}

// error: Write "upload("pictures", .file(url))".
func uploadFileTo() {
    let r: APIRequest<User, APIError> = shop.upload(URL(filePath: "/a"), to: "u")
    show(r)
}

// error: Write "upload("pictures", .multipart(form))".
func uploadMultipartLabel() {
    let r: APIRequest<User, APIError> = shop.upload("u", multipart: [.text("a", name: "b")])
    show(r)
}

// error: Write "upload("pictures", .multipart([.file(url, name: "picture")]))".
func uploadMultipartAF() {
    let r: APIRequest<User, APIError> = shop.upload(multipartFormData: { $0.append(.text("a", name: "b")) }, to: "u")
    show(r)
}

// error: Write "upload("pictures", .multipart(form))".
func uploadForm() {
    let form: MultipartForm = []
    let r: APIRequest<User, APIError> = shop.upload("u", form)
    show(r)
}

// error: Write "upload("pictures", body).put()".
func uploadMethod() {
    let r: APIRequest<User, APIError> = shop.upload("u", .data(Data()), method: .put)
    show(r)
}

// error: Begin with "async let value = sender.value", then write "for await progress in sender.uploadProgress".
func uploadOnProgress() async throws {
    let u = try await shop.upload("u", .data(Data()), as: User.self).onUploadProgress { print($0) }.sender().value
    show(u)
}

// error: Set one body, and only after "post", "put", "patch" or "method(_:)".
func getWithJSON() {
    let r: APIRequest<User, APIError> = shop.get("u").json(["a": 1])
    show(r)
}

// error: Write "append(.file(url, name: "picture"))".
func multipartAppendFileName(url: URL) {
    var f = MultipartForm()
    f.append(url, name: "a")
    show(f)
}

// error: Write "append(.data(data, name: "picture"))".
func multipartAppendDataName(data: Data) {
    var f = MultipartForm()
    f.append(data, name: "a")
    show(f)
}

// error: Write "append(.text("Ada", name: "name"))".
func multipartAppendTextName() {
    var f = MultipartForm()
    f.append("b", name: "a")
    show(f)
}

// error: Write "contentType:" in place of "mimeType:".
func multipartDataMIME() {
    let f: MultipartForm = [.data(Data(), name: "a", mimeType: "image/png")]
    show(f)
}

// error: Write "contentType:" in place of "mimeType:".
func multipartNamedDataMIME() {
    let f: MultipartForm = [.data(Data(), name: "a", fileName: "b", mimeType: "image/png")]
    show(f)
}

// error: Write "contentType:" in place of "mimeType:".
func multipartFileMIME() {
    let f: MultipartForm = [.file(URL(filePath: "/a"), name: "a", mimeType: "image/png")]
    show(f)
}

// error: Write the parts as an array: "[.text("Ada", name: "name")]".
func multipartDictionaryLiteral() {
    let f = ["a": "b"] as MultipartForm
    show(f)
}

// error: extraneous argument label 'as:' in call
func multipartAppendWithAnotherLabel(url: URL) {
    var f = MultipartForm()
    f.append(url, as: "a")
    show(f)
}

// error: The result is an APIRequest: return that, or assign it to a new constant.
func bodyAddedToAVariable(_ user: User?) {
    var request = shop.request("users", as: User.self).method(.post)
    if let user { request = request.json(user) }
    show(request)
}

// error: The value can be nil: write "body(value.map { .json($0) })"
func optionalBodyOfAnyType(_ value: (any Encodable & Sendable)?) {
    show(shop.post("users", as: User.self).json(value))
}

// error: The value can be nil: write "body(value.map { .form($0) })"
func optionalFormOfAnyType(_ value: (any Encodable & Sendable)?) {
    show(shop.post("users", as: User.self).form(value))
}
// error: Write "post("users").json(user)" or ".body(body)".
func bodyAsAnArgumentOfAnotherFactory(_ user: User) {
    show(shop.string.post("users", body: .json(user)))
}

// error: Write "post("users").json(user)" or ".body(body)".
func bodyAsAnArgumentWithoutALabel(_ user: User) {
    show(shop.string.post("users", .json(user)))
}

// error: Write "post("files").data(data, contentType: "image/png")".
func bytesAsAnArgumentOfAnotherFactory(_ data: Data) {
    show(shop.empty.put("files/1", body: data))
}

// error: Write "post("users").form(["name": name])".
func formAsAnArgumentOfAnotherFactory() {
    show(shop.string.post("users", form: ["name": "Ada"]))
}

// error: Write "post("users").multipart(form)".
func multipartAsAnArgumentOfAnotherFactory(_ form: MultipartForm) {
    show(shop.empty.post("users", multipart: form))
}

// error: 'void' has been renamed to 'empty'
func factoryOfNoModel() {
    show(shop.void.delete("users/1"))
}

// error: 'none' has been renamed to 'empty'
func factoryOfNone() {
    show(shop.none.delete("users/1"))
}

// error: Write "MultipartForm()": a form chooses its boundary.
func formWithABoundary() {
    show(MultipartForm(boundary: "x"))
}

// error: Write "append(.text("Ada", name: "name"))".
func fieldByNameAndValue() {
    var form = MultipartForm()
    form.append("name", "Ada")
    show(form)
}

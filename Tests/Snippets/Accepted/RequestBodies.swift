import Foundation
import Sluice

// Bodies, forms and uploads, as first written.

private enum K: String, Codable { case a }

func jsonEncodable() {
    let r: APIRequest<User, APIError> = shop.post("u").json(User(id: 1, name: "a"))
    show(r)
}

func jsonLiteral() {
    let r: APIRequest<User, APIError> = shop.post("u").json(["name": "a"])
    show(r)
}

func jsonMixed() {
    let r: APIRequest<User, APIError> = shop.post("u").json(["name": "a", "age": 3, "tags": ["a", "b"], "ok": true])
    show(r)
}

func jsonNestedHomogeneous() {
    let r: APIRequest<User, APIError> = shop.post("u").json(["user": ["name": "a", "nick": "b"]])
    show(r)
}

func jsonNull() {
    let r: APIRequest<User, APIError> = shop.post("u").json(["user": nil])
    show(r)
}

func jsonArray() {
    let r: APIRequest<User, APIError> = shop.post("u").json([1, 2, 3])
    show(r)
}

func jsonArrayOfDict() {
    let r: APIRequest<User, APIError> = shop.post("u").json([["a": 1], ["a": 2]])
    show(r)
}

func jsonString() {
    let r: APIRequest<User, APIError> = shop.post("u").json(#"{"a":1}"#)
    show(r)
}

func jsonValue() {
    let j: JSON = ["a": 1, "b": ["c", nil, true]]
    let r: APIRequest<User, APIError> = shop.post("u").json(j)
    show(r)
}

func jsonExistential() {
    let d: any Encodable & Sendable = User(id: 1, name: "")
    let r: APIRequest<User, APIError> = shop.post("u").json(d)
    show(r)
}

func jsonNotSendable() {
    struct Q: Encodable { var a = 1 }
    let r: APIRequest<User, APIError> = shop.post("u").json(Q())
    show(r)
}

func jsonEncoder() {
    let r: APIRequest<User, APIError> = shop.post("u").json(User(id: 1, name: ""), encoder: JSONEncoder())
    show(r)
}

func jsonData() {
    let r: APIRequest<User, APIError> = shop.post("u").json(Data())
    show(r)
}

func jsonOptional() {
    let u: User? = nil
    let r: APIRequest<User, APIError> = shop.post("u").json(u)
    show(r)
}

func bodyMethodJSON() {
    let r: APIRequest<User, APIError> = shop.post("u").body(.json(User(id: 1, name: "")))
    show(r)
}

func bodyMethodDotData() {
    let r: APIRequest<User, APIError> = shop.post("u").body(.data(Data()))
    show(r)
}

func bodyData() {
    let r: APIRequest<User, APIError> = shop.post("u").data(Data("a".utf8))
    show(r)
}

func bodyDataType() {
    let r: APIRequest<User, APIError> = shop.post("u").data(Data("a".utf8), contentType: "text/plain")
    show(r)
}

func bodyFile() {
    let r: APIRequest<User, APIError> = shop.put("u").file(URL(filePath: "/tmp/a"))
    show(r)
}

func formDict() {
    let r: APIRequest<User, APIError> = shop.post("u").form(["a": "b"])
    show(r)
}

func formMixed() {
    let r: APIRequest<User, APIError> = shop.post("u").form(["a": "b", "c": 1, "d": [1, 2]])
    show(r)
}

func formEncodable() {
    let r: APIRequest<User, APIError> = shop.post("u").form(User(id: 1, name: ""))
    show(r)
}

func multipartLiteral() {
    let r: APIRequest<User, APIError> = shop.post("u").multipart([
        .text("a", name: "b"), .file(URL(filePath: "/a"), name: "c"),
    ])
    show(r)
}

func multipartVar() {
    let f: MultipartForm = [.text("a", name: "b")]
    let r: APIRequest<User, APIError> = shop.post("u").multipart(f)
    show(r)
}

func multipartAppend() {
    var f = MultipartForm()
    f.append(.text("a", name: "b"))
    let r: APIRequest<User, APIError> = shop.post("u").multipart(f)
    show(r)
}

func multipartFileType() {
    let f: MultipartForm = [.file(URL(filePath: "/a"), name: "b", fileName: "c.png", contentType: "image/png")]
    show(f)
}

func multipartDataNoFileName() {
    let f: MultipartForm = [.data(Data(), name: "b")]
    show(f)
}

func multipartStream() {
    let (s, c) = AsyncStream.makeStream(of: Data.self)
    c.finish()
    let f: MultipartForm = [.stream(s, length: 3, name: "b")]
    show(f)
}

func multipartLoop() {
    var f: MultipartForm = []
    for n in 1...2 { f.append(.text("\(n)", name: "n")) }
    show(f)
}

func uploadJSON() {
    let r: APIRequest<User, APIError> = shop.upload("u", .json(User(id: 1, name: "")))
    show(r)
}

func uploadFile() {
    let r: APIRequest<User, APIError> = shop.upload("u", .file(URL(filePath: "/a")))
    show(r)
}

func uploadDataDot() {
    let r: APIRequest<User, APIError> = shop.upload("u", .data(Data()))
    show(r)
}

func uploadMultipart() {
    let r: APIRequest<User, APIError> = shop.upload("u", .multipart([.text("a", name: "b")]))
    show(r)
}

func uploadPut() {
    let r: APIRequest<User, APIError> = shop.upload("u", .data(Data())).put()
    show(r)
}

func uploadAs() async throws {
    show(try await shop.upload("u", .data(Data()), as: User.self).sender().value)
}

func uploadStream() {
    let (s, c) = AsyncStream.makeStream(of: Data.self)
    c.finish()
    let r: APIRequest<User, APIError> = shop.upload("u", .stream(s))
    show(r)
}

func uploadProgressIt() async throws {
    let s = shop.upload("u", .data(Data()), as: User.self).sender()
    async let v = s.value
    for await p in s.uploadProgress { print(p.fractionCompleted ?? 0, p.completed, p.total ?? 0) }
    show(try await v)
}

func plist() {
    let r: APIRequest<User, APIError> = shop.post("u").propertyList(User(id: 1, name: ""))
    show(r)
}

func compressedBody() {
    let r: APIRequest<User, APIError> = shop.post("u").json(User(id: 1, name: "")).intercept(CompressBody())
    show(r)
}

func postQuery() {
    let r: APIRequest<User, APIError> = shop.post("u").query("a", 1).json(["b": 2])
    show(r)
}

func headerThenBody() {
    let r: APIRequest<User, APIError> = shop.post("u").header("a", "b").json(["b": 2])
    show(r)
}

func timeoutThenBody() {
    let r = shop.post("u", as: User.self).timeout(total: .seconds(5)).json(["b": 2])
    show(r)
}

func bodyThenQuery() {
    let r = shop.post("u", as: User.self).json(["b": 2]).query("a", 1).header("a", "b")
    show(r)
}

func conditionalBody() {
    var r: APIRequest<User, APIError> = shop.post("u").json(["b": 2])
    if isNight { r = r.query("a", 1) }
    show(r)
}

func stringsBody() {
    let name = "Ada"
    let age = 3
    let r: APIRequest<User, APIError> = shop.post("u").json(["name": name, "age": age])
    show(r)
}

func optionalInDict() {
    let nick: String? = nil
    let r: APIRequest<User, APIError> = shop.post("u").json(["name": "a", "nick": nick])
    show(r)
}

func optionalInMixedDict() {
    let nick: String? = nil
    let r: APIRequest<User, APIError> = shop.post("u").json(["id": 1, "nick": nick])
    show(r)
}

func dateInDict() {
    let r: APIRequest<User, APIError> = shop.post("u").json(["id": 1, "at": Date()])
    show(r)
}

func enumInDict() {
    enum K: String, Codable, Sendable { case a }
    let r: APIRequest<User, APIError> = shop.post("u").json(["id": 1, "k": K.a])
    show(r)
}

func enumShortInDict() {
    let r: APIRequest<User, APIError> = shop.post("u").json(["id": 1, "k": K.a.rawValue])
    show(r)
}

func jsonModelInDict() {
    let r: APIRequest<User, APIError> = shop.post("u").json(["user": User(id: 1, name: ""), "token": "x"])
    show(r)
}

func jsonBigDict() {
    let r: APIRequest<User, APIError> = shop.post("u").json([
        "a": 1, "b": "2", "c": 3.5, "d": true, "e": ["x", "y"], "f": ["k": "v"], "g": 7, "h": "8", "i": 9 + 1,
        "j": "a" + "b",
    ])
    show(r)
}

func partsOfAFile(url: URL) {
    show(shop.empty.put("film").file(url, range: 0..<5_000_000))
    show(shop.empty.upload("film", .file(url, range: 0..<5)))
}

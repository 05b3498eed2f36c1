import Foundation
import Sluice

// First typings of bodies, senders, options, downloads and streams, as other libraries spell them.

private let base = "https://shop.example"
private func log(_ line: String) {}

// error: Write "file(url)".
func urlAsABody(url: URL) async throws {
    let user: User = try await shop.post("u").body(url).sender().value
    show(user)
}

// error: Write "file(url)".
func labelOfAFile(url: URL) async throws {
    let user: User = try await shop.post("u").body(file: url).sender().value
    show(user)
}

// error: Write "file(URL(filePath: path))".
func labelOfAPath() async throws {
    show(try await shop.post("u", as: User.self).body(file: "/tmp/a").sender().value)
}

// error: Write "data(data, contentType: "image/png")".
func labelOfData(data: Data) async throws {
    show(try await shop.post("u", as: User.self).body(data: data).sender().value)
}

// error: Write "json(value)".
func labelOfJSON(user: User) async throws {
    show(try await shop.post("u", as: User.self).body(json: user).sender().value)
}

// error: Write "json(["name": name])".
func labelOfJSONValues() async throws {
    show(try await shop.post("u", as: User.self).body(json: ["name": "Ada", "age": 36]).sender().value)
}

// error: Write "form(value)".
func labelOfAForm(user: User) async throws {
    show(try await shop.post("u", as: User.self).body(form: user).sender().value)
}

// error: Write "form(["name": name])".
func labelOfFormValues() async throws {
    show(try await shop.post("u", as: User.self).body(form: ["name": "Ada", "age": 36]).sender().value)
}

// error: Write "get("users")" or "post("users")".
func methodAsAnArgument() async throws {
    let user: User = try await shop.request(.get, "u").sender().value
    show(user)
}

// error: Write "get("users")" or "post("users")".
func methodAsAnArgumentWithoutModel() async throws {
    show(try await shop.request(.get, "u").sender().value)
}

// error: Write "get("users")" or "post("users")".
func methodAsAnArgumentWithModel() async throws {
    show(try await shop.request(.get, "u", as: User.self).sender().value)
}

// error: Write "get("users")" or "post("users")".
func methodAsAnArgumentWithABody(user: User) async throws {
    let created: User = try await shop.request(.post, "u").json(user).sender().value
    show(created)
}

// error: Write "get("users")" or "post("users")".
func methodOfARequestType() {
    let request: APIRequest<User, APIError> = shop.request(.get, "u")
    show(request)
}

// error: Write "get("users")" or "post("users")".
func methodOfBytes() async throws {
    show(try await shop.data.request(.get, "u").sender().value)
}

// error: Write "get("users")" or "post("users")".
func methodOfText() async throws {
    print(try await shop.string.request(.get, "u").sender().value)
}

// error: Write "get("users")" or "post("users")".
func methodOfJSON() async throws {
    print(try await shop.json.request(.get, "u").sender().value["name"])
}

// error: Write "serializingErrors
func senderOfAMappedError() async throws {
    show(try await shop.get("u", as: User.self).mapError { _ in URLError(.unknown) }.sender().value)
}

// error: Write "serializingErrors
func senderOfAMappedModel() async throws {
    let user: User = try await shop.get("u").mapError { $0 }.sender().value
    show(user)
}

// error: Write "client.download("film", to: .file(url))".
func senderOfADownload(url: URL) async throws {
    show(try await shop.data.get("b").download(to: url).sender().value)
}

// error: Write "client.download("film", to: .file(url))".
func senderOfADownloadWithoutModel(url: URL) async throws {
    show(try await shop.get("b").download(to: url).sender().value)
}

// error: Write "client.data.get("logo")", and read "sender().value".
func senderOfData() async throws {
    show(try await shop.get("b", as: User.self).data().sender().value)
}

// error: Write "get("users", as: User.self, error: ShopError.self)".
func senderOfAnError() async throws {
    show(try await shop.get("u", as: User.self).error(as: ShopError.self).sender().value)
}

// error: Write "get("users", as: User.self, error: ShopError.self)".
func senderOfErrors() async throws {
    let user: User = try await shop.get("u").errors(as: ShopError.self).sender().value
    show(user)
}

// error: Write "download("film", to: .temporary, error: ShopError.self)".
func senderOfADownloadError() async throws {
    show(try await shop.download("film", to: .temporary).error(as: ShopError.self).sender().value)
}

// error: Change the value: "try await request.sender().value.name".
func senderOfAMap() async throws {
    let name: String = try await shop.get("u", as: User.self).map(\.name).sender().value
    show(name)
}

// error: Await one value after the other
func senderOfAFlatMap() async throws {
    let user: User = try await shop.get("u", as: User.self).flatMap { shop.get("u/\($0.id)", as: User.self) }.sender()
        .value
    show(user)
}

// error: Write "client.string.get("users/1").sender().value".
func senderOfText() async throws {
    print(try await shop.get("u", as: User.self).string().sender().value)
}

// error: Write "client.string.get("users/1").sender().value".
func textOfARequest() async throws {
    let text: String = try await shop.get("u", as: User.self).string()
    print(text)
}

// error: Write "client.json.get("users/1").sender().value".
func senderOfJSON() async throws {
    print(try await shop.get("u", as: User.self).json().sender().value)
}

// error: Write "append(.text("Ada", name: "name"))".
func textOfAFormInAClosure() async throws {
    let user: User = try await shop.post("u").multipart { $0.append("x", withName: "t") }.sender().value
    show(user)
}

// error: Write "RetryPolicy(maximumAttempts: 3, backoff: .exponential)".
func exponentialAttempts() async throws {
    let user: User = try await shop.get("u").retry(.exponential(3)).sender().value
    show(user)
}

// error: Write "RetryPolicy(maximumAttempts: 3, backoff: .exponential)".
func exponentialLimit() async throws {
    let user: User = try await shop.get("u").retry(.exponential(limit: 3)).sender().value
    show(user)
}

// error: Write "response".
func headOfAnError() async {
    do { _ = try await shop.data.get("a").sender().value } catch let e {
        print(e.response?.headers["X"] as Any, e.head?.headers["X"] as Any)
    }
}

// error: Write "response".
func printedHeadOfAnError(e: APIError) {
    print(e.response?.headers["X"], e.head?.headers["X"])
}

// error: Write "response".
func headOfAFailure(_ failure: RequestFailure) {
    print(failure.head?.status ?? .ok)
}

// error: Modifiers return a changed copy: write "request = request.header("Accept", "text/plain")".
func headersOfARequest() {
    var r = shop.get("u", as: User.self)
    r.headers["X"] = "y"
    show(r)
}

// error: Modifiers return a changed copy: write "request = request.timeout(.seconds(5))".
func timeoutOfARequest() {
    var r = shop.get("u", as: User.self)
    r.timeout = .seconds(1)
    show(r)
}

// error: Modifiers return a changed copy: write "request = request.query("page", 2)".
func queryOfARequest() {
    var r = shop.get("u", as: User.self)
    r.query["a"] = "b"
    show(r)
}

// error: Modifiers return a changed copy: write "request = request.query("page", 2)".
func numberInTheQueryOfARequest() {
    var r = shop.post("u", as: User.self)
    r.query["page"] = 2
    show(r)
}

// error: Modifiers return a changed copy: write "request = request.method(.put)".
func methodOfARequest() {
    var r = shop.get("u", as: User.self)
    r.method = .post
    show(r)
}

// error: Write "client.stream("prices")"
func methodOfAStream() async throws {
    for try await line in shop.stream.get("p").lines { print(line) }
}

// error: Write "client.stream("prices")"
func methodOfAStreamWithABody() async throws {
    for try await event in shop.stream.post("p").json(["a": 1]).serverSentEvents() { show(event) }
}

// error: Write "client.download("film", to: .file(url))".
func methodOfADownload() async throws {
    show(try await shop.download.get("b").sender().value)
}

// error: Name the method: "client.string.get("motto")".
func textWithoutMethod() async throws {
    print(try await shop.string("u").sender().value)
}

// error: Name the method: "client.data.get("logo")".
func bytesWithoutMethod() async throws {
    show(try await shop.data("u").sender().value)
}

// error: Name the method: "client.json.get("users")".
func jsonWithoutMethod() async throws {
    print(try await shop.json("u").sender().value["name"])
}

// error: Write "validate(statuses: .ok, .notFound)".
func acceptedStatuses() async throws {
    show(try await shop.get("u", as: User.self).accept([200, 404]).sender().value)
}

// error: Write "validate(statuses: .ok, .notFound)".
func acceptedStatusesOneByOne() {
    show([shop.get("u", as: User.self).accept(200, 404)])
}

// error: Write "validate(statuses: .ok, .notFound)".
func acceptedNames() {
    show(shop.get("u", as: User.self).accept(.ok, .notFound))
}

// error: Write "validate(statuses: 200..<400)".
func acceptedRangeWithoutLabel() {
    show(shop.get("u", as: User.self).accept(200..<400))
}

// error: Write "validate(statuses: .ok, .notFound)".
func acceptedStatusesByLabel() async throws {
    let user: User = try await shop.get("u").accept(statuses: [200, 404]).sender().value
    show(user)
}

// error: Write "validate(statuses: 200..<400)".
func acceptedRange() async throws {
    show(try await shop.get("u", as: User.self).accept(statuses: 200..<400).sender().value)
}

// error: Write "Validation(statuses: 200..<400)".
func validationOfAClient() {
    show(APIClient(baseURL: base) { $0.validation = .statuses(200..<400) })
}

// error: Write "Validation(statuses: 200...399)".
func closedValidationOfAClient() {
    show(APIClient(baseURL: base) { $0.validation = .statuses(200...399) })
}

// error: Write "Validation(statuses: 200...200, 404...404)".
func validationOfStatuses() {
    show(APIClient(baseURL: base) { $0.validation = .statuses(.ok, .notFound) })
}

// error: Write "Validation(statuses: 200...200, 404...404)".
func validationOfAnArray() {
    show(APIClient(baseURL: base) { $0.validation = .statuses([200, 404]) })
}

// error: Write "RequestLog(.summary, to: write)".
func logWithoutLabel() {
    show(APIClient(baseURL: base) { $0.observers = [RequestLog(.summary, log)] })
}

// error: Write "RequestLog(.summary, to: write)".
func logThatWrites() {
    show(APIClient(baseURL: base) { $0.observers = [RequestLog(.summary, write: log)] })
}

// error: Write "RequestLog(.summary, to: write)".
func logThatWritesInAClosure() {
    show(APIClient(baseURL: base) { $0.observers = [RequestLog(.summary, write: { print($0) })] })
}

// error: Write "RequestLog(.summary)", without a label.
func logOfALevel() {
    show(APIClient(baseURL: base) { $0.observers = [RequestLog(level: .summary)] })
}

// error: Write "RequestLog(.summary)", without a label.
func logOfALevelWithDestination() {
    show(APIClient(baseURL: base) { $0.observers = [RequestLog(level: .summary, to: { print($0) })] })
}

// error: cannot find 'missing' in scope
func mistakeInALog() {
    show(APIClient(baseURL: base) { $0.observers = [RequestLog(.summary) { line in print(missing, line) }] })
}

// error: Write "$0.observers = [RequestLog()]".
func levelOfALogger() {
    show(APIClient(baseURL: base) { $0.logger = .debug })
}

// error: Write "$0.observers = [RequestLog(.summary)]".
func levelOfLogging() {
    show(APIClient(baseURL: base) { $0.logging = .verbose })
}

// error: Write "$0.observers = [RequestLog()]".
func loggingSwitch() {
    show(APIClient(baseURL: base) { $0.logging = true })
}

// error: Write "$0.observers = [RequestLog(.summary)]".
func levelOfALog() {
    show(APIClient(baseURL: base) { $0.log = .full })
}

// error: Write "$0.observers = [RequestLog()]".
func logOption() {
    show(APIClient(baseURL: base) { $0.log = RequestLog() })
}

// error: Write "$0.observers = [RequestLog(.summary)]".
func logLevel() {
    show(APIClient(baseURL: base) { $0.logLevel = .debug })
}

// error: An upload has "uploadProgress".
func progressOfAnUpload() async throws {
    let user: User = try await shop.upload("u", .data(Data())).onProgress { print($0) }.sender().value
    show(user)
}

// error: Write "CacheStore(storage: nil) { $0.memory.bytes = 16 << 20 }".
func capacityOfAMemoryCache() {
    show(APIClient(baseURL: base) { $0.cache = .memory(capacity: 1 << 20) })
}

// error: Write "CacheStore(directory: folder)".
func diskCache(folder: URL) {
    show(APIClient(baseURL: base) { $0.cache = .disk(folder) })
}

// error: Write "CacheStore(directory: folder) { $0.disk.bytes = 256 << 20 }".
func capacityOfADiskCache() {
    show(APIClient(baseURL: base) { $0.cache = .disk(capacity: 1 << 20) })
}

// error: Write "serverSentEvents(reconnection: .none)".
func reconnectNever() async throws {
    for try await event in shop.stream("a").serverSentEvents(reconnect: .never) { show(event) }
}

// error: Write ".pageNumber("page", counting: \.orders.count)".
func pagesByPage() {
    show(shop.get("users", as: [User].self).pages(by: .page("page")))
}

// error: Read the outcome of a sender: "sender().value".
func valueOfADownload() async throws {
    show(try await shop.download("film", to: .temporary).value)
}

// error: Write "send { response in … }", or "sender().response" in async code.
func responseOfADownload() async {
    show(await shop.download("film", to: .temporary).response().response)
}

// error: Send it: "sender().value". That resumes a partial file.
func resumedDownload() {
    shop.download("film", to: .temporary).resume()
}

// error: Read "lines", "bytes" or "serverSentEvents()", which send the request.
func senderOfAStream() async throws {
    show(try await shop.stream("log").sender().value)
}

// error: Read "lines", "bytes" or "serverSentEvents()", which send the request.
func valueOfAStream() async throws {
    show(try await shop.stream("log").value)
}

// error: Write "url.path".
func pathOfAFile(file: DownloadedFile) {
    print(file.path)
}

// error: Write "url".
func fileURLOfAFile(file: DownloadedFile) {
    print(file.fileURL)
}

// error: Write "length".
func sizeOfAFile() async throws {
    print(try await shop.download("film", to: .temporary).sender().value.size)
}

// error: Write "download("film", to: .file(url, ifExists: .overwrite))".
func downloadThatOverwrites(url: URL) async throws {
    show(try await shop.download("film", to: url, overwrite: true).sender().value)
}

// error: Write "download("film", to: .file(url, ifExists: .overwrite))".
func downloadToAFileThatOverwrites(url: URL) async throws {
    show(try await shop.download("film", to: .file(url), overwrite: true).sender().value)
}

// error: Write "codable(modelDecoder: decoder)".
func decoderOfCodable(decoder: JSONDecoder) async throws {
    let user: User = try await shop.codable(decoder: decoder).get("u").sender().value
    show(user)
}

// error: Write "codable(modelDecoder: decoder)".
func clientWithADecoder(decoder: JSONDecoder) async throws {
    show(try await shop.with(decoder: decoder).get("u", as: User.self).sender().value)
}

// error: Write the path as one text: "get("users/\(id)/posts")".
func segmentsOfAPath() async throws {
    let users: [User] = try await shop.get("u", "1", "posts").sender().value
    show(users)
}

// error: Write the path as one text: "get("users/\(id)/posts")".
func segmentsOfText() async throws {
    print(try await shop.string.get("u", "1", "posts").sender().value)
}

// error: Write the path as one text: "post("users/\(id)/posts")".
func segmentsOfAPost(id: Int, user: User) async throws {
    let created: User = try await shop.post("u", id, "posts").json(user).sender().value
    show(created)
}

// error: Read "sender().response", which has a head and a body.
func dataAndResponse() async throws {
    let (data, response) = try await shop.data.get("u").send()
    show(data)
    show(response)
}

// error: Read "sender().response", which has a head and a body.
func userAndResponse() async throws {
    let (user, response) = try await shop.get("u", as: User.self).send()
    show(user)
    show(response)
}

// error: Write the path as one text: "get("users/\(id)/posts")".
func segmentsWithoutModel() async throws {
    show(try await shop.get("u", 1, "posts").sender().value)
}

// error: extra argument 'id' in call
func labelInAPath() async throws {
    let user: User = try await shop.get("u", id: 1).sender().value
    show(user)
}

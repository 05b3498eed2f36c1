import Foundation
import Sluice

// Batches, pages, streams and downloads, as written at first.

private struct Repo: Codable, Sendable { var name: String }
private struct PostList: Codable, Sendable { var posts: [User]; var total: Int; var nextCursor: String? }
private let first = shop.get("a", as: User.self)
private let second = shop.get("b", as: [Repo].self)

// error: Say what the response is: add "as: User.self", give the result a type, or write "client.empty" for none
func graphNoModel() async throws {
    var g = RequestGraph()
    let u = g.add("user", shop.get("u"))
    show(try await g.run().value(of: u))
}

// error: Write "items(\.users)", or "items(\.self)" for pages that are arrays.
func pagesItemsNone() async throws {
    for try await u in shop.get("users", as: [User].self).pages(by: .link).items() { show(u) }
}

// error: cannot convert value of type 'String' to expected argument type
func pagesCursorString() async throws {
    for try await p in shop.get("p", as: PostList.self).pages(by: .cursor("after", at: "next_cursor")) { show(p) }
}

// error: Say what the response is: add "as: User.self", give the result a type, or write "client.empty" for none
func getStreamUnspecified() async throws {
    for try await l in shop.get("log").stream().lines { print(l) }
}

// error: Say what the response is: add "as: User.self", give the result a type, or write "client.empty" for none
func getLines() async throws {
    for try await l in shop.get("log").lines { print(l) }
}

// error: Write "type".
func streamSSE() async throws {
    for try await e in shop.stream("log").serverSentEvents() { print(e.data, e.event, e.id) }
}

// error: Write "stream("chat").post(.json(prompt))".
func streamPostChained() async throws {
    for try await e in shop.stream("chat").post().json(["prompt": "x"]).serverSentEvents() { print(e.data) }
}

// error: Say what the response is: add "as: User.self", give the result a type, or write "client.empty" for none
func streamPostFirst() async throws {
    for try await e in shop.post("chat").json(["prompt": "x"]).stream().serverSentEvents() { print(e.data) }
}

// error: Write "download("film", to: .file(url))", or ".suggested(in: folder)".
func downloadURL() async throws {
    let f = try await shop.download("a", to: URL(filePath: "/tmp/a")).sender().value
    print(f.url)
}

// error: Write "download("film", to: .file(URL(filePath: path)))".
func downloadString() async throws {
    let f = try await shop.download("a", to: "/tmp/a").sender().value
    print(f.url)
}

// error: Say where the file goes: "download("film", to: .temporary)", ".file(url)" or ".suggested(in: folder)".
func downloadNoDestination() async throws {
    let f = try await shop.download("a").sender().value
    print(f)
}

// error: Write "uploadProgress" or "downloadProgress".
func downloadProgressShort() async throws {
    let s = shop.download("a", to: .temporary).sender()
    async let f = s.value
    for await p in s.progress { print(p.fractionCompleted ?? 0) }
    print(try await f.url)
}

// error: Begin with "async let value = sender.value", then write "for await progress in sender.downloadProgress".
func downloadProgressClosure() async throws {
    let f = try await shop.download("a", to: .temporary).downloadProgress { print($0) }.sender().value
    print(f)
}

// error: Write "head?.status".
func downloadResponse() async {
    let r = await shop.download("a", to: .temporary).sender().response
    print(r.status as Any, r.file as Any)
}

// error: Say what the response is: add "as: User.self", give the result a type, or write "client.empty" for none
func downloadFromGetUnspecified() async throws {
    print(try await shop.get("a").download(to: .temporary).sender().value.url)
}

// error: Write ".suggested(in: folder)".
func downloadFolder() async throws {
    print(try await shop.download("a", to: .folder(URL(filePath: "/tmp"))).sender().value)
}

// error: A batch sends requests for values. Send downloads in a task group.
func downloadBatch() async throws {
    let fs = try await shop.batch([shop.download("a", to: .temporary), shop.download("b", to: .temporary)])
    print(fs)
}

// error: A page without items is the last
func pageNumberWithoutCounting() {
    show(shop.get("orders", as: [Order].self).pages(by: .pageNumber("page")))
}

// error: Write "from: 1"
func pageNumberStartingAt() {
    show(shop.get("orders", as: [Order].self).pages(by: .pageNumber("page", startingAt: 1, counting: \.count)))
}

// error: A page without items is the last
func offsetWithoutCounting() {
    show(shop.get("orders", as: [Order].self).pages(by: .offset()))
}

// error: Collect the pages: "for try await page in pages
func allPages() async throws {
    show(try await shop.get("orders", as: [Order].self).pages(by: .link).all())
}

// error: Write the text of the URL
func nextURLThatIsAURL() {
    struct Page: Codable, Sendable { var next: URL? }
    show(shop.get("orders", as: Page.self).pages(by: .nextURL(at: \.next)))
}

// error: Write "try results.value(of: user)"
func resultOfAGraphByItsStep(_ results: GraphResults, _ user: GraphStep<User>) throws {
    show(try results[user])
}

// error: Name the step that "add" returned
func resultOfAGraphByItsName(_ results: GraphResults) throws {
    show(results["user"])
}

// error: Write "try await graph.run()"
func senderOfAGraph(_ graph: RequestGraph) {
    show(graph.sender())
}

// error: A graph reports no progress
func progressOfAGraph(_ graph: RequestGraph) {
    show(graph.progress)
}

// error: switch over "response.result"
func linkThatThrows() {
    enum Step: Sendable { case user(User) }
    show(ChainLink<Step>(shop.get("users/1", as: User.self)) { .user(try $0.result.get()) })
}

// error: switch over "response.result"
func linkOfAModel() {
    enum Step: Sendable { case user(User) }
    show(ChainLink(shop.get("users/1", as: User.self)) { Step.user($0) })
}

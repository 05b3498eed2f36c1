import Foundation
import Sluice

// Batches, chains, graphs, pages, streams and downloads.

private struct Repo: Codable, Sendable { var name: String }
private struct PostList: Codable, Sendable { var posts: [User]; var total: Int; var nextCursor: String? }
private let first = shop.get("a", as: User.self)
private let second = shop.get("b", as: [Repo].self)

func batchTwo() async throws {
    let (u, rs) = try await shop.batch(first, second)
    show(u)
    show(rs)
}

func batchThreeInline() async throws {
    let (u, rs, m) = try await shop.batch(
        shop.get("a", as: User.self),
        shop.get("b", as: [Repo].self),
        shop.string.get("m")
    )
    show(u)
    show(rs)
    show(m)
}

func batchTyped() async throws {
    let (u, rs): (User, [Repo]) = try await shop.batch(shop.get("a"), shop.get("b"))
    show(u)
    show(rs)
}

func batchArray() async throws {
    let us = try await shop.batch([first, first])
    show(us)
}

func batchMap() async throws {
    let us = try await shop.batch([1, 2].map { shop.get("u/\($0)", as: User.self) })
    show(us)
}

func batchMapTyped() async throws {
    let us: [User] = try await shop.batch([1, 2].map { shop.get("u/\($0)") })
    show(us)
}

func batchMax() async throws {
    let us = try await shop.batch([first, first], maximumInFlight: 4)
    show(us)
}

func batchSender() async throws {
    let s = shop.batchSender([first, first], maximumInFlight: 4, failsFast: false)
    show(await s.results)
}

func batchSenderValue() async throws {
    let s = shop.batchSender([first, first])
    show(try await s.value)
}

func batchSettled() async throws {
    let rs = await shop.batchSender([first, first], failsFast: false).results
    for r in rs { if case .success(let u) = r { show(u) } }
}

func batchMixedErrors() async throws {
    let (u, rs) = try await shop.batch(first, shop.get("b", as: [Repo].self, error: ShopError.self))
    show(u)
    show(rs)
}

func batchResponses() async throws {
    let rs = await shop.batchSender([first, first]).responses
    show(rs.map(\.status))
}

func batchPost() async throws {
    let us = try await shop.batch([
        shop.post("u", as: User.self).json(["a": 1]), shop.post("u", as: User.self).json(["a": 2]),
    ])
    show(us)
}

func batchPostNoBody() async throws {
    let us = try await shop.batch([shop.post("u", as: User.self), shop.post("v", as: User.self)])
    show(us)
}

func batchMixGetPost() async throws {
    let us = try await shop.batch([shop.get("u", as: User.self), shop.post("v", as: User.self)])
    show(us)
}

func batchMixGetPostJSON() async throws {
    let us = try await shop.batch([shop.get("u", as: User.self), shop.post("v", as: User.self).json(["a": 1])])
    show(us)
}

func batchTuplePost() async throws {
    let (x, y) = try await shop.batch(shop.post("u", as: User.self), shop.get("v", as: User.self))
    show(x)
    show(y)
}

func batchEmpty() async throws {
    _ = try await shop.batch([shop.empty.delete("a"), shop.empty.delete("b")])
}

func batchData() async throws {
    let ds = try await shop.batch([shop.data.get("a"), shop.data.get("b")])
    show(ds.map(\.count))
}

func batchProgress() async throws {
    let s = shop.batchSender([first, first])
    async let v = s.results
    for await p in s.progress { print(p.completed, p.total) }
    show(await v)
}

func asyncLets() async throws {
    async let u = first.sender().value
    async let rs = second.sender().value
    show(try await (u, rs))
}

func groupThrowing() async throws {
    let us = try await withThrowingTaskGroup(of: User.self) { g in
        for i in 1...3 { g.addTask { try await shop.get("u/\(i)").sender().value } };
        return try await g.reduce(into: []) { $0.append($1) }
    }
    show(us)
}

func chainOne() async throws {
    let c = shop.chain(first) { response in
        guard let u = try? response.result.get() else { return nil }; return shop.get("u/\(u.id + 1)")
    }
    for try await r in c { print(r.status ?? 0) }
}

func chainExplicit() async throws {
    let c = shop.chain(first) { response in
        guard let u = try? response.result.get() else { return nil }; return shop.get("u/\(u.id + 1)", as: User.self)
    }
    for try await r in c { print(r.status ?? 0) }
}

func chainLimit() async throws {
    let c = shop.chain(first, limit: 5) { _ in nil }
    for try await r in c { print(r) }
}

func chainValue() async throws {
    let c = shop.chain(first) { response in
        guard response.status == .accepted else { return nil }; return first
    }
    var last: User?
    for try await r in c { last = try? r.result.get() }
    show(last)
}

func graphTwo() async throws {
    var g = RequestGraph()
    let u = g.add("user", first)
    let rs = g.add("repos", after: u) { u in shop.get("users/\(u.name)/repos", as: [Repo].self) }
    show(try await g.run().value(of: rs))
}

func graphInferred() async throws {
    var g = RequestGraph()
    let u = g.add("user", shop.get("u", as: User.self))
    let s = g.add("s", after: u) { "\($0.name)" }
    show(try await g.run().value(of: s))
}

func graphMulti() async throws {
    var g = RequestGraph()
    let u = g.add("user", first)
    let m = g.add("motto", shop.string.get("zen"))
    let s = g.add("sum", after: u, m) { u, m in "\(u.name) \(m)" }
    show(try await g.run().value(of: s))
}

func graphPost() async throws {
    var g = RequestGraph()
    let u = g.add("user", first)
    let o = g.add("order", after: u) { u in shop.post("orders", as: Order.self).json(["user": u.id]) }
    show(try await g.run().value(of: o))
}

func graphPostPlain() async throws {
    var g = RequestGraph()
    let u = g.add("user", shop.post("orders", as: Order.self))
    show(try await g.run().value(of: u))
}

func graphPostPlainAfter() async throws {
    var g = RequestGraph()
    let u = g.add("user", first)
    let o = g.add("order", after: u) { u in shop.post("orders/\(u.id)", as: Order.self) }
    show(try await g.run().value(of: o))
}

func graphMultiLine() async throws {
    var g = RequestGraph()
    let u = g.add("user", first)
    let o = g.add("order", after: u) { u in
        let id = u.id; return shop.get("orders/\(id)", as: Order.self)
    }
    show(try await g.run().value(of: o))
}

func graphConditional() async throws {
    var g = RequestGraph()
    let u = g.add("user", first)
    let o = g.add("order", after: u) { u in
        if u.id > 0 { return shop.get("orders/1", as: Order.self) }; return shop.get("orders/2", as: Order.self)
    }
    show(try await g.run().value(of: o))
}

func graphAsync() async throws {
    var g = RequestGraph()
    let u = g.add("user", first)
    let n = g.add("n", after: u) { u in try await shop.string.get("x/\(u.id)").sender().value }
    show(try await g.run().value(of: n))
}

func pagesLink() async throws {
    for try await p in shop.get("users", as: [User].self).pages(by: .link) { show(p) }
}

func pagesItems() async throws {
    for try await u in shop.get("users", as: [User].self).pages(by: .link).items(\.self) { show(u) }
}

func pagesCursor() async throws {
    for try await p in shop.get("p", as: PostList.self).pages(by: .cursor("after", at: \.nextCursor)) { show(p) }
}

func pagesOffset() async throws {
    for try await p in shop.get("p", as: PostList.self).pages(by: .offset(counting: \.posts.count, total: \.total)) {
        show(p)
    }
}

func pagesNumber() async throws {
    for try await p in shop.get("p", as: PostList.self).pages(by: .pageNumber(pageSize: 50, counting: \.posts.count)) {
        show(p)
    }
}

func pagesClosure() async throws {
    let pages = shop.get("p", as: PostList.self).pages { response, request in
        guard let c = try response.result.get().nextCursor else { return nil }; return request.query("after", c)
    }
    for try await p in pages { show(p) }
}

func pagesNextURL() async throws {
    for try await p in shop.get("p", as: PostList.self).pages(by: .nextURL(at: "paging.next")) { show(p) }
}

func pagesAll() async throws {
    var all: [User] = []
    for try await p in shop.get("users", as: [User].self).pages(by: .link) { all += p }
    show(all)
}

func pagesLimit() async throws {
    for try await p in shop.get("users", as: [User].self).pages(by: .link, limit: 3) { show(p) }
}

func pagesTyped() async throws {
    let pages: Pages<[User], ShopError> = shop.get("users").pages(by: .link)
    for try await p in pages { show(p) }
}

func pagesReduce() async throws {
    let n = try await shop.get("users", as: [User].self).pages(by: .link).reduce(0) { $0 + $1.count }
    show(n)
}

func pagesPrefix() async throws {
    for try await u in shop.get("users", as: [User].self).pages(by: .link).items(\.self).prefix(10) { show(u) }
}

func pagesPost() async throws {
    for try await p in shop.post("search", as: PostList.self).json(["q": "a"]).pages(
        by: .cursor("after", at: \.nextCursor)
    ) { show(p) }
}

func streamLines() async throws {
    for try await l in shop.stream("log").lines { print(l) }
}

func streamLinesCall() async throws {
    for try await l in shop.stream("log").lines() { print(l) }
}

func getStream() async throws {
    for try await l in shop.string.get("log").stream().lines { print(l) }
}

func streamBytes() async throws {
    var n = 0
    for try await c in shop.stream("log").bytes { n += c.count }
    show(n)
}

func streamJSONLines() async throws {
    for try await u in shop.stream("log").jsonLines(of: User.self) { show(u) }
}

func streamSSEDecoded() async throws {
    for try await e in shop.stream("log").serverSentEvents() { show(try e.decoded(as: User.self)) }
}

func streamPost() async throws {
    for try await e in shop.stream("chat").post(.json(["prompt": "x"])).serverSentEvents() { print(e.data) }
}

func streamPostEmptyFirst() async throws {
    for try await e in shop.data.post("chat").json(["prompt": "x"]).stream().serverSentEvents() { print(e.data) }
}

func streamResponse() async throws {
    let r = try await shop.stream("a").response()
    print(r.head.status, r.status)
    for try await l in r.lines { print(l) }
}

func streamTyped() async throws {
    let s: StreamRequest<ShopError> = shop.stream("log")
    for try await l in s.lines { print(l) }
}

func streamError() async throws {
    let s = shop.stream("log", error: ShopError.self)
    for try await l in s.lines { print(l) }
}

func streamHeaders() async throws {
    for try await l in shop.stream("log").header("a", "b").query("a", 1).lines { print(l) }
}

func streamToFile() async throws {
    for try await c in shop.stream("log").bytes { try FileHandle.standardOutput.write(contentsOf: c) }
}

func streamReconnect() async throws {
    for try await e in shop.stream("p").serverSentEvents(reconnection: .none) { print(e) }
}

func streamTask() {
    let t = Task { for try await e in shop.stream("p").serverSentEvents() { print(e) } }
    t.cancel()
}

func downloadTo() async throws {
    let f = try await shop.download("a", to: .file(URL(filePath: "/tmp/a"))).sender().value
    print(f.url)
}

func downloadTemporary() async throws {
    let f = try await shop.download("a", to: .temporary).sender().value
    print(f.url, f.length)
}

func downloadSuggested() async throws {
    let f = try await shop.download("a", to: .suggested(in: URL(filePath: "/tmp"))).sender().value
    print(f.url)
}

func downloadOverwrite() async throws {
    let f = try await shop.download("a", to: .file(URL(filePath: "/tmp/a"), ifExists: .overwrite)).sender().value
    print(f)
}

func downloadProgress() async throws {
    let s = shop.download("a", to: .temporary).sender()
    async let f = s.value
    for await p in s.downloadProgress { print(p.fractionCompleted ?? 0) }
    print(try await f.url)
}

func downloadSHA() async throws {
    let s = shop.download("a", to: .temporary).sha256("abc").segments(4).sender()
    print(try await s.value)
}

func downloadHeaders() async throws {
    print(
        try await shop.download("a", to: .temporary).header("a", "b").query("x", 1).timeout(total: .seconds(60))
            .sender().value.url
    )
}

func downloadCompletion() {
    shop.download("a", to: .temporary).send { r in print(r) }
}

func downloadFromGet() async throws {
    print(try await shop.data.get("a").download(to: .temporary).sender().value.url)
}

func downloadAbsolute() async throws {
    print(try await APIClient().download("https://a.example/x", to: .temporary).sender().value.url)
}

func downloadAbsoluteURL() async throws {
    print(try await APIClient().download(URL(filePath: "/a"), to: .temporary).sender().value.url)
}

func downloadTyped() async throws {
    let r: DownloadAPIRequest<DownloadedFile, ShopError> = shop.download("a", to: .temporary)
    print(try await r.sender().value)
}

func downloadModel() async throws {
    let r: DownloadAPIRequest<User, APIError> = shop.get("a", as: User.self).download(to: .temporary).decoded()
    show(try await r.sender().value)
}

func downloadMove() async throws {
    let f = try await shop.download("a", to: .temporary).sender().value
    try FileManager.default.moveItem(at: f.url, to: URL(filePath: "/tmp/x"))
}

func cursorsOfManyTypes() {
    struct Page: Codable, Sendable {
        var text: String
        var next: String?
        var number: Int?
        var id: UUID?
        var orders: [Order]
    }
    let page = shop.get("orders", as: Page.self)
    show(page.pages(by: .cursor("after", at: \.next)))
    show(page.pages(by: .cursor("after", at: \.text)))
    show(page.pages(by: .cursor("page", at: \.number)))
    show(page.pages(by: .cursor("after", at: \.id)))
    show(page.pages(by: .cursor("after", at: \.orders.last?.id)))
    show(page.pages(by: .cursor("after", at: { $0.number.map { $0 + 1 } })))
    show(page.pages(by: .cursor("after") { page in page.number.map { "n\($0)" } }))
    show(page.pages(by: .nextURL(at: \.next)))
    show(page.pages(by: .nextURL(at: "paging.next")))
    show(shop.get("orders", as: [Order].self).pages(by: .cursor("after", at: \.last?.id)))
}

func batchOfOneErrorModel() async throws(ShopError) {
    let user: APIRequest<User, ShopError> = shop.get("users/1")
    let orders: APIRequest<[Order], ShopError> = shop.get("orders")
    let (first, second) = try await shop.batch(user, orders)
    show(first.name + "\(second.count)")
}

func batchOfSeveralErrorModels() async throws {
    let user: APIRequest<User, ShopError> = shop.get("users/1")
    let create = shop.post("orders", as: Order.self)
    let (first, second, third) = try await shop.batch(user, create, shop.string.get("motto"))
    show(first.name + "\(second.id)" + third)
    let (a, b) = try await shop.batch(shop.get("users/1", as: User.self), shop.post("orders", as: Order.self))
    show(a.name + "\(b.id)")
}

func failureOfAGraph() async {
    var graph = RequestGraph()
    let user = graph.add("user", shop.get("users/1", as: User.self))
    do {
        show(try await graph.run().value(of: user))
    } catch {
        print(error.step ?? "", error.error)
    }
}

func linksOfSeveralModels() async throws {
    enum Step: Sendable {
        case user(User), orders([Order]), failed(APIError)
    }
    let first = ChainLink<Step>(shop.get("users/1", as: User.self)) { response in
        switch response.result {
        case .success(let user): .user(user)
        case .failure(let error): .failed(error)
        }
    }
    let chain = shop.chain(first) { step in
        guard case .user(let user) = step else { return nil }
        return ChainLink(shop.get("users/\(user.id)/orders", as: [Order].self)) { response in
            switch response.result {
            case .success(let orders): .orders(orders)
            case .failure(let error): .failed(error)
            }
        }
    }
    for try await step in chain { show(step) }
}

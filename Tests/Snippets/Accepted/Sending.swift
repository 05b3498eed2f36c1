import Foundation
import Sluice

// Sending requests and reading their outcomes.

func valueOf() async throws {
    let u = try await shop.get("u", as: User.self).sender().value
    show(u)
}

func resultGet() async throws {
    let u = try await shop.get("u", as: User.self).sender().result.get()
    show(u)
}

func responseModel() async throws {
    let r = await shop.get("u", as: User.self).sender().response
    show(try r.result.get())
}

func responseBody() async {
    let r = await shop.get("u", as: User.self).sender().response
    print(r.body.count)
}

func responseHeadHeaders() async {
    let r = await shop.get("u", as: User.self).sender().response
    print(r.head?.headers["ETag"] ?? "")
}

func responseFailure() async {
    let r = await shop.get("u", as: User.self).sender().response
    print(r.failure as Any)
}

func responseDecoded() async throws {
    let r = await shop.data.get("u").sender().response
    show(try r.decoded(as: User.self))
}

func responseJSON() async throws {
    let r = await shop.data.get("u").sender().response
    show(try r.json())
}

func responseRequest() async {
    let r = await shop.get("u", as: User.self).sender().response
    print(r.request as Any)
}

func responseStatusCompare() async {
    let r = await shop.get("u", as: User.self).sender().response
    if r.status == .ok { print("ok") }
}

func responseStatusInt() async {
    let r = await shop.get("u", as: User.self).sender().response
    if r.status == 200 { print("ok") }
}

func responseStatusSuccess() async {
    let r = await shop.get("u", as: User.self).sender().response
    if r.status?.isSuccess == true { print("ok") }
}

func responseIsSuccess() async {
    let r = await shop.get("u", as: User.self).sender().response
    if r.isSuccess { print("ok") }
}

func switchStatus() async {
    let r = await shop.get("u", as: User.self).sender().response
    switch r.status {
    case .ok: print(1);
    case .notFound: print(2);
    default: break
    }
}

func responseMetrics() async {
    let r = await shop.get("u", as: User.self).sender().response
    print(r.metrics?.total ?? .zero)
}

func cancelIt() {
    let s = shop.get("u", as: User.self).sender()
    s.cancel()
}

func progressLoop() async throws {
    let s = shop.data.get("u").sender()
    async let d = s.value
    for await p in s.downloadProgress { print(p.fractionCompleted ?? 0) }
    show(try await d)
}

func taskValue() async throws {
    let t = Task { try await shop.get("u", as: User.self).sender().value }
    show(try await t.value)
}

func taskResult() async {
    let t = Task { await shop.get("u", as: User.self).sender().result }
    _ = await t.value
}

func detached() {
    Task.detached {
        let u = try await shop.get("u", as: User.self).sender().value; show(u)
    }
}

func weakCompletion() {
    final class VC: Sendable {
        func load() {
            shop.get("u", as: User.self).send { [weak self] response in print(self as Any, response.result) }
        }
    }
    let controller = VC()
    controller.load()
    show(controller)
}

func completionOn() {
    shop.get("u", as: User.self).send(on: .main) { response in print(response.result) }
}

func completionLabel() {
    shop.get("u", as: User.self).send(completion: { response in print(response) })
}

func senderStart() {
    let s = shop.get("u", as: User.self).sender()
    s.start { response in print(response.status as Any) }
}

func senderStartOn() {
    let s = shop.get("u", as: User.self).sender()
    s.start(on: .main) { response in print(response.status as Any) }
}

func valuesLoop() async throws {
    for try await u in shop.get("u", as: User.self).dataSource(.cacheThenServer).sender().values { show(u) }
}

func storedSender() {
    let s: RequestSender<User, APIError> = shop.get("u").sender()
    s.cancel()
}

func storedSenderShop() {
    let s: RequestSender<User, ShopError> = shop.get("u").sender()
    s.cancel()
}

func dispatchGroup() {
    let g = DispatchGroup()
    g.enter()
    shop.get("u", as: User.self).send { _ in g.leave() }
}

func tryOptional() async {
    let u = try? await shop.get("u", as: User.self).sender().value
    show(u)
}

func catchTyped() async {
    do { show(try await shop.get("u", as: User.self).sender().value) } catch { print(error.status ?? 0) }
}

func catchCode() async {
    do { show(try await shop.get("u", as: User.self).sender().value) } catch {
        if error.code == .timedOut { print("late") }
    }
}

func rethrowingModel() async throws(ShopError) -> User {
    try await shop.get("u", as: User.self, error: ShopError.self).sender().value
}

func emptyType() async throws {
    let e: Empty = try await shop.delete("users/1").sender().value
    show(e)
}

func dataModel() async throws {
    let d: Data = try await shop.get("logo").sender().value
    show(d)
}

func stringModel() async throws {
    let s: String = try await shop.get("motto").sender().value
    show(s)
}

func dataAs() async throws {
    let d = try await shop.get("logo", as: Data.self).sender().value
    show(d)
}

func stringAs() async throws {
    let d = try await shop.get("motto", as: String.self).sender().value
    show(d)
}

func jsonAs() async throws {
    let d = try await shop.get("u", as: JSON.self).sender().value
    show(d)
}

func dictionaryModel() async throws {
    let d: [String: String] = try await shop.get("u").sender().value
    show(d)
}

func intModel() async throws {
    let n: Int = try await shop.get("count").sender().value
    show(n)
}

func arrayModel() async throws {
    let n: [User] = try await shop.get("users").sender().value
    show(n)
}

func optionalModelAs() async throws {
    let n = try await shop.get("users", as: User?.self).sender().value
    show(n)
}

func imageData() async throws {
    let image = try await shop.image.get("logo").sender().value
    print(image)
}

func requestMethod() async throws {
    let u: User = try await shop.request("u").sender().value
    show(u)
}

func requestMethodAs() async throws {
    let u = try await shop.request("u", as: User.self).sender().value
    show(u)
}

func requestURL() async throws {
    let u: User = try await shop.get(URL(filePath: "/a")).sender().value
    show(u)
}

func requestAbsolute() async throws {
    let u: User = try await shop.get("https://a.example/u").sender().value
    show(u)
}

func requestPathVariable() async throws {
    let path = "users/1"
    let u: User = try await shop.get(path).sender().value
    show(u)
}

func requestPathURLVar() async throws {
    let url = URL(filePath: "/a")
    let u = try await shop.get(url, as: User.self).sender().value
    show(u)
}

func clientAlone() async throws {
    let c = APIClient()
    let u: User = try await c.get("https://a.example/u").sender().value
    show(u)
}

func clientStringVar() {
    let s = "https://a.example"
    let c = APIClient(baseURL: s)
    show(c)
}

func methodString() {
    let r: APIRequest<User, APIError> = shop.codable.request("u").method("PURGE")
    show(r)
}

func xmlThing() async throws {
    let s = try await shop.string.get("feed.xml").sender().value
    show(s)
}

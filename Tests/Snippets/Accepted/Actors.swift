import Foundation
import Sluice
import SluiceTesting

// Code on the main actor and in actors.

@MainActor private final class Screen {
    var name = ""
    var fraction = 0.0
    var folder = URL(filePath: "/tmp")
    var users: [User] = []
    var sender: RequestSender<User, APIError>?
    lazy var client = APIClient(baseURL: "https://shop.example") { $0.headers["X-Name"] = self.name }

    func count() { fraction += 1 }
}

private actor Store {
    var user: User?

    func load() async throws { user = try await shop.get("users/1").sender().value }
    func client() -> APIClient { APIClient(baseURL: "https://shop.example") { $0.headers["X-Name"] = self.user?.name } }
    func set(_ user: User?) { self.user = user }
}

@MainActor func clientConfiguredOnTheMainActor() {
    let screen = Screen()
    let client = APIClient(baseURL: "https://shop.example") {
        $0.headers["X-Name"] = screen.name
        screen.count()
    }
    show(client)
}

@MainActor func storeConfiguredOnTheMainActor() {
    let screen = Screen()
    let store = CacheStore(directory: screen.folder) {
        $0.expiration = .days(1)
        screen.count()
    }
    show(store)
}

@MainActor func gateConfiguredOnTheMainActor() {
    let screen = Screen()
    let gate = OAuth2(.refreshToken("r", id: "tool"), tokenURL: "https://id.example/token") {
        $0.origins = [screen.name]
        screen.count()
    }
    show(gate)
}

@MainActor func completionOnTheMainQueue() {
    let screen = Screen()
    shop.get("users/1", as: User.self).send(on: .main) { response in
        screen.name = (try? response.result.get().name) ?? ""
    }
}

@MainActor func weakCompletionOnTheMainQueue() {
    let screen = Screen()
    screen.sender = shop.get("users/1", as: User.self).send(on: .main) { [weak screen] response in
        if case .success(let user) = response.result { screen?.name = user.name }
    }
}

@MainActor func startOnTheMainQueue() {
    let screen = Screen()
    let sender = shop.get("users/1", as: User.self).sender()
    sender.start(on: .main) { response in screen.name = "\(response.status ?? 0)" }
}

@MainActor func downloadOnTheMainQueue() {
    let screen = Screen()
    shop.download("film", to: .temporary).send(on: .main) { response in
        if case .success(let file) = response.result { screen.folder = file.url }
    }
}

func completionOnTheMainQueueOutsideOfAnActor() {
    shop.get("users/1", as: User.self).send(on: .main) { response in show(response) }
}

func completionOnAQueue() {
    let queue = DispatchQueue(label: "example")
    shop.get("users/1", as: User.self).send(on: queue) { response in show(response) }
    shop.get("users/1", as: User.self).send(on: DispatchQueue.main) { response in show(response) }
}

func completionOnAnyThread() {
    shop.get("users/1", as: User.self).send { response in show(response) }
}

@MainActor func progressOnTheMainActor() async throws {
    let screen = Screen()
    let sender = shop.data.get("film").sender()
    async let film = sender.value
    for await progress in sender.downloadProgress { screen.fraction = progress.fractionCompleted ?? 0 }
    show(try await film)
}

@MainActor func progressInATaskOfTheMainActor() {
    let screen = Screen()
    let sender = shop.data.get("film").sender()
    Task { for await progress in sender.downloadProgress { screen.fraction = progress.fractionCompleted ?? 0 } }
    Task { _ = try? await sender.value }
}

@MainActor func linesOnTheMainActor() async throws {
    let screen = Screen()
    for try await line in shop.stream("log").lines { screen.name = line }
}

@MainActor func eventsOnTheMainActor() async throws {
    let screen = Screen()
    for try await event in shop.stream("events").serverSentEvents() { screen.name = event.data }
}

@MainActor func jsonLinesOnTheMainActor() async throws {
    let screen = Screen()
    for try await user in shop.stream("users").jsonLines(of: User.self) { screen.users.append(user) }
}

@MainActor func pagesOnTheMainActor() async throws {
    let screen = Screen()
    for try await page in shop.get("users", as: [User].self).pages(by: .link) { screen.users += page }
}

@MainActor func valuesOnTheMainActor() async throws {
    let screen = Screen()
    let request = shop.get("users/1", as: User.self).dataSource(.cacheThenServer)
    for try await user in request.sender().values { screen.name = user.name }
}

@MainActor func chainOnTheMainActor() async throws {
    let screen = Screen()
    let chain = shop.chain(shop.get("users/1", as: User.self)) { _ in nil }
    for try await response in chain { screen.name = "\(response.status ?? 0)" }
}

@MainActor func batchOnTheMainActor() async throws {
    let screen = Screen()
    screen.users = try await shop.batch(screen.users.map { shop.get("\(screen.name)/\($0.id)", as: User.self) })
}

@MainActor func graphOnTheMainActor() async throws {
    let screen = Screen()
    var graph = RequestGraph()
    let user = graph.add("user", shop.get("users/1", as: User.self))
    let name = graph.add("name", after: user) { user in user.name }
    screen.name = try await graph.run().value(of: name)
}

@MainActor func errorOnTheMainActor() async {
    let screen = Screen()
    do {
        let user: User = try await shop.get("users/1").sender().value
        screen.name = user.name
    } catch {
        screen.name = "\(error.status ?? 0)"
    }
}

@MainActor func activityOnTheMainActor() async {
    let screen = Screen()
    for await isActive in ActivityCounter().changes { screen.name = isActive ? "busy" : "idle" }
}

@MainActor func tokenFromTheMainActor() {
    let screen = Screen()
    let client = APIClient(baseURL: "https://shop.example") {
        $0.requestInterceptors = [SuppliedToken { _ in await screen.name }]
    }
    show(client)
}

@MainActor func deadlineOnTheMainActor() async throws {
    let screen = Screen()
    try await Deadline.withDeadline(.seconds(1)) {
        screen.users = [try await shop.get("users/1").sender().value]
    }
}

@MainActor func signInOnTheMainActor() async throws {
    let screen = Screen()
    let gate = OAuth2(.refreshToken("r", id: "tool"), tokenURL: "https://id.example/token")
    let request = try gate.authorizationRequest()
    try await gate.signIn(redirectedTo: "com.example.app:/signed-in", for: request)
    screen.name = "signed in"
}

func completionInAnActor() {
    let store = Store()
    shop.get("users/1", as: User.self).send { response in
        Task { await store.set(try? response.result.get()) }
    }
}

@MainActor func expectedErrorsOnTheMainActor() async throws {
    let screen = Screen()
    let request = shop.get("users/1", as: User.self)
    try await expectError(.timedOut) {
        screen.count()
        return try await request.sender().value
    }
    let error = try await expectError(APIError.self) { screen.users = [try await request.sender().value] }
    show(error)
}

@MainActor func stubTransportOnTheMainActor() async throws {
    let screen = Screen()
    try await withStubTransport { stubs in
        let client = APIClient(baseURL: "https://shop.example") { $0.transport = stubs }
        screen.users = [try await client.get("users/1").sender().value]
    }
}

@MainActor func loopbackServerOnTheMainActor() async throws {
    let screen = Screen()
    try await withLoopbackServer { server in
        screen.name = try await APIClient(baseURL: server.url).string.get("motto").sender().value
    }
}

@MainActor func leaksOnTheMainActor() async throws {
    let screen = Screen()
    try await expectNoLeaks { leaks in
        let sender = leaks.track(shop.string.get("motto").sender())
        screen.name = try await sender.value
    }
    try await waitUntil("the screen has a name") { !screen.name.isEmpty }
}

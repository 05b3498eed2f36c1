import Foundation
import Sluice

// Models, errors and responses that the program makes itself, and parameters of any types.

func modelFromAClosure() async throws {
    let count = try await shop.serialized { response in response.body.count }.get("motto").sender().value
    show(count)
}

func modelFromAClosureThatThrows() async throws {
    struct Malformed: Error {}
    let numbers: [Int] = try await shop.serialized { response in
        let parts = String(decoding: response.body, as: UTF8.self).split(separator: ",")
        guard !parts.isEmpty else { throw Malformed() }
        return parts.compactMap { Int($0) }
    }.get("numbers").sender().value
    show(numbers)
}

func modelFromAFunction() async throws {
    @Sendable func length(_ response: ServerResponse) -> Int { response.body.count }
    let length = try await shop.serialized(by: length).post("echo").json(["a": 1]).sender().value
    show(length)
}

func errorFromAClosure() async throws {
    do throws(ShopError) {
        let user = try await shop.get("users/1", as: User.self)
            .serializingErrors { failure in ShopError(failure) }
            .sender().value
        show(user)
    } catch {
        show(error.message)
    }
}

func errorFromAFunction() {
    @Sendable func shopError(_ failure: RequestFailure) -> ShopError { ShopError(failure) }
    let request: APIRequest<User, ShopError> = shop.get("users/1", as: User.self).serializingErrors(by: shopError)
    send(request)
}

func errorOfABodyRequest() {
    let request = shop.post("users", as: User.self).serializingErrors { ShopError($0) }.json(["id": 1])
    send(request)
}

func downloadFromAClosure(_ folder: URL) async throws {
    let length = try await shop.download("orders.csv", to: .suggested(in: folder))
        .serialized { file, _ in file.length }
        .sender().value
    show(length)
}

func downloadFromAnAsyncClosure(_ folder: URL) async throws {
    @Sendable func count(_ file: URL) async throws -> Int { 1 }
    let rows = try await shop.download("orders.csv", to: .suggested(in: folder))
        .serialized { file, response in
            show(response.head.status)
            return try await count(file.url)
        }
        .sender().value
    show(rows)
}

func responseForAPreview() {
    let response = APIResponse<User, ShopError>(result: .success(User(id: 1, name: "Ada")))
    show(response.isSuccess)
}

func responseForAPreviewFromContext() {
    let failure = RequestFailure(error: SluiceError(.timedOut, "It took too long."))
    let response: APIResponse<User, ShopError> = .init(
        result: .failure(ShopError(failure)),
        head: HTTPResponse(status: .ok)
    )
    show(response.status)
}

func otherModelOfAResponse() async throws {
    let response = await shop.get("users/1", as: User.self).sender().response
    let order: Order = try response.decoded(at: "orders[0]")
    show(order)
}

func emptyBodyOfAResponse() async throws {
    let response = await shop.data.get("users/1").sender().response
    let user = try response.decoded(as: User?.self, failsOnEmptyData: false)
    show(user)
}

func emptyBodyOfARequest() async throws {
    let user: User? = try await shop.get("users/1").allowingEmptyBody().sender().value
    show(user)
}

func outcomeOfAnEnvelope() async throws {
    let outcome = try await shop.get("users/1", as: User.self).outcome().sender().value
    show(outcome.message ?? outcome.failure?.description)
    let (isSuccess, message) = try await shop.empty.post("logout").outcome().sender().value.summary
    show(isSuccess)
    show(message)
}

func outcomeForAPreview() {
    let outcome = EnvelopeOutcome(isSuccess: true, code: 0, payload: User(id: 1, name: "Ada"))
    show(outcome)
}

func parametersOfAny(_ values: [String: Any]) async throws {
    let user: User = try await shop.post("users").json(Parameters(any: values)).sender().value
    show(user)
}

func queryOfAny(_ values: [String: Any]) async throws {
    let user: User = try await shop.get("users").query(Parameters(any: values)).sender().value
    show(user)
}

func formOfAny(_ values: [String: Any]) throws -> APIRequest<User, ShopError> {
    try shop.post("users").form(Parameters(any: values, nilValues: .null))
}

func literalOfDifferentTypes() async throws {
    let nick: String? = nil
    let user: User = try await shop.post("users").json(["name": "Ada", "age": 36, "nick": nick, "tags": ["a"]])
        .sender().value
    show(user)
}

func clientOfAURL(_ url: URL) {
    let client = APIClient(baseURL: url)
    let configured = APIClient(baseURL: url) { $0.timeouts.total = .seconds(5) }
    show([client, configured])
}

func timeoutWithoutLabel() async throws {
    let user: User = try await shop.get("users/1").timeout(.seconds(5)).sender().value
    show(user)
}

func timeoutOfADuration(_ limit: Duration) -> APIRequest<User, ShopError> {
    shop.get("users/1").timeout(limit)
}

func timeoutsWithLabels() async throws {
    let user: User = try await shop.get("users/1").timeout(total: .seconds(5), idle: .seconds(1)).sender().value
    show(user)
}

import OpenCombine
import RequestPublisher
import Sluice
import SluiceTesting
import Synchronization
import Testing

@Suite struct RequestPublisherTests {
    struct User: Codable, Sendable, Equatable {
        var id: Int
        var name: String
    }

    /// The values and the completion of a subscription.
    private final class Events: Sendable {
        private let stored = Mutex<[String]>([])

        var all: [String] { stored.withLock { $0 } }

        func append(_ event: String) {
            stored.withLock { $0.append(event) }
        }
    }

    private let events = Events()

    private func subscribe(to publisher: some Publisher<User, APIError>) -> AnyCancellable {
        publisher.sink { [events] completion in
            switch completion {
            case .finished: events.append("finished")
            case .failure(let error): events.append("failed: \(error.error.code)")
            }
        } receiveValue: { [events] user in
            events.append(user.name)
        }
    }

    @Test func aModelIsPublishedAndThePublisherFinishes() async throws {
        try await withLoopbackServer { server in
            server.on("/users/1", .json(#"{"id":1,"name":"Ada"}"#))
            let shop = APIClient(baseURL: server.url)
            let subscription = subscribe(to: shop.codable.get("users/1", as: User.self).publisher())
            try await waitUntil("the publisher finishes") { events.all.count == 2 }
            #expect(events.all == ["Ada", "finished"])
            subscription.cancel()
        }
    }

    @Test func aFailureIsTheErrorModelOfTheRequest() async throws {
        try await withLoopbackServer { server in
            server.on("/users/1", .status(.notFound))
            let shop = APIClient(baseURL: server.url)
            let subscription = subscribe(to: shop.codable.get("users/1", as: User.self).publisher())
            try await waitUntil("the publisher fails") { !events.all.isEmpty }
            #expect(events.all == ["failed: unacceptableStatus"])
            subscription.cancel()
        }
    }

    @Test func aResponseIsAValueAlsoIfItIsNotAccepted() async throws {
        try await withLoopbackServer { server in
            server.on("/users/1", .status(.notFound))
            let request = APIClient(baseURL: server.url).codable.get("users/1", as: User.self)
            let subscription = request.responsePublisher().sink { [events] _ in
                events.append("finished")
            } receiveValue: { [events] response in
                events.append("\(response.status.map(String.init) ?? "none")")
            }
            try await waitUntil("the publisher finishes") { events.all.count == 2 }
            #expect(events.all == ["404", "finished"])
            subscription.cancel()
        }
    }

    @Test func aCancelledSubscriptionClosesTheConnection() async throws {
        try await withLoopbackServer { server in
            server.on("/users/1", .hang)
            let shop = APIClient(baseURL: server.url)
            let subscription = subscribe(to: shop.codable.get("users/1", as: User.self).publisher())
            await server.waitForRequests(1)
            #expect(server.openConnections == 1)
            subscription.cancel()
            await server.waitForOpenConnections { $0 == 0 }
            #expect(events.all.isEmpty)
        }
    }

    @Test func aReleasedSubscriptionClosesTheConnection() async throws {
        try await withLoopbackServer { server in
            server.on("/users/1", .hang)
            let shop = APIClient(baseURL: server.url)
            var subscription: AnyCancellable? = subscribe(to: shop.codable.get("users/1", as: User.self).publisher())
            await server.waitForRequests(1)
            #expect(subscription != nil)
            subscription = nil
            await server.waitForOpenConnections { $0 == 0 }
            #expect(events.all.isEmpty)
        }
    }

    @Test func aValueWaitsForDemand() async throws {
        try await withLoopbackServer { server in
            server.on("/users/1", .json(#"{"id":1,"name":"Ada"}"#))
            let metrics = RequestMetrics()
            let shop = APIClient(baseURL: server.url) { $0.observers = [metrics] }
            let subscriber = RecordingSubscriber<User, APIError>()
            shop.codable.get("users/1", as: User.self).publisher().subscribe(subscriber)
            try await waitUntil("the request ends") { metrics.snapshot().routes.first?.requests == 1 }
            #expect(subscriber.isSubscribed && subscriber.values.isEmpty && subscriber.completions.isEmpty)
            subscriber.request(.max(1))
            try await waitUntil("the publisher finishes") { !subscriber.completions.isEmpty }
            #expect(subscriber.values == [User(id: 1, name: "Ada")])
        }
    }

    @Test func eachSubscriptionSendsTheRequest() async throws {
        try await withLoopbackServer { server in
            server.on("/users/1", .json(#"{"id":1,"name":"Ada"}"#), .json(#"{"id":1,"name":"Eve"}"#))
            let publisher = APIClient(baseURL: server.url).codable.get("users/1", as: User.self).publisher()
            #expect(server.requestCount == 0)
            let first = subscribe(to: publisher)
            try await waitUntil("the first finishes") { events.all.count == 2 }
            let second = subscribe(to: publisher)
            try await waitUntil("the second finishes") { events.all.count == 4 }
            #expect(events.all == ["Ada", "finished", "Eve", "finished"])
            for subscription in [first, second] { subscription.cancel() }
        }
    }
}

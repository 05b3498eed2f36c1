import Foundation
import Sluice

// Caches: data sources, expirations and stored responses.

func cachedClient(_ folder: URL) {
    let client = APIClient(baseURL: "https://shop.example") {
        $0.cache = CacheStore(directory: folder)
        $0.caching.source = .cacheElseServer
        $0.caching.expiration = .days(1)
    }
    show(client)
}

func expirationsOfBothTiers(_ folder: URL) {
    let store = CacheStore(directory: folder) { $0.expiration = .days(7).inMemory(.seconds(300)) }
    show(store)
}

func expirationsOfARequest() async throws {
    let user: User = try await shop.get("users/1")
        .dataSource(.cacheElseServer, expiration: .days(7).inMemory(.seconds(60).extendedOnAccess))
        .sender().value
    show(user)
}

func refreshedRequest() async throws {
    let user: User = try await shop.get("users/1").dataSource(.refresh).sender().value
    show(user)
}

func refreshedRequestWithErrorModel() {
    let request: APIRequest<User, ShopError> = shop.get("users/1").dataSource(.refresh)
    send(request)
}

func requestInMemoryOnly() async throws {
    let user: User = try await shop.get("users/1")
        .dataSource(.cacheElseServer, inMemoryOnly: true)
        .sender().value
    show(user)
}

func responseOfTheHTTPCacheInMemoryOnly() async throws {
    let user: User = try await shop.get("users/1").caching { $0.storesInMemoryOnly = true }.sender().value
    show(user)
}

func clientInMemoryOnly() {
    let client = APIClient(baseURL: "https://shop.example") {
        $0.cache = CacheStore(storage: nil)
        $0.caching.storesInMemoryOnly = true
    }
    show(client)
}

func storedAndServersModel() async throws {
    for try await user in shop.get("users/1", as: User.self).dataSource(.cacheThenServer).sender().values {
        show(user)
    }
}

func storedResponse(_ store: CacheStore) async throws {
    let response = await shop.get("users/1", as: User.self).sender().response
    try await store.set(response, for: "user", expiration: .days(1), tags: ["users"])
    let stored = try await store.response(for: "user")
    show(stored?.head.status)
}

func storedResponseInAPartition(_ store: CacheStore) async throws {
    let response = await shop.string.get("motto").sender().response
    try await store.partition("ada").memory.set(response, for: "motto")
}

func storedValue(_ store: CacheStore) async throws {
    try await store.set(User(id: 1, name: "Ada"), for: "me")
    let user: User? = try await store.value(for: "me")
    show(user)
}

func storedValueWithExpirations(_ store: CacheStore) async throws {
    try await store.set([1, 2, 3], for: "ids", expiration: .never.inMemory(.seconds(10)))
    show(try await store.value(for: "ids", as: [Int].self))
}

func decodedStoredResponse(_ store: CacheStore) async throws {
    let user = try await store.response(for: "user")?.decoded(as: User.self)
    show(user)
}

func sourceOfTheProgram() async throws {
    let user: User = try await shop.get("users/1")
        .dataSource(.custom { _, stored in stored == nil ? .send : .useStoredThenSend })
        .sender().value
    show(user)
}

import Foundation
import Sluice

// Stores and data sources, as in other libraries.

private let store = CacheStore(storage: nil)

// error: Write "removeAll()".
func clearContainer() async throws {
    try await store.memory.clear()
}

// error: Write "set(user, for: "me")".
func storeForName() async throws {
    try await store.store(User(id: 1, name: ""), for: "me")
}

// error: Write "value(for: "me", as: User.self)".
func getOfAStore() async throws {
    let user: User? = try await store.get("me")
    show(user)
}

// error: Write "value(for: "me", as: User.self)".
func getOfAStoreWithType() async throws {
    show(try await store.get("me", as: User.self))
}

// error: Write "value(for: "me", as: User.self)".
func getOfAStoreWithoutType() async throws {
    let user = try await store.get("me")
    show(user)
}

// error: Write "value(for: "me", as: User.self)".
func valueForKey() async throws {
    let user: User? = try await store.value(forKey: "me")
    show(user)
}

// error: Write "value(for: "me", as: User.self)".
func valueForKeyWithType() async throws {
    show(try await store.memory.value(forKey: "me", as: User.self))
}

// error: Write "remove("me")".
func removeForKey() async throws {
    try await store.remove(forKey: "me")
}

// error: Write ".cacheElseServer".
func cacheFirst() {
    show(shop.get("u", as: User.self).dataSource(.cacheFirst))
}

// error: Write an array
func tagOfADataSource() {
    show(shop.get("u", as: User.self).dataSource(.cacheElseServer, tags: "account"))
}

// error: Write an array
func tagAndExpirationOfADataSource() {
    show(shop.get("u", as: User.self).dataSource(.cacheElseServer, expiration: .days(1), tags: "account"))
}

// error: Write "if case .cache(let info) = response.source", and "info.age".
func ageOfASource() async {
    let response = await shop.get("u", as: User.self).sender().response
    print(response.source.age as Any)
}

// error: Write ".low".
func backgroundPriority() {
    show(shop.get("u", as: User.self).priority(.background))
}

import Sluice

/// Requests that succeed.
enum ExchangeKinds {
    struct Item: Codable, Sendable, Hashable {
        let id: Int
        let name: String
    }

    static func all(_ clients: Clients) -> [Kind] {
        let (plain, cached) = (clients.plain, clients.cached)
        let ada = Item(id: 1, name: "Ada")
        return [
            Kind("json") {
                let item: Item = try await plain.codable.get("item").sender().value
                try expect(item == ada, "\(item)")
            },
            Kind("cached") {
                let item: Item = try await cached.codable.get("item").sender().value
                try expect(item == ada, "\(item)")
            },
            Kind("stored model, then the server's") {
                var items: [Item] = []
                let request = cached.codable.get("item", as: Item.self).dataSource(.cacheThenServer)
                for try await item in request.sender().values {
                    items.append(item)
                }
                try expect(!items.isEmpty && items.allSatisfy { $0 == ada }, "\(items)")
            },
            Kind("chunked") {
                let text = try await plain.string.get("chunked").sender().value
                try expect(text == "one two three", text)
            },
            Kind("redirect") {
                let item: Item = try await plain.codable.get("moved").sender().value
                try expect(item == ada, "\(item)")
            },
            Kind("batch") {
                let first: APIRequest<Item, APIError> = plain.codable.get("item")
                let second: APIRequest<Item, APIError> = plain.codable.get("slow")
                let (one, two) = try await plain.batch(first, second)
                try expect(one == ada && two.name == "Bob", "\(one) \(two)")
            },
            Kind("hedged") {
                let item: Item = try await plain.codable.get("slow").hedged(.after(.milliseconds(20))).sender().value
                try expect(item.name == "Bob", "\(item)")
            },
            Kind("events") {
                var count = 0
                for try await _ in plain.stream("events").serverSentEvents(reconnection: .none) { count += 1 }
                try expect(count == 20, "\(count) events")
            },
            Kind("JSON lines") {
                var count = 0
                for try await item in plain.stream("lines").jsonLines(of: Item.self) where item == ada { count += 1 }
                try expect(count == 50, "\(count) lines")
            },
            Kind("pages") {
                var count = 0
                for try await page in plain.codable.get("pages", as: [Item].self).pages(by: .link) {
                    count += page.count
                }
                try expect(count == 6, "\(count) items")
            },
            Kind("interceptors") {
                let text = try await clients.intercepting.string.get("echo?q=x").sender().value
                try expect(text == "1 soak/1 q=x&tag=1", text)
            },
        ]
    }
}

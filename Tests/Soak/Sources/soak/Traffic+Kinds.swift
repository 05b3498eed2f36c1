import Foundation
import Sluice

extension Traffic {
    private static func expect(_ isExpected: Bool, _ description: @autoclosure () -> String) throws {
        if !isExpected { throw UnexpectedResponse(description: description()) }
    }

    /// Requests that succeed.
    static func successes(_ plain: APIClient, _ cached: APIClient) -> [Kind] {
        let ada = Item(id: 1, name: "Ada")
        return [
            Kind(name: "json", codes: []) {
                let item: Item = try await plain.codable.get("item").sender().value
                try expect(item == ada, "\(item)")
            },
            Kind(name: "cached", codes: []) {
                let item: Item = try await cached.codable.get("item").sender().value
                try expect(item == ada, "\(item)")
            },
            Kind(name: "chunked", codes: []) {
                let text = try await plain.string.get("chunked").sender().value
                try expect(text == "one two three", text)
            },
            Kind(name: "redirect", codes: []) {
                let item: Item = try await plain.codable.get("moved").sender().value
                try expect(item == ada, "\(item)")
            },
            Kind(name: "batch", codes: []) {
                let first: APIRequest<Item, APIError> = plain.codable.get("item")
                let second: APIRequest<Item, APIError> = plain.codable.get("slow")
                let (one, two) = try await plain.batch(first, second)
                try expect(one == ada && two.name == "Bob", "\(one) \(two)")
            },
            Kind(name: "events", codes: []) {
                var count = 0
                for try await _ in plain.stream("events").serverSentEvents(reconnection: .none) { count += 1 }
                try expect(count == 20, "\(count) events")
            },
        ]
    }

    /// Requests that fail in the way the fault requires.
    static func faults(_ plain: APIClient, _ retrying: APIClient, _ shortTimeout: APIClient) -> [Kind] {
        let data = { (client: APIClient, path: String) -> @Sendable () async throws -> Void in
            { _ = try await client.data.get(path).sender().value }
        }
        return [
            Kind(name: "cut", codes: [.truncatedBody, .connectionLost], work: data(plain, "cut")),
            Kind(name: "reset", codes: [.connectionLost, .truncatedBody], work: data(plain, "reset")),
            Kind(name: "closed", codes: [.connectionLost], work: data(plain, "closed")),
            Kind(name: "garbage", codes: [.invalidResponse, .connectionLost], work: data(plain, "garbage")),
            Kind(name: "stalled", codes: [.idleTimedOut], work: data(shortTimeout, "stalled")),
            Kind(name: "endless", codes: [.bodyTooLarge], work: data(plain, "endless")),
            Kind(name: "around", codes: [.redirectLoop], work: data(plain, "around")),
            Kind(name: "missing", codes: [.unacceptableStatus], work: data(plain, "missing")),
            Kind(name: "busy", codes: [.unacceptableStatus], work: data(retrying, "busy")),
            Kind(name: "retried", codes: [.truncatedBody, .connectionLost], work: data(retrying, "cut")),
            Kind(name: "broken", codes: [.decodingFailed]) {
                let _: Item = try await plain.codable.get("broken").sender().value
            },
        ]
    }

    /// Requests and responses with large bodies.
    static func bodies(_ plain: APIClient, _ folder: URL) -> [Kind] {
        let bytes = Data(repeating: 0x62, count: 200_000)
        return [
            Kind(name: "upload", codes: []) {
                let text = try await plain.string.post("upload").data(bytes).sender().value
                try expect(text == "200000", text)
            },
            Kind(name: "streamed upload", codes: []) {
                let chunks = AsyncStream<Data> { continuation in
                    for _ in 0..<20 { continuation.yield(Data(repeating: 0x63, count: 5000)) }
                    continuation.finish()
                }
                let text = try await plain.string.post("upload").body(.stream(chunks)).sender().value
                try expect(text == "100000", text)
            },
            Kind(name: "download", codes: []) {
                let target = folder.appending(path: UUID().uuidString)
                defer { try? FileManager.default.removeItem(at: target) }
                _ = try await plain.download("page", to: .file(target)).sender().value
                let length = try Data(contentsOf: target).count
                try expect(length == 60_000, "\(length) bytes")
            },
            Kind(name: "left unread", codes: []) {
                for try await _ in plain.stream("endless").bytes { break }
            },
        ]
    }

    /// Requests over TLS, with trusted and untrusted certificates.
    static func secure(_ client: APIClient, _ distrusting: APIClient) -> [Kind] {
        [
            Kind(name: "page over TLS", codes: []) {
                let length = try await client.data.get("page.txt").sender().value.count
                try expect(length == 100_000, "\(length) bytes")
            },
            Kind(name: "distrusted", codes: [.tlsFailed]) {
                _ = try await distrusting.data.get("page.txt").sender().value
            },
        ]
    }
}

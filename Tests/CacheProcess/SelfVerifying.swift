import Foundation
import Sluice
import SluiceTesting

/// Entries whose bodies follow from their number and a counter, which reveals a mixed or misplaced body.
enum SelfVerifying {
    static let count = 120

    static func key(_ number: Int) -> CacheKey {
        CacheKey("entry \(number)", in: .http, partition: "partition \(number % 3)")
    }

    static func body(_ number: Int, counter: UInt64, length: Int) -> Data {
        var random = SeededGenerator(seed: counter &* 1_000_003 &+ UInt64(number))
        var words = [counter, UInt64(length)]
        while words.count * 8 < length + 16 { words.append(random.next()) }
        return words.withUnsafeBytes { Data($0.prefix(length + 16)) }
    }

    static func entry(_ number: Int, counter: UInt64, length: Int, isStreamed: Bool = false) -> CacheEntry {
        CacheEntry(
            key: key(number),
            response: StoredResponse(
                method: .get,
                url: "http://example.com/\(number)",
                head: HTTPResponse(status: .ok, headers: ["X-Counter": "\(counter)"]),
                requested: Date(),
                received: Date()
            ),
            body: isStreamed ? Data() : body(number, counter: counter, length: length),
            stored: Date(),
            tags: ["tag \(number % 5)"]
        )
    }

    /// Returns the counters of a key's entries, after checking that the entries are whole.
    static func counters(of entries: [CacheEntry]) throws -> [UInt64] {
        try entries.map { entry in
            guard let number = Int(entry.key.name.dropFirst(6)), entry.body.count >= 16 else {
                throw CacheProcess.Failure(reason: "\(entry.key.name) has \(entry.body.count) bytes")
            }
            let words = entry.body.withUnsafeBytes { bytes in
                (0..<2).map { bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self) }
            }
            guard
                words[1] == entry.body.count - 16,
                entry.body == body(number, counter: words[0], length: entry.body.count - 16),
                entry.response?.head.headers["X-Counter"] == "\(words[0])",
                entry.tags == ["tag \(number % 5)"]
            else { throw CacheProcess.Failure(reason: "\(entry.key.name) is not as it was written") }
            return words[0]
        }
    }
}

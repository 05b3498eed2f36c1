#if os(Linux)
import SluiceCache
import SluiceFoundation
import SluiceHTTP

/// The variants of an entry as the server has them: a hash with a field `v…` for each, and a field `x…` beside those whose accesses extend
/// their lifetime.
struct StoredVariants: Sendable {
    /// The names of an entry on the server, which show neither its key nor its variant.
    struct Name: Sendable {
        /// The key of the hash with all variants.
        let key: String

        func piece(_ number: Int, of id: String) -> String { "\(key):\(id):\(number)" }
    }

    /// A variant.
    struct Variant: Sendable {
        /// The name of its field.
        let field: String
        let value: Data
    }

    /// The time in seconds by which an entry may lie in the future, as the server's time is computed with an error.
    private static let maximumLead = 1.0

    let key: CacheKey
    let name: Name
    /// The seconds by which the server's clock is ahead of this machine's.
    private let clockOffset: Double
    private(set) var variants: [Variant] = []
    private var extensions: [Variant] = []

    /// Creates the variants in a reply.
    init(_ key: CacheKey, _ name: Name, _ reply: RedisValue, clockOffset: Double) throws(RedisError) {
        self.key = key
        self.name = name
        self.clockOffset = clockOffset
        func add(_ field: RedisValue, _ value: RedisValue) {
            guard let field = field.string, let value = value.data else { return }
            switch field.utf8.first {
            case UInt8(ascii: "v"): variants.append(Variant(field: field, value: value))
            case UInt8(ascii: "x"): extensions.append(Variant(field: field, value: value))
            default: break
            }
        }
        switch reply {
        case .map(let entries): for entry in entries { add(entry.key, entry.value) }
        // Servers with RESP2 send an array.
        case .array(let elements):
            for index in stride(from: 0, to: elements.count - 1, by: 2) { add(elements[index], elements[index + 1]) }
        default: throw .unexpectedReply
        }
    }

    /// Opens the value of a variant.
    func record(of variant: Variant, with seal: RedisSeal, at now: Date) throws(RedisSeal.Failure) -> CacheRecord {
        let bytes = try seal.open(variant.value, as: name.key + variant.field)
        guard let record = CacheRecord(bytes, for: key, clockOffset: clockOffset) else { throw .unknownFormat }
        // An entry of this moment must not lie in the future, as its age would be unknown.
        let lead = (record.entry.response?.received ?? record.entry.stored).timeIntervalSince(now)
        guard lead > 0, lead < Self.maximumLead else { return record }
        return CacheRecord(bytes, for: key, clockOffset: clockOffset + lead + 0.001) ?? record
    }

    /// Returns the entry of a variant with the lifetime to which an access has extended it.
    func extended(_ entry: CacheEntry, of variant: Variant, with seal: RedisSeal) -> CacheEntry {
        guard entry.renewal != nil else { return entry }
        let field = "x" + variant.field.dropFirst()
        guard let value = extensions.first(where: { $0.field == field })?.value,
            let bytes = try? seal.open(value, as: name.key + field), let extended = CacheExtension(bytes),
            abs(extended.stored.timeIntervalSince(entry.stored) - clockOffset) < 0.5
        else { return entry }
        return entry.with(expires: extended.expires - clockOffset)
    }

    /// Returns the unexpired entries, newest first.
    static func live(_ entries: [CacheEntry], at now: Date) -> [CacheEntry] {
        let live = entries.filter { $0.expires.map { $0 > now } ?? true }
        return live.count > 1 ? live.sorted { $0.stored > $1.stored } : live
    }
}
#endif

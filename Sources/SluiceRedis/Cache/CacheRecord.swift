#if os(Linux)
import SluiceCache
import SluiceFoundation
import SluiceHTTP

/// An entry as it is stored under one field of a hash, before it is sealed.
struct CacheRecord: Sendable {
    /// A body that is stored in pieces under keys of their own.
    struct Blob: Sendable, Hashable {
        /// The name of the body among those of its key: 16 hexadecimal digits.
        let id: String
        let pieces: Int
        let length: Int

        /// The text that is stored beside the record, so that a script can return it for removal. It is no secret.
        var reference: String { "\(id) \(pieces)" }

        /// Creates a body from its identifier, the number of its pieces and its length in bytes.
        init(id: String, pieces: Int, length: Int) {
            self.id = id
            self.pieces = pieces
            self.length = length
        }

        /// Parses a reference. The length is unknown, as only the pieces are to be removed.
        init?(reference: String) {
            let words = reference.split(separator: " ")
            guard words.count == 2, words[0].utf8.count == 16, let pieces = Int(words[1]),
                0...Self.maximumPieces ~= pieces
            else { return nil }
            self.init(id: String(words[0]), pieces: pieces, length: 0)
        }

        /// The maximum number of pieces, which bounds the work for a damaged reference: 8 GiB.
        static let maximumPieces = 16_384
    }

    /// The maximum size in bytes of a body that is stored in its record. The reply with all records of a key has a connection that small
    /// commands share. So has the command that stores a record, because it stays below 64 KiB with the usual head. Earlier versions have
    /// stored larger bodies, which are read all the same.
    static let inlineSize = 60 << 10
    /// The maximum size in bytes of a piece of a larger body.
    static let pieceSize = 512 << 10
    private static let version: UInt8 = 1

    /// Returns the maximum size in bytes of the body in the record of an entry. Accesses extend the lifetime of records, but not that of
    /// pieces, which stay for the longest time.
    static func inlineSize(of entry: CacheEntry) -> Int { entry.renewal == nil ? inlineSize : pieceSize }

    /// The generations of ``CacheScope/scopes(of:tags:)``, in their order.
    let generations: [CacheGeneration]
    /// The place of the body; nil if the entry contains it.
    let blob: Blob?
    let entry: CacheEntry

    init(_ entry: CacheEntry, generations: [CacheGeneration], blob: Blob? = nil) {
        self.entry = entry
        self.generations = generations
        self.blob = blob
    }

    /// Returns the bytes of the record.
    ///
    /// - Parameter clockOffset: The seconds by which the server's clock is ahead of this machine's.
    /// - Returns: The bytes.
    func encoded(clockOffset: Double) -> Data {
        var writer = EntryHeadWriter()
        writer.append(Self.version)
        writer.append(UInt16(clamping: generations.count))
        for generation in generations { writer.append(generation.value) }
        writer.append(UInt8(blob == nil ? 0 : 1))
        if let blob {
            writer.append(blob.id)
            writer.append(UInt32(clamping: blob.pieces))
            writer.append(UInt64(clamping: blob.length))
        }
        return Data(writer.bytes) + entry.encoded(clockOffset: clockOffset)
    }

    /// True if one of the scopes has a later generation. Nil stands for a generation that the server has lost, which other processes may
    /// still know.
    func isOutdated(by known: [CacheGeneration?]) -> Bool {
        zip(known, generations).contains { ($0?.value ?? 0) > $1.value }
    }

    /// Decodes a record; nil if the bytes are incomplete or of another version.
    init?(_ bytes: Data, for key: CacheKey, clockOffset: Double) {
        let parts = bytes.withUnsafeBytes { bytes -> ([CacheGeneration], Blob?, Int)? in
            var reader = EntryHeadReader(bytes)
            guard reader.integer(UInt8.self) == Self.version, let count = reader.integer(UInt16.self) else {
                return nil
            }
            var generations: [CacheGeneration] = []
            for _ in 0..<count {
                guard let value = reader.integer(Int64.self) else { return nil }
                generations.append(CacheGeneration(value: value))
            }
            switch reader.integer(UInt8.self) {
            case 0: return (generations, nil, reader.count)
            case 1:
                guard let id = reader.string(), id.utf8.count == 16,
                    let pieces = reader.integer(UInt32.self).flatMap(Int.init(exactly:)), pieces <= Blob.maximumPieces,
                    let length = reader.integer(UInt64.self).flatMap(Int.init(exactly:)),
                    length <= pieces * Self.pieceSize
                else { return nil }
                return (generations, Blob(id: id, pieces: pieces, length: length), reader.count)
            default: return nil
            }
        }
        guard let (generations, blob, rest) = parts,
            let entry = CacheEntry(encoded: bytes.suffix(rest), for: key, clockOffset: clockOffset)
        else { return nil }
        self.init(entry, generations: generations, blob: blob)
    }
}

/// The expiration of an entry whose accesses extend its lifetime, stored beside its record. Times are the server's.
struct CacheExtension: Sendable, Equatable {
    /// The time at which the entry was stored, which identifies it among those of its name.
    let stored: Date
    let expires: Date

    var encoded: Data {
        var writer = EntryHeadWriter()
        writer.append(stored)
        writer.append(expires)
        return Data(writer.bytes)
    }

    init(stored: Date, expires: Date) {
        self.stored = stored
        self.expires = expires
    }

    init?(_ bytes: Data) {
        let dates = bytes.withUnsafeBytes { bytes -> (Date, Date)? in
            var reader = EntryHeadReader(bytes)
            guard let stored = reader.date(), let expires = reader.date(), reader.isAtEnd else { return nil }
            return (stored, expires)
        }
        guard let dates else { return nil }
        (stored, expires) = dates
    }
}

// MARK: - Stored variants

/// The variants of an entry as the server has them: a hash with a field `v…` for each, and a field `x…` beside those whose accesses extend
/// their lifetime.
struct StoredVariants: Sendable {
    /// The names of an entry on the server, which show neither its key nor its variant.
    struct Name: Sendable {
        /// The key of the hash with all variants.
        let key: String

        func piece(_ number: Int, of id: String) -> String { "\(key):\(id):\(number)" }
    }

    struct Variant: Sendable {
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
            guard let field = field.word, let value = value.data else { return }
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

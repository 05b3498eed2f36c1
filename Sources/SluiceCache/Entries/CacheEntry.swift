import SluiceFoundation
import SluiceHTTP

/// An entry of a cache: the bytes of a value, or a response.
///
/// The class is immutable; a cache hit copies only a reference.
public final class CacheEntry: Sendable {
    /// The key of the entry.
    public let key: CacheKey
    /// The secondary key, which distinguishes responses under one key that differ by their `Vary` fields. Empty if
    /// there is only one.
    public let variant: String
    /// The response to which the body belongs; nil for a value.
    package let response: StoredResponse?
    /// The bytes of the value or of the response body.
    public let body: Data
    /// The time at which the entry was stored.
    public let stored: Date
    /// The time at which the entry expires, unless an access has extended its lifetime since; nil for never.
    public let expires: Date?
    /// The duration by which each access extends the lifetime; nil if it does not.
    package let renewal: Duration?
    /// The tags by which entries can be removed together.
    public let tags: Set<String>
    /// The expiration in memory; nil if it is the same as in storage.
    let memory: CacheExpiration.TierExpiration?
    /// True if the entry is never written to storage.
    package let isMemoryOnly: Bool
    /// The model decoded from the body last. Only responses have one, because serializers never decode values.
    package let storedModel: StoredModel?

    /// Creates an entry.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - variant: The secondary key.
    ///   - response: The response to which the body belongs; nil for a value.
    ///   - body: The bytes.
    ///   - stored: The time at which the entry was stored.
    ///   - expires: The time at which the entry expires; nil for never.
    ///   - renewal: The duration by which each access extends the lifetime.
    ///   - tags: The tags by which entries can be removed together.
    ///   - memory: The expiration in memory; nil if it is the same as in storage.
    ///   - isMemoryOnly: True if the entry is never written to storage.
    package init(
        key: CacheKey,
        variant: String = "",
        response: StoredResponse? = nil,
        body: Data,
        stored: Date,
        expires: Date? = nil,
        renewal: Duration? = nil,
        tags: Set<String> = [],
        memory: CacheExpiration.TierExpiration? = nil,
        isMemoryOnly: Bool = false
    ) {
        self.memory = memory
        self.isMemoryOnly = isMemoryOnly
        self.key = key
        self.variant = variant
        self.response = response
        self.body = body
        self.stored = stored
        self.expires = expires
        self.renewal = renewal
        self.tags = tags
        storedModel = response == nil ? nil : StoredModel(of: body)
    }

    /// Creates an entry with an expiration, in memory only or in both tiers.
    package convenience init(
        key: CacheKey,
        response: StoredResponse?,
        body: Data,
        stored: Date,
        expiration: CacheExpiration,
        tags: Set<String>,
        isMemoryOnly: Bool = false
    ) {
        self.init(
            key: key,
            response: response,
            body: body,
            stored: stored,
            expires: expiration.date(from: stored),
            renewal: expiration.renewal,
            tags: tags,
            memory: expiration.memory,
            isMemoryOnly: isMemoryOnly
        )
    }

    /// Returns a copy with another body or expiration, for a ``CacheStorage`` that receives the body in pieces or keeps
    /// it separately, or that stores what an access changes apart from the entry.
    ///
    /// - Parameters:
    ///   - body: The bytes; nil for the same.
    ///   - expires: The time at which the copy expires; nil for the same.
    /// - Returns: The copy.
    public func with(body: Data? = nil, expires: Date? = nil) -> CacheEntry {
        CacheEntry(
            key: key,
            variant: variant,
            response: response,
            body: body ?? self.body,
            stored: stored,
            expires: expires ?? self.expires,
            renewal: renewal,
            tags: tags,
            memory: memory,
            isMemoryOnly: isMemoryOnly
        )
    }
}

// MARK: - Encoding

extension CacheEntry {
    /// The version of the encoding. Entries with another version are not read.
    private static let encodingVersion: UInt8 = 1

    /// Returns the entry as bytes, without its key, for a ``CacheStorage`` of your own. The last four bytes are a
    /// checksum, which detects damage but no forgery.
    public func encoded() -> Data { encoded(clockOffset: 0) }

    /// Returns the entry as bytes, with times of another clock.
    ///
    /// - Parameter clockOffset: The seconds that are added to all times.
    /// - Returns: The bytes.
    package func encoded(clockOffset: Double) -> Data {
        var writer = EntryHeadWriter(clockOffset: clockOffset)
        writer.append(Self.encodingVersion)
        writer.append(UInt8(expires == nil ? 0 : 1))
        if let expires { writer.append(expires) }
        writer.append(variant)
        let head = EntryHead(self).encoded(clockOffset: clockOffset)
        writer.append(UInt32(clamping: head.count))
        var bytes = Data(capacity: writer.bytes.count + head.count + body.count + 4)
        bytes.append(contentsOf: writer.bytes)
        bytes.append(contentsOf: head)
        bytes.append(body)
        withUnsafeBytes(of: checksum(bytes).littleEndian) { bytes.append(contentsOf: $0) }
        return bytes
    }

    /// Creates an entry from the bytes that ``encoded()`` has returned; nil if they are incomplete, damaged, of another
    /// version or of another key.
    ///
    /// - Parameters:
    ///   - encoded: The bytes.
    ///   - key: The key of the entry. It must be the one that the entry was encoded with.
    public convenience init?(encoded: Data, for key: CacheKey) {
        self.init(encoded: encoded, for: key, clockOffset: 0)
    }

    /// Creates an entry from bytes with times of another clock.
    package convenience init?(encoded: Data, for key: CacheKey, clockOffset: Double) {
        let parts = encoded.withUnsafeBytes { bytes -> (Date?, String, EntryHead, Int)? in
            var reader = EntryHeadReader(bytes, clockOffset: clockOffset)
            guard reader.integer(UInt8.self) == Self.encodingVersion, let flags = reader.integer(UInt8.self), flags < 2
            else { return nil }
            let expires = flags == 1 ? reader.date() : nil
            if flags == 1, expires == nil { return nil }
            guard
                let variant = reader.string(),
                let count = reader.integer(UInt32.self),
                let headBytes = reader.take(Int(count)),
                let head = EntryHead(headBytes, clockOffset: clockOffset),
                reader.count >= 4
            else { return nil }
            return (expires, variant, head, reader.count)
        }
        guard let (expires, variant, head, rest) = parts else { return nil }
        let body = Data(encoded.suffix(rest).dropLast(4))
        self.init(
            key: key,
            variant: variant,
            response: head.response,
            body: body,
            stored: head.stored,
            expires: expires,
            renewal: head.renewal,
            tags: head.tags,
            memory: head.memory
        )
        let sum = encoded.suffix(4).withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self)) }
        guard checksum(encoded.dropLast(4)) == sum else { return nil }
    }

    private func checksum(_ bytes: Data) -> UInt32 {
        var sum = EntryChecksum(key, variant: variant)
        bytes.withUnsafeBytes { sum.add($0) }
        return UInt32(truncatingIfNeeded: sum.value)
    }
}

extension CacheEntry: CustomReflectable, RedactedMirror {
    /// Everything except the bytes of the body.
    package var shown: [Mirror.Child] {
        [
            ("key", key), ("response", response as Any), ("body", "\(body.count) bytes"), ("stored", stored),
            ("expires", expires as Any), ("tags", tags.sorted()),
        ]
    }
}

// MARK: - Size and lifetime

extension CacheEntry {
    /// The tolerance in seconds for time stamps later than the current time. Smaller adjustments of the clock are
    /// normal.
    static let clockTolerance = 60.0

    /// The size of the entry in bytes, including its key, its head and a fixed overhead.
    var byteCount: Int {
        var count =
            192 + body.count + key.name.utf8.count + key.partition.utf8.count + variant.utf8.count
        if let response { count += response.url.utf8.count + response.head.headers.byteCount + 128 }
        for tag in tags { count += tag.utf8.count + 16 }
        return count
    }

    /// The size of the entry in memory in bytes: ``byteCount``, and the memory that was measured for its objects, its
    /// places in the tables and, for a response, the parsed metadata and the heads to serve.
    var bytesInMemory: Int { bytesInMemory(ofSize: byteCount) }

    /// Returns the size in memory for another ``byteCount``, such as that of an entry whose body is still arriving.
    func bytesInMemory(ofSize bytes: Int) -> Int { min(bytes, .max / 2) + (response == nil ? 400 : 1400) }

    /// True if the entry may be returned: it has not expired and does not lie in the future because the clock was set
    /// back.
    func isLive(at now: Date) -> Bool {
        Lifetime(of: self).isLive(at: now.timeIntervalSinceReferenceDate)
    }

    /// Returns the lifetime in memory of an entry that is inserted there.
    func lifetimeInMemory(at now: Double) -> Lifetime {
        guard let memory else { return Lifetime(of: self) }
        let now = Date(timeIntervalSinceReferenceDate: now)
        let expiration = CacheExpiration(memory)
        return Lifetime(stored: now, expires: expiration.date(from: now), renewal: expiration.renewal)
    }

    /// The period in which an entry may be returned, in seconds since the reference date.
    struct Lifetime {
        /// The start: the time at which the entry was stored, or its last access if accesses extend the lifetime.
        var began: Double
        var ends: Double
        /// The duration by which each access extends the lifetime; 0 if it does not.
        let renewal: Double

        /// Creates the lifetime in storage, which is also that in memory unless the entry has its own there.
        init(of entry: CacheEntry) {
            self.init(stored: entry.stored, expires: entry.expires, renewal: entry.renewal)
        }

        init(stored: Date, expires: Date?, renewal: Duration?) {
            self.renewal = renewal?.longSeconds ?? 0
            ends = expires?.timeIntervalSinceReferenceDate ?? .infinity
            // An expiration that is NaN counts as expired.
            if ends.isNaN { ends = -.infinity }
            began = self.renewal > 0 ? ends - self.renewal : stored.timeIntervalSinceReferenceDate
        }

        /// Returns the time of the last access that is recorded in storage, as far as the entry shows.
        func lastAccess(of entry: CacheEntry) -> Double {
            max(renewal > 0 && ends < .infinity ? began : -.infinity, entry.stored.timeIntervalSinceReferenceDate)
        }

        func isLive(at now: Double) -> Bool {
            ends == .infinity || now < ends && began <= now + CacheEntry.clockTolerance
        }

        /// Extends the lifetime if accesses do so.
        mutating func extend(at now: Double) {
            guard renewal > 0, ends < .infinity else { return }
            began = now
            ends = now + renewal
        }
    }
}

extension CacheEntry {
    /// Returns the time since the entry was stored, at most 3,000 years. An entry from the future has this greatest age, because the clock
    /// was ahead when it was stored.
    package func age(at now: Date) -> Duration {
        let seconds = now.timeIntervalSince(stored)
        if seconds < -Self.clockTolerance { return .seconds(1e11) }
        return seconds > 0 ? .seconds(min(seconds, 1e11)) : .zero
    }
}

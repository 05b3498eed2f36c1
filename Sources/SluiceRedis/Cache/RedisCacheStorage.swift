#if os(Linux)
import SluiceCache
import SluiceFoundation
import SluiceHTTP

/// A cache storage on Redis or Valkey, which any number of processes and machines share.
///
/// ```swift
/// let redis = RedisClient(RedisServer(host: "cache.internal"))
/// let cache = CacheStore(storage: RedisCacheStorage(redis, seal: seal))
/// let client = APIClient(baseURL: url) {
///     $0.cache = cache
///     $0.caching.mode = .shared
/// }
/// ```
///
/// Each process also keeps entries in memory. A change by one process reaches the others within milliseconds. A process whose connection
/// was lost drops its entries in memory within two seconds after the server can be reached again. If several processes need a missing
/// response at the same time, one fetches it and the others wait. While the server is unavailable, requests are sent as if the cache had
/// no storage.
///
/// The server decides which entries it evicts: set `maxmemory-policy` to `allkeys-lru` or `allkeys-lfu`, and do not keep tokens and limits
/// on the same server. Entries are sealed, and those that do not open are treated as missing. The times of entries follow the clock of
/// the server, so that those of the machines may differ.
public final class RedisCacheStorage: LeasingCacheStorage, CallbackCacheStorage {
    /// The time in milliseconds for which responses to requests from before a removal are not stored.
    private static let removalMemory = 300_000
    /// The maximum number of commands of one call that wait for their replies at the same time.
    private static let concurrency = 32
    /// The maximum size of the values of a key that the thread of a connection opens, which takes it up to half a millisecond.
    private static let immediateSize = 256 << 10
    /// The maximum number of names in each of ``Names``.
    private static let nameLimit = 4096

    let redis: RedisClient
    let feed: ChangeFeed
    private let seal: RedisSeal
    private let prefix: String
    private let maximumAge: Duration
    private let leases: CacheLeases
    private let clock: any SluiceClock
    private let onEvent: @Sendable (CacheEvent) -> Void
    private let names = Locked(Names())
    /// The names whose useless variants are being removed.
    let discarding = Locked<Set<String>>([])

    /// Creates a storage. No connection is opened before it is needed.
    ///
    /// - Parameters:
    ///   - redis: The client of the server.
    ///   - seal: The seal of the entries. All processes that share them need the same key.
    ///   - prefix: The beginning of the names of all keys. Caches with different prefixes are independent.
    ///   - maximumAge: The time after which the server drops an entry that was not stored again. 30 days by default.
    ///   - leaseDuration: The time after which another process fetches a response if the one that began to fetch it has died. Ten seconds by
    ///     default. A longer fetch renews its lease.
    ///   - clock: The clock.
    ///   - onEvent: Called on any thread: with each stored entry that does not open, with a warning if the server refuses writes once its
    ///     memory is full, and once for each kind of error that prevents reading the changes of other processes.
    public init(
        _ redis: RedisClient,
        seal: RedisSeal,
        prefix: String = "sluice",
        maximumAge: Duration = .seconds(30 * 86_400),
        leaseDuration: Duration = .seconds(10),
        clock: any SluiceClock = SystemClock(),
        onEvent: (@Sendable (CacheEvent) -> Void)? = nil
    ) {
        self.redis = redis
        self.seal = seal
        self.prefix = prefix
        self.maximumAge = max(.seconds(1), min(maximumAge, .seconds(3650 * 86_400)))
        self.clock = clock
        let report = onEvent ?? { _ in }
        self.onEvent = report
        feed = ChangeFeed(redis, seal, prefix: prefix, clock: clock) { report(.storageWarning($0)) }
        leases = CacheLeases(redis, feed, duration: max(.milliseconds(100), leaseDuration), clock: clock)
    }

    deinit { feed.close() }

    // MARK: Names

    typealias Name = StoredVariants.Name

    /// The names that were used last, which take longer to hash than to find.
    private struct Names {
        var keys: [CacheKey: Name] = [:]
        var scopes: [CacheScope: String] = [:]
    }

    func name(of key: CacheKey) throws(SluiceError) -> Name {
        if let name = names.withLock({ $0.keys[key] }) { return name }
        let text = "\(key.space.rawValue) \(key.partition.utf8.count) \(key.partition)\(key.name)"
        let name = Name(key: "\(prefix):c:{\(try hashed(text))}")
        names.withLock { names in
            if names.keys.count >= Self.nameLimit { names.keys = [:] }
            names.keys[key] = name
        }
        return name
    }

    private func hashed(_ text: String) throws(SluiceError) -> String {
        do { return try seal.name(text) } catch { throw .cacheFailed(error) }
    }

    private func name(of scope: CacheScope) throws(SluiceError) -> String {
        if let name = names.withLock({ $0.scopes[scope] }) { return name }
        let name = "\(prefix):g:\(try hashed(scope.text))"
        names.withLock { names in
            if names.scopes.count >= Self.nameLimit { names.scopes = [:] }
            names.scopes[scope] = name
        }
        return name
    }

    private func sealed(_ bytes: Data, as name: String) throws(SluiceError) -> Data {
        do { return try seal.seal(bytes, as: name) } catch { throw .cacheFailed(error) }
    }

    // MARK: Reading

    /// Returns all unexpired variants under a key, newest first. Those that do not open count as missing.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - now: The current time.
    /// - Returns: The entries.
    /// - Throws: A ``SluiceError`` with the code ``SluiceError/Code/cacheFailed``.
    public func entries(for key: CacheKey, at now: Date) async throws(SluiceError) -> [CacheEntry] {
        let name = try name(of: key)
        let variants = try await requesting { () throws(RedisError) in
            let offset = try await feed.clockOffset()
            let reply = try await redis.send(RedisCommand("HGETALL", name.key, isIdempotent: true))
            return try StoredVariants(key, name, reply, clockOffset: offset)
        }
        return try await entries(in: variants, at: now)
    }

    /// Reads small entries like ``entries(for:at:)``, by one command.
    package func entries(
        for key: CacheKey,
        at now: Date,
        completion: @escaping @Sendable (Result<[CacheEntry], SluiceError>?) -> Void
    ) {
        guard let name = try? name(of: key), let offset = feed.knownClockOffset else { return completion(nil) }
        redis.send(idempotent: RedisCommand("HGETALL", name.key, isIdempotent: true)) { [self] outcome in
            do throws(RedisError) {
                let stored = try StoredVariants(key, name, outcome.get(), clockOffset: offset)
                completion(entriesAtOnce(in: stored, at: now).map { .success($0) })
            } catch {
                // The failure is reported to code of the user, which must not run on the thread of a connection.
                Task.detached { [error] in completion(.failure(.cacheFailed(error))) }
            }
        }
    }

    private func entries(in stored: StoredVariants, at now: Date) async throws(SluiceError) -> [CacheEntry] {
        if let entries = entriesAtOnce(in: stored, at: now) { return entries }
        var (entries, useless): ([CacheEntry], [StoredVariants.Variant]) = ([], [])
        for variant in stored.variants {
            let record: CacheRecord
            do throws(RedisSeal.Failure) {
                record = try stored.record(of: variant, with: seal, at: now)
            } catch {
                onEvent(.readFailed(.unusable(error)))
                // Other processes may have the key, or the next version.
                if error == .forged { useless.append(variant) }
                continue
            }
            var isUseless = false
            if let entry = try await entry(of: record, stored.name, &isUseless) {
                entries.append(stored.extended(entry, of: variant, with: seal))
            }
            if isUseless { useless.append(variant) }
        }
        if !useless.isEmpty { discard(useless, of: stored.name) }
        return StoredVariants.live(entries, at: now)
    }

    /// Removes variants that give no entry to any process, unless they were replaced since. Otherwise each read would need a task for them,
    /// and their lifetime would grow with each entry of the key. The read does not wait for that. The variants are sent, so that only one
    /// of several reads at the same time removes them.
    private func discard(_ variants: [StoredVariants.Variant], of name: Name) {
        guard discarding.withLock({ $0.insert(name.key).inserted }) else { return }
        Task.detached { [self] in
            defer { discarding.withLock { _ = $0.remove(name.key) } }
            for variant in variants {
                let arguments: [any RedisArgument] = [String(variant.field.dropFirst()), variant.value]
                let script = CacheScripts.discard
                let reply = try? await redis.run(script, keys: [name.key], arguments: arguments, timeout: pieceTimeout)
                await removePieces(bodies(in: reply?.elements ?? []), of: name)
            }
        }
    }

    /// Returns the entries of small variants; nil if the server must be asked for more, or if one of them does not open.
    private func entriesAtOnce(in stored: StoredVariants, at now: Date) -> [CacheEntry]? {
        guard stored.variants.reduce(0, { $0 + $1.value.count }) <= Self.immediateSize else { return nil }
        var entries: [CacheEntry] = []
        for variant in stored.variants {
            guard let record = try? stored.record(of: variant, with: seal, at: now), record.blob == nil,
                let names = try? scopeNames(of: record), feed.isKnown(record.generations, of: names)
            else { return nil }
            entries.append(stored.extended(record.entry, of: variant, with: seal))
        }
        return StoredVariants.live(entries, at: now)
    }

    /// Returns the names of the generations of a record; nil if it has those of other scopes.
    private func scopeNames(of record: CacheRecord) throws(SluiceError) -> [String]? {
        let scopes = CacheScope.scopes(of: record.entry.key, tags: record.entry.tags)
        guard scopes.count == record.generations.count else { return nil }
        return try scopes.map { scope throws(SluiceError) in try name(of: scope) }
    }

    /// Returns the entry of a record; nil if it was removed or a part of it is missing. Sets a flag if the record gives no entry to other
    /// processes either.
    private func entry(
        of record: CacheRecord,
        _ name: Name,
        _ isUseless: inout Bool
    ) async throws(SluiceError) -> CacheEntry? {
        guard let names = try scopeNames(of: record) else { return nil }
        let current = record.generations.map(Optional.some)
        var known = try await requesting { () throws(RedisError) in try await feed.generations(names) }
        if known != current, !record.isOutdated(by: known) {
            // The entry may be newer than the news of a removal.
            known = try await requesting { () throws(RedisError) in try await feed.generations(names, areRead: true) }
        }
        isUseless = record.isOutdated(by: known)
        guard known == current else { return nil }
        guard let blob = record.blob else { return record.entry }
        let body = try await body(blob, of: name)
        isUseless = body == nil
        return body.map { record.entry.with(body: $0) }
    }

    /// Returns a body from its pieces; nil if one of them is missing or does not open.
    private func body(_ blob: CacheRecord.Blob, of name: Name) async throws(SluiceError) -> Data? {
        var body = Data(capacity: blob.length)
        var next = 0
        while next < blob.pieces {
            let numbers = next..<min(next + 4, blob.pieces)
            let pieces = try await replies(Array(numbers)) { [redis, pieceTimeout] number throws(RedisError) in
                var command = RedisCommand("GET", name.piece(number, of: blob.id), isIdempotent: true)
                command.hasLargeReply = true
                return try await redis.send(command, timeout: pieceTimeout)
            }
            for (number, reply) in zip(numbers, pieces) {
                // A piece that is missing was evicted, or belongs to an entry that was replaced in the meantime.
                guard let sealed = reply.data else { return nil }
                do {
                    body.append(try seal.open(sealed, as: name.piece(number, of: blob.id)))
                } catch {
                    onEvent(.readFailed(.unusable(error)))
                    return nil
                }
            }
            next = numbers.upperBound
        }
        return body.count == blob.length ? body : nil
    }

    // MARK: Changing

    /// Makes changes in their order.
    ///
    /// - Parameter changes: The changes. Several entries are stored at the same time.
    /// - Throws: A ``SluiceError`` with the code ``SluiceError/Code/cacheFailed``.
    public func apply(_ changes: [CacheChange]) async throws(SluiceError) {
        var messages: [ChangeMessage] = []
        let failure = await make(changes, &messages)
        // The other processes learn of the changes that were made, whatever followed.
        try await publish(messages)
        if let failure { throw failure }
    }

    /// Makes changes in their order up to the first failure.
    ///
    /// - Parameters:
    ///   - changes: The changes.
    ///   - messages: Receives the messages for the other processes.
    /// - Returns: The failure.
    private func make(_ changes: [CacheChange], _ messages: inout [ChangeMessage]) async -> SluiceError? {
        var rest = changes[...]
        while !rest.isEmpty {
            // Changes of different keys do not depend on each other, and are made at the same time.
            var keys: Set<CacheKey> = []
            let count = rest.prefix(Self.concurrency).prefix { change in
                change.key.map { keys.insert($0).inserted } ?? false
            }.count
            let group = rest.prefix(max(1, count))
            rest = rest.dropFirst(group.count)
            let results = await withTaskGroup(of: Result<ChangeMessage?, SluiceError>.self) { tasks in
                for change in group {
                    tasks.addTask {
                        await .of { () async throws(SluiceError) in try await self.make(change) }
                    }
                }
                return await tasks.reduce(into: []) { $0.append($1) }
            }
            var failure: SluiceError?
            for result in results {
                switch result {
                case .success(let message): if let message { messages.append(message) }
                case .failure(let error): failure = error
                }
            }
            if let failure { return failure }
        }
        return nil
    }

    func publish(_ messages: [ChangeMessage]) async throws(SluiceError) {
        var rest = messages[...]
        while !rest.isEmpty {
            let some = Array(rest.prefix(256))
            rest = rest.dropFirst(some.count)
            try await requesting { () throws(RedisError) in try await feed.publish(some) }
        }
    }

    /// Makes a change. Returns the message for the other processes, if they are concerned.
    private func make(_ change: CacheChange) async throws(SluiceError) -> ChangeMessage? {
        switch change {
        case .store(let entry):
            if entry.body.count <= CacheRecord.inlineSize(of: entry) { return try await store(entry, nil) }
            let writer = RedisCacheWriter(entry.with(body: Data()), in: self)
            try await writer.write(entry.body)
            return try await writer.finish()
        case .remove(let selection): return try await remove(selection)
        case .touch(let key, let variant, let stored, _, let expires):
            if let stored, let expires { try await extend(key, variant, stored: stored, to: expires) }
            return nil
        }
    }

    /// Stores an entry whose body is in it or in a blob.
    ///
    /// - Returns: The message for the other processes; nil if another process has removed the entry since its request was sent, or has
    ///   stored the response to a later one.
    func store(_ entry: CacheEntry, _ blob: CacheRecord.Blob?) async throws(SluiceError) -> ChangeMessage? {
        let (name, number) = (try name(of: entry.key), feed.nextChange())
        let offset = try await requesting { () throws(RedisError) in try await feed.clockOffset() }
        let requested = entry.response.map { $0.requested.timeIntervalSince1970 + offset }
        var generations: [CacheGeneration] = []
        for scope in CacheScope.scopes(of: entry.key, tags: entry.tags) {
            let scopeName = try self.name(of: scope)
            let generation = try await requesting { () throws(RedisError) in try await feed.currentGeneration(scopeName)
            }
            if let requested, feed.isOutdated(generation, of: scopeName, since: requested) {
                await refuse(entry, blob, name)
                return nil
            }
            generations.append(generation)
        }
        let field = try field(of: entry.variant)
        let record = CacheRecord(entry, generations: generations, blob: blob)
        let sealed = try sealed(record.encoded(clockOffset: offset), as: name.key + "v" + field)
        // Values are stored in the order of the calls, whatever was removed before.
        let time = requested.map { ($0 - CacheGeneration.clockTolerance) * 1e6 } ?? 1e17
        let lifetime = milliseconds(until: entry.expires)
        let reply = try await requesting { () throws(RedisError) in
            try await redis.run(
                CacheScripts.store,
                keys: [name.key],
                arguments: [
                    field, sealed, blob?.reference ?? "", lifetime, Int(time), feed.sender,
                    Int(CacheGeneration.clockTolerance * 2e6), number,
                ],
                timeout: sealed.count > CacheRecord.inlineSize ? pieceTimeout : nil
            )
        }
        guard let elements = reply.elements, let isStored = elements.first?.int else {
            throw .cacheFailed(RedisError.unexpectedReply)
        }
        guard isStored == 1 else {
            await refuse(entry, blob, name)
            return nil
        }
        await removePieces(bodies(in: elements.dropFirst()), of: name, after: Self.readTime)
        return .stored(entry.key)
    }

    /// Drops an entry that another process has removed or replaced, also from the memory of this process, which may have missed the news.
    private func refuse(_ entry: CacheEntry, _ blob: CacheRecord.Blob?, _ name: Name) async {
        feed.drop(CacheSelection(entry.key, variant: entry.variant))
        await removePieces(blob.map { [$0] } ?? [], of: name)
    }

    private func field(of variant: String) throws(SluiceError) -> String {
        variant.isEmpty ? Self.plainField : try hashed("variant \(variant)")
    }

    /// The field of an entry without a variant.
    private static let plainField = "-"

    /// Returns the time until an entry expires, at most ``maximumAge``.
    private func milliseconds(until expires: Date?) -> Int {
        let longest = maximumAge / .milliseconds(1)
        guard let expires else { return Int(longest) }
        return Int(max(1, min(longest, expires.timeIntervalSince(clock.date) * 1000)))
    }

    private func remove(_ selection: CacheSelection) async throws(SluiceError) -> ChangeMessage? {
        // The server drops expired entries itself.
        if selection.expired != nil { return nil }
        guard let entryName = selection.name, let partition = selection.partition else {
            var generations: [ChangeMessage.Generation] = []
            for scope in CacheScope.scopes(removedBy: selection) {
                let name = try name(of: scope)
                let generation = try await requesting { () throws(RedisError) in try await feed.beginGeneration(name) }
                generations.append(ChangeMessage.Generation(name: name, generation: generation))
            }
            return .removed(selection, generations)
        }
        for space in selection.spaces ?? Set(CacheKey.Space.allCases) where space != .memoryValues {
            let name = try name(of: CacheKey(entryName, in: space, partition: partition))
            let field = try selection.variant.map { variant throws(SluiceError) in try self.field(of: variant) }
            let reply = try await requesting { () throws(RedisError) in
                try await redis.run(
                    CacheScripts.remove,
                    keys: [name.key],
                    arguments: [field ?? "", Self.removalMemory, feed.sender, feed.nextChange()]
                )
            }
            await removePieces(bodies(in: reply.elements ?? []), of: name)
        }
        return .removed(selection, [])
    }

    private func extend(_ key: CacheKey, _ variant: String, stored: Date, to expires: Date) async throws(SluiceError) {
        let name = try name(of: key)
        let field = try field(of: variant)
        let offset = try await requesting { () throws(RedisError) in try await feed.clockOffset() }
        let extended = CacheExtension(stored: stored + offset, expires: expires + offset)
        let sealed = try sealed(extended.encoded, as: name.key + "x" + field)
        let lifetime = milliseconds(until: expires)
        _ = try await requesting { () throws(RedisError) in
            try await redis.run(CacheScripts.extend, keys: [name.key], arguments: [field, sealed, lifetime])
        }
    }

    // MARK: Large bodies

    /// Creates a writer for an entry whose body arrives in pieces. Pieces of an entry that is never committed expire after an hour.
    ///
    /// - Parameter entry: The entry without its body.
    /// - Returns: The writer, which stores a body of more than 60 KiB in pieces of 512 KiB. If accesses extend the lifetime of the entry, a
    ///   body of up to 512 KiB is stored with the entry instead.
    /// - Throws: Nothing.
    public func writer(for entry: CacheEntry) async throws(SluiceError) -> any CacheWriter {
        RedisCacheWriter(entry, in: self)
    }

    /// The time in milliseconds for which the pieces of an entry stay that is not committed.
    private static let draftLifetime = 3_600_000
    /// The time in milliseconds for which the pieces of a replaced entry stay, for those who have read its record.
    private static let readTime = 10_000

    /// The time for a command with a piece, which takes longer than a small one: several pieces follow each other on one connection.
    private var pieceTimeout: Duration { max(redis.server.commandTimeout, .seconds(1)) }

    func storePiece(_ bytes: Data, _ number: Int, of id: String, _ key: CacheKey) async throws(SluiceError) {
        let piece = try name(of: key).piece(number, of: id)
        let sealed = try sealed(bytes, as: piece)
        _ = try await requesting { () throws(RedisError) in
            let command = RedisCommand("SET", piece, sealed, "PX", Self.draftLifetime, isIdempotent: true)
            return try await redis.send(command, timeout: pieceTimeout)
        }
    }

    /// Lets the pieces of a body live as long as its entry.
    func keepPieces(_ blob: CacheRecord.Blob, of entry: CacheEntry) async throws(SluiceError) {
        let name = try name(of: entry.key)
        let lifetime = entry.renewal == nil ? milliseconds(until: entry.expires) : milliseconds(until: nil)
        let replies = try await replies(Array(0..<blob.pieces)) { [redis] number throws(RedisError) in
            try await redis.send(RedisCommand("PEXPIRE", name.piece(number, of: blob.id), lifetime, isIdempotent: true))
        }
        guard replies.allSatisfy({ $0.int == 1 }) else {
            throw .cacheFailed(
                RedisError(.outOfMemory, "The Redis server has evicted a part of an entry before it was complete.")
            )
        }
    }

    /// Returns the bodies whose references a script has returned.
    private func bodies(in references: some Sequence<RedisValue>) -> [CacheRecord.Blob] {
        references.compactMap { $0.string.flatMap(CacheRecord.Blob.init(reference:)) }
    }

    /// Removes the pieces of bodies after a time in milliseconds. A failure is ignored, because they expire.
    func removePieces(_ blobs: [CacheRecord.Blob], of name: Name, after delay: Int = 0) async {
        for blob in blobs {
            _ = try? await replies(Array(0..<blob.pieces)) { [redis] number throws(RedisError) in
                let piece = name.piece(number, of: blob.id)
                return try await redis.send(RedisCommand("PEXPIRE", piece, delay, isIdempotent: true))
            }
        }
    }

    // MARK: Other processes

    /// Returns the changes that other processes make from now on.
    public func invalidations() -> AsyncStream<CacheInvalidation>? {
        Task.detached { [redis, onEvent] in
            if let warning = try? await redis.evictionWarning() { onEvent(.storageWarning(warning)) }
        }
        return feed.subscribe()
    }

    /// Asks for the right to fetch an entry.
    ///
    /// - Parameters:
    ///   - key: A key for equal requests.
    ///   - waits: True to wait while another process has the lease, at most for the duration of a lease.
    /// - Returns: The lease; nil if another process has it, or has released it in the meantime.
    /// - Throws: A ``SluiceError`` with the code ``SluiceError/Code/cacheFailed``.
    public func lease(for key: CacheKey, waits: Bool) async throws(SluiceError) -> CacheLease? {
        let text = "lease \(key.space.rawValue) \(key.partition.utf8.count) \(key.partition)\(key.name)"
        let name = "\(prefix):l:{\(try hashed(text))}"
        return try await requesting { () throws(RedisError) in try await leases.lease(name, waits: waits) }
    }

    // MARK: Commands

    private func requesting<Value: Sendable>(_ body: () async throws(RedisError) -> Value) async throws(SluiceError)
        -> Value
    {
        do { return try await body() } catch { throw error.code == .cancelled ? .cancelled : .cacheFailed(error) }
    }

    /// Returns the replies to the commands with these numbers, in their order. Some of them are sent at the same time.
    private func replies(
        _ numbers: [Int],
        _ command: @escaping @Sendable (Int) async throws(RedisError) -> RedisValue
    ) async throws(SluiceError) -> [RedisValue] {
        var values: [RedisValue] = []
        var rest = numbers[...]
        while !rest.isEmpty {
            let some = rest.prefix(Self.concurrency)
            rest = rest.dropFirst(some.count)
            let replies = await withTaskGroup(of: (Int, Result<RedisValue, RedisError>).self) { group in
                for number in some {
                    group.addTask {
                        (number, await .of { () async throws(RedisError) in try await command(number) })
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            for (_, reply) in replies.sorted(by: { $0.0 < $1.0 }) {
                values.append(try await requesting { () throws(RedisError) in try reply.get() })
            }
        }
        return values
    }
}

extension CacheChange {
    /// The key that the change concerns; nil if it concerns several.
    fileprivate var key: CacheKey? {
        switch self {
        case .store(let entry): entry.key
        case .touch(let key, _, _, _, _): key
        case .remove(let selection): selection.key
        }
    }
}

extension SluiceError {
    fileprivate static func cacheFailed(_ error: any Error) -> SluiceError {
        SluiceError(
            .cacheFailed,
            "The cache on the Redis server failed: \(error)",
            step: .cache,
            underlyingError: error
        )
    }

    fileprivate static func unusable(_ failure: RedisSeal.Failure) -> SluiceError {
        let reason =
            switch failure {
            case .unknownFormat: "has an unknown format"
            case .unknownKey: "was sealed with another key"
            case .forged: "was changed or stored under another name"
            case .weakKey, .unavailable: "cannot be opened"
            }
        return SluiceError(
            .cacheFailed,
            "An entry on the Redis server \(reason).",
            step: .cache,
            underlyingError: failure
        )
    }
}
#endif

#if os(Linux)
import Foundation
import Sluice
import SluiceTesting
import Synchronization
import Testing

@testable import SluiceRedis

/// The storage with a real server.
@Suite(.enabled(if: RedisProcess.canRun))
struct RedisCacheStorageTests {
    static func seal(encrypts: Bool = false, _ key: String = "0123456789abcdef0123456789abcdef") throws -> RedisSeal {
        try RedisSeal(Secret(key), encrypts: encrypts)
    }

    @Test(arguments: CacheStorageConformance.cases)
    func storageConforms(_ case: CacheStorageConformance.Case) async throws {
        let redis = try RedisProcess()
        let seal = try Self.seal(encrypts: true)
        try await CacheStorageConformance.run(`case`, within: .seconds(60)) {
            RedisCacheStorage(RedisClient(redis.server), seal: seal)
        }
    }

    @Test func storageConformsOnACluster() async throws {
        let fleet = try await ClusterFleet()
        let seal = try Self.seal()
        for (number, `case`) in CacheStorageConformance.cases.enumerated() {
            let server = fleet.server(number % 3)
            try await CacheStorageConformance.run(`case`, within: .seconds(60)) {
                RedisCacheStorage(RedisClient(server), seal: seal, prefix: "case\(number)")
            }
        }
    }

    static func entry(_ name: String, _ text: String, tags: Set<String> = []) -> CacheEntry {
        CacheEntry(key: CacheKey(name), body: Data(text.utf8), stored: Date(), tags: tags)
    }

    @Test func namesAndEncryptedValuesShowNothing() async throws {
        let redis = try RedisProcess()
        let client = RedisClient(redis.server)
        let storage = RedisCacheStorage(client, seal: try Self.seal(encrypts: true), prefix: "shop")
        try await storage.apply([.store(Self.entry("users/alice", "hunter2", tags: ["alice"]))])
        var all = CacheSelection()
        all.tag = "alice"
        try await storage.apply([
            .remove(all), .store(Self.entry("users/alice", String(repeating: "hunter2 ", count: 100_000))),
        ])
        let keys = try await client.send(RedisCommand("KEYS", "*")).elements ?? []
        #expect(!keys.isEmpty)
        for key in keys {
            let name = try #require(key.string)
            #expect(name.hasPrefix("shop:") && !name.contains("alice"))
            let dump = try await client.send(RedisCommand("DUMP", name)).data ?? Data()
            for word in ["alice", "hunter2"] { #expect(dump.firstRange(of: Data(word.utf8)) == nil) }
        }
    }

    @Test(arguments: [0, 1000, 61_440, 61_441, 1_500_000])
    func readsWithoutATaskGiveTheSame(size: Int) async throws {
        let redis = try RedisProcess()
        let (client, seal) = (RedisClient(redis.server), try Self.seal())
        let events = Events()
        let storage = RedisCacheStorage(client, seal: seal) { events.add($0) }
        let other = RedisCacheStorage(RedisClient(redis.server), seal: seal)
        let text = String(repeating: "x", count: size)
        let news = storage.invalidations()
        defer { withExtendedLifetime(news) {} }
        // True if the last read needed a task.
        var neededTask = false
        func read() async throws -> [String] {
            let found = await withCheckedContinuation { continuation in
                storage.entries(for: CacheKey("a"), at: Date()) { continuation.resume(returning: $0) }
            }
            neededTask = found == nil
            let bodies = try await storage.entries(for: CacheKey("a"), at: Date()).map {
                String(decoding: $0.body, as: UTF8.self)
            }
            return try found.map { try $0.get().map { String(decoding: $0.body, as: UTF8.self) } } ?? bodies
        }
        // The first read asks for the server's time, and the second one for generations.
        for _ in 0..<3 { #expect(try await read() == []) }
        try await other.apply([.store(Self.entry("a", text, tags: ["t"]))])
        for _ in 0..<3 { #expect(try await read() == [text]) }
        // A small entry needs none once all news has been read.
        while neededTask, size <= 61_440 { #expect(try await read() == [text]) }
        #expect(neededTask == (size > 61_440))
        var tag = CacheSelection()
        tag.tag = "t"
        try await other.apply([.remove(tag)])
        while try await read() != [] { await Task.yield() }
        try await other.apply([.store(Self.entry("a", text))])
        #expect(try await read() == [text])
        let key = try #require(try await client.send(RedisCommand("KEYS", "*:c:*}")).elements?.first?.string)
        _ = try await client.send(RedisCommand("HSET", key, "v-", "forged"))
        #expect(try await read() == [])
        #expect(neededTask && events.count == 1)
    }

    @Test func changedValuesAndThoseOfOtherKeysAreMissing() async throws {
        let redis = try RedisProcess()
        let client = RedisClient(redis.server)
        let events = Events()
        let storage = RedisCacheStorage(client, seal: try Self.seal()) { events.add($0) }
        for name in ["a", "b"] { try await storage.apply([.store(Self.entry(name, name))]) }
        let keys = try await client.send(RedisCommand("KEYS", "*:c:*")).elements?.compactMap(\.string) ?? []
        #expect(keys.count == 2)
        let values = try await [
            client.send(RedisCommand("HGET", keys[0], "v-")).data,
            client.send(RedisCommand("HGET", keys[1], "v-")).data,
        ]
        // The value of another key, one that was cut, and one of another kind.
        let value = try #require(values[0])
        var changed = value
        changed[changed.count - 1] ^= 1
        for bad in [try #require(values[1]), value.dropLast(3), changed, Data("{}".utf8), Data()] {
            _ = try await client.send(RedisCommand("HSET", keys[0], "v-", bad))
            let read =
                try await storage.entries(for: CacheKey("a"), at: Date())
                + storage.entries(for: CacheKey("b"), at: Date())
            #expect(read.count == 1)
        }
        #expect(events.count == 5)
        _ = try await client.send(RedisCommand("HSET", keys[0], "v-", value))
        let other = RedisCacheStorage(client, seal: try Self.seal("another key of at least 32 bytes.."))
        #expect(try await other.entries(for: CacheKey("a"), at: Date()).isEmpty)
        for key in keys { _ = try await client.send(RedisCommand("SET", key, "text")) }
        await #expect(throws: SluiceError.self) { try await storage.entries(for: CacheKey("a"), at: Date()) }
    }

    @Test func lostGenerationsAndPiecesMakeEntriesMissing() async throws {
        let redis = try RedisProcess()
        let client = RedisClient(redis.server)
        let storage = RedisCacheStorage(client, seal: try Self.seal())
        let large = String(repeating: "x", count: 1_200_000)
        try await storage.apply([.store(Self.entry("a", "a", tags: ["t"])), .store(Self.entry("b", large))])
        #expect(try await storage.entries(for: CacheKey("b"), at: Date()).count == 1)
        let pieces = try await client.send(RedisCommand("KEYS", "*:c:*:2")).elements?.compactMap(\.string) ?? []
        #expect(pieces.count == 1)
        _ = try await client.send(RedisCommand("DEL", pieces[0]))
        #expect(try await storage.entries(for: CacheKey("b"), at: Date()).isEmpty)
        for generation in try await client.send(RedisCommand("KEYS", "*:g:*")).elements?.compactMap(\.string) ?? [] {
            _ = try await client.send(RedisCommand("DEL", generation))
        }
        let other = RedisCacheStorage(client, seal: try Self.seal())
        #expect(
            try await other.entries(for: CacheKey("a"), at: Date()).isEmpty,
            "The removals from before are unknown."
        )
    }

    @Test func replacedAndAbandonedBodiesLeaveNoPieces() async throws {
        let redis = try RedisProcess()
        let client = RedisClient(redis.server)
        let storage = RedisCacheStorage(client, seal: try Self.seal())
        let large = String(repeating: "x", count: 1_200_000)
        func lifetimes() async throws -> [Int] {
            var lifetimes: [Int] = []
            for piece in try await client.send(RedisCommand("KEYS", "*:c:{*}:*")).elements?.compactMap(\.string) ?? [] {
                lifetimes.append(try await client.send(RedisCommand("PTTL", piece)).int ?? -1)
            }
            return lifetimes
        }
        for text in [large, large, "small"] { try await storage.apply([.store(Self.entry("a", text))]) }
        // Those who have read a replaced record can still read its pieces.
        #expect(try await lifetimes().count { $0 <= 10_000 && $0 != -1 } == 6)
        _ = try await client.send(RedisCommand("FLUSHALL"))
        try await storage.apply([.store(Self.entry("b", large)), .remove(CacheSelection(CacheKey("b")))])
        let writer = try await storage.writer(for: Self.entry("c", ""))
        try await writer.write(Data(large.utf8))
        let left = try await lifetimes()
        #expect(left.count == 2, "Only the pieces of the entry that is being written are left.")
        #expect(left.allSatisfy { (1...3_600_000).contains($0) })
    }

    @Test(arguments: [
        (61_440, 0), (61_441, 1), (524_288, 1), (524_289, 2), (1_048_576, 2), (1_048_577, 3), (3_000_000, 6),
    ])
    func largeBodiesAreStoredInPieces(size: Int, count: Int) async throws {
        let redis = try RedisProcess()
        let client = RedisClient(redis.server)
        let storage = RedisCacheStorage(client, seal: try Self.seal())
        let body = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 / 1000) })
        try await storage.apply([.store(CacheEntry(key: CacheKey("whole"), body: body, stored: Date()))])
        // The parts of the other body are larger and smaller than a piece, and some are empty.
        let writer = try await storage.writer(for: Self.entry("parts", ""))
        var rest = body
        for part in [0, 600_000, 1, 0, 1_500_000, 100] {
            try await writer.write(Data(rest.prefix(part)))
            rest = Data(rest.dropFirst(part))
        }
        try await writer.write(rest)
        try await writer.commit()
        #expect(try await client.send(RedisCommand("KEYS", "*:c:{*}:*")).elements?.count == 2 * count)
        for name in ["whole", "parts"] {
            #expect(try await storage.entries(for: CacheKey(name), at: Date()).map(\.body) == [body])
        }
    }

    /// Their pieces would outlive them.
    @Test(arguments: [(524_288, 0), (524_289, 2)])
    func bodiesOfEntriesThatAccessesExtendAreStoredInTheirRecords(size: Int, count: Int) async throws {
        let redis = try RedisProcess()
        let client = RedisClient(redis.server)
        let storage = RedisCacheStorage(client, seal: try Self.seal())
        func entry(_ name: String, _ body: Data) -> CacheEntry {
            CacheEntry(key: CacheKey(name), body: body, stored: Date(), expires: Date() + 100, renewal: .seconds(100))
        }
        let body = Data(repeating: 7, count: size)
        try await storage.apply([.store(entry("whole", body))])
        let writer = try await storage.writer(for: entry("parts", Data()))
        try await writer.write(body)
        try await writer.commit()
        #expect(try await client.send(RedisCommand("KEYS", "*:c:{*}:*")).elements?.count == 2 * count)
        for name in ["whole", "parts"] {
            #expect(try await storage.entries(for: CacheKey(name), at: Date()).map(\.body) == [body])
        }
    }

    @Test func largeBodiesInRecordsOfEarlierVersionsAreRead() async throws {
        let redis = try RedisProcess()
        let storage = RedisCacheStorage(RedisClient(redis.server), seal: try Self.seal())
        let text = String(repeating: "x", count: CacheRecord.pieceSize)
        _ = try await storage.store(Self.entry("a", text), nil)
        #expect(try await storage.entries(for: CacheKey("a"), at: Date()).map(\.body) == [Data(text.utf8)])
    }

    @Test(.timeLimit(.minutes(2))) func piecesHaveMoreTimeThanSmallCommands() async throws {
        let redis = try RedisProcess()
        var server = redis.server
        server.commandTimeout = .zero
        let storage = RedisCacheStorage(RedisClient(server), seal: try Self.seal())
        let piece = Data("x".utf8)
        while (try? await storage.storePiece(piece, 0, of: "0123456789abcdef", CacheKey("a"))) == nil {}
        await #expect(throws: SluiceError.self) { try await storage.entries(for: CacheKey("a"), at: Date()) }
    }

    /// The time of the request in microseconds is the fifth argument.
    @Test func laterRequestsAndRepeatedScriptsKeepTheirBodies() async throws {
        let redis = try RedisProcess()
        let client = RedisClient(redis.server)
        let now = Int(Date().timeIntervalSince1970 * 1e6)
        func store(_ body: String, _ time: Int, number: Int = 1) async throws -> [RedisValue] {
            let arguments: [any RedisArgument] = ["-", "record", body, 100_000, time, "sender", 1000, number]
            return try await client.run(CacheScripts.store, keys: ["entry"], arguments: arguments).elements ?? []
        }
        #expect(try await store("first", now - 10_000_000).map(\.string) == [nil, ""])
        // The reply was lost, and the command is sent again.
        #expect(try await store("first", now - 10_000_000).map(\.string) == [nil, ""])
        #expect(try await store("second", now - 5_000_000).map(\.string) == [nil, "first"])
        #expect(try await store("late", now - 6_000_000) == [.integer(0)])
        #expect(try await store("third", now - 5_000_500).map(\.string) == [nil, "second"])
        // The clock of the server was set back.
        #expect(try await store("future", now + 100_000_000).map(\.string) == [nil, "third"])
        #expect(try await store("fourth", now).map(\.string) == [nil, "future"])
        // A call whose time was over runs after a later removal by the same process.
        _ = try await client.run(CacheScripts.remove, keys: ["entry"], arguments: ["", 300_000, "sender", 2])
        #expect(try await store("late", now) == [.integer(0)])
        #expect(try await store("fifth", now, number: 3).map(\.string) == [nil, ""])
    }

    @Test(arguments: [10, 1_200_000])
    func uselessRecordsAreRemovedByARead(size: Int) async throws {
        let redis = try RedisProcess()
        let client = RedisClient(redis.server)
        let storage = RedisCacheStorage(client, seal: try Self.seal())
        var tag = CacheSelection()
        tag.tag = "t"
        func read() async throws -> Int { try await storage.entries(for: CacheKey("a"), at: Date()).count }
        // A removal of everything with a tag leaves the records.
        for _ in 0..<2 {
            let body = Data(repeating: 7, count: size)
            let variant = CacheEntry(key: CacheKey("a"), variant: "v", body: body, stored: Date(), tags: ["t"])
            try await storage.apply([.store(variant), .store(Self.entry("a", "plain"))])
            #expect(try await read() == 2)
            try await storage.apply([.remove(tag)])
            #expect(try await read() == 1)
            let key = try #require(try await client.send(RedisCommand("KEYS", "*:c:*}")).elements?.first?.string)
            // Those of the other record stay: its value, and the time of its request.
            while try await client.send(RedisCommand("HLEN", key)).int != 2 {}
            while try await client.send(RedisCommand("KEYS", "*:c:{*}:*")).elements?.isEmpty == false {}
            // The next read removes nothing before this removal has ended.
            while storage.discarding.withLock({ !$0.isEmpty }) { await Task.yield() }
        }
        // One that was changed.
        let key = try #require(try await client.send(RedisCommand("KEYS", "*:c:*}")).elements?.first?.string)
        var value = try #require(try await client.send(RedisCommand("HGET", key, "v-")).data)
        value[value.count - 1] ^= 1
        _ = try await client.send(RedisCommand("HSET", key, "v-", value))
        #expect(try await read() == 0)
        while try await client.send(RedisCommand("EXISTS", key)).int == 1 {}
    }

    @Test func recordsThatOtherProcessesCanReadAreKept() async throws {
        let redis = try RedisProcess()
        let client = RedisClient(redis.server)
        let storage = RedisCacheStorage(client, seal: try Self.seal())
        try await storage.apply([.store(Self.entry("a", "1"))])
        let key = try #require(try await client.send(RedisCommand("KEYS", "*:c:*}")).elements?.first?.string)
        func isMissing(_ storage: RedisCacheStorage) async throws -> Bool {
            let isEmpty = try await storage.entries(for: CacheKey("a"), at: Date()).isEmpty
            while storage.discarding.withLock({ !$0.isEmpty }) { await Task.yield() }
            return isEmpty
        }
        // The machines of a fleet begin to encrypt one after the other.
        #expect(try await isMissing(RedisCacheStorage(client, seal: Self.seal(encrypts: true))))
        // Generations that were evicted are known to processes that have read them before.
        for name in try await client.send(RedisCommand("KEYS", "*:g:*")).elements?.compactMap(\.string) ?? [] {
            _ = try await client.send(RedisCommand("DEL", name))
        }
        #expect(try await isMissing(RedisCacheStorage(client, seal: Self.seal())))
        #expect(try await client.send(RedisCommand("EXISTS", key)).int == 1)
    }

    @Test func recordThatWasReplacedIsNotDiscarded() async throws {
        let redis = try RedisProcess()
        let client = RedisClient(redis.server)
        _ = try await client.send(RedisCommand("HSET", "k", "va", "old", "ba", "body", "xa", 1, "qa", 2, "vb", "other"))
        func discard(_ field: String, _ value: String) async throws -> [RedisValue]? {
            try await client.run(CacheScripts.discard, keys: ["k"], arguments: [field, value]).elements
        }
        for (field, value) in [("a", "new"), ("b", "old"), ("c", "old"), ("c", "")] {
            #expect(try await discard(field, value) == [])
        }
        #expect(try await client.send(RedisCommand("HLEN", "k")).int == 5)
        #expect(try await discard("a", "old") == [.text("body")])
        #expect(try await discard("a", "old") == [])
        #expect(try await discard("b", "other") == [])
        #expect(try await client.send(RedisCommand("EXISTS", "k")).int == 0)
    }

    /// Anybody who may write to the server can add messages.
    @Test(.timeLimit(.minutes(2))) func forgedMessagesAreGaps() async throws {
        let redis = try RedisProcess()
        let client = RedisClient(redis.server)
        let storage = RedisCacheStorage(RedisClient(redis.server), seal: try Self.seal())
        let other = RedisCacheStorage(RedisClient(redis.server), seal: try Self.seal())
        var news = try #require(storage.invalidations()).makeAsyncIterator()
        #expect(await news.next() == .everything)
        for number in [Int.max, .max, .min] {
            let command = RedisCommand("XADD", "sluice:{feed}", "*", "s", "x", "n", "\(number)", "m", "x")
            _ = try await client.send(command)
        }
        // Elements without the fields of a message.
        for field in ["n", "s", "m", "x"] {
            _ = try await client.send(RedisCommand("XADD", "sluice:{feed}", "*", field, "1"))
        }
        #expect(await news.next() == .everything)
        try await other.apply([.store(Self.entry("a", "1"))])
        var next = await news.next()
        while next == .everything { next = await news.next() }
        #expect(next == .stored(CacheKey("a")))
        // Another process begins after the forged messages, and one after an element without the fields of a message.
        for name in ["b", "c"] {
            let late = RedisCacheStorage(RedisClient(redis.server), seal: try Self.seal())
            var lateNews = try #require(late.invalidations()).makeAsyncIterator()
            #expect(await lateNews.next() == .everything)
            try await other.apply([.store(Self.entry(name, "1"))])
            #expect(await lateNews.next() == .stored(CacheKey(name)))
            _ = try await client.send(RedisCommand("XADD", "sluice:{feed}", "*", "x", "1"))
            withExtendedLifetime(late) {}
        }
    }

    @Test func entriesExpireOnTheServer() async throws {
        let redis = try RedisProcess()
        let client = RedisClient(redis.server)
        let storage = RedisCacheStorage(client, seal: try Self.seal(), maximumAge: .seconds(1000))
        let short = CacheEntry(key: CacheKey("a"), body: Data(), stored: Date(), expires: Date() + 100)
        try await storage.apply([.store(short), .store(Self.entry("b", ""))])
        let left = try await [
            client.send(
                RedisCommand("PTTL", try #require(await client.send(RedisCommand("KEYS", "*:c:*")).elements?[0].string))
            ).int ?? 0,
            client.send(
                RedisCommand("PTTL", try #require(await client.send(RedisCommand("KEYS", "*:c:*")).elements?[1].string))
            ).int ?? 0,
        ].sorted()
        #expect(90_000...100_000 ~= left[0] && 900_000...1_000_000 ~= left[1])
    }

    @Test func responsesToRequestsFromBeforeARemovalAreNotStored() async throws {
        let redis = try RedisProcess()
        let (one, other) = (
            RedisCacheStorage(RedisClient(redis.server), seal: try Self.seal()),
            RedisCacheStorage(RedisClient(redis.server), seal: try Self.seal())
        )
        func response(_ name: String, requested: Date) -> CacheEntry {
            let response = StoredResponse(
                method: .get,
                url: name,
                head: HTTPResponse(status: .ok),
                requested: requested,
                received: Date()
            )
            return CacheEntry(key: CacheKey(name), response: response, body: Data(), stored: Date(), tags: ["t"])
        }
        let before = Date() - 10
        var news = try #require(one.invalidations()).makeAsyncIterator()
        var tag = CacheSelection()
        tag.tag = "t"
        for (name, removal) in [("a", CacheSelection(CacheKey("a"))), ("b", tag)] {
            try await one.apply([.store(response(name, requested: before))])
            #expect(try await other.entries(for: CacheKey(name), at: Date()).count == 1)
            try await other.apply([.remove(removal)])
            try await one.apply([.store(response(name, requested: before))])
            // The process that has sent the request drops the response from its memory, too: because the storage refuses it, or
            // because of the removal, of which it may learn a moment later.
            let ends: [CacheInvalidation] = [.removed(CacheSelection(CacheKey(name), variant: "")), .removed(removal)]
            while let next = await news.next(), !ends.contains(next) {}
            #expect(
                try await other.entries(for: CacheKey(name), at: Date()).isEmpty,
                "The response may be older than the removal."
            )
            // The process of the removal knows itself which of its requests are older.
            try await other.apply([.store(response(name, requested: Date()))])
            #expect(try await one.entries(for: CacheKey(name), at: Date()).count == 1)
        }
    }

    @Test func clocksOfMachinesMayDiffer() async throws {
        let redis = try RedisProcess()
        let (slow, fast) = (ShiftedClock(-400), ShiftedClock(700))
        let writer = RedisCacheStorage(RedisClient(redis.server), seal: try Self.seal(), clock: slow)
        let reader = RedisCacheStorage(RedisClient(redis.server), seal: try Self.seal(), clock: fast)
        let entry = CacheEntry(key: CacheKey("a"), body: Data(), stored: slow.date, expires: slow.date + 60)
        try await writer.apply([.store(entry)])
        let read = try #require(await reader.entries(for: entry.key, at: fast.date).first)
        #expect(abs(read.stored.timeIntervalSince(fast.date)) < 20)
        #expect(abs((read.expires ?? .distantPast).timeIntervalSince(fast.date + 60)) < 20)
        #expect(try await reader.entries(for: entry.key, at: fast.date + 120).isEmpty)
    }

    @Test func leasesAreGivenToOneAtATime() async throws {
        let redis = try RedisProcess()
        let (one, other) = (
            RedisCacheStorage(RedisClient(redis.server), seal: try Self.seal()),
            RedisCacheStorage(RedisClient(redis.server), seal: try Self.seal())
        )
        let key = CacheKey("a")
        let lease = try #require(await one.lease(for: key, waits: true))
        #expect(try await other.lease(for: key, waits: false) == nil)
        #expect(try await other.lease(for: CacheKey("b"), waits: false) != nil)
        async let waiting = other.lease(for: key, waits: true)
        lease.release()
        // Either the news of the release arrives, or the lease is free at the next attempt.
        try await waiting?.release()
        var next: CacheLease?
        while next == nil { next = try await other.lease(for: key, waits: true) }
        #expect(try await one.lease(for: key, waits: false) == nil)
        next?.release()
    }

    @Test func leaseThatWasAbandonedIsNotGivenLater() async throws {
        let redis = try RedisProcess()
        let client = RedisClient(redis.server)
        func run(_ script: RedisScript, _ owner: String) async throws -> Int? {
            try await client.run(script, keys: ["{a}", "{a}:\(owner)"], arguments: [owner, 20_000]).int
        }
        #expect(try await run(CacheScripts.lease, "one") == 1)
        #expect(try await run(CacheScripts.lease, "two") == 0)
        #expect(try await run(CacheScripts.release, "two") == 0)
        #expect(try await run(CacheScripts.release, "one") == 1)
        // Commands whose replies came too late.
        for owner in ["one", "two"] { #expect(try await run(CacheScripts.lease, owner) == 0) }
        let left = try await client.send(RedisCommand("PTTL", "{a}:two")).int ?? -1
        #expect((1...20_000).contains(left))
        #expect(try await run(CacheScripts.lease, "three") == 1)
        // A release by an owner that has the lease.
        for expected in [1, 0] {
            let reply = try await client.run(CacheScripts.release, keys: ["{a}"], arguments: ["three", 20_000])
            #expect(reply.int == expected)
        }
        #expect(try await client.send(RedisCommand("EXISTS", "{a}:three")).int == 0)
    }

    @Test func waitingForALeaseIsLimited() async throws {
        let redis = try RedisProcess()
        let (holder, waiter) = (
            RedisCacheStorage(RedisClient(redis.server), seal: try Self.seal(), leaseDuration: .seconds(600)),
            RedisCacheStorage(RedisClient(redis.server), seal: try Self.seal(), leaseDuration: .milliseconds(300))
        )
        let lease = try await holder.lease(for: CacheKey("a"), waits: true)
        #expect(try await waiter.lease(for: CacheKey("a"), waits: true) == nil)
        lease?.release()
    }

    @Test func longestLeaseIsLimited() async throws {
        let redis = try RedisProcess()
        let client = RedisClient(redis.server)
        let storage = RedisCacheStorage(client, seal: try Self.seal(), leaseDuration: .seconds(Int64.max))
        let lease = try await storage.lease(for: CacheKey("a"), waits: false)
        let name = try #require(await client.send(RedisCommand("KEYS", "*:l:*")).elements?.first?.string)
        let left = try await client.send(RedisCommand("PTTL", name)).int ?? -1
        #expect(left > 9_000_000_000_000)
        lease?.release()
    }

    @Test func leasesOfTheDeadEnd() async throws {
        let redis = try RedisProcess()
        let client = RedisClient(redis.server)
        let storage = RedisCacheStorage(client, seal: try Self.seal(), leaseDuration: .seconds(20))
        let lease = try await storage.lease(for: CacheKey("a"), waits: false)
        let name = try #require(await client.send(RedisCommand("KEYS", "*:l:*")).elements?.first?.string)
        // A holder that has died no longer renews its lease.
        _ = try await client.send(RedisCommand("SET", name, "dead", "PX", 200))
        #expect(try await storage.lease(for: CacheKey("a"), waits: true) != nil)
        lease?.release()
    }
}

/// The events of a storage.
final class Events: Sendable {
    private let events = Mutex<[CacheEvent]>([])
    var count: Int { events.withLock { $0.count } }
    func add(_ event: CacheEvent) { events.withLock { $0.append(event) } }
}

/// The system's clock with another date.
struct ShiftedClock: SluiceClock {
    private let shift: Double
    init(_ shift: Double) { self.shift = shift }
    var now: ContinuousClock.Instant { .now }
    var date: Date { Date() + shift }
    func sleep(for duration: Duration) async throws { try await Task.sleep(for: duration) }
}
#endif

#if os(Linux)
import Foundation
import Sluice
import SluiceTesting
import Testing

@testable import SluiceRedis

/// The values that processes exchange through the server.
struct CacheCodecTests {
    static let selections: [CacheSelection] = {
        var all: [CacheSelection] = [
            CacheSelection(), CacheSelection(CacheKey("n", in: .http, partition: "p"), variant: ""),
        ]
        var some = CacheSelection()
        (some.tag, some.partition) = ("ü", "")
        all.append(some)
        some.spaces = []
        all.append(some)
        some.spaces = [.values, .http]
        some.name = ""
        all.append(some)
        return all
    }()

    static var messages: [ChangeMessage] {
        let generations = [ChangeMessage.Generation(name: "g", generation: CacheGeneration(value: 7))]
        return [.stored(CacheKey("https://a/ü", in: .http, partition: "p")), .released("l")]
            + selections.map { .removed($0, generations) } + selections.map { .removed($0, []) }
    }

    @Test(arguments: messages)
    func messagesAreReadAsTheyWereWritten(_ message: ChangeMessage) {
        let bytes = message.encoded
        #expect(ChangeMessage(bytes) == message)
        for length in 0..<bytes.count { #expect(ChangeMessage(bytes.prefix(length)) == nil) }
        #expect(ChangeMessage(bytes + [0]) == nil)
        #expect(ChangeMessage([2] + bytes.dropFirst()) == nil, "Another version is not read.")
    }

    static let entry = CacheEntry(
        key: CacheKey("a"),
        variant: "v",
        body: Data("body".utf8),
        stored: Date(timeIntervalSince1970: 1_700_000_000),
        expires: Date(timeIntervalSince1970: 1_700_000_600),
        renewal: .seconds(600),
        tags: ["x", "y"]
    )

    @Test(arguments: [nil, CacheRecord.Blob(id: "0123456789abcdef", pieces: 3, length: 1_500_000)])
    func recordsAreReadAsTheyWereWritten(_ blob: CacheRecord.Blob?) throws {
        let generations = [CacheGeneration(value: 3), CacheGeneration(value: .max)]
        let bytes = CacheRecord(Self.entry, generations: generations, blob: blob).encoded(clockOffset: 90)
        let read = try #require(CacheRecord(bytes, for: Self.entry.key, clockOffset: 90))
        #expect(read.generations == generations && read.blob == blob)
        #expect(read.entry.body == Self.entry.body && read.entry.variant == "v" && read.entry.tags == ["x", "y"])
        #expect(read.entry.stored == Self.entry.stored && read.entry.expires == Self.entry.expires)
        for length in 0..<bytes.count {
            #expect(CacheRecord(bytes.prefix(length), for: Self.entry.key, clockOffset: 90) == nil)
        }
        #expect(CacheRecord(bytes, for: CacheKey("b"), clockOffset: 90) == nil, "The checksum contains the key.")
    }

    @Test func timesAreThoseOfTheReader() throws {
        // A machine whose clock is 90 seconds behind the server's writes, and one whose clock is 300 seconds ahead reads.
        let bytes = CacheRecord(Self.entry, generations: []).encoded(clockOffset: 90)
        let read = try #require(CacheRecord(bytes, for: Self.entry.key, clockOffset: -300))
        #expect(read.entry.stored == Self.entry.stored + 390)
        #expect(read.entry.expires == Self.entry.stored + 990)
    }

    @Test(arguments: [
        "", "0123456789abcdef", "0123456789abcdef -1", "0123456789abcdef 16385", "0123 4", "0123456789abcdef 1 2",
    ])
    func damagedReferencesAreIgnored(_ reference: String) {
        #expect(CacheRecord.Blob(reference: reference) == nil)
    }

    @Test func referencesNameThePieces() {
        let blob = CacheRecord.Blob(
            reference: CacheRecord.Blob(id: "0123456789abcdef", pieces: 7, length: 99).reference
        )
        #expect(blob?.id == "0123456789abcdef" && blob?.pieces == 7)
    }

    /// A selection is removed by scopes that contain all of its entries, and only those of the selection if it has no name.
    @Test(arguments: 0..<200)
    func removalsChangeTheScopesOfTheirEntries(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        func any(_ texts: [String]) -> String { texts.randomElement(using: &random) ?? "" }
        var selection = CacheSelection()
        if Bool.random(using: &random) { selection.partition = any(["", "p", "q"]) }
        if Bool.random(using: &random) { selection.tag = any(["x", "y"]) }
        if Bool.random(using: &random), selection.partition != nil { selection.spaces = [.values] }
        let removed = Set(CacheScope.scopes(removedBy: selection))
        for _ in 0..<50 {
            let space = [CacheKey.Space.values, .responses, .http].randomElement(using: &random) ?? .http
            let tags = Set(["x", "y", "z"].filter { _ in Bool.random(using: &random) })
            let entry = CacheEntry(
                key: CacheKey(any(["a", "b"]), in: space, partition: any(["", "p", "q"])),
                body: Data(),
                stored: .distantPast,
                tags: tags
            )
            let scopes = CacheScope.scopes(of: entry.key, tags: tags)
            #expect(!removed.isDisjoint(with: scopes) == selection.contains(entry))
        }
    }

    @Test func scopesHaveDifferentTexts() {
        let scopes: [CacheScope] = [
            .everything, .partition("", .values), .partition("a", .values), .partition("a", .http), .tag(""), .tag("a"),
            .tagOfPartition("a", "b", .values), .tagOfPartition("ab", "", .values), .tagOfPartition("", "ab", .values),
        ]
        #expect(Set(scopes.map(\.text)).count == scopes.count)
        let precomposed = CacheScope.scopes(of: CacheKey("a"), tags: ["b", "a", "é"])
        #expect(
            precomposed == CacheScope.scopes(of: CacheKey("z"), tags: ["é", "a", "b"]),
            "The order is that of the bytes."
        )
    }

    @Test func laterGenerationsAreKept() {
        var table = GenerationTable()
        table.record(CacheGeneration(value: 5), of: "a")
        table.record(CacheGeneration(value: 3), of: "a")
        #expect(table["a"] == CacheGeneration(value: 5), "A late reply must not bring back an old generation.")
        table.record(CacheGeneration(value: 7), of: "a", isOwn: true)
        #expect(table.isOwn(CacheGeneration(value: 7), of: "a") && !table.isOwn(CacheGeneration(value: 5), of: "a"))
        for number in 0..<GenerationTable.limit { table.record(CacheGeneration(value: 1), of: "\(number)") }
        #expect(table["a"] == nil, "The memory is bounded.")
    }

    @Test func generationsOfRemovalsOutdateRequests() {
        let removal = CacheGeneration(value: 2 * 1_000_000_000 + 1)
        #expect(removal.isRemoval(since: 999) && removal.isRemoval(since: 1000.04) && !removal.isRemoval(since: 1001))
        #expect(!CacheGeneration(value: 2 * 1_000_000_000).isRemoval(since: 0), "The first generation removes nothing.")
    }

    @Test func serverTimeFollowsTheMonotonicClock() throws {
        let clock = TestClock()
        let sent = clock.now
        let reply = RedisValue.array([.bytes(Data("1700000000".utf8)), .bytes(Data("500000".utf8))])
        let time = try #require(ServerTime(reply, sent: sent, received: sent + .milliseconds(20)))
        let offset = time.offset(on: clock)
        #expect(abs(clock.date.timeIntervalSince1970 + offset - 1_700_000_000.49) < 0.001)
        #expect(time.isRecent(at: sent + .seconds(59)) && !time.isRecent(at: sent + .seconds(61)))
        for reply in [
            RedisValue.null, .array([]), .array([.integer(0), .integer(0)]), .array([.integer(5)]), .integer(4),
            .array([.integer(.max), .integer(0)]), .array([.integer(1), .integer(.max)]),
        ] {
            #expect(ServerTime(reply, sent: sent, received: sent) == nil)
        }
    }
}
#endif

import Foundation
import SluiceRedis
import Testing

struct SlotMapTests {
    private static func node(_ host: RedisValue, _ port: Int64, _ more: RedisValue...) -> RedisValue {
        .array([host, .integer(port), .text("id")] + more)
    }

    private static func slot(_ number: Int) throws -> HashSlot { try #require(HashSlot(number)) }

    private static func address(_ host: String, _ port: Int) throws -> NodeAddress {
        try #require(NodeAddress(host: host, port: port))
    }

    @Test func rangesHaveAPrimaryAndReplicas() throws {
        let reply = RedisValue.array([
            .array([.integer(0), .integer(99), Self.node(.text("a"), 1), Self.node(.text("r"), 9)]),
            .array([.integer(200), .integer(200), Self.node(.text("::1"), 2)]),
            .array([.integer(300), .integer(16_383), Self.node(.text("a"), 1)]),
        ])
        let map = try #require(SlotMap(reply, from: "seed", prefersNames: false))
        #expect(map.primaries == [try Self.address("a", 1), try Self.address("::1", 2)])
        #expect(map.replicas == [try Self.address("r", 9)])
        #expect(try [0, 99].map { map[try Self.slot($0)]?.host } == ["a", "a"])
        #expect(map[try Self.slot(100)] == nil)
        #expect(try [200, 16_383].map { map[try Self.slot($0)]?.host } == ["::1", "a"])
    }

    @Test func missingHostIsThatOfTheServerThatAnswers() throws {
        let reply = RedisValue.array([
            .array([.integer(0), .integer(1), Self.node(.null, 1)]),
            .array([.integer(2), .integer(3), Self.node(.text(""), 2)]),
            .array([.integer(4), .integer(5), Self.node(.text("?"), 3)]),
        ])
        let map = try #require(SlotMap(reply, from: "seed", prefersNames: false))
        #expect(map.primaries == [try Self.address("seed", 1), try Self.address("seed", 2)])
        #expect(map[try Self.slot(4)] == nil)
        #expect(SlotMap(reply, from: nil, prefersNames: false)?.primaries == [])
    }

    @Test(arguments: [
        RedisValue.array([.text("hostname"), .text("a.example")]),
        .map([.init(key: .text("hostname"), value: .text("a.example"))]),
    ])
    func namesArePreferredForCertificates(names: RedisValue) throws {
        let reply = RedisValue.array([.array([.integer(0), .integer(1), Self.node(.text("10.0.0.1"), 1, names)])])
        #expect(SlotMap(reply, from: nil, prefersNames: true)?.primaries.map(\.host) == ["a.example"])
        #expect(SlotMap(reply, from: nil, prefersNames: false)?.primaries.map(\.host) == ["10.0.0.1"])
        // Redirections name the address that the cluster prefers.
        let map = try #require(SlotMap(reply, from: nil, prefersNames: true))
        #expect(map.named(try Self.address("10.0.0.1", 1)).host == "a.example")
        #expect(map.named(try Self.address("10.0.0.1", 2)).host == "10.0.0.1")
    }

    @Test(arguments: [
        RedisValue.text("OK"), .null, .array([.integer(1)]), .array([.array([.integer(5), .integer(4)])]),
        .array([.array([.integer(0), .integer(16_384)])]), .array([.array([.integer(-1), .integer(4)])]),
    ])
    func otherRepliesAreNoMap(reply: RedisValue) {
        #expect(SlotMap(reply, from: "seed", prefersNames: false) == nil)
    }

    @Test func numberOfNodesIsLimited() throws {
        let ranges = (0...SlotMap.maximumNodes).map { number in
            RedisValue.array([.integer(0), .integer(1), Self.node(.text("h\(number)"), 1)])
        }
        #expect(SlotMap(.array(ranges), from: nil, prefersNames: false) == nil)
        #expect(SlotMap(.array(ranges.dropLast()), from: nil, prefersNames: false) != nil)
    }

    @Test func replicaOfManyRangesIsOne() throws {
        let ranges = (0...2 * SlotMap.maximumNodes).map { number in
            let slot = RedisValue.integer(Int64(number))
            return RedisValue.array([slot, slot, Self.node(.text("a"), 1), Self.node(.text("r"), 1)])
        }
        let map = try #require(SlotMap(.array(ranges), from: nil, prefersNames: false))
        #expect(map.primaries.count == 1 && map.replicas.count == 1)
        #expect(map[try Self.slot(2 * SlotMap.maximumNodes)]?.host == "a")
    }

    @Test func replicasBeyondTheLimitAreLeftOut() throws {
        let replicas = (0...SlotMap.maximumNodes).map { Self.node(.text("r\($0)"), 1) }
        let range = RedisValue.array([.integer(0), .integer(16_383), Self.node(.text("a"), 1)] + replicas)
        let map = try #require(SlotMap(.array([range]), from: nil, prefersNames: false))
        #expect(map.replicas.count == SlotMap.maximumNodes)
        #expect(map[try Self.slot(16_383)]?.host == "a")
    }

    @Test func slotsMove() throws {
        var map = SlotMap()
        let slot = try Self.slot(7)
        #expect(map[slot] == nil)
        map.move(slot, to: try Self.address("a", 1))
        map.move(slot, to: try Self.address("b", 1))
        #expect(map[slot]?.host == "b")
        #expect(map[try Self.slot(8)] == nil)
    }

    @Test(arguments: [
        ("MOVED 3999 10.0.0.7:6381", "10.0.0.7", 6381, false), ("ASK 3999 node.example:1", "node.example", 1, true),
        ("MOVED 3999 ::1:6381", "::1", 6381, false), ("MOVED 3999 :6381", "seed", 6381, false),
    ])
    func redirectionsNameANode(text: String, host: String, port: Int, isAsk: Bool) throws {
        let redirection = try #require(Redirection(RedisReplyError(text), from: "seed"))
        #expect(redirection.address.host == host && redirection.address.port == port)
        #expect(redirection.slot.number == 3999 && redirection.isAsk == isAsk)
    }

    @Test(arguments: [
        "MOVED 3999", "MOVED 16384 h:1", "MOVED x h:1", "MOVED 1 h", "MOVED 1 h:0", "MOVED 1 h:65536", "MOVED 1 ?:1",
        "MOVED 1 h:1 x",
        "MOVED 1 a/b:1", "MOVED 1 u@h:1", "MOVED 1 \u{e9}:1", "ERR 1 h:1", "ERR MOVED 1 h:1",
    ])
    func otherErrorsAreNoRedirections(text: String) {
        #expect(Redirection(RedisReplyError(text), from: "seed") == nil)
    }

    @Test func emptyHostNeedsOneOfTheServer() {
        #expect(Redirection(RedisReplyError("MOVED 1 :1"), from: nil) == nil)
    }
}

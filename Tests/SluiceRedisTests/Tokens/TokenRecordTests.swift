#if os(Linux)
import Foundation
import Sluice
import Testing

@testable import SluiceRedis

/// The values of the token store.
struct TokenRecordTests {
    private static func record(_ version: Int, _ access: String) -> TokenRecord {
        TokenRecord(version: version, token: .init(accessToken: access))
    }

    @Test func olderValuesDoNotReplaceNewerOnes() {
        let value = StoredToken.value(Data([1]))
        var memory = TokenMemory()
        let steps: [(StoredToken, TokenRecord?, String?)] = [
            (.missing, nil, nil),
            (value, Self.record(5, "five"), "five"),
            (value, Self.record(5, "five"), "five"),
            // After a failover, or written by an attacker.
            (value, Self.record(4, "four"), "five"),
            (value, Self.record(7, "seven"), "seven"),
            (.deleted, nil, nil),
            (.deleted, nil, nil),
            (value, Self.record(7, "seven"), nil),
            (value, Self.record(8, "eight"), "eight"),
            (.missing, nil, nil),
            (value, Self.record(8, "eight"), "eight"),
        ]
        for (number, (stored, record, expected)) in steps.enumerated() {
            #expect(memory.found(stored, record)?.accessToken == expected, "step \(number)")
        }
        memory.keep(.init(accessToken: "nine"), version: 9)
        #expect(memory.found(value, Self.record(8, "eight"))?.accessToken == "nine")
        memory.keep(.init(accessToken: "local"), version: 0)
        #expect(memory.token?.accessToken == "local" && memory.version == 9)
    }

    @Test(arguments: [
        (RedisValue.null, StoredToken.missing as StoredToken?), (.boolean(false), .missing),
        (.bytes(Data()), .deleted), (.bytes(Data([1])), .value(Data([1]))), (.integer(1), nil), (.array([]), nil),
    ])
    func repliesAreStoredTokens(reply: RedisValue, expected: StoredToken?) {
        #expect((try? StoredToken(reply)) == expected)
    }

    @Test func repliesAreLocks() throws {
        let now = ContinuousClock.now
        #expect(try HeldToken(.array([]), owner: "o", until: now) == nil)
        let held = try HeldToken(.array([.text("17"), .null]), owner: "o", until: now)
        #expect(held?.version == 17 && held?.fence == "17" && held?.stored == .missing)
        for reply in [
            .null, .integer(1), .text("1"), .array([.text("1")]), .array([.text("inf"), .null]),
            .array([.null, .null]), .array([.text("9223372036854775807"), .null]),
            .array([.text("1"), .integer(1)]), .array([.text("1"), .null, .null]),
        ] as [RedisValue] {
            #expect(throws: RedisError.self) { try HeldToken(reply, owner: "o", until: now) }
        }
    }
}
#endif

import Foundation
import SluiceRedis
import Testing

struct CommandKeysTests {
    /// Commands whose keys begin with “k”.
    static let commands = """
        GET k | SET k v EX 5 | INCR k | HSET k f v | ZADD k 1 m | EXPIRE k 5 | XADD k * f v | DEL k k2 k3 | \
        MGET k k2 | EXISTS k | UNLINK k | TOUCH k k2 | MSET k v k2 v | MSETNX k v k2 v | RENAME k k2 | \
        COPY k k2 REPLACE | SMOVE k k2 v | LMOVE k k2 LEFT LEFT | BLMOVE k k2 LEFT LEFT 1 | RPOPLPUSH k k2 | \
        BRPOPLPUSH k k2 1 | LCS k k2 LEN | BLPOP k k2 1 | BRPOP k 1 | BZPOPMIN k k2 1 | BZPOPMAX k 1 | \
        BITOP AND k k2 k3 | SINTERSTORE k k2 k3 | SUNION k k2 | SDIFF k k2 | PFMERGE k k2 | PFCOUNT k k2 | \
        SINTERCARD 2 k k2 LIMIT 5 | ZUNION 2 k k2 WEIGHTS 1 2 | ZINTERCARD 1 k | ZDIFF 2 k k2 | ZINTER 1 k | \
        ZUNIONSTORE k 2 k2 k3 WEIGHTS 1 2 | ZINTERSTORE k 1 k2 | ZDIFFSTORE k 2 k2 k3 | LMPOP 2 k k2 LEFT | \
        ZMPOP 1 k MIN | BLMPOP 1 2 k k2 LEFT | BZMPOP 1 1 k MIN | EVAL source 2 k k2 a | EVALSHA hash 1 k a | \
        EVAL source 0 a | EVAL_RO source 1 k | FCALL name 1 k a | XREAD BLOCK 5 STREAMS k k2 0 0 | \
        XREAD COUNT 1 streams k $ | XREADGROUP GROUP g c STREAMS k > | \
        XREADGROUP GROUP streams c STREAMS k > | XGROUP CREATE k g $ | XINFO STREAM k | \
        OBJECT ENCODING k | MEMORY USAGE k | GEOSEARCHSTORE k k2 FROMMEMBER m BYRADIUS 1 m | \
        ZRANGESTORE k k2 0 1 | PING | ECHO v | INFO memory | SCAN 0 | PUBLISH c m | CLIENT LIST | \
        CONFIG GET a | SCRIPT LOAD source | WAIT 1 5 | DBSIZE | FLUSHALL | TIME
        """.components(separatedBy: " | ")

    private static func command(_ text: String) -> RedisCommand {
        let words = text.split(separator: " ").map { String($0) }
        return RedisCommand(words[0], arguments: Array(words.dropFirst()))
    }

    @Test(arguments: commands)
    func keysAreThoseWordsThatStandForOnes(text: String) {
        let words = text.split(separator: " ").map { String($0) }
        let keys = words.indices.filter { ["k", "k2", "k3"].contains(words[$0]) }
        #expect(CommandKeys.indices(of: Self.command(text)) == keys)
    }

    @Test(arguments: [
        "GET", "EVAL source", "EVAL source x k", "EVAL source -1 k", "EVAL source 9999999999999999999 k",
        "XREAD STREAMS", "XREAD",
        "ZUNIONSTORE", "BLPOP", "MIGRATE h p", "ZUNION 5",
    ])
    func incompleteCommandsHaveNoKey(text: String) {
        let keys = CommandKeys.indices(of: Self.command(text))
        let words = text.split(separator: " ").count
        #expect(keys.allSatisfy { $0 < words })
        #expect(CommandKeys(of: Self.command(text)) == .none)
    }

    @Test func keysHaveOneSlotOrSeveral() {
        let slot = HashSlot(key: Data("k".utf8))
        #expect(CommandKeys(of: Self.command("MGET k {k}2 a{k}")) == .slot(slot))
        #expect(CommandKeys(of: Self.command("EVAL source 2 k {k}2 other")) == .slot(slot))
        #expect(CommandKeys(of: Self.command("EVAL source 2 k k2")) == .severalSlots)
        #expect(CommandKeys(of: Self.command("UNKNOWN.COMMAND k k2")) == .slot(slot))
        #expect(CommandKeys(of: RedisCommand("PING")) == .none)
    }
}

#if os(Linux)
extension CommandKeysTests {
    /// The table with the knowledge of a real server.
    @Suite(.enabled(if: RedisProcess.canRun))
    struct OfARealServer {
        @Test func serverFindsTheSameKeysAndSlots() async throws {
            // The nodes of a cluster also listen on a port that is 10,000 higher, so the port must not be 0.
            let (redis, _) = try RedisProcess.onPort("--port", ["--cluster-enabled", "yes"])
            let client = RedisClient(redis.server)
            for text in CommandKeysTests.commands {
                let command = CommandKeysTests.command(text)
                let keys = CommandKeys.indices(of: command).map { command.words[$0] }
                let question = RedisCommand(
                    "COMMAND",
                    arguments: ["GETKEYS"] + command.words.map { $0 as any RedisArgument }
                )
                do {
                    let found = try await client.send(question).elements?.compactMap(\.data)
                    #expect(found == keys, "\(text)")
                } catch {
                    // The server answers with an error if there is no key.
                    #expect(keys.isEmpty && error.code == .refused, "\(text): \(error)")
                }
            }
            for _ in 0..<200 {
                let length = Int.random(in: 0...12)
                let key = Data((0..<length).map { _ in [0, 0x7B, 0x7D, 0x61, 0xFF].randomElement() ?? 0 })
                #expect(try await client.send(RedisCommand("CLUSTER", "KEYSLOT", key)).int == HashSlot(key: key).number)
            }
        }
    }
}
#endif

import SluiceFoundation

/// The keys of a command, which decide the node of a cluster that it is sent to.
package enum CommandKeys: Sendable, Hashable {
    /// The command has no key, so any node can execute it.
    case none
    case slot(HashSlot)
    /// The keys have several slots, so no node can execute the command.
    case severalSlots

    /// The places of the keys among the words of a command, of which the first is its name.
    private enum Layout {
        case none
        /// All words from one to the end, or to a number of words before the end.
        case all(from: Int = 1, butLast: Int = 0)
        /// A number of words, starting with the second.
        case first(Int)
        /// The word at an index.
        case at(Int)
        /// Every second word, starting with the second.
        case pairs
        /// As many words as the number at an index says, which they follow.
        case counted(at: Int)
        /// The second word, and those that the number after it counts.
        case countedAndDestination
        /// The first half of the words after `STREAMS`, which is searched from an index on.
        case streams(from: Int)
    }

    /// Finds the keys of a command. Of an unknown command, the first argument is the key.
    package init(of command: RedisCommand) {
        let words = command.words
        var result = CommandKeys.none
        for index in CommandKeys.indices(words, CommandKeys.layouts[command.name] ?? .at(1)) {
            let slot = HashSlot(key: words[index])
            switch result {
            case .none: result = .slot(slot)
            case .slot(slot): continue
            case .slot, .severalSlots:
                self = .severalSlots
                return
            }
        }
        self = result
    }

    /// The indices of the keys among the words of a command.
    package static func indices(of command: RedisCommand) -> [Int] {
        indices(command.words, layouts[command.name] ?? .at(1))
    }

    private static func indices(_ words: [Data], _ layout: Layout) -> [Int] {
        let end = words.count
        func clamped(_ start: Int, _ count: Int) -> [Int] { Array(start..<max(start, min(end, start + count))) }
        func count(at index: Int) -> Int {
            // A negative or too large number is an error of the server.
            index < end ? max(0, min(end, Int(String(decoding: words[index], as: UTF8.self)) ?? 0)) : 0
        }
        switch layout {
        case .none: return []
        case .all(let start, let last): return clamped(start, end - last - start)
        case .first(let count): return clamped(1, count)
        case .at(let index): return clamped(index, 1)
        case .pairs: return Array(stride(from: 1, to: end, by: 2))
        case .counted(let index): return clamped(index + 1, count(at: index))
        case .countedAndDestination: return clamped(1, 1) + clamped(3, count(at: 2))
        case .streams(let start):
            let mark = words.indices.dropFirst(start).first {
                String(decoding: words[$0], as: UTF8.self).uppercased() == "STREAMS"
            }
            return mark.map { clamped($0 + 1, (end - $0 - 1) / 2) } ?? []
        }
    }

    private static let layouts: [String: Layout] = {
        let names: [(String, Layout)] = [
            (
                """
                ACL ASKING AUTH BGREWRITEAOF BGSAVE CLIENT CLUSTER COMMAND CONFIG DBSIZE DEBUG DISCARD ECHO EXEC FAILOVER FLUSHALL \
                FLUSHDB FUNCTION HELLO INFO KEYS LASTSAVE LATENCY LOLWUT MODULE MONITOR MULTI PING PSUBSCRIBE PUBLISH PUBSUB \
                PUNSUBSCRIBE QUIT RANDOMKEY READONLY READWRITE REPLICAOF RESET ROLE SAVE SCAN SCRIPT SELECT SHUTDOWN SLAVEOF \
                SLOWLOG SUBSCRIBE SWAPDB TIME UNSUBSCRIBE UNWATCH WAIT WAITAOF
                """, .none
            ),
            (
                "DEL EXISTS MGET PFCOUNT PFMERGE SDIFF SDIFFSTORE SINTER SINTERSTORE SUNION SUNIONSTORE TOUCH UNLINK WATCH",
                .all()
            ),
            ("BLPOP BRPOP BZPOPMAX BZPOPMIN", .all(butLast: 1)),
            ("BITOP", .all(from: 2)),
            ("BLMOVE BRPOPLPUSH COPY GEOSEARCHSTORE LCS LMOVE RENAME RENAMENX RPOPLPUSH SMOVE ZRANGESTORE", .first(2)),
            ("MEMORY OBJECT XGROUP XINFO", .at(2)),
            ("MIGRATE", .at(3)),
            ("MSET MSETNX", .pairs),
            ("LMPOP SINTERCARD ZDIFF ZINTER ZINTERCARD ZMPOP ZUNION", .counted(at: 1)),
            ("BLMPOP BZMPOP EVAL EVALSHA EVALSHA_RO EVAL_RO FCALL FCALL_RO", .counted(at: 2)),
            ("ZDIFFSTORE ZINTERSTORE ZUNIONSTORE", .countedAndDestination),
            ("XREAD", .streams(from: 1)),
            // After the names of the group and of the consumer.
            ("XREADGROUP", .streams(from: 4)),
        ]
        let pairs = names.flatMap { names, layout in names.split(separator: " ").map { (String($0), layout) } }
        return Dictionary(pairs) { first, _ in first }
    }()
}

#if os(Linux)
import SluiceHTTP
import SluiceRedis
import SluiceTesting
import Testing

final class CommandPipelineTests {
    private var pipeline = CommandPipeline<Int>(maximumCommands: 8, maximumBytes: 100, overdueTimeout: .seconds(1))

    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    private func add(_ owner: Int, until deadline: Int64 = 50, isIdempotent: Bool = false) -> Bool {
        pipeline.add(owner, [UInt8(owner)], deadline: Self.time(deadline), isIdempotent: isIdempotent)
    }

    private func write(isWanted: (Int) -> Bool = { _ in true }) -> [UInt8] {
        var output: [UInt8] = []
        pipeline.write(to: &output, isWanted: isWanted)
        return output
    }

    /// The owner of the next reply: 0 if it is dropped, nil if there is none.
    private func reply() -> Int? {
        switch pipeline.received() {
        case .owner(let owner): owner
        case .dropped: 0
        case .unexpected: nil
        }
    }

    @Test func repliesBelongToCommandsInTheirOrder() {
        for owner in 1...3 { #expect(add(owner)) }
        #expect(write() == [1, 2, 3])
        #expect([reply(), reply(), reply(), reply()] == [1, 2, 3, nil])
    }

    @Test func replyOfAnExpiredCommandIsDropped() {
        #expect(add(1) && add(2, until: 90))
        #expect(write() == [1, 2])
        let expired = pipeline.expire(at: Self.time(60))
        #expect(expired.owners == [1] && expired.isTimeout)
        #expect([reply(), reply(), reply()] == [0, 2, nil])
    }

    @Test func repliesBeforeTheLastOneOfACommandAreDropped() {
        let isAdded = pipeline.add(1, [7, 1], precedingReplies: 1, deadline: Self.time(50), isIdempotent: true)
        #expect(isAdded && add(2))
        #expect(write() == [7, 1, 2])
        #expect(reply() == 0)
        // After the loss of the connection both replies are missing again.
        #expect(pipeline.lost() == [2])
        #expect(write() == [7, 1])
        #expect([reply(), reply(), reply()] == [0, 1, nil])
        #expect(pipeline.isEmpty)
    }

    @Test func expiredAndUnwantedCommandsAreNotSent() {
        #expect(add(1) && add(2, until: 90) && add(3, until: 90))
        let expired = pipeline.expire(at: Self.time(50))
        #expect(expired.owners == [1] && !expired.isTimeout)
        #expect(write { $0 != 2 } == [3])
        #expect([reply(), reply()] == [3, nil])
    }

    @Test func commandsThatWaitAtTheSameTimeHaveOneTimeout() {
        for owner in 1...4 { #expect(add(owner, until: 50 + Int64(owner))) }
        _ = write()
        let expected: [(Int64, Bool)] = [(51, true), (52, false), (53, false)]
        for (time, isTimeout) in expected {
            #expect(pipeline.expire(at: Self.time(time)).isTimeout == isTimeout, "\(time) ms")
        }
        // Sent after the time-out, in a further pause of the server.
        #expect(add(5, until: 100))
        _ = write()
        #expect(pipeline.expire(at: Self.time(54)).isTimeout == false)
        #expect(pipeline.expire(at: Self.time(100)).isTimeout == true)
    }

    @Test func countAndBytesAreLimitedAlsoForCommandsThatWereSent() {
        for owner in 1...8 { #expect(add(owner)) }
        #expect(!add(9))
        _ = write()
        _ = pipeline.expire(at: Self.time(60))
        #expect(!add(9))
        _ = reply()
        #expect(add(9))
        var other = CommandPipeline<Int>(maximumCommands: 8, maximumBytes: 100, overdueTimeout: .seconds(1))
        let large = [UInt8](repeating: 0, count: 60)
        #expect(other.add(1, large, deadline: Self.time(50), isIdempotent: false) == true)
        #expect(other.add(2, large, deadline: Self.time(50), isIdempotent: false) == false)
        #expect(other.removeWaiting().unsent == [1])
        #expect(other.add(2, large, deadline: Self.time(50), isIdempotent: false) == true)
    }

    @Test func onlyIdempotentCommandsAreSentAgainAndOnlyOnce() {
        #expect(add(1, isIdempotent: true) && add(2) && add(3, isIdempotent: true))
        _ = write()
        #expect(add(4))
        #expect(pipeline.lost() == [2])
        #expect(write() == [1, 3, 4])
        #expect(pipeline.lost() == [1, 3, 4])
        #expect(!pipeline.hasWaiting && pipeline.isEmpty)
    }

    @Test func waitingCommandsThatWereSentBeforeAreRemovedApart() {
        #expect(add(1, isIdempotent: true))
        _ = write()
        #expect(add(2))
        #expect(pipeline.lost() == [])
        let removed = pipeline.removeWaiting()
        #expect(removed.unsent == [2] && removed.sentBefore == [1])
        #expect(pipeline.isEmpty)
    }

    @Test func connectionIsOverdueAfterTheOldestCommandThatWasSent() {
        #expect(add(1))
        #expect(pipeline.nextDeadline == Self.time(50))
        #expect(!pipeline.isOverdue(at: Self.time(5000)))
        _ = write()
        _ = pipeline.expire(at: Self.time(50))
        #expect(pipeline.nextDeadline == Self.time(1050))
        #expect(!pipeline.isOverdue(at: Self.time(1049)))
        #expect(pipeline.isOverdue(at: Self.time(1050)))
        _ = reply()
        #expect(pipeline.nextDeadline == .distantFuture)
    }

    @Test(arguments: 0..<300 as Range<UInt64>)
    func everyCommandEndsOnceAndInItsOrder(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var pipeline = CommandPipeline<Int>(maximumCommands: 50, maximumBytes: 10_000, overdueTimeout: .seconds(1))
        var (now, last): (Int64, Int) = (0, 0)
        // The numbers on the wire, in the order of their replies.
        var wire: [Int] = []
        var (open, ended): (Set<Int>, Set<Int>) = ([], [])
        func end(_ owner: Int) {
            let (wasOpen, isFirst) = (open.remove(owner) != nil, ended.insert(owner).inserted)
            #expect(wasOpen && isFirst)
        }
        for _ in 0..<400 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<8:
                last += 1
                let bytes = [UInt8(last >> 8), UInt8(last & 255)]
                let deadline = Self.time(now + Int64.random(in: 1...60, using: &random))
                let isIdempotent = Bool.random(using: &random)
                if pipeline.add(last, bytes, deadline: deadline, isIdempotent: isIdempotent) { open.insert(last) }
            case 8..<12:
                var output: [UInt8] = []
                pipeline.write(to: &output) { _ in true }
                for index in stride(from: 0, to: output.count, by: 2) {
                    wire.append(Int(output[index]) << 8 | Int(output[index + 1]))
                }
            case 12..<17:
                let expected = wire.isEmpty ? nil : wire.removeFirst()
                switch pipeline.received() {
                case .owner(let owner):
                    #expect(owner == expected)
                    end(owner)
                case .dropped: #expect(expected.map { ended.contains($0) } == true)
                case .unexpected: #expect(expected == nil)
                }
            case 17..<19:
                now += Int64.random(in: 1...30, using: &random)
                for owner in pipeline.expire(at: Self.time(now)).owners { end(owner) }
            default:
                wire = []
                for owner in pipeline.lost() { end(owner) }
            }
        }
        for owner in pipeline.lost() + pipeline.lost() { end(owner) }
        let waiting = pipeline.removeWaiting()
        for owner in waiting.unsent + waiting.sentBefore { end(owner) }
        #expect(open.isEmpty)
        #expect(pipeline.nextDeadline == .distantFuture)
    }
}
#endif

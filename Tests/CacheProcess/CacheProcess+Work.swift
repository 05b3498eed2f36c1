import Foundation
import Sluice
import SluiceTesting

extension CacheProcess {
    /// Writes until the process is killed, and prints a line for each operation.
    func writeForever(seed: UInt64) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<3 {
                group.addTask {
                    var random = SeededGenerator(seed: seed &* 3 &+ UInt64(task))
                    while !Task.isCancelled {
                        try await work(using: &random, isStreaming: task == 0)
                        Self.write("done")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Runs all operations concurrently for some time. An error ends the process.
    func stress(for duration: Duration, seed: UInt64) async throws {
        let end = ContinuousClock.now + duration
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<4 {
                group.addTask {
                    var random = SeededGenerator(seed: seed &* 4 &+ UInt64(task))
                    var count = 0
                    while ContinuousClock.now < end {
                        if task < 2 {
                            try await work(using: &random, isStreaming: task == 0)
                        } else {
                            let number = Int.random(in: 0..<SelfVerifying.count, using: &random)
                            let found = try await storage.entries(for: SelfVerifying.key(number), at: Date())
                            _ = try SelfVerifying.counters(of: found)
                        }
                        count += 1
                    }
                    return count
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        Self.write("stressed \(counts.sorted())")
    }

    private func work(using random: inout SeededGenerator, isStreaming: Bool) async throws {
        let number = Int.random(in: 0..<SelfVerifying.count, using: &random)
        let counter = random.next()
        switch Int.random(in: 0..<20, using: &random) {
        case 0:
            var selection = CacheSelection()
            selection.tag = "tag \(number % 5)"
            selection.partition = "partition \(number % 3)"
            try await storage.apply([.remove(selection)])
        case 1:
            _ = try await storage.evict(to: CacheLimits(bytes: 4 << 20, count: 60), at: Date())
        case 2:
            try await storage.apply([.remove(CacheSelection(SelfVerifying.key(number)))])
        case 3:
            _ = try await storage.hasForeignChanges()
            _ = try await storage.size()
        case 4 where number == 0:
            try await storage.apply([.remove(CacheSelection())])
        case _ where isStreaming:
            try await stream(number, counter: counter, length: .random(in: 0..<1_500_000, using: &random))
        default:
            var changes: [CacheChange] = []
            for _ in 0..<Int.random(in: 1..<20, using: &random) {
                let number = Int.random(in: 0..<SelfVerifying.count, using: &random)
                let length = Int.random(in: 0..<20_000, using: &random)
                changes.append(.store(SelfVerifying.entry(number, counter: random.next(), length: length)))
                changes.append(.touch(SelfVerifying.key(number), variant: "", accessed: Date(), expires: nil))
            }
            try await storage.apply(changes)
        }
    }

    private func stream(_ number: Int, counter: UInt64, length: Int) async throws {
        let writer = try await storage.writer(
            for: SelfVerifying.entry(number, counter: counter, length: length, isStreamed: true)
        )
        var rest = SelfVerifying.body(number, counter: counter, length: length)
        do {
            while !rest.isEmpty {
                try await writer.write(rest.prefix(100_000))
                rest = rest.dropFirst(100_000)
            }
            try await writer.commit()
        } catch {
            // Another process may have removed all entries.
            guard error.description.contains("was removed while its body was being written") else { throw error }
        }
    }
}

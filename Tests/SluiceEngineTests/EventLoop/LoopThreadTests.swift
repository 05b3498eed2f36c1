#if os(Linux)
import CLinux
import Glibc
import SluiceHTTP
import Testing

@testable import SluiceEngine

@Suite struct LoopThreadTests {
    /// Records its events and the jobs that it runs later.
    private final class Handler: LoopHandler {
        private let name: String
        private let record: @Sendable (String) -> Void

        init(_ name: String, _ record: @escaping @Sendable (String) -> Void) {
            self.name = name
            self.record = record
        }

        func ready(_ events: UInt32, on thread: LoopThread) {
            let (name, record) = (name, record)
            record("event \(name)")
            thread.runLater { thread in
                record("job \(name)")
                thread.runLater { _ in record("job of job \(name)") }
            }
        }
    }

    /// Counts its turns.
    private final class Counter: LoopHandler {
        private let turns = Locked(0)
        var count: Int { turns.withLock { $0 } }

        func ready(_ events: UInt32, on thread: LoopThread) {
            turns.withLock { $0 += 1 }
        }
    }

    @Test(.timeLimit(.minutes(1))) func severalRequestsAreOneTurn() async throws {
        let loop = try #require(try Engine.available.get().loops.first)
        let counts: [Int] = await withCheckedContinuation { continuation in
            loop.post { thread in
                let removed = thread.register(Counter())
                thread.runAgain(removed)
                thread.unregister(removed)
                // The handler has the entry of the removed one.
                let handler = Counter()
                let registration = thread.register(handler)
                for _ in 0..<3 { thread.runAgain(registration) }
                // A job that runs later follows the turns of its round.
                thread.runLater { thread in
                    let first = handler.count
                    for _ in 0..<3 { thread.runAgain(registration) }
                    loop.post { thread in
                        thread.runLater { thread in
                            thread.unregister(registration)
                            continuation.resume(returning: [first, handler.count])
                        }
                    }
                }
            }
        }
        #expect(counts == [1, 2])
    }

    @Test(.timeLimit(.minutes(1))) func jobsRunAfterAllEventsOfTheirRound() async throws {
        let loop = try #require(try Engine.available.get().loops.first)
        let (entries, continuation) = AsyncStream<String>.makeStream()
        let descriptors = [eventfd(1, 0), eventfd(1, 0)]
        defer { for descriptor in descriptors { close(descriptor) } }
        let registrations = Locked<[LoopThread.Registration]>([])
        // Both descriptors are ready when the loop waits next.
        loop.post { thread in
            for (index, descriptor) in descriptors.enumerated() {
                let handler = Handler("\(index)") { continuation.yield($0) }
                let registration = thread.register(handler)
                registrations.withLock { $0.append(registration) }
                _ = thread.watch(descriptor, for: registration)
            }
        }
        var iterator = entries.makeAsyncIterator()
        var order: [String] = []
        while order.count < 6, let entry = await iterator.next() { order.append(entry) }
        loop.post { thread in registrations.withLock { $0.forEach(thread.unregister) } }
        try #require(order.count == 6)
        #expect(order.prefix(2).sorted() == ["event 0", "event 1"])
        #expect(order[2..<4].sorted() == ["job 0", "job 1"])
        #expect(order.suffix(2).sorted() == ["job of job 0", "job of job 1"])
    }
}
#endif

import Dispatch
import SluiceHTTP
import SluiceTesting
import Testing

@Suite struct BlockingQueuesTests {
    /// Work that waits, for a disk for example, must not take the threads of tasks. libdispatch would add one a second.
    @Test func waitingWorkDoesNotStopTasks() async throws {
        let gate = DispatchSemaphore(value: 0)
        let waiting = Locked(0)
        for _ in 0..<64 {
            BlockingQueues.next.async {
                waiting.withLock { $0 += 1 }
                gate.wait()
            }
        }
        defer { for _ in 0..<64 { gate.signal() } }
        try await waitUntil("the work has begun") { waiting.withLock { $0 } >= 16 }
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 0..<100 {
                group.addTask {
                    await Task.yield()
                    return number
                }
            }
            return await group.reduce(0, +)
        }
        #expect(sum == 4950)
        #expect(waiting.withLock { $0 } == 16, "No queue runs two pieces of work at once.")
    }

    @Test func workOnOneQueueKeepsItsOrder() async {
        let queue = BlockingQueues.next
        let numbers = Locked<[Int]>([])
        for number in 0..<100 { queue.async { numbers.withLock { $0.append(number) } } }
        await queue.result {}
        #expect(numbers.withLock { $0 } == Array(0..<100))
    }
}

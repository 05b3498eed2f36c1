import Dispatch
import Synchronization

/// Serial queues for work that blocks its thread, such as reading a file, or computes for long.
///
/// On Linux, the concurrent queues of libdispatch take their threads from the pool that also runs the tasks of the process.
/// A few pieces of work that wait for a disk would then stop all tasks. The threads of serial queues come from elsewhere.
package enum BlockingQueues {
    private static let all = (0..<16).map { DispatchQueue(label: "sluice.blocking.\($0)") }
    private static let turn = Atomic<UInt>(0)

    /// The queue whose turn it is. Work that must keep its order stays on one queue.
    package static var next: DispatchQueue {
        all[Int(turn.wrappingAdd(1, ordering: .relaxed).oldValue % UInt(all.count))]
    }
}

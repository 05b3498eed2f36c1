import Dispatch

/// Runs the jobs of an actor on a serial queue of its own.
///
/// A write to a terminal that is stopped, or to a full pipe, then blocks a thread of that queue, and none of the cooperative pool,
/// on which the downloads run.
final class BlockingExecutor: SerialExecutor {
    private let queue: DispatchQueue

    init(_ label: String) {
        queue = DispatchQueue(label: label)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

#if os(Linux)
import SluiceHTTP

/// Runs a task only when a test says so, which then knows for certain whether the task waits or may go on.
final class ManualExecutor: TaskExecutor {
    private let jobs = Locked<[UnownedJob]>([])

    /// Whether no task may go on.
    var isIdle: Bool { jobs.withLock { $0.isEmpty } }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Runs its tasks until all of them wait or have ended.
    func run() {
        while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
#endif

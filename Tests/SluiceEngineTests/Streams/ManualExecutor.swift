#if os(Linux)
import SluiceHTTP

/// Runs tasks only when a test requests it, so that the test knows if a task waits or can continue.
final class ManualExecutor: TaskExecutor {
    private let jobs = Locked<[UnownedJob]>([])

    /// True if no task can continue.
    var isIdle: Bool { jobs.withLock { $0.isEmpty } }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Runs the tasks until all of them wait or have ended.
    func run() {
        while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
#endif

#if os(Linux)
import Dispatch
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

/// Runs each job on the thread that makes it ready.
final class InlineExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
    }
}

/// A ``ManualExecutor`` that blocks the threads that make jobs ready while it is closed.
final class BlockingExecutor: TaskExecutor {
    private let jobs = ManualExecutor()
    private let state = Locked((isClosed: false, blocked: 0))
    private let gate = DispatchSemaphore(value: 0)

    /// True if a thread is blocked.
    var isBlocking: Bool { state.withLock { $0.blocked > 0 } }

    func close() { state.withLock { $0.isClosed = true } }

    func open() {
        let blocked = state.withLock { state in
            state.isClosed = false
            return state.blocked
        }
        for _ in 0..<blocked { gate.signal() }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let isClosed = state.withLock { state in
            if state.isClosed { state.blocked += 1 }
            return state.isClosed
        }
        if isClosed { gate.wait() }
        jobs.enqueue(job)
    }

    /// Runs the tasks until all of them wait or have ended.
    func run() { jobs.run() }
}
#endif

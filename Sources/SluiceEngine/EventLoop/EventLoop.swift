#if os(Linux)
import CLinux
import Dispatch
import SluiceHTTP
import SluiceLibc
import Synchronization

/// A thread that waits for sockets, timers and posted jobs, and that runs until the process ends.
///
/// This type is the part that other threads may use. ``LoopThread`` is the part that only the loop's own thread uses.
package final class EventLoop: Sendable {
    /// A job for the loop's thread. It must not block.
    package typealias Job = @Sendable (LoopThread) -> Void

    /// A job in an array, which would convert a bare closure by an allocation.
    struct StoredJob: Sendable {
        let run: Job
    }

    private struct Mailbox {
        var jobs: [StoredJob] = []
        /// True while the thread is in epoll_wait or about to enter it, so the next post must wake it.
        var isAsleep = false
    }

    let epoll: Int32
    private let wakeUp: Int32
    private let mailbox = Locked(Mailbox())
    package let index: Int

    /// Starts a loop, or returns nil if the system provides no descriptor or thread.
    package init?(index: Int) {
        self.index = index
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        wakeUp = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard epoll >= 0, wakeUp >= 0 else {
            if epoll >= 0 { close(epoll) }
            if wakeUp >= 0 { close(wakeUp) }
            return nil
        }
        var event = epoll_event(events: EPOLLIN.rawValue | EPOLLET.rawValue, data: epoll_data(u64: .max))
        // The thread never ends, so the loop is never released.
        // The default may be too small for a handshake of TLS (`ulimit -s`).
        guard epoll_ctl(epoll, EPOLL_CTL_ADD, wakeUp, &event) == 0,
            DetachedThread.start("sluice-\(index)", stackSize: 1 << 20, { [self] in LoopThread(self).run() })
        else {
            close(epoll)
            close(wakeUp)
            return nil
        }
    }

    /// Runs a job on the loop's thread as soon as possible.
    package func post(_ job: @escaping Job) {
        let mustWake = mailbox.withLock { mailbox in
            mailbox.jobs.append(StoredJob(run: job))
            defer { mailbox.isAsleep = false }
            return mailbox.isAsleep
        }
        if mustWake { eventfd_write(wakeUp, 1) }
    }

    /// Takes the posted jobs.
    ///
    /// - Parameters:
    ///   - jobs: An empty array, which receives the jobs. Its memory is reused.
    ///   - maySleep: False if the thread has other work.
    /// - Returns: True if there are no jobs and the thread may sleep. The next post then wakes it.
    func takeJobs(into jobs: inout [StoredJob], maySleep: Bool) -> Bool {
        mailbox.withLockUnchecked { mailbox in
            swap(&mailbox.jobs, &jobs)
            mailbox.isAsleep = jobs.isEmpty && maySleep
            return mailbox.isAsleep
        }
    }

    /// Stops the thread between two jobs, permanently, while the process exits.
    fileprivate func halt(_ done: DispatchSemaphore) {
        post { thread in
            done.signal()
            thread.isHalted = true
        }
    }
}

/// The end of the loops when the process exits. They must not use what the exit handlers of other libraries destroy.
enum LoopShutdown {
    /// True in a process that was forked after its parent started loops. Their threads do not exist there.
    static var isForked: Bool { hasForked.load(ordering: .relaxed) }
    private static let hasForked = Atomic(false)
    private static let running = Locked<[EventLoop]>([])

    /// Stops the loops when the process exits.
    static func add(_ loops: [EventLoop]) {
        running.withLock { $0 += loops }
        registerHandler()
        pthread_atfork(nil, nil) { LoopShutdown.hasForked.store(true, ordering: .relaxed) }
    }

    /// Registers the exit handler once more, so that it runs before all that are registered so far.
    static func registerHandler() {
        // In a forked process, a thread that does not exist there may hold the lock.
        atexit { if !LoopShutdown.isForked { LoopShutdown.halt() } }
    }

    private static func halt() {
        let loops = running.exchange([])
        let done = DispatchSemaphore(value: 0)
        for loop in loops { loop.halt(done) }
        let deadline = DispatchTime.now() + .seconds(1)
        for _ in loops { _ = done.wait(timeout: deadline) }
    }
}
#endif

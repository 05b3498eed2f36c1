#if os(Linux)
import CLinux
import SluiceHTTP
import SluiceLibc
import Synchronization

/// A handler that a loop calls for events on its descriptor, for its deadline, and for further turns.
package protocol LoopHandler: AnyObject, Sendable {
    /// Handles events. `events` is the mask of epoll.
    func ready(_ events: UInt32, on thread: LoopThread)
    /// Handles a deadline set with ``LoopThread/setTimer(_:at:)``.
    func deadlinePassed(on thread: LoopThread)
}

extension LoopHandler {
    package func deadlinePassed(on thread: LoopThread) {}
}

/// The part of a loop that only its own thread uses: epoll registrations, timers and requested turns.
///
/// A turn works for one slice at most. A handler with more work requests another turn with ``runAgain(_:)``.
package final class LoopThread {
    /// The identity of a registered handler. Events for a removed handler are ignored.
    package struct Registration: Hashable, Sendable {
        fileprivate let index: UInt32
        fileprivate let generation: UInt32

        fileprivate var token: UInt64 { UInt64(generation) << 32 | UInt64(index) }
    }

    private struct Entry {
        var handler: (any LoopHandler)?
        var generation: UInt32 = 0
        var timer: TimerHeap<Registration>.ID?
        /// True if a turn is requested.
        var isRunnable = false
    }

    /// The maximum number of bytes that one turn reads, and the size of its buffer.
    package static let slice = 64 << 10

    /// The number of events that are handled before deferred jobs run. It bounds the time that a job waits for the turns of others.
    private static let eventsBeforeDeferred = 32

    /// True to measure the processor time of each turn. Set by tests only.
    package static let measuresTurns = Atomic(false)

    // The runtime does not check the marked properties for overlapping accesses, because a check costs as much as an access. No other thread
    // uses them. No handler or job runs during an access. A deinit may run, but no object stores a loop thread.

    package let loop: EventLoop
    /// The time at the start of the current round.
    @exclusivity(unchecked) package private(set) var now = MonotonicTime.now
    /// A buffer that is valid for one turn.
    package let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: slice, alignment: 64)
    /// Large buffers for bodies, which are passed to their readers without a copy.
    package let buffers = ReadBuffers(size: 256 << 10)
    /// True once the process exits. The thread then runs no further job or handler.
    @exclusivity(unchecked) var isHalted = false
    /// The processor time of the longest turn of any handler since the last reset.
    package var longestTurn = Duration.zero

    @exclusivity(unchecked) private var entries: [Entry] = []
    @exclusivity(unchecked) private var freeEntries: [UInt32] = []
    @exclusivity(unchecked) private var timers = TimerHeap<Registration>()
    @exclusivity(unchecked) private var jobs: [EventLoop.StoredJob] = []
    @exclusivity(unchecked) private var runnable: [Registration] = []
    @exclusivity(unchecked) private var deferred: [EventLoop.StoredJob] = []
    /// Empty except while deferred jobs run.
    @exclusivity(unchecked) private var deferredNow: [EventLoop.StoredJob] = []
    /// True if the next post wakes the thread.
    @exclusivity(unchecked) private var maySleep = false
    private let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: 256)

    init(_ loop: EventLoop) {
        self.loop = loop
    }

    deinit {
        scratch.deallocate()
        events.deallocate()
    }

    // MARK: Registration

    package func register(_ handler: any LoopHandler) -> Registration {
        let index: UInt32
        if let free = freeEntries.popLast() {
            index = free
        } else {
            index = UInt32(entries.count)
            entries.append(Entry())
        }
        entries[Int(index)].handler = handler
        return Registration(index: index, generation: entries[Int(index)].generation)
    }

    /// Watches a descriptor for all events, edge-triggered. Returns false if the system call fails.
    package func watch(_ descriptor: Int32, for registration: Registration) -> Bool {
        let mask = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        var event = epoll_event(events: mask, data: epoll_data(u64: registration.token))
        return epoll_ctl(loop.epoll, EPOLL_CTL_ADD, descriptor, &event) == 0
    }

    /// Replaces the handler of a registration. The descriptor and the timer remain.
    package func replaceHandler(of registration: Registration, with handler: any LoopHandler) {
        if self.handler(registration) != nil { entries[Int(registration.index)].handler = handler }
    }

    /// Removes a handler. Closing its descriptor removes it from epoll.
    package func unregister(_ registration: Registration) {
        guard handler(registration) != nil else { return }
        let index = Int(registration.index)
        if let timer = entries[index].timer.take() { timers.remove(timer) }
        entries[index].handler = nil
        entries[index].isRunnable = false
        entries[index].generation &+= 1
        freeEntries.append(registration.index)
    }

    /// Sets the only deadline of a handler. The distant future removes it.
    package func setTimer(_ registration: Registration, at deadline: MonotonicTime) {
        guard handler(registration) != nil else { return }
        let index = Int(registration.index)
        if deadline == .distantFuture {
            if let timer = entries[index].timer.take() { timers.remove(timer) }
        } else if let timer = entries[index].timer, timers.move(timer, to: deadline) {
            return
        } else {
            entries[index].timer = timers.insert(registration, at: deadline)
        }
    }

    /// Calls a handler again in the next round, with the events of a readable and writable descriptor.
    ///
    /// Several requests are one turn. Otherwise a busy handler, which also has turns for events, would have one more turn in each round.
    package func runAgain(_ registration: Registration) {
        let index = Int(registration.index)
        guard handler(registration) != nil, !entries[index].isRunnable else { return }
        entries[index].isRunnable = true
        runnable.append(registration)
    }

    /// Runs a job after the events that are being handled, or after some of them if there are many.
    ///
    /// Queued requests are sent this way. If one is sent between two responses, and the server has the same processor, the kernel may run the
    /// server before the loop has read the next response.
    package func runLater(_ job: @escaping EventLoop.Job) {
        deferred.append(EventLoop.StoredJob(run: job))
    }

    private func handler(_ registration: Registration) -> (any LoopHandler)? {
        let index = Int(registration.index)
        guard index < entries.count, entries[index].generation == registration.generation else { return nil }
        return entries[index].handler
    }

    // MARK: Rounds

    /// Runs until the process ends.
    func run() -> Never {
        while true {
            // Returning would free objects that other threads may still use while the process exits.
            if isHalted { while true { pause() } }
            runJobs()
            if isHalted { continue }
            fireTimers()
            runTurns()
            wait()
        }
    }

    private func runJobs() {
        maySleep = loop.takeJobs(into: &jobs, maySleep: runnable.isEmpty)
        for job in jobs {
            measure { job.run(self) }
            if isHalted { return }
        }
        jobs.removeAll(keepingCapacity: true)
    }

    private func fireTimers() {
        // Bound the number of timers, because a handler may set its timer to the current time again.
        var left = timers.count
        while left > 0, let registration = timers.popExpired(at: now) {
            left -= 1
            entries[Int(registration.index)].timer = nil
            if let handler = handler(registration) { measure { handler.deadlinePassed(on: self) } }
        }
    }

    private func runTurns() {
        guard !runnable.isEmpty else { return }
        let turns = runnable
        runnable.removeAll(keepingCapacity: true)
        for registration in turns {
            guard let handler = handler(registration) else { continue }
            entries[Int(registration.index)].isRunnable = false
            measure { handler.ready(EPOLLIN.rawValue | EPOLLOUT.rawValue, on: self) }
        }
    }

    /// Runs the deferred jobs, but not those that they defer in turn.
    private func runDeferred() {
        if deferred.isEmpty || isHalted { return }
        swap(&deferred, &deferredNow)
        for job in deferredNow { measure { job.run(self) } }
        deferredNow.removeAll(keepingCapacity: true)
    }

    private func wait() {
        runDeferred()
        // Jobs may have posted other jobs without a wake-up.
        let mayBlock = maySleep && runnable.isEmpty && deferred.isEmpty
        let timeout = mayBlock ? timers.earliest.milliseconds(after: .now) : 0
        var count = epoll_wait(loop.epoll, events.baseAddress, Int32(events.count), timeout)
        // The process may have been stopped (SIGSTOP), with events and deadlines in the meantime. The events come first.
        if count < 0 { count = epoll_wait(loop.epoll, events.baseAddress, Int32(events.count), 0) }
        now = .now
        for (position, event) in events.prefix(Int(max(0, count))).enumerated() where event.data.u64 != .max {
            if position % LoopThread.eventsBeforeDeferred == 0 { runDeferred() }
            let token = event.data.u64
            let registration = Registration(
                index: UInt32(truncatingIfNeeded: token),
                generation: UInt32(truncatingIfNeeded: token >> 32)
            )
            if let handler = handler(registration) { measure { handler.ready(event.events, on: self) } }
        }
        runDeferred()
    }

    /// The processor time of this thread so far. The time of other threads does not count.
    private static var work: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// Runs a turn, and measures its processor time if ``measuresTurns`` is set.
    private func measure(_ turn: () -> Void) {
        guard LoopThread.measuresTurns.load(ordering: .relaxed) else { return turn() }
        let start = LoopThread.work
        turn()
        longestTurn = max(longestTurn, LoopThread.work.since(start))
    }
}

// MARK: - Detached thread

/// A detached thread of the engine. The process does not wait for it to end.
///
/// The thread blocks all signals except those that a fault raises, so the program's signal handlers never run on it.
enum DetachedThread {
    private final class Body: Sendable {
        let name: String
        let run: @Sendable () -> Void

        init(_ name: String, _ run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Starts a thread that runs a closure.
    ///
    /// - Parameters:
    ///   - name: The name of the thread for ps(1) and debuggers, of at most 15 bytes.
    ///   - stackSize: The size of the stack in bytes, or nil for the system's default.
    ///   - run: The closure.
    /// - Returns: False if the system cannot start a thread. The closure is not called then.
    static func start(_ name: String, stackSize: Int? = nil, _ run: @escaping @Sendable () -> Void) -> Bool {
        var attributes = pthread_attr_t()
        guard pthread_attr_init(&attributes) == 0 else { return false }
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
        // The new thread inherits the signal mask of this one.
        var blocked = sigset_t()
        var previous = sigset_t()
        sigfillset(&blocked)
        for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT] { sigdelset(&blocked, fault) }
        pthread_sigmask(SIG_SETMASK, &blocked, &previous)
        defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
        var thread = pthread_t()
        let body = Unmanaged.passRetained(Body(name, run))
        let result = pthread_create(
            &thread,
            &attributes,
            { body in
                guard let body else { return nil }
                let thread = Unmanaged<Body>.fromOpaque(body).takeRetainedValue()
                sluice_set_thread_name(thread.name)
                thread.run()
                return nil
            },
            body.toOpaque()
        )
        if result != 0 { body.release() }
        return result == 0
    }
}
#endif

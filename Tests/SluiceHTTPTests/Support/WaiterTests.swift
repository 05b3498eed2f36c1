import SluiceHTTP
import Testing

@Suite struct WaiterTests {
    /// A state that tasks wait for.
    private final class Signal: Sendable {
        private let waiters = Locked<[Int: Waiter<Bool>]>([:])

        var count: Int { waiters.withLock { $0.count } }

        /// Returns true after `send`, and false if the task is cancelled first.
        func wait() async -> Bool {
            await waiters.wait(cancelled: false) { waiter in
                let isWaiting = waiters.withLock { waiters in
                    if Task.isCancelled { return false }
                    waiters[waiter.id] = waiter
                    return true
                }
                if !isWaiting { waiter.resume(returning: false) }
            } leave: { id in
                waiters.withLock { $0.removeValue(forKey: id) }
            }
        }

        func send() {
            let all = waiters.withLock { waiters in
                defer { waiters = [:] }
                return Array(waiters.values)
            }
            for waiter in all { waiter.resume(returning: true) }
        }
    }

    @Test func waiterGetsTheOutcomeItIsResumedWith() async {
        let signal = Signal()
        let tasks = (0..<8).map { _ in Task { await signal.wait() } }
        while signal.count < 8 { await Task.yield() }
        signal.send()
        for task in tasks { #expect(await task.value) }
    }

    @Test func laterCancellationFindsTheWaiter() async {
        let signal = Signal()
        let task = Task { await signal.wait() }
        while signal.count < 1 { await Task.yield() }
        task.cancel()
        #expect(signal.count == 0)
        #expect(await !task.value)
    }

    @Test func earlierCancellationEndsTheWait() async {
        let signal = Signal()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await signal.wait()
        }
        #expect(await !task.value)
        #expect(signal.count == 0)
    }

    @Test func cancellationDuringResumptionResumesOnce() async {
        for _ in 0..<500 {
            let signal = Signal()
            let task = Task { await signal.wait() }
            async let sent: Void = {
                while signal.count < 1, !task.isCancelled { await Task.yield() }
                signal.send()
            }()
            task.cancel()
            _ = await (task.value, sent)
            #expect(signal.count == 0)
        }
    }

    @Test func numbersRise() async {
        let state = Locked(0)
        var last = 0
        for _ in 0..<3 {
            let number = await state.withWaiterID({ $0 }, onCancel: { _ in })
            #expect(number > last)
            last = number
        }
    }
}

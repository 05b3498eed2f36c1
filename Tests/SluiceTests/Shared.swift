import SluiceHTTP
import SluiceTesting

/// A value that tasks share.
struct Shared<Value: Sendable>: Sendable {
    private let value: Locked<Value>

    init(_ value: Value) {
        self.value = Locked(value)
    }

    var read: Value { value.withLock { $0 } }

    @discardableResult
    func change<Result: Sendable>(_ change: (inout Value) -> Result) -> Result {
        value.withLock { change(&$0) }
    }
}

/// Suspends tasks until it is opened, even if they are cancelled.
final class AsyncSignal: Sendable {
    private let state = Shared((isOpen: false, waiting: [CheckedContinuation<Void, Never>]()))

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.change { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.change { state in
            defer { state = (true, []) }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// Yields until a condition is true. Ends the process if that takes two minutes, because the test might then wait for ever.
func eventually(
    file: StaticString = #file,
    line: UInt = #line,
    _ isTrue: @Sendable () async -> Bool
) async {
    let end = ContinuousClock.now + .seconds(120)
    while await !isTrue() {
        if ContinuousClock.now > end { fatalError("The condition did not become true.", file: file, line: line) }
        await Task.yield()
    }
}

/// The time limits that a test tries one after the other, until a request gets as far as the test needs before its time is up.
///
/// They are in real time, so a pause of the process may use up the short ones.
let risingLimits: [Duration] = [.milliseconds(300), .milliseconds(1200), .seconds(5)]

/// Checks if a task is done, after all other tasks have had a turn.
enum TaskRace {
    static func isDone<Value: Sendable>(_ task: Task<Value, Never>) async -> Bool {
        let isDone = Shared(false)
        Task {
            _ = await task.value
            isDone.change { $0 = true }
        }
        for _ in 0..<100 where !isDone.read { await Task.yield() }
        return isDone.read
    }
}

/// Answers every request with 200 at once.
struct AnsweringTransport: Transport {
    func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
        TransportResponse(head: HTTPResponse(status: .ok), body: ResponseBody())
    }
}

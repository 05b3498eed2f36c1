#if os(Linux)
import SluiceEngine
import SluiceHTTP

/// The commands of one connection in their order: those that wait, and those whose replies are awaited.
///
///     add ──▶ waiting ── write ──▶ sent ── received ──▶ the owner gets the reply
///                │        ▲          │
///                │        └── lost ──┤ an idempotent command, once
///                └──── expire ───────┴──▶ the owner gets an error; a sent command keeps its place, and its reply is dropped
///
/// A command that has been sent leaves only with its reply, so replies are never taken for those of other commands.
package struct CommandPipeline<Owner> {
    private struct Entry {
        /// Nil once the command is over for its owner.
        var owner: Owner?
        let bytes: [UInt8]
        let deadline: MonotonicTime
        let isIdempotent: Bool
        /// The number of replies that come before the one for the owner.
        let precedingReplies: Int
        /// The number of these that have not arrived.
        var missingReplies: Int
        var isSent = false
        var isRepeated = false
        var timer: TimerHeap<Int>.ID
    }

    /// The result of a reply.
    package enum Arrival {
        case owner(Owner)
        /// The command is over for its owner, or this is not its last reply.
        case dropped
        /// There is no command without a reply.
        case unexpected
    }

    /// The number of bytes up to which ``write(to:isWanted:)`` adds commands.
    private static var chunk: Int { 64 << 10 }

    private let maximumCommands: Int
    private let maximumBytes: Int
    private let overdueTimeout: Duration
    private var entries: [Int: Entry] = [:]
    private var waiting = NumberQueue()
    private var sent = NumberQueue()
    private var timers = TimerHeap<Int>()
    private var bytes = 0
    private var lastNumber = 0
    /// The last command that had been added at the last time-out.
    private var lastTimeout = 0

    package init(maximumCommands: Int, maximumBytes: Int, overdueTimeout: Duration) {
        self.maximumCommands = maximumCommands
        self.maximumBytes = maximumBytes
        self.overdueTimeout = overdueTimeout
    }

    package var hasWaiting: Bool { !waiting.isEmpty }
    package var isEmpty: Bool { entries.isEmpty }

    /// Adds a command.
    ///
    /// - Parameters:
    ///   - owner: The owner.
    ///   - bytes: The command, with those that must stand right before it.
    ///   - precedingReplies: The number of the latter. Their replies are dropped.
    ///   - deadline: The time at which the command is over for its owner.
    ///   - isIdempotent: True if the command may be sent again.
    /// - Returns: False if there are too many.
    package mutating func add(
        _ owner: Owner,
        _ bytes: [UInt8],
        precedingReplies: Int = 0,
        deadline: MonotonicTime,
        isIdempotent: Bool
    ) -> Bool {
        guard entries.count < maximumCommands, bytes.count <= maximumBytes - self.bytes else { return false }
        lastNumber += 1
        self.bytes += bytes.count
        entries[lastNumber] = Entry(
            owner: owner,
            bytes: bytes,
            deadline: deadline,
            isIdempotent: isIdempotent,
            precedingReplies: precedingReplies,
            missingReplies: precedingReplies,
            timer: timers.insert(lastNumber, at: deadline)
        )
        waiting.append(lastNumber)
        return true
    }

    /// Moves waiting commands to those that are sent, up to about 64 KiB.
    ///
    /// - Parameters:
    ///   - output: Receives the bytes of the commands.
    ///   - isWanted: Returns false for a command that need not be sent, because its owner has left.
    package mutating func write(to output: inout [UInt8], isWanted: (Owner) -> Bool) {
        while output.count < Self.chunk, let number = waiting.popFirst() {
            guard let entry = entries[number], let owner = entry.owner, isWanted(owner) else {
                _ = remove(number)
                continue
            }
            output.append(contentsOf: entry.bytes)
            entries[number]?.isSent = true
            sent.append(number)
        }
    }

    /// Takes the reply for the oldest command that was sent.
    package mutating func received() -> Arrival {
        if let number = sent.first, let missing = entries[number]?.missingReplies, missing > 0 {
            entries[number]?.missingReplies = missing - 1
            return .dropped
        }
        guard let number = sent.popFirst() else { return .unexpected }
        return remove(number).map { .owner($0) } ?? .dropped
    }

    /// The time of the next call of ``expire(at:)``.
    package var nextDeadline: MonotonicTime { min(timers.earliest, overdue) }

    /// The time at which the connection is too late with the reply that it owes first.
    private var overdue: MonotonicTime {
        guard let number = sent.first, let entry = entries[number] else { return .distantFuture }
        return entry.deadline + overdueTimeout
    }

    /// True if the connection is too late with a reply and must be closed.
    package func isOverdue(at now: MonotonicTime) -> Bool { overdue <= now }

    /// Ends the commands whose time is over.
    ///
    /// The server has a time-out if one of them was sent. Those that had been added before the last time-out waited through the same
    /// pause of the server, and are no further one.
    ///
    /// - Returns: The owners, and true for a time-out of the server.
    package mutating func expire(at now: MonotonicTime) -> (owners: [Owner], isTimeout: Bool) {
        var (owners, isTimeout): ([Owner], Bool) = ([], false)
        while let number = timers.popExpired(at: now) {
            if number > lastTimeout, entries[number]?.isSent == true { isTimeout = true }
            if let owner = entries[number]?.owner.take() { owners.append(owner) }
        }
        if isTimeout { lastTimeout = lastNumber }
        return (owners, isTimeout)
    }

    /// Handles the loss of the connection. Idempotent commands wait again, unless that has happened to them before.
    ///
    /// - Returns: The owners of the other commands that were sent.
    package mutating func lost() -> [Owner] {
        var (failed, again): ([Owner], [Int]) = ([], [])
        while let number = sent.popFirst() {
            if let entry = entries[number], entry.isIdempotent, !entry.isRepeated, entry.owner != nil {
                entries[number]?.isSent = false
                entries[number]?.isRepeated = true
                entries[number]?.missingReplies = entry.precedingReplies
                again.append(number)
            } else if let owner = remove(number) {
                failed.append(owner)
            }
        }
        waiting.prepend(again)
        return failed
    }

    /// Removes all waiting commands, and returns the owners of those that were never sent, and of those that were sent before.
    package mutating func removeWaiting() -> (unsent: [Owner], sentBefore: [Owner]) {
        var (unsent, sentBefore): ([Owner], [Owner]) = ([], [])
        while let number = waiting.popFirst() {
            let isRepeated = entries[number]?.isRepeated == true
            guard let owner = remove(number) else { continue }
            if isRepeated { sentBefore.append(owner) } else { unsent.append(owner) }
        }
        return (unsent, sentBefore)
    }

    private mutating func remove(_ number: Int) -> Owner? {
        guard let entry = entries.removeValue(forKey: number) else { return nil }
        bytes -= entry.bytes.count
        timers.remove(entry.timer)
        return entry.owner
    }
}

/// A queue of numbers in an array, whose removed elements are freed in batches.
private struct NumberQueue {
    private var numbers: [Int] = []
    private var head = 0

    var isEmpty: Bool { head == numbers.count }
    var first: Int? { isEmpty ? nil : numbers[head] }

    mutating func append(_ number: Int) {
        numbers.append(number)
    }

    mutating func prepend(_ others: [Int]) {
        numbers.replaceSubrange(..<head, with: others)
        head = 0
    }

    mutating func popFirst() -> Int? {
        guard let first else { return nil }
        head += 1
        if head == numbers.count || head >= 1024 && head > numbers.count / 2 {
            numbers.removeFirst(head)
            head = 0
        }
        return first
    }
}

// MARK: - Pending reply

/// A caller that waits for a reply. It is resumed once: by the reply, an error, or the cancellation of its task.
final class PendingReply: Sendable {
    typealias Outcome = Result<RedisValue, RedisError>

    private enum Caller {
        case task(UnsafeContinuation<Outcome, Never>)
        case callback(@Sendable (Outcome) -> Void)

        func resume(returning outcome: Outcome) {
            switch self {
            case .task(let continuation): continuation.resume(returning: outcome)
            case .callback(let completion): completion(outcome)
            }
        }
    }

    private struct State {
        var caller: Caller?
        var isOver = false
    }

    private let state: Locked<State>

    /// Creates a reply for a task, which calls ``outcome(_:)``.
    init() {
        state = Locked(State())
    }

    /// Creates a reply for a caller without a task.
    ///
    /// - Parameter completion: Called once with the outcome, on the thread of the connection, which it must not block.
    init(_ completion: @escaping @Sendable (Outcome) -> Void) {
        state = Locked(State(caller: .callback(completion)))
    }

    /// False once the caller has its outcome.
    var isWanted: Bool { state.withLock { !$0.isOver } }

    /// Waits for the outcome.
    ///
    /// - Parameter start: Called once, unless the caller was cancelled before.
    /// - Returns: The outcome.
    func outcome(_ start: () -> Void) async -> Outcome {
        defer { state.synchronize() }
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { caller in
                let isOver = state.withLock { state in
                    if !state.isOver { state.caller = .task(caller) }
                    return state.isOver
                }
                if isOver { caller.resume(returning: .failure(.cancelled)) } else { start() }
            }
        } onCancel: {
            finish(.failure(.cancelled))
        }
    }

    /// Resumes the caller with the first outcome. Later ones are ignored.
    func finish(_ outcome: Outcome) {
        let caller = state.withLock { state in
            state.isOver = true
            return state.caller.take()
        }
        caller?.resume(returning: outcome)
    }
}
#endif

import SluiceFoundation
import SluiceHTTP

/// Sends the requests of a batch, a limited number at a time, and counts their outcomes.
final class BatchRun: Sendable {
    private struct State {
        var succeeded = 0
        var failed = 0
        /// The bytes of the completed requests.
        var bytes = BatchBytes()
        var underWay: Set<Int> = []
        var firstFailure: Int?
        var isOver = false
    }

    let members: [any BatchMember]
    let clock: any SluiceClock
    /// Wakes readers of the progress when the batch begins and ends.
    let signal: TransferMeter
    private let limit: Int
    private let failsFast: Bool
    private let state = Locked(State())

    init(_ members: [any BatchMember], upTo limit: Int, failsFast: Bool, clock: any SluiceClock) {
        self.members = members
        self.limit = max(1, limit)
        self.failsFast = failsFast
        self.clock = clock
        signal = TransferMeter(clock: clock)
    }

    /// Sends all requests, starting each when an earlier one has ended. Returns when every request has a result.
    func send() async {
        _ = signal.begin(uploading: nil)
        await withTaskGroup(of: BatchSlotEnd.self) { group in
            var next = 0
            func add() {
                let index = next
                next += 1
                group.addTask { [self] in await send(index) }
            }
            while next < min(limit, members.count) { add() }
            while let end = await group.next() {
                if end != .succeeded, failsFast {
                    group.cancelAll()
                    next = members.count
                }
                if next < members.count, !Task.isCancelled { add() }
            }
        }
        end()
    }

    private func send(_ index: Int) async -> BatchSlotEnd {
        state.withLock { _ = $0.underWay.insert(index) }
        let end = await members[index].send()
        let bytes = members[index].bytes
        state.withLock { state in
            guard !state.isOver else { return }
            state.underWay.remove(index)
            state.bytes += bytes
            switch end {
            case .succeeded: state.succeeded += 1
            case .cancelled: break
            case .failed:
                state.failed += 1
                if state.firstFailure == nil { state.firstFailure = index }
            }
        }
        return end
    }

    /// Ends the batch and gives requests without a result a cancellation. Only the first call has an effect.
    func end() {
        let isFirst = state.withLock { state in
            defer { state.isOver = true }
            return !state.isOver
        }
        guard isFirst else { return }
        for member in members { member.end() }
        signal.end()
    }

    /// The index of the request that failed first, without cancelled ones; nil if none failed.
    var firstFailure: Int? { state.withLock { $0.firstFailure } }

    var progress: BatchProgress {
        let (state, members) = state.withLock { ($0, self.members) }
        var bytes = state.bytes
        // A request that ends meanwhile keeps its byte count, so it is counted once.
        for index in state.underWay { bytes += members[index].bytes }
        return BatchProgress(
            succeeded: state.succeeded,
            failed: state.failed,
            total: members.count,
            bytesSent: bytes.sent,
            bytesReceived: bytes.received
        )
    }
}

/// A request of a batch, without its types.
protocol BatchMember: Sendable {
    /// Sends the request and returns its end: cancelled if `end()` was called first.
    func send() async -> BatchSlotEnd
    /// Stores a cancellation, unless there is a result.
    func end()
    /// Throws the error of a failed request.
    func check(_ reading: BatchReading) throws
    /// The number of body bytes sent and received so far.
    var bytes: BatchBytes { get }
}

final class BatchSlot<Request: TypedRequest>: BatchMember {
    typealias Response = APIResponse<Request.Model, Request.ErrorModel>

    private enum State {
        case waiting
        case sending(RequestSender<Request.Model, Request.ErrorModel>)
        case over(Response, BatchBytes)
    }

    private let request: Request
    private let keepsBody: Bool
    private let state = Locked(State.waiting)

    /// Creates a slot.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - keepsBody: False to release the body as soon as the model is made, where only the models are read.
    init(_ request: Request, keepsBody: Bool = true) {
        self.request = request
        self.keepsBody = keepsBody
    }

    func send() async -> BatchSlotEnd {
        let sender = request.sender()
        let isFirst = state.withLock { state in
            guard case .waiting = state else { return false }
            state = .sending(sender)
            return true
        }
        guard isFirst else { return .cancelled }
        let response = await sender.response
        let bytes = sender.bytes
        let kept = keepsBody ? response : response.withoutBody
        let isRecorded = state.withLock { state in
            guard case .sending = state else { return false }
            state = .over(kept, bytes)
            return true
        }
        guard isRecorded, response.failure?.isCancellation != true else { return .cancelled }
        return response.isSuccess ? .succeeded : .failed
    }

    func end() {
        let isOver = state.withLock { state in
            if case .over = state { true } else { false }
        }
        // The common case. No error model is created for a successful request.
        if isOver { return }
        let cancellation = cancellation
        state.withLock { state in
            switch state {
            case .over: break
            case .waiting: state = .over(cancellation, BatchBytes())
            case .sending(let sender): state = .over(cancellation, sender.bytes)
            }
        }
    }

    func check(_ reading: BatchReading) throws { _ = try response(reading).result.get() }

    func response(_ reading: BatchReading) -> Response {
        let recorded: Response? = state.withLock { state in
            if reading == .ended, case .over(let response, _) = state { response } else { nil }
        }
        return recorded ?? cancellation
    }

    var bytes: BatchBytes {
        state.withLock { state in
            switch state {
            case .waiting: BatchBytes()
            case .sending(let sender): sender.bytes
            case .over(_, let bytes): bytes
            }
        }
    }

    private var cancellation: Response { Response(failure: .cancelled, of: request.sender()) }
}

extension APIResponse {
    /// The same response with an empty body.
    fileprivate var withoutBody: Self {
        APIResponse(
            request: request,
            head: head,
            body: Data(),
            trailers: trailers,
            metrics: metrics,
            source: source,
            result: result,
            failure: failure
        )
    }
}

enum BatchSlotEnd: Sendable {
    case succeeded, failed, cancelled
}

/// The number of body bytes of requests and responses.
struct BatchBytes: Sendable, Hashable {
    var sent: Int64 = 0
    var received: Int64 = 0

    static func += (sum: inout BatchBytes, other: BatchBytes) {
        // A transport of the user may report any numbers.
        sum.sent = Int64(clamping: Int128(sum.sent) + Int128(other.sent))
        sum.received = Int64(clamping: Int128(sum.received) + Int128(other.received))
    }
}

extension RequestSender {
    fileprivate nonisolated var bytes: BatchBytes {
        let progress = transferProgress
        return BatchBytes(sent: progress.upload.completed, received: progress.download.completed)
    }
}

// MARK: - Batch progress

/// The progress of a batch of requests.
public struct BatchProgress: Sendable, Hashable {
    /// The number of requests that have succeeded.
    public internal(set) var succeeded = 0
    /// The number of requests that have failed, without cancelled ones.
    public internal(set) var failed = 0
    /// The number of all requests.
    public let total: Int
    /// The number of bytes sent of all request bodies. A retry counts its own body from 0.
    public internal(set) var bytesSent: Int64 = 0
    /// The number of bytes received of all response bodies.
    public internal(set) var bytesReceived: Int64 = 0

    /// The number of requests that have succeeded or failed.
    public var completed: Int { succeeded + failed }

    /// The fraction of completed requests, from 0 to 1. An empty batch is complete.
    public var fractionCompleted: Double { total > 0 ? Double(completed) / Double(total) : 1 }
}

/// The progress of several requests, as one value that changes.
protocol ObservableProgress: Sendable {
    associatedtype Progress: Sendable, Equatable
    var progress: Progress { get }
    /// Begins with the first request and ends with the last. Each `begin` wakes the readers of the progress.
    var signal: TransferMeter { get }
    var clock: any SluiceClock { get }
}

extension BatchRun: ObservableProgress {}

/// The states of several requests: ``BatchSender/progress``, ``Chain/progress``.
struct ProgressSequence<Run: ObservableProgress>: AsyncSequence, Sendable {
    private let run: Run

    init(_ run: Run) {
        self.run = run
    }

    func makeAsyncIterator() -> Iterator { Iterator(run: run) }

    struct Iterator: AsyncIteratorProtocol {
        private static var interval: Duration { .milliseconds(50) }

        fileprivate let run: Run
        private var last: Run.Progress?
        private var lastReported: ContinuousClock.Instant?
        private var isOver = false

        fileprivate init(run: Run) {
            self.run = run
        }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> Run.Progress? {
            if isOver { return nil }
            while true {
                if Task.isCancelled { return nil }
                let snapshot = run.signal.snapshot(.download)
                let progress = run.progress
                let rest = lastReported.map { Self.interval - $0.duration(to: run.clock.now) } ?? .zero
                if snapshot.isFinal || progress != last && rest <= .zero {
                    isOver = snapshot.isFinal
                    last = progress
                    lastReported = run.clock.now
                    return progress
                }
                // Transferred bytes do not wake the iterator, so it polls for them.
                let pause = rest > .zero ? rest : Self.interval
                let hasBegun = snapshot.progress.attempt > 0
                await run.signal.wait(.download, after: snapshot.version, atLeast: hasBegun ? pause : nil)
            }
        }
    }
}

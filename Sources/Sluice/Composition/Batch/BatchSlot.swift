import SluiceHTTP

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

/// The end of a request in a batch.
enum BatchSlotEnd: Sendable {
    case succeeded, failed, cancelled
}

/// The number of body bytes of requests and responses.
struct BatchBytes: Sendable, Hashable {
    var sent: Int64 = 0
    var received: Int64 = 0

    static func += (sum: inout BatchBytes, other: BatchBytes) {
        sum.sent += other.sent
        sum.received += other.received
    }
}

/// A request of a batch, and its result.
final class BatchSlot<Model: Sendable, ErrorModel: ErrorSerializable>: BatchMember {
    private enum State {
        case waiting
        case sending(RequestSender<Model, ErrorModel>)
        case over(Result<Model, ErrorModel>, BatchBytes)
    }

    private let request: APIRequest<Model, ErrorModel>
    private let state = Locked(State.waiting)

    init(_ request: APIRequest<Model, ErrorModel>) {
        self.request = request
    }

    func send() async -> BatchSlotEnd {
        let sender = request.sender()
        let isFirst = state.withLock { state in
            guard case .waiting = state else { return false }
            state = .sending(sender)
            return true
        }
        guard isFirst else { return .cancelled }
        // Only the model is kept. The sender and the body are released.
        let response = await sender.response
        let bytes = sender.bytes
        let isKept = state.withLock { state in
            guard case .sending = state else { return false }
            state = .over(response.result, bytes)
            return true
        }
        guard isKept, response.failure?.isCancellation != true else { return .cancelled }
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

    func check(_ reading: BatchReading) throws { _ = try result(reading).get() }

    func result(_ reading: BatchReading) -> Result<Model, ErrorModel> {
        let kept: Result<Model, ErrorModel>? = state.withLock { state in
            if reading == .kept, case .over(let result, _) = state { result } else { nil }
        }
        return kept ?? cancellation
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

    private var cancellation: Result<Model, ErrorModel> {
        APIResponse(failure: .cancelled, of: request).result
    }
}

extension RequestSender {
    fileprivate nonisolated var bytes: BatchBytes {
        let progress = transferred
        return BatchBytes(sent: progress.upload, received: progress.download)
    }
}

import SluiceHTTP

/// A request of a batch, whatever its types.
protocol BatchMember: Sendable {
    /// Sends it; what came of it, or a cancellation if it was ended before.
    func send() async -> BatchSlotEnd
    /// Keeps a cancellation, if there is no result yet.
    func end()
    /// Throws what it failed with.
    func check(_ reading: BatchReading) throws
    /// How many bytes of its bodies have gone and come so far.
    var bytes: BatchBytes { get }
}

/// How a request of a batch ended.
enum BatchSlotEnd: Sendable {
    case succeeded, failed, cancelled
}

/// The bytes of the bodies of requests and of responses.
struct BatchBytes: Sendable, Hashable {
    var sent: Int64 = 0
    var received: Int64 = 0

    static func += (sum: inout BatchBytes, other: BatchBytes) {
        sum.sent += other.sent
        sum.received += other.received
    }
}

/// A request of a batch, and what comes of it.
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
        // The sender, with the body, is let go: the model is what is wanted.
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
        // Nearly always; an error model is made of failures only.
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

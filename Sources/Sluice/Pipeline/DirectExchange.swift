import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request that only the transport has anything to do with: it needs no task unless its response comes in pieces or is
/// a redirect, which saves a fifth of a small request's time.
final class DirectExchange: Sendable {
    private enum State {
        case beginning
        case transferring(Flight<Landing>.Stop)
        case following(Task<Void, Never>)
        case over
    }

    private let pipeline: Pipeline
    private let request: HTTPRequest
    private let transfer: TransferContext
    private let deadline: ContinuousClock.Instant?
    private let completion: @Sendable (TransportOutcome) -> Void
    private let state = Locked(State.beginning)

    init(
        _ pipeline: Pipeline,
        _ request: HTTPRequest,
        _ transfer: TransferContext,
        _ completion: @escaping @Sendable (TransportOutcome) -> Void
    ) {
        self.pipeline = pipeline
        self.request = request
        self.transfer = transfer
        deadline = transfer.timeouts.total.map { ContinuousClock.now + $0 }
        self.completion = completion
    }

    func begin(on transport: any CallbackTransport) -> Flight<Landing>.Stop {
        let stop = transport.begin(request, context: transfer) { [self] in take($0) }
        state.withLock { state in
            if case .beginning = state { state = .transferring(stop) }
        }
        return { [self] in cancel() }
    }

    private func take(_ result: Result<TransportResponse, SluiceError>) {
        switch result {
        case .failure(let error):
            finish(.failure(error))
        case .success(let response):
            if let (body, metrics) = response.body.whole, response.head.status.class != .redirection {
                let whole = ServerResponse(request: request, head: response.head, body: body, metrics: metrics)
                return finish(.success(whole))
            }
            follow(response)
        }
    }

    /// Collects the body and follows redirects, in a task.
    private func follow(_ response: TransportResponse) {
        let task = Task {
            do throws(SluiceError) {
                finish(.success(try await pipeline.exchange(request, transfer, until: deadline, begun: response)))
            } catch {
                finish(.failure(error))
            }
        }
        let isOver = state.withLock { state in
            if case .over = state { return true }
            state = .following(task)
            return false
        }
        if isOver { task.cancel() }
    }

    private func finish(_ outcome: TransportOutcome) {
        state.withLock { $0 = .over }
        completion(outcome)
    }

    private func cancel() {
        let before = state.withLock { state in
            defer { state = .over }
            return state
        }
        switch before {
        case .transferring(let stop): stop()
        case .following(let task): task.cancel()
        case .beginning, .over: break
        }
    }
}

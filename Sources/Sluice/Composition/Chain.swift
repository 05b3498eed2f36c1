import SluiceHTTP

/// The outcomes of a chain of requests, each chosen from the outcome of the one before.
///
/// A request is sent when the loop asks for its outcome, which may be a success or a failure. Leaving the loop or
/// cancelling its task cancels the current request. Each iteration sends the requests again. The chain ends when no
/// next request is chosen.
///
/// The failure of a request is an outcome. The chain itself throws ``SluiceError/Code/chainTooLong``,
/// ``SluiceError/Code/chainFailed``, a ``SluiceError`` of the closure that chooses the next request, or a cancellation.
public struct Chain<Outcome: Sendable>: AsyncSequence, Sendable {
    fileprivate let first: ChainLink<Outcome>
    fileprivate let limit: Int
    fileprivate let next: @Sendable (Outcome) async throws -> ChainLink<Outcome>?
    fileprivate let runs: ChainRuns

    init(
        _ first: ChainLink<Outcome>,
        limit: Int,
        clock: any SluiceClock,
        next: @escaping @Sendable (Outcome) async throws -> ChainLink<Outcome>?
    ) {
        runs = ChainRuns(clock: clock)
        self.first = first
        self.limit = Swift.max(1, limit)
        self.next = next
    }

    /// The progress of the requests, one after the other. Any number of loops can read it, before, during and after an
    /// iteration over the chain.
    ///
    /// ```swift
    /// let chain = shop.chain(order) { … }
    /// let bar = Task { for await progress in chain.progress { show(progress.request, progress.download.completed) } }
    /// for try await response in chain { … }
    /// ```
    ///
    /// A value has the number of the current request, which is 0 before the first and then starts at 1, and the
    /// progress of the request's body and of the body of its response. A loop gets the current state at once, then the
    /// newest state up to twenty times a second when it has changed, and the final state last. It follows the newest
    /// iteration and ends with it. Reading does not send the requests, and a slow reader does not delay them.
    public var progress:
        some AsyncSequence<(request: Int, upload: TransferProgress, download: TransferProgress), Never> & Sendable
    {
        ProgressSequence(runs.newest).map { (request: $0.request, upload: $0.upload, download: $0.download) }
    }

    /// Returns an iterator, which sends the first request on the first read.
    public func makeAsyncIterator() -> some AsyncIteratorProtocol<Outcome, SluiceError> { Iterator(chain: self) }

    /// An iterator that sends one request after the other.
    private struct Iterator: AsyncIteratorProtocol {
        private enum Position {
            case before(ChainLink<Outcome>)
            case after(Outcome)
            case over
        }

        private let chain: Chain
        private var position: Position
        private var count = 0
        /// Nil before the first request and after the last.
        private var owner: ChainRunOwner?

        init(chain: Chain) {
            self.chain = chain
            position = .before(chain.first)
        }

        /// Returns the next outcome; nil after the last one and after an error.
        mutating func next(isolation actor: isolated (any Actor)?) async throws(SluiceError) -> Outcome? {
            if owner == nil, case .before = position { owner = ChainRunOwner(chain.runs.begin()) }
            // The progress ends after the last outcome and after an error.
            defer { if case .over = position { owner = nil } }
            if case .after(let outcome) = position {
                position = .over
                // The outcome of a cancelled request must not determine the next request.
                if Task.isCancelled { throw .cancelled }
                guard let link = try await chain.successor(of: outcome) else { return nil }
                guard count < chain.limit else { throw .chainTooLong(chain.limit) }
                position = .before(link)
            }
            guard case .before(let link) = position, let run = owner?.run else { return nil }
            position = .over
            // A cancellation between two requests is an error, not the end of the chain.
            if Task.isCancelled { throw .cancelled }
            count += 1
            let outcome = await link.send(run)
            position = .after(outcome)
            return outcome
        }
    }

    fileprivate func successor(of outcome: Outcome) async throws(SluiceError) -> ChainLink<Outcome>? {
        do {
            return try await next(outcome)
        } catch {
            if let error = error as? SluiceError { throw error }
            if error.meansCancellation { throw .cancelled }
            throw SluiceError(
                .chainFailed,
                "The closure that selects the next request of the chain threw an error.",
                step: .recovery,
                underlyingError: error
            )
        }
    }
}

/// A request of a ``Chain`` with several models, and the conversion of its response to an outcome of the chain.
///
/// ```swift
/// let link = ChainLink<Progress>(login) { response in .signedIn(response.result) }
/// ```
public struct ChainLink<Outcome: Sendable>: Sendable {
    let send: @Sendable (ChainRun) async -> Outcome

    /// Creates a link.
    ///
    /// - Parameters:
    ///   - request: The request, which is sent by its own client.
    ///   - outcome: Converts the response, which may be a failure, to an outcome of the chain.
    public init<Request: TypedRequest>(
        _ request: Request,
        _ outcome: @escaping @Sendable (APIResponse<Request.Model, Request.ErrorModel>) -> Outcome
    ) {
        send = { run in
            let sender = request.sender()
            run.begin { sender.transferProgress }
            return outcome(await sender.response)
        }
    }

    /// Creates a link whose outcome is its response.
    public init<Request: TypedRequest>(
        _ request: Request
    ) where Outcome == APIResponse<Request.Model, Request.ErrorModel> {
        self.init(request) { $0 }
    }
}

extension APIClient {
    /// Creates a chain of requests with the same model, each chosen from the response to the one before.
    ///
    /// ```swift
    /// let order: APIRequest<Order, ShopError> = shop.codable.post("orders")
    /// let chain = shop.chain(order) { response in
    ///     guard let order = try? response.result.get(), order.isPending else { return nil }
    ///     return shop.codable.get("orders/\(order.id)")
    /// }
    /// for try await response in chain { print(response.status ?? 0) }
    /// ```
    ///
    /// Each request is sent by its own client, not necessarily by this one. For the pages of a list, use
    /// ``TypedRequest/pages(by:limit:prefetch:followsOtherOrigins:)``.
    ///
    /// - Parameters:
    ///   - first: The first request.
    ///   - limit: The maximum number of requests, at least 1; 100 by default. A longer chain fails with
    ///     ``SluiceError/Code/chainTooLong``.
    ///   - next: Returns the next request for a response, which may be a failure; nil to end the chain. An error it
    ///     throws fails the chain.
    /// - Returns: The responses; iterating over them sends the requests.
    public func chain<First: TypedRequest>(
        _ first: First,
        limit: Int = 100,
        next:
            @escaping @Sendable (APIResponse<First.Model, First.ErrorModel>) async throws
            -> APIRequest<First.Model, First.ErrorModel>?
    ) -> Chain<APIResponse<First.Model, First.ErrorModel>> {
        Chain(ChainLink(first), limit: limit, clock: pipeline.clock) { try await next($0).map { ChainLink($0) } }
    }

    /// Creates a chain of requests with any models, each chosen from the outcome of the one before.
    ///
    /// - Parameters:
    ///   - first: The first request, and its conversion to an outcome of the chain.
    ///   - limit: The maximum number of requests, at least 1; 100 by default.
    ///   - next: Returns the next request for an outcome; nil to end the chain. An error it throws fails the chain.
    /// - Returns: The outcomes; iterating over them sends the requests.
    public func chain<Outcome: Sendable>(
        _ first: ChainLink<Outcome>,
        limit: Int = 100,
        next: @escaping @Sendable (Outcome) async throws -> ChainLink<Outcome>?
    ) -> Chain<Outcome> {
        Chain(first, limit: limit, clock: pipeline.clock, next: next)
    }
}

extension SluiceError.Code {
    /// A chain of requests has not ended within its limit.
    public static let chainTooLong = SluiceError.Code("chainTooLong")
    /// The closure that chooses the next request of a chain threw an error.
    public static let chainFailed = SluiceError.Code("chainFailed")
}

extension SluiceError {
    fileprivate static func chainTooLong(_ limit: Int) -> SluiceError {
        let reason = "The chain did not end within its limit of \(limit) requests."
        return SluiceError(.chainTooLong, reason, step: .recovery)
    }
}

// MARK: - Chain progress

struct ChainProgress: Sendable, Hashable {
    /// The number of the current request, starting at 1; 0 before the first.
    var request = 0
    /// The progress of the current request's body.
    var upload = TransferProgress()
    /// The progress of the body of the response to the current request.
    var download = TransferProgress()
}

/// One iteration over a chain, for the readers of its progress.
final class ChainRun: ObservableProgress {
    private struct State {
        var progress = ChainProgress()
        /// Returns the progress of the current request; nil before the first request and after the last.
        var read: (@Sendable () -> (upload: TransferProgress, download: TransferProgress))?
        var isOver = false
    }

    let clock: any SluiceClock
    let signal: TransferMeter
    private let state = Locked(State())

    init(clock: any SluiceClock) {
        self.clock = clock
        signal = TransferMeter(clock: clock)
    }

    var progress: ChainProgress {
        let (progress, read) = state.withLock { ($0.progress, $0.read) }
        return read.map { progress.updated(by: $0()) } ?? progress
    }

    /// Begins the next request.
    ///
    /// - Parameter read: Returns the progress of the request.
    func begin(_ read: @escaping @Sendable () -> (upload: TransferProgress, download: TransferProgress)) {
        state.withLock { state in
            guard !state.isOver else { return }
            state.progress = ChainProgress(request: state.progress.request + 1)
            state.read = read
        }
        _ = signal.begin(uploading: nil)
    }

    /// Ends the chain with the current progress. Only the first call has an effect.
    func end() {
        let last = progress
        state.withLock { state in
            guard !state.isOver else { return }
            state.progress = last
            state.read = nil
            state.isOver = true
        }
        signal.end()
    }
}

extension ChainProgress {
    fileprivate func updated(by current: (upload: TransferProgress, download: TransferProgress)) -> ChainProgress {
        ChainProgress(request: request, upload: current.upload, download: current.download)
    }
}

/// The iterations over a chain, of which the newest reports its progress.
final class ChainRuns: Sendable {
    private let clock: any SluiceClock
    private let state: Locked<(newest: ChainRun, isTaken: Bool)>

    init(clock: any SluiceClock) {
        self.clock = clock
        state = Locked((ChainRun(clock: clock), false))
    }

    deinit {
        // Ends the progress sequences of a chain that was never iterated.
        state.withLock { if !$0.isTaken { $0.newest.end() } }
    }

    /// The newest iteration, or the one that is to begin.
    var newest: ChainRun { state.withLock { $0.newest } }

    /// Returns the run of an iteration that begins.
    func begin() -> ChainRun {
        state.withLock { state in
            if state.isTaken { state.newest = ChainRun(clock: clock) }
            state.isTaken = true
            return state.newest
        }
    }
}

/// Ends the run of an iteration when its iterator is released.
final class ChainRunOwner: Sendable {
    let run: ChainRun

    init(_ run: ChainRun) {
        self.run = run
    }

    deinit {
        run.end()
    }
}

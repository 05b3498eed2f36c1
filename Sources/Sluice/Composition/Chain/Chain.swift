import SluiceHTTP

/// The outcomes of requests of which each is picked when that of the one before is known.
///
/// A request is sent when the loop wants its outcome, successes and failures alike; leaving the loop, or cancelling its task, cancels the
/// one under way. Iterated twice, they are sent twice. The chain ends where no next request is picked.
public struct Chain<Outcome: Sendable>: AsyncSequence, Sendable {
    /// The outcome of a request.
    public typealias Element = Outcome
    /// A failure of the chain's own: ``SluiceError/Code/chainTooLong``, ``SluiceError/Code/chainFailed``, or a
    /// cancellation.
    public typealias Failure = SluiceError
    /// Picks the next request of an outcome; nil for none.
    public typealias Next = @Sendable (Outcome) async throws -> ChainLink<Outcome>?

    fileprivate let first: ChainLink<Outcome>
    fileprivate let limit: Int
    fileprivate let next: Next

    init(_ first: ChainLink<Outcome>, limit: Int, next: @escaping Next) {
        self.first = first
        self.limit = Swift.max(1, limit)
        self.next = next
    }

    /// Makes an iterator, which sends the first request when its outcome is wanted.
    public func makeAsyncIterator() -> Iterator { Iterator(chain: self) }

    /// Goes from request to request.
    public struct Iterator: AsyncIteratorProtocol {
        private enum Position {
            case before(ChainLink<Outcome>)
            case behind(Outcome)
            case over
        }

        private let chain: Chain
        private var position: Position
        private var count = 0

        fileprivate init(chain: Chain) {
            self.chain = chain
            position = .before(chain.first)
        }

        /// The next outcome, nil behind the last one and after an error.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SluiceError) -> Outcome? {
            if case .behind(let outcome) = position {
                position = .over
                // What came of a request that was cancelled is no outcome to go on from.
                if Task.isCancelled { throw .cancelled }
                guard let link = try await chain.successor(of: outcome) else { return nil }
                guard count < chain.limit else { throw .chainTooLong(chain.limit) }
                position = .before(link)
            }
            guard case .before(let link) = position else { return nil }
            position = .over
            // Cancelled between two requests: that is not the end of the chain.
            if Task.isCancelled { throw .cancelled }
            count += 1
            let outcome = await link.send()
            position = .behind(outcome)
            return outcome
        }
    }

    fileprivate func successor(of outcome: Outcome) async throws(SluiceError) -> ChainLink<Outcome>? {
        do {
            return try await next(outcome)
        } catch {
            if let error = error as? SluiceError { throw error }
            if error is CancellationError || (error as? APIError)?.isCancellation == true { throw .cancelled }
            throw SluiceError(
                .chainFailed,
                "What was to pick the next request of the chain failed.",
                step: .recovery,
                underlyingError: error
            )
        }
    }
}

extension SluiceError.Code {
    /// A chain of requests has not come to an end within its limit.
    public static let chainTooLong = SluiceError.Code("chainTooLong")
    /// What was to pick the next request of a chain threw.
    public static let chainFailed = SluiceError.Code("chainFailed")
}

extension SluiceError {
    fileprivate static func chainTooLong(_ limit: Int) -> SluiceError {
        let reason = "The chain has not come to its end after \(limit) requests, which is its limit."
        return SluiceError(.chainTooLong, reason, step: .recovery)
    }
}

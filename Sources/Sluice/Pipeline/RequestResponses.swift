/// The responses of a request in order: ``RequestSender/responses``.
public struct RequestResponses<Model: Sendable, ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    /// A response with its complete outcome.
    public typealias Element = APIResponse<Model, ErrorModel>
    /// The sequence does not throw: a failed request produces a response that carries the error.
    public typealias Failure = Never

    private let sender: RequestSender<Model, ErrorModel>

    init(_ sender: RequestSender<Model, ErrorModel>) {
        self.sender = sender
    }

    /// Returns an iterator. The request is sent on the first read, unless it was sent before.
    public func makeAsyncIterator() -> Iterator { Iterator(sender) }

    /// An iterator over the responses.
    public struct Iterator: AsyncIteratorProtocol {
        private let sender: RequestSender<Model, ErrorModel>
        private var last: LastResponse?
        private var isOver = false

        init(_ sender: RequestSender<Model, ErrorModel>) {
            self.sender = sender
        }

        /// Returns the next response, or nil after the last.
        public mutating func next() async -> APIResponse<Model, ErrorModel>? {
            await next(isolation: nil)
        }

        /// Returns the next response, or nil after the last.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> APIResponse<Model, ErrorModel>? {
            if isOver { return nil }
            if last == nil {
                // The last response is requested now, so that it is under way while the loop's body handles the first.
                let last = LastResponse(sender)
                self.last = last
                if let first = await sender.firstResponse() { return first }
            }
            isOver = true
            return await last?.value()
        }

        /// A task that waits for the final response and is cancelled when this object is released.
        private final class LastResponse: Sendable {
            private let task: Task<APIResponse<Model, ErrorModel>, Never>

            init(_ sender: RequestSender<Model, ErrorModel>) {
                task = Task { await sender.response }
            }

            deinit {
                task.cancel()
            }

            func value() async -> APIResponse<Model, ErrorModel> {
                await withTaskCancellationHandler {
                    await task.value
                } onCancel: {
                    task.cancel()
                }
            }
        }
    }
}

/// The models of a request in order: ``RequestSender/values``.
public struct RequestValues<Model: Sendable, ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    /// A model.
    public typealias Element = Model
    /// The error thrown if the final model cannot be obtained.
    public typealias Failure = ErrorModel

    private let responses: RequestResponses<Model, ErrorModel>

    init(_ sender: RequestSender<Model, ErrorModel>) {
        responses = RequestResponses(sender)
    }

    /// Returns an iterator. The request is sent on the first read, unless it was sent before.
    public func makeAsyncIterator() -> Iterator { Iterator(responses: responses.makeAsyncIterator()) }

    /// An iterator over the models.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var responses: RequestResponses<Model, ErrorModel>.Iterator

        /// Returns the next model, or nil after the last.
        public mutating func next() async throws(ErrorModel) -> Model? {
            try await next(isolation: nil)
        }

        /// Returns the next model, or nil after the last.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(ErrorModel) -> Model? {
            try await responses.next(isolation: actor)?.result.get()
        }
    }
}

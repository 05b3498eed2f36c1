/// The responses of a request in their order: ``RequestSender/responses``.
public struct RequestResponses<Model: Sendable, ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    /// All that is known of one of them.
    public typealias Element = APIResponse<Model, ErrorModel>
    /// A request that fails has a response that says so.
    public typealias Failure = Never

    private let sender: RequestSender<Model, ErrorModel>

    init(_ sender: RequestSender<Model, ErrorModel>) {
        self.sender = sender
    }

    /// Begins to read; sends the request if nobody has.
    public func makeAsyncIterator() -> Iterator { Iterator(sender) }

    /// Reads responses one after the other.
    public struct Iterator: AsyncIteratorProtocol {
        private let sender: RequestSender<Model, ErrorModel>
        private var last: LastResponse?
        private var isOver = false

        init(_ sender: RequestSender<Model, ErrorModel>) {
            self.sender = sender
        }

        /// The next response, nil after the last.
        public mutating func next() async -> APIResponse<Model, ErrorModel>? {
            await next(isolation: nil)
        }

        /// The next response, nil after the last.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> APIResponse<Model, ErrorModel>? {
            if isOver { return nil }
            if last == nil {
                // On its way while the loop's body works on the first.
                let last = LastResponse(sender)
                self.last = last
                if let first = await sender.firstResponse() { return first }
            }
            isOver = true
            return await last?.value()
        }

        /// Waits for the answer from when it is made until nobody holds it.
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

/// The models of a request in their order: ``RequestSender/values``.
public struct RequestValues<Model: Sendable, ErrorModel: ErrorSerializable>: AsyncSequence, Sendable {
    /// A model.
    public typealias Element = Model
    /// Why there is no last one.
    public typealias Failure = ErrorModel

    private let responses: RequestResponses<Model, ErrorModel>

    init(_ sender: RequestSender<Model, ErrorModel>) {
        responses = RequestResponses(sender)
    }

    /// Begins to read; sends the request if nobody has.
    public func makeAsyncIterator() -> Iterator { Iterator(responses: responses.makeAsyncIterator()) }

    /// Reads models one after the other.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var responses: RequestResponses<Model, ErrorModel>.Iterator

        /// The next model, nil after the last.
        public mutating func next() async throws(ErrorModel) -> Model? {
            try await next(isolation: nil)
        }

        /// The next model, nil after the last.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(ErrorModel) -> Model? {
            try await responses.next(isolation: actor)?.result.get()
        }
    }
}

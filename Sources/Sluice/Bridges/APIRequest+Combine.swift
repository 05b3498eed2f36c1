#if canImport(Combine)
import Combine

extension APIRequest {
    /// Publishes the model: each subscriber has the request sent for it, and stops it by cancelling.
    ///
    /// ```swift
    /// let subscription = github.codable.get("users/apple", as: User.self).publisher()
    ///     .receive(on: DispatchQueue.main)
    ///     .sink { completion in … } receiveValue: { user in … }
    /// ```
    ///
    /// It publishes on any thread.
    public func publisher() -> AnyPublisher<Model, ErrorModel> {
        responsePublisher()
            .setFailureType(to: ErrorModel.self)
            .flatMap(\.result.publisher)
            .eraseToAnyPublisher()
    }

    /// Publishes all that came of the request, a failure too: each subscriber has it sent for it, and stops it by cancelling.
    public func responsePublisher() -> AnyPublisher<APIResponse<Model, ErrorModel>, Never> {
        Deferred {
            let sender = sender()
            return Future<APIResponse<Model, ErrorModel>, Never> { promise in
                // A promise may be fulfilled on any thread, which its type does not say; this one is, once, and nothing else is done with it.
                nonisolated(unsafe) let promise = promise
                sender.start { promise(.success($0)) }
            }
            .handleEvents(receiveCancel: sender.cancel)
        }
        .eraseToAnyPublisher()
    }
}
#endif

#if OPENCOMBINE
// The example for OpenCombine compiles this file in a module of its own.
import OpenCombine
import Sluice
#elseif canImport(Combine)
import Combine
#endif

#if OPENCOMBINE || canImport(Combine)
extension TypedRequest {
    /// Returns a publisher of the model. Each subscriber sends the request again, and cancelling
    /// its subscription cancels it.
    ///
    /// ```swift
    /// let subscription = github.codable.get("users/apple", as: User.self).publisher()
    ///     .receive(on: DispatchQueue.main)
    ///     .sink { completion in … } receiveValue: { user in … }
    /// ```
    ///
    /// Values are published on any thread.
    public func publisher() -> AnyPublisher<Model, ErrorModel> {
        responsePublisher()
            .setFailureType(to: ErrorModel.self)
            .flatMap(\.result.publisher)
            .eraseToAnyPublisher()
    }

    /// Returns a publisher of the whole response, failures included. Each subscriber sends the request again, and
    /// cancelling its subscription cancels it.
    public func responsePublisher() -> AnyPublisher<APIResponse<Model, ErrorModel>, Never> {
        Deferred {
            let sender = sender()
            return Future<APIResponse<Model, ErrorModel>, Never> { promise in
                // A promise can be fulfilled on any thread, although its type is not
                // Sendable. This one is fulfilled once.
                nonisolated(unsafe) let promise = promise
                sender.start { promise(.success($0)) }
            }
            .handleEvents(receiveCancel: sender.cancel)
        }
        .eraseToAnyPublisher()
    }
}
#endif

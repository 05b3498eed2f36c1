import Dispatch

/// The main queue, whose completion handlers run on the main actor: `request.send(on: .main) { self.name = "" }`.
public enum MainQueue: Sendable {
    /// The main queue.
    case main
}

extension RequestSender {
    /// Sends the request if it has not been sent, and calls back with the response. For code that is not async.
    ///
    /// ```swift
    /// let sender = request.sender()
    /// sender.start(on: .main) { response in show(response.result) }
    /// ```
    ///
    /// - Parameters:
    ///   - queue: The queue of the callback. Nil, the default, for any thread; the callback must not block it.
    ///   - completion: Called once with the response, also after ``cancel()``. Several callbacks and
    ///     tasks can share a sender.
    @_disfavoredOverload
    public nonisolated func start(
        on queue: DispatchQueue? = nil,
        completion: @escaping @Sendable (APIResponse<Model, ErrorModel>) -> Void
    ) {
        Task {
            let response = await response
            if let queue { queue.async { completion(response) } } else { completion(response) }
        }
    }

    /// Sends the request if it has not been sent, and calls back with the response on the main actor.
    public nonisolated func start(
        on queue: MainQueue,
        completion: @escaping @MainActor @Sendable (APIResponse<Model, ErrorModel>) -> Void
    ) {
        Task { await completion(await response) }
    }
}

extension TypedRequest {
    /// Unavailable: a sender sends the request.
    @available(*, unavailable, message: "Read \"sender().value\", \"sender().result\" or \"sender().response\".")
    public func send() async throws(ErrorModel) -> Model { try await sender().value }

    /// Sends the request and calls back with the response. For code that is not async.
    ///
    /// ```swift
    /// let sender = github.codable.get("users/apple", as: User.self).send(on: .main) { response in
    ///     show(response.result)
    /// }
    /// sender.cancel()
    /// ```
    ///
    /// - Parameters:
    ///   - queue: The queue of the callback. Nil, the default, for any thread; the callback must not block it.
    ///   - completion: Called once with the response, also for a cancelled request.
    /// - Returns: The sender, which cancels the request and reports its progress. It need not be retained.
    @_disfavoredOverload
    @discardableResult
    public func send(
        on queue: DispatchQueue? = nil,
        completion: @escaping @Sendable (APIResponse<Model, ErrorModel>) -> Void
    ) -> RequestSender<Model, ErrorModel> {
        let sender = sender()
        sender.start(on: queue, completion: completion)
        return sender
    }

    /// Sends the request and calls back with the response on the main actor.
    @discardableResult
    public func send(
        on queue: MainQueue,
        completion: @escaping @MainActor @Sendable (APIResponse<Model, ErrorModel>) -> Void
    ) -> RequestSender<Model, ErrorModel> {
        let sender = sender()
        sender.start(on: queue, completion: completion)
        return sender
    }
}

import Dispatch

extension RequestSender {
    /// Sends the request, unless that has been done, and calls back with what comes of it: for code that is not async.
    ///
    /// ```swift
    /// let sender = request.sender()
    /// sender.start(on: .main) { response in show(response.result) }
    /// ```
    ///
    /// - Parameters:
    ///   - queue: Where to call; nil, the default, for any thread, which must not be held up.
    ///   - completion: Called once, also after ``cancel()``. Any number of calls and tasks may ask one sender.
    public nonisolated func start(
        on queue: DispatchQueue? = nil,
        completion: @escaping @Sendable (APIResponse<Model, ErrorModel>) -> Void
    ) {
        Task {
            let response = await response
            if let queue { queue.async { completion(response) } } else { completion(response) }
        }
    }
}

extension DownloadRequestSender {
    /// Sends the request, unless that has been done, and calls back with what comes of it: for code that is not async.
    ///
    /// - Parameters:
    ///   - queue: Where to call; nil, the default, for any thread, which must not be held up.
    ///   - completion: Called once, also after ``cancel()``.
    public nonisolated func start(
        on queue: DispatchQueue? = nil,
        completion: @escaping @Sendable (DownloadResponse<Model, ErrorModel>) -> Void
    ) {
        Task {
            let response = await response
            if let queue { queue.async { completion(response) } } else { completion(response) }
        }
    }
}

extension APIRequest {
    /// Sends the request and calls back with what comes of it: for code that is not async.
    ///
    /// ```swift
    /// let sender = github.codable.get("users/apple", as: User.self).send(on: .main) { response in
    ///     show(response.result)
    /// }
    /// sender.cancel()
    /// ```
    ///
    /// - Parameters:
    ///   - queue: Where to call; nil, the default, for any thread, which must not be held up.
    ///   - completion: Called once, also for a request that is cancelled.
    /// - Returns: What cancels it and tells its progress; it need not be kept.
    @discardableResult
    public func send(
        on queue: DispatchQueue? = nil,
        completion: @escaping @Sendable (APIResponse<Model, ErrorModel>) -> Void
    ) -> RequestSender<Model, ErrorModel> {
        let sender = sender()
        sender.start(on: queue, completion: completion)
        return sender
    }
}

extension DownloadAPIRequest {
    /// Sends the request and calls back with what comes of it: for code that is not async.
    ///
    /// - Parameters:
    ///   - queue: Where to call; nil, the default, for any thread, which must not be held up.
    ///   - completion: Called once, also for a request that is cancelled.
    /// - Returns: What cancels it and tells its progress; it need not be kept.
    @discardableResult
    public func send(
        on queue: DispatchQueue? = nil,
        completion: @escaping @Sendable (DownloadResponse<Model, ErrorModel>) -> Void
    ) -> DownloadRequestSender<Model, ErrorModel> {
        let sender = sender()
        sender.start(on: queue, completion: completion)
        return sender
    }
}

/// A transport that can run a transfer without a task, which is most of the cost of a small request.
package protocol CallbackTransport: Transport {
    /// Starts a transfer on the calling thread and returns without waiting.
    ///
    /// - Parameters:
    ///   - request: The request. Its body must need no preparation.
    ///   - context: The time-outs and limits.
    ///   - completion: Called exactly once, on any thread, with the result or error of ``Transport/send(_:context:)``.
    ///     It must not block.
    /// - Returns: A closure that cancels the transfer; `completion` is then called with a cancellation error.
    func begin(
        _ request: HTTPRequest,
        context: TransferContext,
        completion: @escaping @Sendable (Result<TransportResponse, SluiceError>) -> Void
    ) -> @Sendable () -> Void
}

/// A transport that can be driven without a task for each request, which spares a small one its greater part.
package protocol CallbackTransport: Transport {
    /// Begins a transfer on the calling thread, without waiting.
    ///
    /// - Parameters:
    ///   - request: What to send; its body must need no preparation, which would have to be waited for.
    ///   - context: Time-outs and limits.
    ///   - completion: Called once, with what ``Transport/send(_:context:)`` would return or throw, on any thread, which it
    ///     must not hold up.
    /// - Returns: What stops the transfer; `completion` is then called with a cancellation.
    func begin(
        _ request: HTTPRequest,
        context: TransferContext,
        completion: @escaping @Sendable (Result<TransportResponse, SluiceError>) -> Void
    ) -> @Sendable () -> Void
}

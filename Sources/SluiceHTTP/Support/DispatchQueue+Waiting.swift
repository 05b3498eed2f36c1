import Dispatch

extension DispatchQueue {
    /// Runs work that may block on the queue. The calling task suspends meanwhile.
    ///
    /// - Parameters:
    ///   - flags: `.barrier` on a concurrent queue for work that requires exclusive access.
    ///   - work: The work.
    /// - Returns: The result of the work.
    package func result<Value: Sendable>(
        flags: DispatchWorkItemFlags = [],
        of work: @escaping @Sendable () -> Value
    ) async -> Value {
        let fence = Locked(())
        defer { fence.synchronize() }
        return await withUnsafeContinuation { continuation in
            self.async(flags: flags) {
                let value = work()
                fence.synchronize()
                continuation.resume(returning: value)
            }
        }
    }
}

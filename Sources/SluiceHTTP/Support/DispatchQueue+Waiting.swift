import Dispatch

extension DispatchQueue {
    /// Does work that may block on the queue, while the calling task waits without holding a thread.
    ///
    /// - Parameters:
    ///   - flags: `.barrier` on a concurrent queue for work that must be alone.
    ///   - work: What to do.
    /// - Returns: What came of it.
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

import Dispatch

extension DispatchQueue {
    /// Does work that may block on the queue, while the calling task waits without holding a thread.
    package func result<Value: Sendable>(of work: @escaping @Sendable () -> Value) async -> Value {
        let fence = Locked(())
        defer { fence.synchronize() }
        return await withUnsafeContinuation { continuation in
            self.async {
                let value = work()
                fence.synchronize()
                continuation.resume(returning: value)
            }
        }
    }
}

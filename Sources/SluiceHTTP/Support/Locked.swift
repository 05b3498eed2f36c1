#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A value behind a lock: the one lock of the project, held only for a few instructions and never across `await`.
///
/// `Synchronization.Mutex` is not used because its futex is invisible to the thread sanitizer on Linux, which then
/// reports every access as a race; a pthread mutex is seen, and costs the same when uncontended.
///
/// Unchecked because the compiler cannot see that `value` is reached only through `withLock`, which holds the mutex
/// for the whole of every access; nothing else hands out a pointer or reference to it.
package struct Locked<Value>: @unchecked Sendable {
    /// The value and its mutex in one allocation, where neither of them moves.
    @usableFromInline
    final class Storage: ManagedBuffer<Value, pthread_mutex_t> {
        deinit {
            _ = withUnsafeMutablePointerToElements { pthread_mutex_destroy($0) }
        }
    }

    @usableFromInline
    let storage: ManagedBuffer<Value, pthread_mutex_t>

    @inlinable
    package init(_ value: sending Value) {
        storage = Storage.create(minimumCapacity: 1) { _ in value }
        storage.withUnsafeMutablePointerToElements { mutex in
            mutex.initialize(to: pthread_mutex_t())
            pthread_mutex_init(mutex, nil)
        }
    }

    /// Creates a lock around a value that nobody else uses from now on, though the compiler cannot see it.
    @inlinable
    package init(unchecked value: Value) {
        nonisolated(unsafe) let value = value
        self.init(value)
    }

    @inlinable
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let (value, mutex) = storage.withUnsafeMutablePointers { ($0, $1) }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }

    /// Runs `body` under the lock, for values whose parts the compiler cannot follow: nothing of the value may leave `body`.
    @inlinable
    package func withLockUnchecked<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (value, mutex) = storage.withUnsafeMutablePointers { ($0, $1) }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }

    /// Runs `body` under the lock if nobody holds it; returns nil otherwise.
    @inlinable
    package func withLockIfAvailable<Result>(_ body: (inout Value) -> Result) -> Result? {
        let (value, mutex) = storage.withUnsafeMutablePointers { ($0, $1) }
        guard pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { pthread_mutex_unlock(mutex) }
        return body(&value.pointee)
    }

    /// Lets this thread see all that others had written when they last held the lock.
    ///
    /// A continuation orders what it hands over by itself, but the thread sanitizer does not see it where the
    /// continuation was resumed before its task came to wait for it. Uncontended it costs some 20 ns.
    @inlinable
    package func synchronize() {
        _ = storage.withUnsafeMutablePointerToElements { mutex in
            pthread_mutex_lock(mutex)
            return pthread_mutex_unlock(mutex)
        }
    }
}

extension Locked: CustomReflectable {
    /// Nothing: reading the value by reflection would be a race, and it may hold secrets.
    package var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }
}

import Dispatch
import SluiceLibc
import Synchronization

/// A value protected by a lock.
package typealias Locked<Value> = _Locked<Value>

/// A value protected by a lock. This is the only lock of the project. Hold it for a few instructions, never across
/// `await`.
///
/// `Synchronization.Mutex` is not used because the thread sanitizer on Linux cannot see its futex and reports every
/// access as a race. It sees a pthread mutex, which costs the same when uncontended.
///
/// The type is unchecked because the compiler cannot verify that `value` is accessed only while the mutex is held. All
/// accesses use the `withLock` functions, and no pointer or reference to the value escapes.
///
/// It is public, because the compiler inlines no `package` function into another module. The underscore keeps it out of the interface.
public struct _Locked<Value>: @unchecked Sendable {
    /// The mutex and its value in one allocation, so that neither moves. The value is the element, because it can be moved there, whereas
    /// a header is copied.
    @usableFromInline
    final class Storage: ManagedBuffer<pthread_mutex_t, Value> {
        deinit {
            let (mutex, value) = withUnsafeMutablePointers { ($0, $1) }
            value.deinitialize(count: 1)
            pthread_mutex_destroy(mutex)
        }
    }

    @usableFromInline
    let storage: ManagedBuffer<pthread_mutex_t, Value>

    /// Creates a lock around a value.
    @inlinable
    public init(_ value: sending Value) {
        storage = Storage.create(minimumCapacity: 1) { _ in pthread_mutex_t() }
        let (mutex, element) = storage.withUnsafeMutablePointers { ($0, $1) }
        pthread_mutex_init(mutex, nil)
        element.initialize(to: value)
    }

    /// Creates a lock around a value that no other code uses from now on. The compiler cannot verify this.
    @inlinable
    public init(unchecked value: Value) {
        nonisolated(unsafe) let value = value
        self.init(value)
    }

    /// Runs `body` under the lock.
    @inlinable
    public func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let (mutex, value) = storage.withUnsafeMutablePointers { ($0, $1) }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }

    /// Runs `body` under the lock without checks that parts of the value do not escape. No part of the value may leave
    /// `body`.
    @inlinable
    public func withLockUnchecked<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (mutex, value) = storage.withUnsafeMutablePointers { ($0, $1) }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }

    /// Runs `body` if the lock is free; returns nil otherwise.
    @inlinable
    public func withLockIfAvailable<Result>(_ body: (inout Value) -> Result) -> Result? {
        let (mutex, value) = storage.withUnsafeMutablePointers { ($0, $1) }
        guard pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { pthread_mutex_unlock(mutex) }
        return body(&value.pointee)
    }

    /// Runs `body` under the lock, and releases what it returns after that, because its end may run code that takes the lock. The optimizer
    /// may release an unused result of ``withLock(_:)`` while the lock is still held.
    package func withLockReleasing<Removed>(_ body: (inout Value) -> Removed) {
        let removed = withLockUnchecked(body)
        withExtendedLifetime(removed) {}
    }

    /// Replaces the value and returns the previous one.
    @inlinable
    public func exchange(_ value: Value) -> Value where Value: Sendable {
        withLock { current in
            defer { current = value }
            return current
        }
    }

    /// Synchronizes this thread with all earlier holders of the lock, so that it sees their writes.
    ///
    /// A continuation synchronizes memory itself, but the thread sanitizer does not see it if the continuation was
    /// resumed before its task suspended. Costs about 20 ns uncontended.
    @inlinable
    public func synchronize() {
        _ = storage.withUnsafeMutablePointerToHeader { mutex in
            pthread_mutex_lock(mutex)
            return pthread_mutex_unlock(mutex)
        }
    }
}

extension _Locked: CustomReflectable {
    /// An empty mirror: reading the value by reflection would be a race, and it may contain secrets.
    public var customMirror: Mirror { Mirror(self, children: [:], displayStyle: .struct) }
}

/// An object with a lock: constants, which any thread reads, and a value that the lock protects. It is one allocation.
package typealias LockedObject<Constants: Sendable, Value> = _LockedObject<Constants, Value>

/// An object with a lock: constants, which any thread reads, and a value that the lock protects. It is one allocation.
///
/// It is public for the reason given in ``_Locked``.
public struct _LockedObject<Constants: Sendable, Value>: Sendable {
    @usableFromInline
    struct Content {
        @usableFromInline let constants: Constants
        @usableFromInline var value: Value

        @inlinable
        init(_ constants: consuming Constants, _ value: consuming Value) {
            self.constants = constants
            self.value = value
        }
    }

    @usableFromInline
    let content: _Locked<Content>

    /// Creates an object.
    @inlinable
    public init(_ constants: consuming Constants, _ value: consuming sending Value) {
        content = _Locked(Content(constants, value))
    }

    /// The constants. They never change, so that reading them needs no lock.
    @inlinable
    public var constants: Constants {
        _read {
            let content = content.storage.withUnsafeMutablePointerToElements { $0 }
            yield content.pointee.constants
        }
    }

    /// Runs `body` under the lock.
    @inlinable
    public func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let (mutex, content) = content.storage.withUnsafeMutablePointers { ($0, $1) }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&content.pointee.value)
    }
}

// MARK: - Waiting for a queue

extension DispatchQueue {
    /// Runs work, which may block, on the queue and suspends the calling task until it ends.
    ///
    /// - Parameter work: The work.
    /// - Returns: The result of the work.
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

/// Serial queues for work that blocks its thread, such as reading a file, or computes for long.
///
/// On Linux, the concurrent queues of libdispatch take their threads from the pool that also runs the tasks of the process.
/// A few pieces of work that wait for a disk would then stop all tasks. The threads of serial queues come from elsewhere.
package enum BlockingQueues {
    private static let all = (0..<16).map { DispatchQueue(label: "sluice.blocking.\($0)") }
    private static let turn = Atomic<UInt>(0)

    /// The queue whose turn it is. Work that must keep its order stays on one queue.
    package static var next: DispatchQueue {
        all[Int(turn.wrappingAdd(1, ordering: .relaxed).oldValue % UInt(all.count))]
    }

    private static let certificates = (0..<16).map { DispatchQueue(label: "sluice.certificates.\($0)") }

    /// The queue that reads the files of a TLS policy. No other work delays connections, and files that cannot be reached delay few of
    /// them.
    package static func certificates(of policy: some Hashable) -> DispatchQueue {
        certificates[Int(UInt(bitPattern: policy.hashValue) % UInt(certificates.count))]
    }
}

/// Delays the exit of the process until work in the background has been done, such as writing a log or a cache.
///
/// `atexit` handlers run while other threads continue, so that the work can finish. The exiting thread only waits, for a
/// limited time, because the disk may not respond.
package enum ProcessExit {
    private static let limitMilliseconds = 2000
    private static let count = Atomic<Int>(0)

    private static let registration: pid_t = {
        atexit { ProcessExit.wait() }
        return getpid()
    }()

    /// Registers the exit handler.
    package static func register() {
        _ = registration
    }

    /// Records that work begins.
    package static func beginWork() {
        count.wrappingAdd(1, ordering: .relaxed)
    }

    /// Records that work has been done.
    package static func endWork() {
        count.wrappingSubtract(1, ordering: .releasing)
    }

    private static func wait() {
        // The threads do not continue in a fork.
        guard getpid() == registration else { return }
        for _ in 0..<limitMilliseconds where count.load(ordering: .acquiring) > 0 { usleep(1000) }
    }
}

import Dispatch
import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The database file of a cache, with one connection for writing and two for reading. Each has its own queue, so that
/// reads never wait for writes.
///
/// A file that is damaged or not a database is moved out of the way. If the path refers to a different file than
/// before, that file is opened. In both cases, the call continues with the new file.
final class CacheDatabase: Sendable {
    let files: CacheFiles
    let schema: CacheSchema
    let tuning: CacheTuning
    let time: any TimeSource
    let onEvent: @Sendable (CacheEvent) -> Void
    let writer = CacheConnection("sluice.cache.write")
    let status = Locked(Status())
    private let readers = [CacheConnection("sluice.cache.read"), CacheConnection("sluice.cache.read")]
    private let waiting = Locked([0, 0])

    /// The file that was opened last.
    struct Opened: Sendable {
        let identity: CacheFiles.Identity
        let access: SQLiteConnection.Access
        /// A number that is different each time the file is opened.
        let generation: Int
    }

    struct Status: Sendable {
        var opened: Opened?
        var generation = 0
        /// The reason why the file could not be opened, and the time until which it is not tried again.
        var refusal: (error: SluiceError, end: ContinuousClock.Instant)?
        /// True while a sweep is running.
        var isSweeping = false
    }

    init(
        files: CacheFiles,
        schema: CacheSchema,
        tuning: CacheTuning,
        time: any TimeSource,
        onEvent: @escaping @Sendable (CacheEvent) -> Void
    ) {
        self.files = files
        self.schema = schema
        self.tuning = tuning
        self.time = time
        self.onEvent = onEvent
    }

    deinit {
        for connection in readers + [writer] { connection.closeLater() }
    }

    /// The number of attempts of a call if the file is replaced.
    static let attempts = 4

    /// Reads from the database, without waiting for writes.
    ///
    /// - Parameter work: The work, which runs on a queue that may block.
    /// - Returns: The result of the work.
    /// - Throws: An error if the database cannot be read.
    func read<Value: Sendable>(
        _ work: @escaping @Sendable (SQLiteConnection) throws(SQLiteFailure) -> Value
    ) async throws(SluiceError) -> Value {
        let index = joinReaders()
        defer { leaveReader(index) }
        let reader = readers[index]
        for _ in 0..<Self.attempts {
            let opened = try await opened()
            let outcome = await reader.queue.result { [self] () -> Result<Value, CacheConnection.Failure> in
                reader.read(opened, in: files, schema, tuning, work)
            }
            switch outcome {
            case .success(let value): return value
            case .failure(.moved): status.withLock { $0.forget(opened) }
            case .failure(.failed(let failure)):
                guard failure.isCorruption else { throw error(failure, to: "read") }
                try await writer.queue.result { [self] in
                    writer.state.withLock { setAside(opened, as: failure, &$0) }
                }.get()
            }
        }
        throw unsettled
    }

    /// Reads from the database, without a task if the file is open and unchanged.
    ///
    /// - Parameters:
    ///   - work: The work, which runs on a queue that may block. It is repeated if the file has been replaced.
    ///   - completion: Called once with the result, usually on that queue.
    func read<Value: Sendable>(
        _ work: @escaping @Sendable (SQLiteConnection) throws(SQLiteFailure) -> Value,
        completion: @escaping @Sendable (Result<Value, SluiceError>) -> Void
    ) {
        let again: @Sendable () -> Void = { [self] in
            Task {
                do throws(SluiceError) {
                    completion(.success(try await read(work)))
                } catch {
                    completion(.failure(error))
                }
            }
        }
        guard let opened = status.withLock({ $0.opened }) else { return again() }
        let index = joinReaders()
        let reader = readers[index]
        reader.queue.async { [self] in
            let outcome = reader.read(opened, in: files, schema, tuning, work)
            leaveReader(index)
            // The retry encounters the problem again, and resolves or reports it.
            if case .success(let value) = outcome { completion(.success(value)) } else { again() }
        }
    }

    /// Selects the reader with the shorter queue.
    private func joinReaders() -> Int {
        waiting.withLock { waiting in
            let index = waiting[0] <= waiting[1] ? 0 : 1
            waiting[index] += 1
            return index
        }
    }

    private func leaveReader(_ index: Int) {
        waiting.withLock { $0[index] -= 1 }
    }

    /// Returns the open file. Opens it if necessary.
    private func opened() async throws(SluiceError) -> Opened {
        if let opened = status.withLock({ $0.opened }) { return opened }
        return try await writer.queue.result { [self] in
            writer.state.withLock { state in
                Result { () throws(SluiceError) in try open(&state).opened }
            }
        }.get()
    }

    /// Writes to the database in one transaction, after the work that is already queued.
    ///
    /// - Parameter work: The work, which runs on a queue that may block. It is repeated if the file has been replaced.
    /// - Returns: The result of the work.
    /// - Throws: An error if the database cannot be written.
    func write<Value: Sendable>(
        _ work: @escaping @Sendable (inout CacheTransaction) throws(SQLiteFailure) -> Value
    ) async throws(SluiceError) -> Value {
        try await writer.queue.result { [self] in transact(work) }.get()
    }

    /// Writes to the database in one transaction, without reporting the result.
    func writeLater(
        _ work: @escaping @Sendable (inout CacheTransaction) throws(SQLiteFailure) -> Void
    ) {
        writer.queue.async { [self] in _ = transact(work) }
    }

    func error(_ failure: SQLiteFailure, to verb: String) -> SluiceError {
        SluiceError(
            .cacheFailed,
            "The cache “\(files.database)” could not be \(verb == "read" ? "read" : "written"): \(failure).",
            step: .cache,
            underlyingError: failure
        )
    }

    var unsettled: SluiceError {
        SluiceError(
            .cacheFailed,
            "The cache “\(files.database)” could not be used: its file is replaced again and again.",
            step: .cache
        )
    }
}

extension CacheDatabase.Status {
    /// Lets the next call open the file again, unless another call has already done so.
    mutating func forget(_ old: CacheDatabase.Opened) {
        if opened?.generation == old.generation { opened = nil }
    }
}

import Dispatch
import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The file of a cache: one connection that writes and two that read, each on a queue of its own, so that no read waits for a write.
///
/// Whoever finds the file to be no sound database sets it aside, and whoever finds it to be another than it was opens it anew; a call
/// then goes on with the new one.
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

    /// The file as it was opened last.
    struct Opened: Sendable {
        let identity: CacheFiles.Identity
        let access: SQLiteConnection.Access
        /// Another each time.
        let generation: Int
    }

    struct Status: Sendable {
        var opened: Opened?
        var generation = 0
        /// Why it could not be opened, and until when nobody tries again.
        var refusal: (error: SluiceError, end: ContinuousClock.Instant)?
        /// Whether steps of sweeping are under way.
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

    /// How often a call begins again because the file is not what it was.
    static let attempts = 4

    /// Reads, without waiting for those who write.
    ///
    /// - Parameter work: What to read, on a queue that may block.
    /// - Returns: What was read.
    /// - Throws: Why it could not be read.
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

    /// Reads without a task, where the file is open and as it was.
    ///
    /// - Parameters:
    ///   - work: What to read, on a queue that may block; done again where the file turns out to be another.
    ///   - completion: Called once with what was read, on that queue as a rule.
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
            // What is wrong will be found again, and mended or told.
            if case .success(let value) = outcome { completion(.success(value)) } else { again() }
        }
    }

    /// Chooses the reader for which fewer wait.
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

    /// The file, which is opened unless it is open.
    private func opened() async throws(SluiceError) -> Opened {
        if let opened = status.withLock({ $0.opened }) { return opened }
        return try await writer.queue.result { [self] in
            writer.state.withLock { state in
                Result { () throws(SluiceError) in try open(&state).opened }
            }
        }.get()
    }

    /// Writes, all of it or nothing, behind what was begun before.
    ///
    /// - Parameter work: What to write, on a queue that may block; done again where the file turns out to be another.
    /// - Returns: What came of it.
    /// - Throws: Why it could not be written.
    func write<Value: Sendable>(
        _ work: @escaping @Sendable (inout CacheTransaction) throws(SQLiteFailure) -> Value
    ) async throws(SluiceError) -> Value {
        try await writer.queue.result { [self] in transact(work) }.get()
    }

    /// Writes as soon as it is its turn, and tells nobody what came of it.
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
    /// Lets the next call look anew, unless one has done so.
    mutating func forget(_ old: CacheDatabase.Opened) {
        if opened?.generation == old.generation { opened = nil }
    }
}

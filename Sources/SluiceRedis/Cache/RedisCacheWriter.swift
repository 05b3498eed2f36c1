#if os(Linux)
import SluiceCache
import SluiceFoundation
import SluiceHTTP

/// Sends the pieces of a body as they arrive. The entry becomes visible with its record, which is sent last.
actor RedisCacheWriter: CacheWriter {
    private let entry: CacheEntry
    private let storage: RedisCacheStorage
    private let id = HexText.text(length: 16) { $0.append(UInt64.random(in: .min ... .max), digits: 16) }
    /// The bytes that do not make a piece yet.
    private var rest = Data()
    private var pieces = 0
    private var length = 0
    private var failure: SluiceError?
    private var isFinished = false

    init(_ entry: CacheEntry, in storage: RedisCacheStorage) {
        self.entry = entry
        self.storage = storage
    }

    deinit {
        guard !isFinished, pieces > 0 else { return }
        Task.detached { [storage, entry, id, pieces] in
            guard let name = try? storage.name(of: entry.key) else { return }
            await storage.removePieces([CacheRecord.Blob(id: id, pieces: pieces, length: 0)], of: name)
        }
    }

    func write(_ piece: Data) async throws(SluiceError) {
        if let failure { throw failure }
        rest.append(piece)
        // The last piece is sent with the end of the body, and is never empty.
        let size = (rest.count - 1) / CacheRecord.pieceSize * CacheRecord.pieceSize
        guard size > 0 else { return }
        let whole = rest
        rest = Data(whole.dropFirst(size))
        for start in stride(from: 0, to: size, by: CacheRecord.pieceSize) {
            try await send(Data(whole.dropFirst(start).prefix(CacheRecord.pieceSize)))
        }
    }

    private func send(_ piece: Data) async throws(SluiceError) {
        let number = pieces
        pieces += 1
        length += piece.count
        do throws(SluiceError) {
            guard number < CacheRecord.Blob.maximumPieces else { throw .tooManyPieces }
            try await storage.storePiece(piece, number, of: id, entry.key)
        } catch {
            // A body with a missing piece must not be stored.
            failure = error
            throw error
        }
    }

    func commit() async throws(SluiceError) {
        let message = try await finish()
        if let message { try await storage.publish([message]) }
    }

    /// Stores the entry. Returns the message for the other processes.
    func finish() async throws(SluiceError) -> ChangeMessage? {
        if let failure { throw failure }
        failure = .writerIsFinished
        if pieces == 0, rest.count <= CacheRecord.inlineSize(of: entry) {
            isFinished = true
            return try await storage.store(entry.with(body: rest), nil)
        }
        let last = rest
        rest = Data()
        failure = nil
        try await send(last)
        failure = .writerIsFinished
        let blob = CacheRecord.Blob(id: id, pieces: pieces, length: length)
        try await storage.keepPieces(blob, of: entry)
        let message = try await storage.store(entry, blob)
        isFinished = true
        return message
    }
}

extension SluiceError {
    fileprivate static let tooManyPieces = SluiceError(
        .cacheFailed,
        "The entry is too large for the cache on Redis.",
        step: .cache
    )
}
#endif

import SluiceFoundation

extension HTTPBody.Stream {
    /// Reads the stream to its end and checks its announced length.
    ///
    /// The chunk that completes the length is passed on only after the stream has ended. A body that is too long
    /// therefore fails before its receiver can treat it as complete.
    ///
    /// - Parameters:
    ///   - length: The announced length in bytes; nil if it is unknown.
    ///   - take: Called with each chunk. Returns false to stop reading.
    /// - Returns: False if `take` stopped reading.
    /// - Throws: The error of the stream, or ``SluiceError/Code/bodyLengthMismatch``.
    package func read(length: Int64?, _ take: (Data) async -> Bool) async throws(SluiceError) -> Bool {
        let next = open()
        var count: Int64 = 0
        do {
            while let chunk = try await next() {
                count += Int64(chunk.count)
                let isComplete = count == length
                while isComplete, count == length, let more = try await next() { count += Int64(more.count) }
                if let length, count > length { throw SluiceError.mismatch(length, "more") }
                guard await take(chunk) else { return false }
                if isComplete { return true }
            }
        } catch let error as SluiceError {
            throw error
        } catch {
            throw SluiceError(.bodyUnavailable, "The request's body could not be read.", underlyingError: error)
        }
        if let length, count < length { throw .mismatch(length, "only \(count)") }
        return true
    }
}

extension SluiceError {
    fileprivate static func mismatch(_ length: Int64, _ actual: String) -> SluiceError {
        SluiceError(.bodyLengthMismatch, "The request's body was announced with \(length) bytes, but has \(actual).")
    }
}

extension HTTPBody {
    /// True if a file has to be opened or a deferred body created before the first byte is sent.
    package var needsPreparation: Bool {
        switch source {
        case .none, .data, .stream: false
        case .file, .deferred: true
        }
    }

    /// Opens the file or creates the deferred body, so that a missing source fails the request before a byte is sent.
    ///
    /// - Parameters:
    ///   - limit: The request's total time, counted from now. If the preparation takes longer, or the task is
    ///     cancelled, this function throws without waiting for the preparation to end.
    ///   - clock: The clock that measures the limit.
    /// - Returns: A body in memory or a stream.
    /// - Throws: A ``SluiceError``, of code ``SluiceError/Code/bodyUnavailable`` if the source failed.
    package func prepared(
        within limit: Duration?,
        on clock: any SluiceClock = SystemClock()
    ) async throws(SluiceError) -> HTTPBody {
        guard needsPreparation else { return self }
        return try await TimedWork.outcome(within: limit, on: clock) { () async throws(SluiceError) in
            try await opened()
        }
    }

    private func opened() async throws(SluiceError) -> HTTPBody {
        switch source {
        case .none, .data, .stream:
            return self
        case .file(let url):
            return try await .opened(url)
        case .deferred(let prepare):
            let body: HTTPBody
            do {
                body = try await prepare()
            } catch let error as SluiceError {
                throw error
            } catch {
                throw SluiceError(.bodyUnavailable, "The request's body could not be created.", underlyingError: error)
            }
            return try await body.opened()
        }
    }

    /// Opens a file and creates a stream body of its length.
    static func opened(_ url: URL) async throws(SluiceError) -> HTTPBody {
        let opened = try await FileReader.open(url)
        let length = opened.length
        // The first reader takes ownership of the open file. The file closes at its end or when the reader is released,
        // even if the body itself is kept longer.
        let unread = Locked<FileReader?>(opened)
        let stream = Stream {
            var file = unread.withLock { $0.take() }
            // Nil after the end of the file.
            var remaining: Int64? = length
            return {
                guard let rest = remaining else { return nil }
                let reader: FileReader
                if let file { reader = file } else { reader = try await FileReader.open(url) }
                file = reader
                // One byte more than the rest detects a file that has grown.
                let count = Int(min(max(0, rest), Int64(FileReader.pieceSize - 1)) + 1)
                let piece = try await reader.read(upTo: count)
                if let piece, piece.count == count {
                    remaining = rest - Int64(piece.count)
                } else {
                    remaining = nil
                    file = nil
                }
                return piece
            }
        }
        return .stream(stream, length: length, isReplayable: true)
    }
}

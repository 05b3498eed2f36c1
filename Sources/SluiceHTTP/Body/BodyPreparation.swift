import SluiceFoundation

extension RequestBody.Stream {
    /// Reads the stream to its end and checks its announced length, as ``StreamReading`` does.
    ///
    /// - Parameters:
    ///   - length: The announced length in bytes; nil if it is unknown.
    ///   - take: Called with each chunk. Returns false to stop reading.
    /// - Returns: False if `take` stopped reading.
    /// - Throws: The error of the stream, or ``SluiceError/Code/bodyLengthMismatch``.
    package func read(length: Int64?, _ take: (Data) async -> Bool) async throws(SluiceError) -> Bool {
        var reading = StreamReading(self, length: length)
        while let chunk = try await reading.next(isolation: nil) {
            guard await take(chunk) else { return false }
        }
        return true
    }
}

extension RequestBody {
    /// A file or a part of it, read in pieces while it is sent.
    ///
    /// If the file is missing, cannot be read or does not contain the whole range, the request fails with
    /// ``SluiceError/Code/bodyUnavailable`` before a byte is sent.
    ///
    /// - Parameters:
    ///   - url: The URL of the file.
    ///   - range: The positions of the bytes to send; nil for the whole file.
    ///   - contentType: The media type; nil to derive it from the file's extension.
    /// - Returns: A body with the contents of the file.
    public static func file(_ url: URL, range: Range<Int>? = nil, contentType: String? = nil) -> RequestBody {
        let contentType = contentType ?? MediaType.forFileExtension(url.pathExtension)
        return RequestBody(source: .file(url, range), contentType: contentType, length: nil, isReplayable: true)
    }

    /// True if a file has to be opened or a deferred body created before the first byte is sent.
    package var needsPreparation: Bool {
        switch source {
        case .none, .data, .stream: false
        case .file, .deferred, .encoded: true
        }
    }

    /// Opens the file or creates the deferred body, so that a missing source fails the request before a byte is sent.
    /// A transport calls it before it sends the head: the length of a file is known then.
    ///
    /// - Parameters:
    ///   - limit: The request's total time, counted from now. If the preparation takes longer, or the task is
    ///     cancelled, this function throws without waiting for the preparation to end. Nil by default, for no limit.
    ///   - clock: The clock that measures the limit.
    /// - Returns: A body in memory or a stream.
    /// - Throws: A ``SluiceError``, of code ``SluiceError/Code/bodyUnavailable`` if the source failed.
    public func prepared(
        within limit: Duration? = nil,
        on clock: any SluiceClock = SystemClock()
    ) async throws(SluiceError) -> RequestBody {
        guard needsPreparation else { return self }
        return try await TimedWork.outcome(within: limit, on: clock) { () async throws(SluiceError) in
            try await opened()
        }
    }

    private func opened() async throws(SluiceError) -> RequestBody {
        switch source {
        case .none, .data, .stream:
            return self
        case .file(let url, let range):
            return try await .opened(url, range)
        case .deferred, .encoded:
            let body: RequestBody
            do {
                body = if case .deferred(let prepare) = source { try await prepare() } else { try encoded(for: nil) }
            } catch let error as SluiceError {
                throw error
            } catch is CancellationError where Task.isCancelled {
                throw .cancelled
            } catch {
                throw SluiceError(.bodyUnavailable, "The request's body could not be created.", underlyingError: error)
            }
            return try await body.opened()
        }
    }

    /// Returns the body that an encoded one results in; another body as it is.
    ///
    /// - Parameter client: The client whose settings it is encoded with; nil for the default settings.
    /// - Returns: The body, with the content type of the outermost one that has any.
    /// - Throws: The error of encoding.
    package func encoded(for client: (any AnyObject & Sendable)?) throws -> RequestBody {
        var body = self
        while case .encoded(let encode) = body.source {
            let contentType = body.contentType
            body = try encode(client)
            if let contentType { body.contentType = contentType }
        }
        return body
    }

    /// Opens a file and creates a stream body of its length.
    static func opened(_ url: URL, _ range: Range<Int>? = nil) async throws(SluiceError) -> RequestBody {
        let position = Swift.max(0, range?.lowerBound ?? 0)
        let opened = try await FileReader.open(url, at: position)
        if let range, range.lowerBound < 0 || range.upperBound > opened.length {
            throw SluiceError(
                .bodyUnavailable,
                "The file “\(url.path)” has \(opened.length) bytes and does not contain the range \(range)."
            )
        }
        let length = range.map { Int64($0.count) } ?? opened.length
        // The files of /proc have contents and a length of zero. A request without a body would be complete before it is noticed.
        if length == 0, range == nil, try await opened.read(upTo: 1) != nil {
            throw SluiceError(
                .bodyUnavailable,
                "The file “\(url.path)” has contents, but its length is 0. Read it, and send its contents as data."
            )
        }
        // The first reader takes ownership of the open file. The file closes at its end or when the reader is released,
        // even if the body itself is kept longer.
        let unread = Locked<FileReader?>(opened)
        let stream = Stream {
            var file = unread.withLock { $0.take() }
            // Nil after the end of the file.
            var remaining: Int64? = range?.isEmpty == true ? nil : length
            return {
                guard let rest = remaining else { return nil }
                let reader: FileReader
                if let file { reader = file } else { reader = try await FileReader.open(url, at: position) }
                file = reader
                // One byte more than the rest of a whole file detects that it has grown.
                let extra: Int64 = range == nil ? 1 : 0
                let count = Int(Swift.min(Swift.max(0, rest), Int64(FileReader.pieceSize) - extra) + extra)
                let piece = try await reader.read(upTo: count)
                let left = rest - Int64(count)
                if let piece, piece.count == count, range == nil || left > 0 {
                    remaining = left
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

import SluiceFoundation

/// Reads a request's body in place of a transport.
struct StubUpload {
    let pace: Stub.Pace?
    let timeouts: StubTimeouts
    let reporter: TransferMeter.Reporter?
    let keepsBytes: Bool
    private var count: Int64 = 0
    private var bytes = Data()

    init(_ pace: Stub.Pace?, _ timeouts: StubTimeouts, _ reporter: TransferMeter.Reporter?, keepsBytes: Bool) {
        self.pace = pace
        self.timeouts = timeouts
        self.reporter = reporter
        self.keepsBytes = keepsBytes
    }

    /// Reads the whole body. Returns its length, and its bytes if they are to be kept.
    static func read(
        _ body: RequestBody,
        _ pace: Stub.Pace?,
        _ timeouts: StubTimeouts,
        _ reporter: TransferMeter.Reporter?,
        keepsBytes: Bool
    ) async throws(SluiceError) -> (count: Int64, bytes: Data) {
        var upload = StubUpload(pace, timeouts, reporter, keepsBytes: keepsBytes)
        let body = try await body.prepared(within: timeouts.remaining, on: timeouts.clock)
        switch body.source {
        case .none: break
        case .data(let data): try await upload.add(data)
        case .stream(let stream): try await upload.read(stream, announced: body.length)
        case .file, .deferred, .encoded: throw SluiceError(.unsupported, "The request's body could not be prepared.")
        }
        return (upload.count, upload.bytes)
    }

    private mutating func read(_ stream: RequestBody.Stream, announced: Int64?) async throws(SluiceError) {
        let reader = StubStreamReader(stream)
        defer { reader.end() }
        while let chunk = try await timeouts.timed({ () async throws(SluiceError) in try await reader.next() }) {
            if Task.isCancelled { throw .cancelled }
            if let announced, count + Int64(chunk.count) > announced { throw .mismatch(announced) }
            try await add(chunk)
        }
        if let announced, count < announced { throw .mismatch(announced) }
    }

    private mutating func add(_ chunk: Data) async throws(SluiceError) {
        if keepsBytes { bytes.append(chunk) }
        var rest = chunk
        while !rest.isEmpty {
            let piece = pace.map { min($0.bytes, rest.count) } ?? rest.count
            if let pace, count > 0 { try await timeouts.wait(pace.gap) }
            rest = rest.dropFirst(piece)
            count += Int64(piece)
            reporter?.sent(count)
        }
    }
}

extension SluiceError {
    fileprivate static func mismatch(_ announced: Int64) -> SluiceError {
        SluiceError(
            .bodyLengthMismatch,
            "The request's body does not have the announced length of \(announced) bytes."
        )
    }
}

/// Reads a stream in a separate task, one chunk per request, so that the caller can stop waiting for a chunk.
struct StubStreamReader: Sendable {
    private let demand: AsyncStream<Void>.Continuation
    private let chunks: AsyncStream<Result<Data?, SluiceError>>
    private let task: Task<Void, Never>

    init(_ stream: RequestBody.Stream) {
        let (demands, demand) = AsyncStream.makeStream(of: Void.self)
        let (chunks, chunk) = AsyncStream.makeStream(of: Result<Data?, SluiceError>.self)
        self.demand = demand
        self.chunks = chunks
        task = Task {
            let read = stream.open()
            for await _ in demands {
                do {
                    chunk.yield(.success(try await read()))
                } catch let error as SluiceError {
                    chunk.yield(.failure(error))
                } catch is CancellationError {
                    chunk.yield(.failure(.cancelled))
                } catch {
                    let reason = "The request's body could not be read."
                    chunk.yield(.failure(SluiceError(.bodyUnavailable, reason, underlyingError: error)))
                }
            }
            chunk.finish()
        }
    }

    /// Returns the next chunk; nil at the end of the stream.
    func next() async throws(SluiceError) -> Data? {
        demand.yield()
        for await chunk in chunks { return try chunk.get() }
        throw .cancelled
    }

    /// Stops reading. A read in progress is cancelled, but is not waited for.
    func end() {
        demand.finish()
        task.cancel()
    }
}

/// Delivers a response's body piece by piece, no faster than it is read.
struct StubDownload: Sendable {
    let bytes: Data
    let pace: Stub.Pace?
    let truncation: Stub.Truncation?
    /// The maximum number of bytes; nil for no limit.
    let limit: Int64?
    let timeouts: StubTimeouts
    let reporter: TransferMeter.Reporter?
    let metrics: TransferMetrics
    let trailers: HTTPHeaders

    /// Starts the delivery, which ends early if the body is released.
    func begin() -> ResponseBody {
        ResponseBody { writer throws(SluiceError) in
            try await write(to: writer)
            return (metrics, trailers)
        }
    }

    private func write(to writer: ResponseBody.Writer) async throws(SluiceError) {
        var rest = bytes.prefix(truncation?.bytes ?? bytes.count)
        var count: Int64 = 0
        while !rest.isEmpty {
            if let pace, count > 0 { try await timeouts.wait(pace.gap) }
            let piece = rest.prefix(pace?.bytes ?? rest.count)
            rest = rest.dropFirst(piece.count)
            count += Int64(piece.count)
            if let limit, count > limit { throw .bodyTooLarge(limit: limit) }
            reporter?.received(count)
            await writer.write(piece)
            if Task.isCancelled { throw .cancelled }
        }
        if let truncation, truncation.bytes < bytes.count { throw truncation.error }
    }
}

extension ResponseLimits {
    /// Fails a response that announces a body over the limit, as the engine does. A redirect needs only its head.
    package func checkAnnouncedLength(of head: HTTPResponse, to request: HTTPRequest) throws(SluiceError) {
        guard let body, let length = head.bodyLength(of: request.method), length > body, !head.status.isRedirection
        else { return }
        throw SluiceError.bodyTooLarge(limit: body).with(request: request, response: head)
    }
}

/// The delays and time-outs of a stub. Its functions throw the time-out errors that a transfer would throw.
struct StubTimeouts: Sendable {
    let clock: any SluiceClock
    private let idle: Duration?
    private let total: Duration?
    private let end: ContinuousClock.Instant?

    init(_ clock: any SluiceClock, _ timeouts: Timeouts) {
        self.clock = clock
        idle = timeouts.idle
        total = timeouts.total
        end = timeouts.total.map { clock.now + $0.bounded }
    }

    /// The rest of the total time; nil without a limit.
    var remaining: Duration? { end.map { max(.zero, clock.now.duration(to: $0)) } }

    /// Waits, as if the network were idle, unless a time-out of the request passes first.
    func wait(_ duration: Duration) async throws(SluiceError) {
        if Task.isCancelled { throw .cancelled }
        guard duration > .zero else { return }
        var duration = duration
        var failure: SluiceError?
        if let idle, idle < duration {
            duration = idle
            failure = SluiceError(
                .idleTimedOut,
                "The stub sent nothing for longer than the idle time-out of \(idle.textRoundedUp)."
            )
        }
        if let remaining, let total, remaining < duration {
            duration = remaining
            failure = SluiceError(.timedOut, "The stub takes longer than the total time-out of \(total.textRoundedUp).")
        }
        do { try await clock.sleep(for: duration) } catch { throw .cancelled }
        if let failure { throw failure }
    }

    /// Waits for the closure of a stub within the total time.
    func limited<Value: Sendable>(_ work: @escaping TimedWork<Value>.Work) async throws(SluiceError) -> Value {
        guard let remaining, let total else { return try await work() }
        let failure = SluiceError(
            .timedOut,
            "The stub's closure takes longer than the total time-out of \(total.textRoundedUp)."
        )
        return try await TimedWork.outcome(within: remaining, on: clock, else: failure, of: work)
    }

    /// Waits for the request's body, which counts as time without network activity.
    ///
    /// - Parameter work: The work to wait for. After a time-out, or if the caller is cancelled, it is cancelled and its
    ///   result is ignored.
    /// - Returns: The result of the work.
    /// - Throws: The work's error, or a time-out.
    func timed<Value: Sendable>(_ work: @escaping TimedWork<Value>.Work) async throws(SluiceError) -> Value {
        var limit = idle
        var failure = idle.map {
            SluiceError(
                .idleTimedOut,
                "The request's body produced no data for longer than the idle time-out of \($0.textRoundedUp)."
            )
        }
        if let remaining, let total, limit.map({ remaining < $0 }) ?? true {
            limit = remaining
            failure = SluiceError(
                .timedOut,
                "The request exceeded the total time-out of \(total.textRoundedUp) while it waited for its body."
            )
        }
        let timeout = failure
        return try await TimedWork.outcome(within: limit, on: clock, else: timeout, of: work)
    }
}

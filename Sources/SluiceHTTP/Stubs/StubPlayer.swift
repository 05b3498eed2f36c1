import SluiceFoundation

/// A transport that responds to every request with the same stub, on the calling thread if no waiting is needed.
package final class StubPlayer: CallbackTransport {
    private let stub: Stub
    private let delay: Duration
    private let clock: any SluiceClock

    /// Creates a player.
    ///
    /// - Parameters:
    ///   - stub: The stub.
    ///   - delay: A delay added to the stub's own.
    ///   - clock: The clock for delays.
    package init(_ stub: Stub, delay: Duration = .zero, clock: any SluiceClock) {
        self.stub = stub
        self.delay = delay
        self.clock = clock
    }

    /// True if the stub cannot respond with a redirect.
    package var isFinal: Bool {
        switch stub.content {
        case .failure: true
        case .response(let head, _), .file(let head, _): head.status.class != .redirection
        case .sequence, .closure: false
        }
    }

    package func send(_ request: HTTPRequest, context: TransferContext) async throws(SluiceError) -> TransportResponse {
        do {
            let stub = try next(for: request)
            if let result = immediateResult(of: stub, to: request, context) { return try result.get() }
            return try await response(of: stub, to: request, context)
        } catch {
            throw error.with(request: request)
        }
    }

    package func begin(
        _ request: HTTPRequest,
        context: TransferContext,
        completion: @escaping @Sendable (Result<TransportResponse, SluiceError>) -> Void
    ) -> @Sendable () -> Void {
        let stub: Stub
        do {
            stub = try next(for: request)
        } catch {
            completion(.failure(error.with(request: request)))
            return {}
        }
        if let result = immediateResult(of: stub, to: request, context) {
            completion(result.mapError { $0.with(request: request) })
            return {}
        }
        let task = Task { [self] in
            let result = await Result.of { () async throws(SluiceError) in
                try await response(of: stub, to: request, context)
            }
            completion(result.mapError { $0.with(request: request) })
        }
        return { task.cancel() }
    }

    private func next(for request: HTTPRequest) throws(SluiceError) -> Stub {
        try request.validate()
        var stub = try stub.next()
        stub.latency += delay
        return stub
    }

    /// Returns the result of a stub that needs neither time nor a file; nil for any other stub.
    private func immediateResult(
        of stub: Stub,
        to request: HTTPRequest,
        _ context: TransferContext
    ) -> Result<TransportResponse, SluiceError>? {
        guard stub.isPlain, let sent = request.body.immediateLength else { return nil }
        switch stub.content {
        case .failure(let error):
            if !error.code.isBeforeSending { context.meter?.begin(uploading: sent).sent(sent) }
            return .failure(error)
        case .response(let head, let bytes):
            // The body fails after its head.
            if let limit = context.limits.body, Int64(bytes.count) > limit { return nil }
            let reporter = context.meter?.begin(uploading: sent)
            reporter?.sent(sent)
            return Result { () throws(SluiceError) in
                let (bytes, metrics) = try Self.body(bytes, head, request, context, sent: sent)
                reporter?.expected(Int64(bytes.count))
                reporter?.received(Int64(bytes.count))
                let trailers = Self.trailers(of: stub, after: head, request)
                return TransportResponse(head: head, body: ResponseBody(bytes, metrics: metrics, trailers: trailers))
            }
        case .file, .sequence, .closure: return nil
        }
    }

    private func response(
        of stub: Stub,
        to request: HTTPRequest,
        _ context: TransferContext
    ) async throws(SluiceError) -> TransportResponse {
        let timeouts = StubTimeouts(clock, context.timeouts)
        var reporter: TransferMeter.Reporter?
        if !stub.failsBeforeSending { reporter = context.meter?.begin(uploading: request.body.length) }
        var keepsBytes = false
        if case .closure = stub.content { keepsBytes = true }
        let (sent, upload) = try await StubUpload.read(
            request.body,
            stub.upload,
            timeouts,
            reporter,
            keepsBytes: keepsBytes
        )
        var stub = stub
        var request = request
        if keepsBytes, !request.body.isNone { request.body = .data(upload) }
        while true {
            try await timeouts.wait(stub.latency)
            guard case .closure(let closure) = stub.content else { break }
            var next = try await timeouts.limited { [request] () async throws(SluiceError) in
                try await Self.result(of: closure, for: request)
            }.next()
            next.download = next.download ?? stub.download
            next.truncation = next.truncation ?? stub.truncation
            if next.trailers.isEmpty { next.trailers = stub.trailers }
            stub = next
        }
        let (head, content): (HTTPResponse, Data) =
            switch stub.content {
            case .response(let head, let data): (head, data)
            case .file(let head, let url): (head, try await Self.contents(of: url))
            case .failure(let error): throw error
            case .sequence, .closure: throw SluiceError(.internalFailure, "The stub has no response.")
            }
        let (bytes, metrics) = try Self.body(content, head, request, context, sent: sent)
        let trailers = Self.trailers(of: stub, after: head, request)
        reporter?.expected(Int64(bytes.count))
        let limit = context.limits.body
        let isWithinLimit = limit.map { Int64(bytes.count) <= $0 } ?? true
        if stub.download == nil, stub.truncation == nil, isWithinLimit {
            reporter?.received(Int64(bytes.count))
            return TransportResponse(head: head, body: ResponseBody(bytes, metrics: metrics, trailers: trailers))
        }
        let download = StubDownload(
            bytes: bytes,
            pace: stub.download,
            truncation: stub.truncation,
            limit: limit,
            timeouts: timeouts,
            reporter: reporter,
            metrics: metrics,
            trailers: trailers
        )
        return TransportResponse(head: head, body: download.begin())
    }

    /// Returns the response's body and metrics. Checks the announced length against the limit.
    private static func body(
        _ bytes: Data,
        _ head: HTTPResponse,
        _ request: HTTPRequest,
        _ context: TransferContext,
        sent: Int64
    ) throws(SluiceError) -> (Data, TransferMetrics) {
        try context.limits.checkAnnouncedLength(of: head, to: request)
        let bytes = isBodiless(head, request) ? Data() : bytes
        var metrics = TransferMetrics()
        metrics.bytesSent = sent
        metrics.bytesReceived = Int64(bytes.count)
        return (bytes, metrics)
    }

    private static func isBodiless(_ head: HTTPResponse, _ request: HTTPRequest) -> Bool {
        request.method == .head || head.status == .noContent || head.status == .notModified
    }

    private static func trailers(of stub: Stub, after head: HTTPResponse, _ request: HTTPRequest) -> HTTPHeaders {
        isBodiless(head, request) ? [:] : stub.trailers
    }

    private static func result(
        of closure: @Sendable (HTTPRequest) async throws -> Stub,
        for request: HTTPRequest
    ) async throws(SluiceError) -> Stub {
        do {
            return try await closure(request)
        } catch let error as SluiceError {
            throw error
        } catch is CancellationError {
            throw .cancelled
        } catch {
            throw SluiceError(.stubUnavailable, "The stub's closure threw an error.", underlyingError: error)
        }
    }

    private static func contents(of url: URL) async throws(SluiceError) -> Data {
        do {
            let file = try await FileReader.open(url)
            var all = Data()
            while let piece = try await file.read() { all.append(piece) }
            return all
        } catch {
            throw SluiceError(
                .stubUnavailable,
                "The stub's response is not available: \(error.reason)",
                underlyingError: error
            )
        }
    }
}

extension RequestBody {
    /// The length of a body in memory; nil if the body has to be read.
    fileprivate var immediateLength: Int64? {
        switch source {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .file, .stream, .deferred, .encoded: nil
        }
    }
}

import SluiceFoundation
import SluiceHTTP

/// One download, from the first request to the file at its destination. Each of its requests passes through the whole
/// pipeline.
struct Download: Sendable {
    struct Outcome: Sendable {
        let result: Result<DownloadedFile, SluiceError>
        /// The last response, with its body if that was not written to the file.
        let response: ServerResponse?
        /// The call of the last request; nil if none was sent.
        var call: Call?
    }

    private struct Failure: Error {
        let error: SluiceError
        var response: ServerResponse?
        var call: Call?
        /// True if the resource has changed and must be requested again from the start.
        var isChanged = false
    }

    /// A response whose body was written to the partial file.
    private struct WrittenResponse: Sendable {
        let response: ServerResponse
        let call: Call?

        /// Reports the end of the request to observers.
        func finish() {
            call?.finish(.success(response))
        }
    }

    let pipeline: Pipeline
    let draft: RequestDraft
    let destination: DownloadDestination
    let options: DownloadOptions
    let lease: PartialDownloadLease
    let upload: TransferMeter
    let progress: DownloadProgress
    /// The sessions of the client's gates when the download began.
    let sessions: [Int]

    /// The number of times that the resource may change during the download.
    static let restarts = 3

    func run() async -> Outcome {
        var request: HTTPRequest?
        let part: PartialDownload
        let key: DownloadKey
        let configuration = pipeline.configuration
        let limits = configuration.limitsDownloadTime ? configuration.timeouts : Timeouts()
        let began = pipeline.clock.now
        let deadline: ContinuousClock.Instant?
        do throws(SluiceError) {
            let built = try draft.build(for: pipeline)
            request = built
            let timeouts = draft.options.timeouts.applied(to: limits).changed(by: built)
            deadline = timeouts.total.map { began + $0.bounded }
            if built.headers.contains(.range) {
                let text = "A download sets Range itself. Request a part with data or stream()."
                throw SluiceError(.unsupported, text, step: .building)
            }
            key = DownloadKey(of: built, draft, pipeline.configuration)
            try options.validate()
            // An earlier download to the same file may take long to end.
            let limit = timeouts.within(Deadline.earliest(draft.options.deadline), on: pipeline.clock).total
            let open = { @Sendable [key, destination, lease] () async throws(SluiceError) in
                try await PartialDownload.open(
                    key: key.text,
                    destination: destination,
                    lease: lease,
                    isRepeatable: key.isRepeatable
                )
            }
            if let limit {
                if limit <= .zero {
                    let text = "The request was not sent because its deadline had passed."
                    throw SluiceError(.timedOut, text, step: .building, request: built)
                }
                let failure = SluiceError(
                    .timedOut,
                    "The download exceeded its total time-out of \(limit.textRoundedUp) before its file was ready.",
                    step: .file,
                    request: built
                )
                part = try await TimedWork.outcome(within: limit, on: pipeline.clock, else: failure, of: open)
            } else {
                part = try await open()
            }
        } catch {
            pipeline.steps.notifyUnsent(draft, request, error, pipeline.configuration)
            return Outcome(result: .failure(error), response: nil)
        }
        progress.begin(with: part)
        let written: WrittenResponse
        do throws(Failure) {
            written = try await fetch(part, until: deadline)
        } catch {
            if key.isRepeatable { await part.close() } else { await part.discard() }
            return Outcome(result: .failure(error.error), response: error.response, call: error.call)
        }
        do throws(SluiceError) {
            if let expected = options.length, let length = part.resource?.length, length != expected {
                await part.discard()
                throw .unexpectedLength(length, expected)
            }
            if lease.isEnding { throw .cancelled }
            let file = try await part.moveToDestination(sha256: options.sha256, sender: lease)
            written.finish()
            return Outcome(result: .success(file), response: written.response, call: written.call)
        } catch {
            if key.isRepeatable { await part.close() } else { await part.discard() }
            let error = error.with(request: written.response.request, response: written.response.head)
            written.call?.finish(.failure(error))
            return Outcome(result: .failure(error), response: written.response, call: written.call)
        }
    }

    /// Sends requests until all bytes are there, and returns the last response.
    private func fetch(
        _ part: PartialDownload,
        until deadline: ContinuousClock.Instant?
    ) async throws(Failure) -> WrittenResponse {
        var options = options
        // Segments are several requests.
        if !(draft.options.isIdempotent ?? draft.method.isIdempotent) { options.segments = 1 }
        var last: WrittenResponse?
        var restarts = 0
        /// The version that the last restart replaced.
        var changed: ResourceValidator?
        var resumes = true
        var steps = DownloadSteps()
        while true {
            let plan = DownloadPlan(
                part.resource,
                part.completed,
                options,
                hasFetched: last != nil,
                isPlain: restarts > 0
            )
            let before = part.completed.count
            do throws(Failure) {
                let written: WrittenResponse
                switch plan {
                case .done:
                    if let last { return last }
                    throw Failure(error: SluiceError(.internalFailure, "Nothing was downloaded.", step: .file))
                case .whole: written = try await fetch(nil, part, upload, until: deadline, resumes: resumes)
                case .probe(let range): written = try await fetch(DownloadSpan(range), part, upload, until: deadline)
                case .rest(let first):
                    written = try await fetch(DownloadSpan(first: first), part, upload, until: deadline)
                case .segments(let ranges): written = try await fetch(ranges, part, until: deadline)
                }
                last?.finish()
                let isFirst = last == nil
                last = written
                let completed = part.completed.count
                guard isFirst || completed > before || completed == part.resource?.length else {
                    throw Failure(error: .stalled, response: written.response, call: written.call)
                }
                if steps.isSlow(after: completed - before), completed != part.resource?.length {
                    try await pause(until: deadline, after: written)
                }
            } catch {
                guard error.isChanged, restarts < Self.restarts else {
                    last?.finish()
                    throw error
                }
                restarts += 1
                // The resource was requested again and has not changed, so the parts that the server sends cannot be used.
                if let version = part.resource?.validator, version == changed { resumes = false }
                changed = part.resource?.validator
            }
        }
    }

    /// Waits before the next request to a server that sends little at a time.
    private func pause(until deadline: ContinuousClock.Instant?, after last: WrittenResponse) async throws(Failure) {
        let pause = Backoff.exponential.delay(before: 1, random: pipeline.configuration.randomness())
        let left = deadline.map { max(.zero, pipeline.clock.now.duration(to: $0)) } ?? pause
        do {
            try await pipeline.clock.sleep(for: min(pause, left))
        } catch {
            throw Failure(error: .cancelled, response: last.response, call: last.call)
        }
    }

    /// Requests several ranges at once. The first failure cancels the others.
    private func fetch(
        _ ranges: [Range<Int64>],
        _ part: PartialDownload,
        until deadline: ContinuousClock.Instant?
    ) async throws(Failure) -> WrittenResponse {
        let results = await withTaskGroup(of: Result<WrittenResponse, Failure>.self) { group in
            for range in ranges {
                group.addTask {
                    await .of { () async throws(Failure) in
                        try await fetch(DownloadSpan(range), part, nil, until: deadline)
                    }
                }
            }
            var results: [Result<WrittenResponse, Failure>] = []
            for await result in group {
                if case .failure = result { group.cancelAll() }
                results.append(result)
            }
            return results
        }
        var responses: [WrittenResponse] = []
        var failure: Failure?
        for result in results {
            switch result {
            case .success(let response): responses.append(response)
            case .failure(let error): failure = failure ?? error
            }
        }
        let last = failure == nil ? responses.popLast() : nil
        for response in responses { response.finish() }
        guard let last else { throw failure ?? Failure(error: .stalled) }
        return last
    }

    /// Sends one request, whose response is written to the partial file.
    private func fetch(
        _ span: DownloadSpan?,
        _ part: PartialDownload,
        _ meter: TransferMeter?,
        until deadline: ContinuousClock.Instant?,
        resumes: Bool = true
    ) async throws(Failure) -> WrittenResponse {
        var draft = draft
        let validation = draft.options.validation.applied(to: pipeline.configuration.validation)
        // A deadline, because requestMapping may set the total time-out of each request anew.
        if let deadline = deadline.map(Deadline.init) {
            draft.options.deadline = draft.options.deadline.map { min($0, deadline) } ?? deadline
        }
        let partition = draft.options.caching.applied(to: pipeline.configuration.caching).partition
        let sink = DownloadSink(
            span,
            of: part,
            progress,
            options,
            validation,
            pipeline,
            resumes: resumes,
            jar: { [pipeline, draft] in
                guard partition.isEmpty, draft.options.usesCookies else { return nil }
                return pipeline.configuration.cookies.map { "\($0.id)" }
            },
            credentials: { [pipeline, draft] request in
                var transfer = pipeline.transferContext(of: draft, request, nil)
                transfer.cookies = nil
                let steps = pipeline.steps.adding(draft.options.steps)
                return pipeline.owner(of: request, transfer, steps, partition: partition).digest
            },
            isSameSession: { [pipeline, sessions] in pipeline.steps.sessions == sessions }
        )
        let callOutcome = await pipeline.callOutcome(of: draft, into: sink, meter)
        do throws(Failure) {
            return WrittenResponse(response: try accepted(callOutcome.outcome, sink, draft), call: callOutcome.call)
        } catch {
            callOutcome.call?.finish(.failure(error.error))
            var error = error
            error.call = callOutcome.call
            throw error
        }
    }

    private func accepted(
        _ outcome: TransportOutcome,
        _ sink: DownloadSink,
        _ draft: RequestDraft
    ) throws(Failure) -> ServerResponse {
        let response: ServerResponse
        switch outcome {
        case .success(let success): response = success
        case .failure(let error):
            throw Failure(error: error, isChanged: sink.isChanged)
        }
        if let refusal = sink.refusal { throw Failure(error: refusal, response: response) }
        // The download has requested the range itself, so the validation of the request receives 206 and 416 as 200.
        var validated = response
        if sink.isWritten, [.partialContent, 416].contains(response.head.status) { validated.head.status = .ok }
        do throws(SluiceError) {
            try pipeline.validate(validated, draft)
            guard sink.isWritten else { throw .noFile(response) }
        } catch {
            throw Failure(error: error, response: response)
        }
        return response
    }
}

/// The key under which a later send finds the partial file of an earlier one.
struct DownloadKey {
    let text: String
    /// True if a later send can resume the download. Only a GET without a body is repeatable.
    let isRepeatable: Bool

    init(of request: HTTPRequest, _ connection: ConnectionOptions, partition: String) {
        isRepeatable = request.method == .get && request.body.isNone
        let owner = partition.isEmpty ? "" : "\npartition: \(partition)"
        text = "\(request.method) \(request.url)" + connection.selection(of: request) + owner
    }

    init(of request: HTTPRequest, _ draft: RequestDraft, _ configuration: APIClient.Configuration) {
        let caching = draft.options.caching.applied(to: configuration.caching)
        self.init(of: request, configuration.connection, partition: caching.partition)
    }
}

/// Reports the progress of a download, which may consist of several transfers and of bytes from an earlier send.
struct DownloadProgress: Sendable {
    let meter: TransferMeter
    /// Held between the count of the bytes and its report, so that no segment reports an older count after another one.
    private let order = Locked(())

    init(meter: TransferMeter) {
        self.meter = meter
    }

    /// Reports the start of a resource, or the resumption of an earlier send.
    func begin(with part: PartialDownload) {
        order.withLock { _ in
            _ = meter.begin(uploading: nil)
            meter.set(.download, completed: part.completed.count, total: part.resource?.length, isStart: true)
        }
    }

    /// Reports the bytes that are there now.
    func update(_ part: PartialDownload) {
        order.withLock { _ in
            meter.set(.download, completed: part.completed.count, total: part.resource?.length)
        }
    }
}

extension SluiceError {
    fileprivate static var stalled: SluiceError {
        SluiceError(
            .invalidResponse,
            "The server sent no more bytes, although the download is not complete.",
            step: .file
        )
    }

    fileprivate static func noFile(_ response: ServerResponse) -> SluiceError {
        SluiceError(
            .unacceptableStatus,
            "A response with the status \(response.head.status) does not contain the file.",
            step: .validation,
            request: response.request,
            response: response.head
        )
    }
}

import SluiceFoundation
import SluiceHTTP

/// Writes the responses to one request of a download, through all its attempts, to the partial file.
final class DownloadSink: ResponseSink {
    /// A download resumes from its own partial file instead of the cache.
    var isCacheable: Bool { false }

    private struct State {
        /// The offset of the next byte.
        var next: Int64
        /// The end of the requested range; nil for the end of the resource.
        var end: Int64?
        /// True if the request asks for a range, and the bytes already there are kept.
        var isRanged: Bool
        /// True if the last response was written completely.
        var isWritten = false
        /// True if the last response was of another version of the resource.
        var isChanged = false
        /// The number of attempts in a row that received no bytes.
        var stalls = 0
        var hasProgressed = false
        /// The time at which this send last received bytes.
        var lastProgress: ContinuousClock.Instant?
        /// The generation of the partial file that the bytes belong to.
        var generation: Int
    }

    private let part: PartialDownload
    private let progress: DownloadProgress
    private let maximumResumptions: Int
    private let expectedLength: Int64?
    private let pipeline: Pipeline
    private let state: Locked<State>

    /// Creates a sink.
    ///
    /// - Parameters:
    ///   - span: The bytes to request with a `Range`; nil for the whole resource without one. Without an end, up to the
    ///     end of the resource.
    ///   - part: The partial file to write to.
    ///   - progress: Receives the progress.
    ///   - options: The options of the download.
    ///   - pipeline: Supplies the clock and the random numbers.
    init(
        _ span: DownloadSpan?,
        of part: PartialDownload,
        _ progress: DownloadProgress,
        _ options: DownloadOptions,
        _ pipeline: Pipeline
    ) {
        self.part = part
        self.progress = progress
        maximumResumptions = options.maximumResumptions
        expectedLength = options.length
        self.pipeline = pipeline
        state = Locked(
            State(next: span?.first ?? 0, end: span?.end, isRanged: span != nil, generation: part.generation)
        )
    }

    /// True if the last response was written completely.
    var isWritten: Bool { state.withLock { $0.isWritten } }
    /// True if the bytes already there belong to another version of the resource.
    var isChanged: Bool { state.withLock { $0.isChanged } }

    func adapt(_ request: inout HTTPRequest) {
        if !request.headers.contains(.acceptEncoding) { request.headers[.acceptEncoding] = "identity" }
        let (next, end, isRanged) = state.withLock { state in
            state.isWritten = false
            // Bytes that this send has received are kept, and the next attempt resumes after them.
            if state.lastProgress != nil, state.next > 0, part.resource?.validator != nil { state.isRanged = true }
            return (state.next, state.end, state.isRanged)
        }
        guard isRanged else { return }
        request.headers[.range] = "bytes=\(next)-\(end.map { "\($0 - 1)" } ?? "")"
        if let validator = part.resource?.validator { request.headers.set(.ifRange, to: validator.ifRangeValue) }
    }

    func receive(_ response: TransportResponse, to request: HTTPRequest) async throws(SluiceError) -> Bool {
        do throws(SluiceError) {
            return try await write(response, request)
        } catch {
            throw error.with(request: request, response: response.head)
        }
    }

    private func write(_ response: TransportResponse, _ request: HTTPRequest) async throws(SluiceError) -> Bool {
        let requested = state.withLock { state in
            RangeAnswer.RequestedRange(
                first: state.isRanged ? state.next : nil,
                end: state.end,
                resource: state.isRanged ? part.resource.flatMap { $0.validator == nil ? nil : $0 } : nil,
                completed: state.isRanged ? part.completed.count : 0
            )
        }
        switch RangeAnswer(response.head, to: requested, by: request) {
        case .other:
            return false
        case .refused(let reason):
            throw SluiceError(.invalidResponse, "The server's response is not valid: \(reason).")
        case .changed:
            state.withLock { $0.isChanged = true }
            throw .resourceChanged
        case .complete:
            setReceivedLength()
        case .whole(let resource):
            try await begin(resource)
            state.withLock { state in
                state.next = 0
                state.end = nil
                state.isRanged = false
            }
            try await write(response.body, until: resource.length)
            if resource.length == nil { setReceivedLength() }
        case .part(let range, let resource):
            if requested.resource == nil {
                try await begin(resource)
            } else {
                try checkLength(resource)
                part.updateResource(resource, in: state.withLock { $0.generation })
            }
            try await write(response.body, until: range.upperBound)
        }
        state.withLock { $0.isWritten = true }
        return true
    }

    /// Starts the partial file again with a resource.
    private func begin(_ resource: RemoteResource) async throws(SluiceError) {
        try checkLength(resource)
        let hadBytes = !part.completed.isEmpty
        let generation = try await part.begin(resource)
        state.withLock { $0.generation = generation }
        if hadBytes { progress.begin(with: part) }
    }

    private func checkLength(_ resource: RemoteResource) throws(SluiceError) {
        if let expectedLength, let length = resource.length, length != expectedLength {
            throw .unexpectedLength(length, expectedLength)
        }
    }

    private func write(_ body: ResponseBody, until end: Int64?) async throws(SluiceError) {
        let generation = state.withLock { $0.generation }
        var next = state.withLock { $0.next }
        var iterator = body.makeAsyncIterator()
        progress.update(part)
        while true {
            let chunks: [Data]
            do throws(SluiceError) {
                chunks = try await iterator.nextBatch()
            } catch {
                // An error after the last byte has lost no data.
                if next == end { return }
                throw error
            }
            if chunks.isEmpty { break }
            let count = chunks.reduce(into: Int64(0)) { $0 += Int64($1.count) }
            guard count <= (end ?? .max) - next else { throw .tooLong }
            try await part.write(chunks, at: next, in: generation)
            next += count
            let now = pipeline.clock.now
            state.withLock { [next] state in
                state.next = next
                state.hasProgressed = true
                state.lastProgress = now
            }
            progress.update(part)
        }
        if let end, next < end {
            throw SluiceError(.truncatedBody, "The response body ended before its announced length.")
        }
    }

    /// Sets the length of the resource to the number of bytes received.
    private func setReceivedLength() {
        guard var resource = part.resource else { return }
        let (length, generation) = state.withLock { ($0.next, $0.generation) }
        resource.length = length
        part.updateResource(resource, in: generation)
        progress.update(part)
    }

    /// Returns the delay before the next attempt; nil if the transfer is not resumed.
    func resumption(after outcome: TransportOutcome) -> Duration? {
        guard case .failure(let error) = outcome, Self.transientCodes.contains(error.code),
            part.resource?.validator != nil, !part.completed.isEmpty
        else { return nil }
        let stalls: Int? = state.withLock { state in
            guard state.lastProgress != nil, !state.isChanged else { return nil }
            state.stalls = state.hasProgressed ? 0 : state.stalls + 1
            state.hasProgressed = false
            return state.stalls
        }
        guard let stalls, stalls < maximumResumptions else { return nil }
        return stalls == 0
            ? .zero : Backoff.exponential.delay(before: stalls, random: pipeline.configuration.randomness())
    }

    var lastProgress: ContinuousClock.Instant? { state.withLock { $0.lastProgress } }

    /// Failures after which the same server may send the rest.
    private static let transientCodes: Set<SluiceError.Code> = [
        .connectionLost, .truncatedBody, .idleTimedOut, .cannotConnect, .connectTimedOut, .cannotResolveHost,
        .proxyFailed,
    ]
}

/// A range of bytes to request, with or without an end.
struct DownloadSpan: Sendable, Equatable {
    let first: Int64
    /// The offset after the last byte; nil for the end of the resource.
    var end: Int64?

    init(first: Int64) {
        self.first = first
    }

    init(_ range: Range<Int64>) {
        first = range.lowerBound
        end = range.upperBound
    }
}

extension SluiceError.Code {
    /// The resource changed on the server repeatedly during the download.
    public static let resourceChanged = Self("resourceChanged")
}

extension SluiceError {
    static var resourceChanged: SluiceError {
        SluiceError(.resourceChanged, "The resource changed on the server during the download.", step: .file)
    }

    fileprivate static var tooLong: SluiceError {
        SluiceError(.lengthMismatch, "The server sent more bytes than announced.", step: .file)
    }

    static func unexpectedLength(_ length: Int64, _ expected: Int64) -> SluiceError {
        SluiceError(.lengthMismatch, "The resource has \(length) bytes; \(expected) were expected.", step: .file)
    }
}

import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes what answers one question for bytes of a resource into the part, through all attempts it takes.
final class DownloadSink: ResponseSink {
    /// A download has a file of its own to go on with.
    var isCacheable: Bool { false }

    private struct State {
        /// The next byte to come.
        var next: Int64
        /// Where it is over; nil where the resource is.
        var end: Int64?
        /// Whether what is there goes with what is asked for.
        var isRanged: Bool
        /// Whether the last response has been taken, to its end.
        var isTaken = false
        /// Whether it was of another version.
        var isChanged = false
        /// Attempts in a row that have brought nothing.
        var stalls = 0
        var hasProgressed = false
        /// When the last bytes came in this send.
        var lastProgress: ContinuousClock.Instant?
        /// The part's, of which the bytes are.
        var generation: Int
    }

    private let part: PartFile
    private let progress: DownloadProgress
    private let resumes: Int
    private let expectedLength: Int64?
    private let pipeline: Pipeline
    private let state: Locked<State>

    /// Makes a sink.
    ///
    /// - Parameters:
    ///   - span: The bytes to ask for, by a `Range`; nil for the whole without one. Where there is no end, until the resource's.
    ///   - part: Where they go.
    ///   - progress: Who is told of them.
    ///   - options: What the download must come to.
    ///   - pipeline: For its time and randomness.
    init(
        _ span: DownloadSpan?,
        of part: PartFile,
        _ progress: DownloadProgress,
        _ options: DownloadOptions,
        _ pipeline: Pipeline
    ) {
        self.part = part
        self.progress = progress
        resumes = options.resumes
        expectedLength = options.length
        self.pipeline = pipeline
        state = Locked(
            State(next: span?.first ?? 0, end: span?.end, isRanged: span != nil, generation: part.generation)
        )
    }

    /// Whether the last response went into the part, to its end.
    var isTaken: Bool { state.withLock { $0.isTaken } }
    /// Whether what is there is of another version than the server's.
    var isChanged: Bool { state.withLock { $0.isChanged } }

    func adapt(_ request: inout HTTPRequest) {
        if !request.headers.contains(.acceptEncoding) { request.headers[.acceptEncoding] = "identity" }
        let (next, end, isRanged) = state.withLock { state in
            state.isTaken = false
            // What has come in this send counts from here on.
            if state.lastProgress != nil, state.next > 0, part.resource?.validator != nil { state.isRanged = true }
            return (state.next, state.end, state.isRanged)
        }
        guard isRanged else { return }
        request.headers[.range] = "bytes=\(next)-\(end.map { "\($0 - 1)" } ?? "")"
        if let validator = part.resource?.validator { request.headers.set(.ifRange, to: validator.ifRangeValue) }
    }

    func receive(_ response: TransportResponse, to request: HTTPRequest) async throws(SluiceError) -> Bool {
        do throws(SluiceError) {
            return try await taken(response, request)
        } catch {
            throw error.with(request: request, response: response.head)
        }
    }

    private func taken(_ response: TransportResponse, _ request: HTTPRequest) async throws(SluiceError) -> Bool {
        let question = state.withLock { state in
            RangeAnswer.Question(
                first: state.isRanged ? state.next : nil,
                end: state.end,
                resource: state.isRanged ? part.resource.flatMap { $0.validator == nil ? nil : $0 } : nil,
                completed: state.isRanged ? part.completed.count : 0
            )
        }
        switch RangeAnswer(response.head, to: question, by: request) {
        case .other:
            return false
        case .refused(let reason):
            throw SluiceError(.invalidResponse, "The server cannot be believed: \(reason).")
        case .changed:
            state.withLock { $0.isChanged = true }
            throw .resourceChanged
        case .complete:
            learnLength()
        case .whole(let resource):
            try await begin(resource)
            state.withLock { state in
                state.next = 0
                state.end = nil
                state.isRanged = false
            }
            try await write(response.body, until: resource.length)
            if resource.length == nil { learnLength() }
        case .part(let range, let resource):
            if question.resource == nil {
                try await begin(resource)
            } else {
                try checkLength(resource)
                part.learn(resource, in: state.withLock { $0.generation })
            }
            try await write(response.body, until: range.upperBound)
        }
        state.withLock { $0.isTaken = true }
        return true
    }

    private func begin(_ resource: RemoteResource) async throws(SluiceError) {
        try checkLength(resource)
        let isAnew = !part.completed.isEmpty
        let generation = try await part.begin(resource)
        state.withLock { $0.generation = generation }
        if isAnew { progress.begin(with: part) }
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
                // What failed behind the last byte has lost nothing.
                if next == end { return }
                throw error
            }
            if chunks.isEmpty { break }
            let count = chunks.reduce(into: Int64(0)) { $0 += Int64($1.count) }
            guard count <= (end ?? .max) - next else { throw .tooLong }
            try await part.write(chunks, at: next, in: generation)
            next += count
            let now = pipeline.time.now
            state.withLock { [next] state in
                state.next = next
                state.hasProgressed = true
                state.lastProgress = now
            }
            progress.update(part)
        }
        if let end, next < end {
            throw SluiceError(.truncatedBody, "The response ended before all bytes it had announced.")
        }
    }

    private func learnLength() {
        guard var resource = part.resource else { return }
        let (length, generation) = state.withLock { ($0.next, $0.generation) }
        resource.length = length
        part.learn(resource, in: generation)
        progress.update(part)
    }

    func resumption(after outcome: TransportOutcome) -> Duration? {
        guard case .failure(let error) = outcome, Self.passingCodes.contains(error.code),
            part.resource?.validator != nil, !part.completed.isEmpty
        else { return nil }
        let stalls: Int? = state.withLock { state in
            guard state.lastProgress != nil, !state.isChanged else { return nil }
            state.stalls = state.hasProgressed ? 0 : state.stalls + 1
            state.hasProgressed = false
            return state.stalls
        }
        guard let stalls, stalls < resumes else { return nil }
        return stalls == 0
            ? .zero : Backoff.exponential.delay(before: stalls, random: pipeline.configuration.randomness())
    }

    var lastProgress: ContinuousClock.Instant? { state.withLock { $0.lastProgress } }

    /// Failures after which the same server may well send the rest.
    private static let passingCodes: Set<SluiceError.Code> = [
        .connectionLost, .truncatedBody, .idleTimedOut, .cannotConnect, .connectTimedOut, .cannotResolveHost,
        .proxyFailed,
    ]
}

extension SluiceError.Code {
    /// The resource changed on the server, more than once, while it was downloaded.
    public static let resourceChanged = Self("resourceChanged")
}

extension SluiceError {
    static var resourceChanged: SluiceError {
        SluiceError(.resourceChanged, "The resource has changed on the server since its first bytes came.", step: .file)
    }

    fileprivate static var tooLong: SluiceError {
        SluiceError(.lengthMismatch, "The server sent more bytes than it had announced.", step: .file)
    }

    static func unexpectedLength(_ length: Int64, _ expected: Int64) -> SluiceError {
        SluiceError(.lengthMismatch, "The resource has \(length) bytes; \(expected) were expected.", step: .file)
    }
}

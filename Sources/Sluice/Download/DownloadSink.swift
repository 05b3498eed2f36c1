import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes what answers one question for bytes of a resource into the part, through all attempts it takes.
final class DownloadSink: ResponseSink {
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
        /// Whether anything has come in this send.
        var isUnderWay = false
    }

    private let part: PartFile
    private let progress: DownloadProgress
    private let resumes: Int
    private let expectedLength: Int64?
    private let randomness: @Sendable () -> UInt64
    private let state: Locked<State>

    /// Makes a sink.
    ///
    /// - Parameters:
    ///   - span: The bytes to ask for, by a `Range`; nil for the whole without one. Where there is no end, until the resource's.
    ///   - part: Where they go.
    ///   - progress: Who is told of them.
    ///   - options: What the download must come to.
    ///   - randomness: For jitter.
    init(
        _ span: DownloadSpan?,
        of part: PartFile,
        _ progress: DownloadProgress,
        _ options: DownloadOptions,
        _ randomness: @escaping @Sendable () -> UInt64
    ) {
        self.part = part
        self.progress = progress
        resumes = options.resumes
        expectedLength = options.length
        self.randomness = randomness
        state = Locked(State(next: span?.first ?? 0, end: span?.end, isRanged: span != nil))
    }

    /// Whether the last response went into the part, to its end.
    var isTaken: Bool { state.withLock { $0.isTaken } }
    /// Whether what is there is of another version than the server's.
    var isChanged: Bool { state.withLock { $0.isChanged } }

    func adapt(_ request: inout HTTPRequest) {
        if !request.headers.contains(.acceptEncoding) { request.headers[.acceptEncoding] = "identity" }
        let (next, end, isRanged) = state.withLock { state in
            state.isTaken = false
            return (state.next, state.end, state.isRanged)
        }
        guard isRanged else { return }
        request.headers[.range] = "bytes=\(next)-\(end.map { "\($0 - 1)" } ?? "")"
        if let validator = part.resource?.validator { request.headers[.ifRange] = validator.ifRangeValue }
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
            throw .changed
        case .complete:
            break
        case .whole(let resource):
            try checkLength(resource)
            try await part.begin(resource)
            progress.begin()
            state.withLock { state in
                state.next = 0
                state.end = nil
                state.isRanged = false
            }
            try await write(response.body, until: resource.length)
            if resource.length == nil { learnLength() }
        case .part(let range, let resource):
            try checkLength(resource)
            if question.resource == nil {
                try await part.begin(resource)
                progress.begin()
            } else {
                part.learn(resource)
            }
            try await write(response.body, until: range.upperBound)
        }
        state.withLock { $0.isTaken = true }
        return true
    }

    private func checkLength(_ resource: RemoteResource) throws(SluiceError) {
        if let expectedLength, let length = resource.length, length != expectedLength {
            throw .unexpectedLength(length, expectedLength)
        }
    }

    private func write(_ body: ResponseBody, until end: Int64?) async throws(SluiceError) {
        var next = state.withLock { $0.next }
        var iterator = body.makeAsyncIterator()
        progress.update(part)
        while true {
            let chunks = try await iterator.nextBatch()
            if chunks.isEmpty { break }
            let count = chunks.reduce(into: Int64(0)) { $0 += Int64($1.count) }
            guard count <= (end ?? .max) - next else { throw .tooLong }
            try await part.write(chunks, at: next)
            next += count
            state.withLock { [next] state in
                state.next = next
                state.hasProgressed = true
                state.isUnderWay = true
            }
            progress.update(part)
        }
        if let end, next < end {
            throw SluiceError(.truncatedBody, "The response ended before all bytes it had announced.")
        }
    }

    private func learnLength() {
        guard var resource = part.resource else { return }
        resource.length = state.withLock { $0.next }
        part.learn(resource)
        progress.update(part)
    }

    func resumption(after outcome: TransportOutcome) -> Duration? {
        guard case .failure(let error) = outcome, Self.passingCodes.contains(error.code),
            part.resource?.validator != nil, !part.completed.isEmpty
        else { return nil }
        let stalls: Int? = state.withLock { state in
            guard state.isUnderWay, !state.isChanged else { return nil }
            state.stalls = state.hasProgressed ? 0 : state.stalls + 1
            state.hasProgressed = false
            // From here on what is there counts.
            state.isRanged = true
            return state.stalls
        }
        guard let stalls, stalls < resumes else { return nil }
        return stalls == 0 ? .zero : Backoff.exponential.delay(before: stalls, random: randomness())
    }

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
    fileprivate static var changed: SluiceError {
        SluiceError(.resourceChanged, "The resource has changed on the server since its first bytes came.", step: .file)
    }

    fileprivate static var tooLong: SluiceError {
        SluiceError(.lengthMismatch, "The server sent more bytes than it had announced.", step: .file)
    }

    static func unexpectedLength(_ length: Int64, _ expected: Int64) -> SluiceError {
        SluiceError(.lengthMismatch, "The resource has \(length) bytes; \(expected) were expected.", step: .file)
    }
}

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
        /// The reason why the last response was not accepted; nil if it was.
        var refusal: SluiceError?
        /// True if the last response was of another version of the resource.
        var isChanged = false
        var limit: ResumptionLimit
        /// True if this request has received bytes.
        var hasReceived = false
        /// The time at which the transfer last got further than ever before.
        var lastProgress: ContinuousClock.Instant?
        /// The generation of the partial file that the bytes belong to.
        var generation: Int
        /// The identity of the cookie jar when the last request was sent.
        var jar: String?
    }

    private let part: PartialDownload
    private let progress: DownloadProgress
    private let expectedLength: Int64?
    private let validation: Validation
    private let pipeline: Pipeline
    private let resumes: Bool
    private let credentials: @Sendable (HTTPRequest) -> String?
    private let jar: @Sendable () -> String?
    private let isSameSession: @Sendable () -> Bool
    private let state: Locked<State>

    /// Creates a sink.
    ///
    /// - Parameters:
    ///   - span: The bytes to request with a `Range`; nil for the whole resource without one. Without an end, up to the
    ///     end of the resource.
    ///   - part: The partial file to write to.
    ///   - progress: Receives the progress.
    ///   - options: The options of the download.
    ///   - validation: The rules by which a response is accepted, without its body.
    ///   - pipeline: Supplies the clock and the random numbers.
    ///   - resumes: True if an attempt requests what the attempts before it have not received.
    ///   - jar: Returns the identity of the cookie jar; nil for none.
    ///   - credentials: Returns the digest of the other credentials of a request; nil for anyone.
    ///   - isSameSession: Returns false if the user of a gate has signed in or out since the download began.
    init(
        _ span: DownloadSpan?,
        of part: PartialDownload,
        _ progress: DownloadProgress,
        _ options: DownloadOptions,
        _ validation: Validation,
        _ pipeline: Pipeline,
        resumes: Bool,
        jar: @escaping @Sendable () -> String?,
        credentials: @escaping @Sendable (HTTPRequest) -> String?,
        isSameSession: @escaping @Sendable () -> Bool
    ) {
        self.part = part
        self.progress = progress
        expectedLength = options.length
        self.validation = validation
        self.pipeline = pipeline
        self.resumes = resumes
        self.jar = jar
        self.credentials = credentials
        self.isSameSession = isSameSession
        let first = span?.first ?? 0
        state = Locked(
            State(
                next: first,
                end: span?.end,
                isRanged: span != nil,
                limit: ResumptionLimit(options.maximumResumptions, from: first),
                generation: part.generation
            )
        )
    }

    /// True if the last response was written completely.
    var isWritten: Bool { state.withLock { $0.isWritten } }
    /// The reason why the last response was not written, although it contains the resource; nil if there is none.
    var refusal: SluiceError? { state.withLock { $0.refusal } }
    /// True if the bytes already there belong to another version of the resource.
    var isChanged: Bool { state.withLock { $0.isChanged } }

    func adapt(_ request: inout HTTPRequest) {
        if !request.headers.contains(.acceptEncoding) { request.headers[.acceptEncoding] = "identity" }
        // A user may sign out before the response arrives.
        let jar = jar()
        let (next, end, isRanged) = state.withLock { state in
            state.jar = jar
            state.isWritten = false
            state.refusal = nil
            // Bytes that this send has received are kept, and the next attempt resumes after them.
            if resumes, state.hasReceived, state.next > 0, part.resource?.validator != nil { state.isRanged = true }
            return (state.next, state.end, state.isRanged)
        }
        guard isRanged else { return }
        request.headers[.range] = "bytes=\(next)-\(end.map { "\($0 - 1)" } ?? "")"
        if let validator = part.resource?.validator {
            request.headers.replaceValues(of: .ifRange, with: validator.ifRangeValue)
        }
    }

    func receive(
        _ response: TransportResponse,
        to request: HTTPRequest,
        redirectedFrom first: HTTPRequest?
    ) async throws(SluiceError) -> ResponseBody? {
        do throws(SluiceError) {
            if try await write(response, request, owner(of: request, first)) { return nil }
            guard refusal != nil else { return response.body }
            return try await response.refusedBody(of: request.method) ?? ResponseBody(Data())
        } catch {
            throw error.with(request: request, response: response.head)
        }
    }

    /// Returns the owner of the response to a request.
    private func owner(of request: HTTPRequest, _ first: HTTPRequest?) -> RequestOwner {
        // A redirect to another origin leaves the credentials behind that the first server has chosen the target by.
        let digests = [request, first].compactMap { $0.flatMap(credentials) }
        let (sent, current) = (state.withLock { $0.jar }, jar())
        // The cookies of a request are taken from the jar as it leaves, so it may have been sent before a change or after it.
        let jar = sent == current ? current : UUID().uuidString
        return RequestOwner(digest: digests.isEmpty ? nil : digests.joined(separator: "."), jar: jar)
    }

    private func write(
        _ response: TransportResponse,
        _ request: HTTPRequest,
        _ owner: RequestOwner
    ) async throws(SluiceError) -> Bool {
        let requested = state.withLock { state in
            RangeAnswer.RequestedRange(
                first: state.isRanged ? state.next : nil,
                end: state.end,
                resource: state.isRanged ? part.resource.flatMap { $0.validator == nil ? nil : $0 } : nil,
                completed: state.isRanged ? part.completed.count : 0,
                hasReceived: part.hasReceived && isSameSession()
            )
        }
        let answer = RangeAnswer(response.head, to: requested, by: request, owner: owner)
        if answer.hasBytes, let refusal = refusal(of: response.head) {
            // The bytes that are there are kept, and the body becomes that of the error.
            state.withLock { $0.refusal = refusal.with(request: request, response: response.head) }
            return false
        }
        switch answer {
        case .other:
            return false
        case .refused(let reason):
            throw SluiceError(.invalidResponse, "The server's response is not valid: \(reason).")
        case .changed:
            state.withLock { $0.isChanged = true }
            throw .resourceChanged
        case .complete:
            if part.resource?.length == nil { setLength(requested.completed) }
        case .whole(let resource):
            let isChanged = part.resource.map { $0.validator != resource.validator } ?? false
            state.withLock { state in
                state.next = 0
                state.end = nil
                state.isRanged = false
                if state.hasReceived { state.limit.beginAnew() }
                if isChanged { state.limit.beginOther() }
            }
            try await begin(resource)
            try await write(response.body, until: resource.length)
            if resource.length == nil { setLength(state.withLock { $0.next }) }
        case .part(let range, let resource):
            if requested.resource == nil {
                try await begin(resource)
            } else {
                try checkLength(resource)
                part.updateResource(resource, in: state.withLock { $0.generation })
                try await part.requireSpace()
            }
            try await write(response.body, until: range.upperBound)
        }
        state.withLock { $0.isWritten = true }
        return true
    }

    /// Returns the reason why the caller does not accept a response; nil if it does.
    private func refusal(of head: HTTPResponse) -> SluiceError? {
        var head = head
        // The download has requested the range itself.
        if head.status == .partialContent { head.status = .ok }
        return validation.failure(of: head)
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
        var iterator = body.makeChunkIterator()
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
                state.hasReceived = true
                if state.limit.reach(next) { state.lastProgress = now }
            }
            progress.update(part)
        }
        if let end, next < end {
            throw SluiceError(.truncatedBody, "The response body ended before its announced length.")
        }
    }

    /// Sets the length of a resource whose length the server has not announced.
    private func setLength(_ length: Int64) {
        guard var resource = part.resource else { return }
        resource.length = length
        part.updateResource(resource, in: state.withLock { $0.generation })
        progress.update(part)
    }

    /// Returns the delay before the next attempt; nil if the transfer is not resumed.
    func resumption(after outcome: TransportOutcome) -> Duration? {
        guard case .failure(let error) = outcome, Self.transientCodes.contains(error.code), !error.isLasting,
            part.resource?.validator != nil, !part.completed.isEmpty
        else { return nil }
        let pause: ResumptionLimit.Pause? = state.withLock { state in
            guard state.hasReceived || part.hasReceived, !state.isChanged else { return nil }
            return state.limit.pause()
        }
        switch pause {
        case nil: return nil
        case .zero?: return .zero
        case .backoff(let number)?:
            return Backoff.exponential.delay(before: number, random: pipeline.configuration.randomness())
        }
    }

    var lastProgress: ContinuousClock.Instant? { state.withLock { $0.lastProgress } }

    /// Failures after which the same server may send the rest.
    private static let transientCodes: Set<SluiceError.Code> = [
        .connectionLost, .truncatedBody, .idleTimedOut, .cannotConnect, .connectTimedOut, .cannotResolveHost,
        .proxyFailed,
    ]
}

/// The limit on the attempts of a transfer that get no further.
///
/// An attempt gets further if it receives a byte at a higher position than all attempts before it. Receiving the same
/// bytes again, from a server that ignores `Range` (RFC 9110 §14.2), is no progress.
struct ResumptionLimit: Sendable, Equatable {
    /// The pause before an attempt.
    enum Pause: Sendable, Equatable {
        case zero
        /// The delay of the back-off before the retry with this number, starting at 1.
        case backoff(Int)
    }

    /// The number of attempts in a row that may get no further.
    private let maximum: Int
    /// The highest position that an attempt has reached.
    private var furthest: Int64
    /// The highest position before the current attempt.
    private var start: Int64
    private var steps = DownloadSteps()
    private var stalls = 0
    private var hasProgressed = false
    private var hasBegunAnew = false
    private var versions = 0

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - maximum: The number of attempts in a row that may get no further.
    ///   - position: The position of the first byte to transfer.
    init(_ maximum: Int, from position: Int64) {
        self.maximum = maximum
        furthest = position
        start = position
    }

    /// Records that the server sends the received bytes again, from the start.
    mutating func beginAnew() {
        hasBegunAnew = true
    }

    /// Records that the server sends another version, of which there are no bytes yet. Has no effect after a few times, so that a download
    /// from a server with a new version for each request ends.
    mutating func beginOther() {
        guard versions < Download.restarts else { return }
        versions += 1
        (furthest, start) = (0, 0)
    }

    /// Records that the bytes before a position have been received. Returns true if no attempt has reached it before.
    mutating func reach(_ position: Int64) -> Bool {
        guard position > furthest else { return false }
        furthest = position
        hasProgressed = true
        return true
    }

    /// Ends an attempt that broke off, and returns the pause before the next one; nil for none.
    ///
    /// An attempt that got further is followed at once, unless it received all bytes anew, or is one of many that got
    /// little further.
    mutating func pause() -> Pause? {
        let isSlow = steps.isSlow(after: furthest - start)
        let isAnew = hasBegunAnew
        start = furthest
        stalls = hasProgressed ? 0 : stalls + 1
        hasProgressed = false
        hasBegunAnew = false
        guard stalls < maximum else { return nil }
        return stalls == 0 && !isAnew && !isSlow ? .zero : .backoff(max(1, stalls))
    }
}

/// Counts the requests of a download that received little, so that a server that sends a byte at a time does not cause
/// as many requests as the client can send.
struct DownloadSteps: Sendable, Equatable {
    /// The length in bytes of a small step.
    static let small: Int64 = 64 << 10
    /// The number of small steps in a row that are followed at once.
    static let maximum = 10

    private var count = 0

    /// Records a request that received a number of new bytes. Returns true if the next one should be delayed.
    mutating func isSlow(after bytes: Int64) -> Bool {
        count = bytes < Self.small ? count + 1 : 0
        return count > Self.maximum
    }
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

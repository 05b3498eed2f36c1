import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Records real exchanges to a file once, and plays them back without a network from then on.
///
/// ```swift
/// let cassette = CassetteTransport(recording: SocketTransport(), to: fixtures.appending(path: "gists.json"))
/// let github = APIClient(baseURL: "https://api.github.com") { $0.transport = cassette }
/// ```
///
/// Secrets are taken out as exchanges are written: see ``CassetteRedaction``. The file is replaced as a whole after each exchange. Bodies are
/// held in memory, and a response is given once all of it has been recorded; a stream without end cannot be. Where several transports of a
/// process record to one file at the same time, it holds the exchanges of all of them.
public final class CassetteTransport: Transport {
    /// When exchanges are recorded.
    public enum Mode: Sendable, Hashable {
        /// Where there is no file yet; a file that is there is only played back.
        case once
        /// Every time: what the file held is replaced, but for what another transport is recording to it at the same time.
        case always
        /// Never: a file that is missing is an error.
        case never
        /// What the file does not hold yet is added to it.
        case append
    }

    private struct State {
        var reel: CassetteReel?
        /// Where requests are recorded to; nil where they are only played back.
        var recording: CassetteRecording?
        var loading: Task<Result<Void, SluiceError>, Never>?
    }

    private let transport: (any Transport)?
    private let file: CassetteFile
    private let mode: Mode
    private let criteria: [CassetteCriterion]
    private let redaction: CassetteRedaction
    private let repeatsLast: Bool
    private let isArchive: Bool
    private let state = Locked(State())

    private init(
        _ transport: (any Transport)?,
        _ file: CassetteFile,
        _ mode: Mode,
        _ criteria: [CassetteCriterion],
        _ redaction: CassetteRedaction,
        repeatsLast: Bool,
        isArchive: Bool
    ) {
        self.transport = transport
        self.file = file
        self.mode = mode
        self.criteria = criteria
        self.redaction = redaction
        self.repeatsLast = repeatsLast
        self.isArchive = isArchive
    }

    /// Makes a transport on a cassette; its file is first looked at with the first request.
    ///
    /// - Parameters:
    ///   - transport: What requests are recorded from.
    ///   - file: Where the cassette is or will be; folders that are missing are made.
    ///   - mode: When exchanges are recorded.
    ///   - matching: What a request and a recorded one must have in common; method and URL by default.
    ///   - redaction: What is taken out before it is written.
    ///   - repeatsLast: Whether the last of the exchanges that match is given again when all of them have been. False by default: the request
    ///     fails then with `cassetteUnmatched`, or is recorded where `mode` is ``Mode/append``.
    public convenience init(
        recording transport: any Transport,
        to file: URL,
        mode: Mode = .once,
        matching: [CassetteCriterion] = .methodAndURL,
        redaction: CassetteRedaction = .standard,
        repeatsLast: Bool = false
    ) {
        self.init(transport, CassetteFile(file), mode, matching, redaction, repeatsLast: repeatsLast, isArchive: false)
    }

    /// Makes a transport that plays a cassette back and records nothing.
    ///
    /// - Parameters:
    ///   - file: Where the cassette is.
    ///   - matching: What a request and a recorded one must have in common; method and URL by default.
    ///   - redaction: What was taken out when it was recorded.
    ///   - repeatsLast: Whether the last of the exchanges that match is given again when all of them have been.
    public convenience init(
        replaying file: URL,
        matching: [CassetteCriterion] = .methodAndURL,
        redaction: CassetteRedaction = .standard,
        repeatsLast: Bool = false
    ) {
        self.init(nil, CassetteFile(file), .never, matching, redaction, repeatsLast: repeatsLast, isArchive: false)
    }

    /// Makes a transport that plays back what a browser or another program has saved as HAR: see ``HARArchive``.
    ///
    /// - Parameters:
    ///   - file: Where the archive is.
    ///   - matching: What a request and a recorded one must have in common; method and URL by default.
    ///   - redaction: What is taken out of requests, archived ones too, before they are compared; nothing by default.
    ///   - repeatsLast: Whether the last of the exchanges that match is given again when all of them have been.
    public convenience init(
        har file: URL,
        matching: [CassetteCriterion] = .methodAndURL,
        redaction: CassetteRedaction = .none,
        repeatsLast: Bool = false
    ) {
        self.init(nil, CassetteFile(file), .never, matching, redaction, repeatsLast: repeatsLast, isArchive: true)
    }

    /// Plays back or records a request.
    ///
    /// - Parameters:
    ///   - request: What is asked.
    ///   - context: Of it all where the request is recorded; its limit on the body and its meter where it is played back.
    /// - Returns: The response with its whole body.
    /// - Throws: What was recorded, or fails while it is recorded; `cassetteUnreadable`, `cassetteUnmatched` or `cassetteUnwritable`.
    public func send(
        _ request: HTTPRequest,
        context: TransferContext
    ) async throws(SluiceError) -> TransportResponse {
        do throws(SluiceError) {
            try request.validate()
            try await load()
            let (request, body, context) = try await request.withBodyInMemory(context)
            let recorded = RecordedRequest(request, body: body)
            if let exchange = try played(recorded) { return try exchange.response(to: request, context) }
            guard let transport else { throw SluiceError(.internalFailure, "The cassette has no transport.") }
            return try await record(recorded, request, context, from: transport)
        } catch {
            throw error.with(request: request)
        }
    }

    /// Whether the file has been looked at.
    var isLoaded: Bool { state.withLock { $0.reel != nil } }

    /// What the cassette has for a request; nil where it is to be recorded.
    private func played(_ request: RecordedRequest) throws(SluiceError) -> RecordedExchange? {
        let (reel, records) = state.withLock { ($0.reel, $0.recording != nil) }
        guard let reel, !records || mode == .append else { return nil }
        // What somebody compares by is called without the lock. Places stay what they are, since exchanges are only added.
        let places = reel.places(of: redaction.redacted(request), criteria)
        let exchange = state.withLock { $0.reel?.take(of: places, repeatsLast: repeatsLast) }
        if exchange != nil || records { return exchange }
        let what =
            !places.isEmpty
            ? "all \(places.count) of it that it holds have been played"
            : "none of its \(reel.exchanges.count) is the same by \(criteria.map(\.description).joined(separator: ", "))"
        throw SluiceError(
            .cassetteUnmatched,
            "The cassette “\(file.url.path)” has no exchange for this request: \(what)."
        )
    }

    private func record(
        _ recorded: RecordedRequest,
        _ request: HTTPRequest,
        _ context: TransferContext,
        from transport: any Transport
    ) async throws(SluiceError) -> TransportResponse {
        let head: HTTPResponse
        let body: Data
        let metrics: TransferMetrics
        let trailers: HTTPHeaders
        do throws(SluiceError) {
            let response = try await transport.send(request, context: context)
            head = response.head
            body = try await response.body.collect(upTo: context.limits.body)
            metrics = response.body.metrics ?? TransferMetrics()
            trailers = response.body.trailers ?? [:]
        } catch {
            // That somebody lost interest is no answer of the server's.
            if !error.isCancellation { try await keep(RecordedExchange(request: recorded, result: .failure(error))) }
            throw error
        }
        let response = RecordedExchange.Response(head: head, body: body, trailers: trailers)
        try await keep(RecordedExchange(request: recorded, result: .success(response)))
        return TransportResponse(head: head, body: ResponseBody(body, metrics: metrics, trailers: trailers))
    }

    private func keep(_ exchange: RecordedExchange) async throws(SluiceError) {
        let exchange = redaction.redacted(exchange)
        let recording = state.withLock { state in
            state.reel?.append(exchange)
            return state.recording
        }
        try await recording?.append(exchange)
    }

    /// Reads the file, once for all who wait.
    private func load() async throws(SluiceError) {
        let task = state.withLock { state in
            if let loading = state.loading { return loading }
            let task = Task { [self] in
                do throws(SluiceError) {
                    let (exchanges, records) = try await contents()
                    loaded(exchanges, records)
                    return Result<Void, SluiceError>.success(())
                } catch {
                    return .failure(error)
                }
            }
            state.loading = task
            return task
        }
        try await task.value.get()
    }

    private func loaded(_ exchanges: [RecordedExchange], _ records: Bool) {
        // What was written by hand may hold what is taken out of requests before they are compared.
        let exchanges = exchanges.map { exchange in
            var exchange = exchange
            exchange.request = redaction.redacted(exchange.request)
            return exchange
        }
        let recording = records ? CassetteRecording.to(file.url, keeping: exchanges) : nil
        state.withLock { state in
            state.reel = CassetteReel(exchanges)
            state.recording = recording
        }
    }

    /// What the file holds, and whether requests may be recorded.
    private func contents() async throws(SluiceError) -> ([RecordedExchange], Bool) {
        if mode == .always { return ([], true) }
        let path = file.url.path
        guard let data = try await file.read() else {
            if mode == .never { throw .unreadableCassette(path, "there is no such file") }
            return ([], true)
        }
        if isArchive { return (try HARArchive(data, named: path).exchanges, false) }
        return (try Cassette(data, named: path).exchanges, mode == .append)
    }
}

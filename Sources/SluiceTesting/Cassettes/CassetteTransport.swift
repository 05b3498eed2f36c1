import SluiceFoundation
import SluiceHTTP

/// A transport that records real exchanges to a file once, and then plays them back without a network.
///
/// ```swift
/// let cassette = CassetteTransport(recording: SocketTransport(), to: fixtures.appending(path: "gists.json"))
/// let github = APIClient(baseURL: "https://api.github.com") { $0.transport = cassette }
/// ```
///
/// The file is JSON that people can read, edit and review:
///
///     {
///       "exchanges": [
///         {
///           "request": { "headers": ["Accept: application/json"], "method": "GET", "url": "https://shop.example/users/1" },
///           "response": { "body": { "json": { "id": 1 } }, "headers": ["Content-Type: application/json"], "status": 200 }
///         }
///       ],
///       "version": 1
///     }
///
/// A body is stored as `json`, `text` or `base64`. `json` keeps the order of the members and drops insignificant white
/// space. JSON that is nested very deeply or contains unpaired surrogates is stored as `text`. A failed exchange has an
/// `error` with its `code` and `reason` in place of the response. A failure that the client causes itself is not recorded:
/// a cancellation, its total time-out, its limits, a body that cannot be sent, or an option that is not supported.
///
/// Bodies of more than 1 MiB are not held in memory. A request has the `length` and the `sha256` of such a body. They do
/// not depend on the boundary of a multipart form and on its secret parts. The body of a response is in a file of its
/// own, named by its SHA-256, in the folder `gists.json.bodies` beside the cassette. It is searched for secrets while it is
/// written, and removed if it contains the name of one. Only a response that has to be searched as a whole, such as JSON,
/// is held in memory and stored in the cassette whatever its length.
///
/// Secrets are removed before exchanges are written: see ``CassetteRedaction``. The file is replaced atomically after each
/// exchange. While recording, a request is sent after its whole body has been read, and a response is returned after its
/// whole body has arrived, so a stream without an end cannot be recorded. If several transports or processes record to one
/// file at the same time, the file contains the exchanges of all of them. On a file system that cannot lock folders, such as
/// NFS, this applies to the transports of one process only.
public final class CassetteTransport: Transport {
    /// The policy that decides when exchanges are recorded.
    public enum Mode: Sendable, Hashable {
        /// Records if the file does not exist. Otherwise plays the file back.
        ///
        /// The first request decides. While another transport of the process records to the new file, a transport that was
        /// created before the file records to it too, and one that was created later plays it back. For one file of several
        /// tests, which may run in several processes or one after another, use ``append``.
        case once
        /// Always records, and replaces the file and those of its long bodies. Exchanges that another transport is recording to
        /// the file are kept.
        ///
        /// Those of another process are kept if they were written after the first request of this process. Earlier ones cannot
        /// be distinguished from old content, and are replaced.
        case always
        /// Never records. A missing file is an error.
        case never
        /// Plays back the exchanges in the file, and records those that it does not contain.
        ///
        /// Requests that differ only in a secret are the same, so the second one is played back. Names such as `code`, `key`
        /// and `session` count as secret in a query. If one is not, such as in `?code=DE`, add it to
        /// ``CassetteRedaction/exemptions``.
        case append
    }

    private struct State {
        var playback: CassettePlayback?
        /// The recording, or nil if requests are only played back.
        var recording: CassetteRecording?
        var loading: Task<Result<Void, SluiceError>, Never>?
    }

    private let transport: (any Transport)?
    private let file: CassetteFile
    private let mode: Mode
    private let criteria: [CassetteCriterion]
    private let redaction: CassetteRedaction
    private let bodies: CassetteBodies
    private let repeatsLast: Bool
    private let isArchive: Bool
    private let created = ContinuousClock.now
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
        bodies = CassetteBodies(of: file.url, redaction)
        self.repeatsLast = repeatsLast
        self.isArchive = isArchive
    }

    /// Creates a transport that records to a cassette or plays it back. The file is read on the first request.
    ///
    /// - Parameters:
    ///   - transport: The transport that sends the recorded requests.
    ///   - file: The location of the cassette. Missing folders are created.
    ///   - mode: The policy that decides when exchanges are recorded.
    ///   - matching: The criteria that match a request with a recorded one. Method and URL by default.
    ///   - redaction: The rules that remove secrets before writing.
    ///   - repeatsLast: True to play the last matching exchange again after all have been played. False by default: the
    ///     request then fails with `cassetteUnmatched`, or is recorded if `mode` is ``Mode/append``.
    public convenience init(
        recording transport: any Transport,
        to file: URL,
        mode: Mode = .once,
        matching: [CassetteCriterion] = [.method, .url],
        redaction: CassetteRedaction = .standard,
        repeatsLast: Bool = false
    ) {
        self.init(transport, CassetteFile(file), mode, matching, redaction, repeatsLast: repeatsLast, isArchive: false)
    }

    /// Creates a transport that plays a cassette back and records nothing.
    ///
    /// - Parameters:
    ///   - file: The location of the cassette.
    ///   - matching: The criteria that match a request with a recorded one. Method and URL by default.
    ///   - redaction: The redaction that the cassette was recorded with.
    ///   - repeatsLast: True to play the last matching exchange again after all have been played.
    public convenience init(
        replaying file: URL,
        matching: [CassetteCriterion] = [.method, .url],
        redaction: CassetteRedaction = .standard,
        repeatsLast: Bool = false
    ) {
        self.init(nil, CassetteFile(file), .never, matching, redaction, repeatsLast: repeatsLast, isArchive: false)
    }

    /// Creates a transport that plays back a HAR file (HTTP Archive 1.2) from a browser or another program.
    ///
    /// A HAR file contains decoded bodies, so `Content-Encoding`, `Content-Length` and `Transfer-Encoding` are removed from
    /// the response headers. HTTP/2 pseudo-header fields such as `:status` are removed too. An entry with status 0 has no
    /// response and becomes a lost connection. An entry whose body has a length but is not in the file fails its request
    /// with `cassetteUnreadable`.
    ///
    /// - Parameters:
    ///   - file: The location of the archive.
    ///   - matching: The criteria that match a request with a recorded one. Method and URL by default.
    ///   - redaction: The rules that remove secrets from new and archived requests before comparison. None by default.
    ///   - repeatsLast: True to play the last matching exchange again after all have been played.
    public convenience init(
        har file: URL,
        matching: [CassetteCriterion] = [.method, .url],
        redaction: CassetteRedaction = .none,
        repeatsLast: Bool = false
    ) {
        self.init(nil, CassetteFile(file), .never, matching, redaction, repeatsLast: repeatsLast, isArchive: true)
    }

    /// Plays back or records a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - context: The context for the recorded request. Playback uses its body limit and its meter.
    /// - Returns: The response with its whole body.
    /// - Throws: The recorded error, an error of the recording, or an error with the code `cassetteUnreadable`,
    ///   `cassetteUnmatched` or `cassetteUnwritable`.
    public func send(
        _ request: HTTPRequest,
        context: TransferContext
    ) async throws(SluiceError) -> TransportResponse {
        do throws(SluiceError) {
            try request.validate()
            try await load()
            let records = state.withLock { $0.recording != nil }
            let (request, recorded, context) = try await bodies.read(request, context, isSent: records)
            // A cancelled request must not take the recording of another one.
            if Task.isCancelled { throw SluiceError.cancelled }
            if let exchange = try recordedExchange(for: recorded) {
                return try await exchange.response(to: request, context, bodies)
            }
            guard let transport else { throw SluiceError(.internalFailure, "The cassette has no transport.") }
            return try await record(recorded, request, context, from: transport)
        } catch {
            throw error.with(request: request)
        }
    }

    /// The exchanges to play back; nil until the file has been read.
    var playback: CassettePlayback? { state.withLock { $0.playback } }

    /// Returns the recorded exchange for a request, or nil if the request must be recorded.
    private func recordedExchange(for request: RecordedRequest) throws(SluiceError) -> RecordedExchange? {
        let records = state.withLock { $0.recording != nil }
        guard !records || mode == .append else { return nil }
        // The criteria may call user code, so they run outside the lock. Positions stay valid, since exchanges are only added.
        let request = redaction.redacted(request)
        while let position = self.playback?.firstUnplayed(matching: request, criteria) {
            // A concurrent request may have taken it meanwhile.
            if let exchange = state.withLock({ $0.playback?.take(at: position) }) { return exchange }
        }
        guard let playback else { return nil }
        if repeatsLast, let last = playback.last(matching: request, criteria) { return last }
        if records { return nil }
        let matches = playback.count(matching: request, criteria)
        let names = criteria.map(\.name).joined(separator: ", ")
        let reason =
            switch (matches, playback.exchanges.count) {
            case (0, 1): "its only exchange does not have the same \(names)"
            case (0, let exchanges): "none of its \(exchanges) exchanges has the same \(names)"
            case (1, _): "its only recording has been played"
            case (let recordings, _): "all \(recordings) recordings of it have been played"
            }
        throw SluiceError(
            .cassetteUnmatched,
            "The cassette “\(file.url.path)” has no exchange for this request: \(reason)."
        )
    }

    private func record(
        _ recorded: RecordedRequest,
        _ request: HTTPRequest,
        _ context: TransferContext,
        from transport: any Transport
    ) async throws(SluiceError) -> TransportResponse {
        let head: HTTPResponse
        let contents: CassetteBodies.ResponseContents
        let metrics: TransferMetrics
        let trailers: HTTPHeaders
        do throws(SluiceError) {
            // Bodies are searched for secrets, and stored decoded.
            var context = context
            context.decodesRedirects = true
            let response = try await transport.send(request, context: context)
            head = response.head
            contents = try await bodies.contents(of: response, upTo: context.limits.body)
            metrics = response.body.metrics ?? TransferMetrics()
            trailers = response.body.trailers ?? [:]
        } catch {
            if !error.isCausedByClient(context) {
                try await store(RecordedExchange(request: recorded, result: .failure(error)))
            }
            throw error
        }
        var response = RecordedExchange.Response(head: head, trailers: trailers)
        let body: ResponseBody
        var file: BodyFile?
        switch contents {
        case .data(let data):
            response.body = data
            body = ResponseBody(data, metrics: metrics, trailers: trailers)
        case .file(let temporary, let digest):
            response.digest = digest
            if digest == nil { response.body = Data(CassetteRedaction.mark.utf8) }
            body = try await bodies.body(of: temporary, trailers: trailers, metrics)
            file = temporary
        }
        try await store(RecordedExchange(request: recorded, result: .success(response)), file)
        return TransportResponse(head: head, body: body)
    }

    /// Adds an exchange to the recording.
    ///
    /// - Parameters:
    ///   - exchange: The exchange.
    ///   - file: The temporary file of a long response body. It is removed if redaction has replaced the body.
    /// - Throws: A ``SluiceError`` with the code `cassetteUnwritable`.
    private func store(_ exchange: RecordedExchange, _ file: BodyFile? = nil) async throws(SluiceError) {
        let exchange = redaction.redacted(exchange)
        let recording = state.withLock { $0.recording }
        var body: (file: BodyFile, url: URL)?
        if let file, let digest = try? exchange.result.get().digest { body = (file: file, url: bodies.url(of: digest)) }
        try await recording?.append(exchange, body)
        state.withLock { $0.playback?.append(exchange) }
    }

    /// Reads the file once. Concurrent callers share the result.
    private func load() async throws(SluiceError) {
        let task = state.withLock { state in
            if let loading = state.loading { return loading }
            let task = Task { [self] in
                do throws(SluiceError) {
                    let (exchanges, recording) = try await contents()
                    loaded(exchanges, recording)
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

    private func loaded(_ exchanges: [RecordedExchange], _ recording: CassetteRecording?) {
        let playback = CassettePlayback(redaction.redactingRequests(of: exchanges))
        state.withLock { state in
            state.playback = playback
            state.recording = recording
        }
    }

    /// Returns the exchanges in the file, and the recording if requests may be recorded.
    private func contents() async throws(SluiceError) -> ([RecordedExchange], CassetteRecording?) {
        if mode == .never {
            let path = file.url.path
            guard let data = try await file.read() else { throw .unreadableCassette(path, "the file does not exist") }
            if isArchive { return (try HARArchive(data, named: path).exchanges, nil) }
            return (try Cassette(data, named: path).exchanges, nil)
        }
        // Held from before the file is read, so that concurrent transports share it.
        let recording = CassetteRecording.to(file.url, redaction)
        let (exchanges, records) = try await recording.begin(mode, created: created)
        return (exchanges, records ? recording : nil)
    }
}

extension SluiceError {
    /// True if a limit, an option or a body of the client has caused the failure, so that it says nothing about the server.
    fileprivate func isCausedByClient(_ context: TransferContext) -> Bool {
        switch code {
        case .cancelled, .bodyTooLarge, .headersTooLarge, .bodyUnavailable, .bodyLengthMismatch, .bodyNotReplayable,
            .unsupported, .invalidConfiguration, .addressRefused, .queueFull, .internalFailure, .cassetteUnwritable:
            true
        case .timedOut: context.timeouts.total != nil
        default: false
        }
    }
}

/// The exchanges of a cassette during playback, and those already played.
struct CassettePlayback: Sendable {
    private(set) var exchanges: [RecordedExchange]
    private var isPlayed: [Bool]
    /// All exchanges before this position have been played.
    private var start = 0

    init(_ exchanges: [RecordedExchange]) {
        self.exchanges = exchanges
        isPlayed = Array(repeating: false, count: exchanges.count)
    }

    /// Returns the position of the first exchange that matches a request and has not been played; nil if there is none.
    ///
    /// - Parameters:
    ///   - request: The redacted request.
    ///   - criteria: The criteria for a match.
    /// - Returns: The position.
    func firstUnplayed(matching request: RecordedRequest, _ criteria: [CassetteCriterion]) -> Int? {
        exchanges.indices[start...].first { !isPlayed[$0] && isMatch($0, request, criteria) }
    }

    /// Returns the last exchange that matches a request, whether played or not.
    func last(matching request: RecordedRequest, _ criteria: [CassetteCriterion]) -> RecordedExchange? {
        exchanges.indices.last { isMatch($0, request, criteria) }.map { exchanges[$0] }
    }

    /// Returns the number of exchanges that match a request, whether played or not.
    func count(matching request: RecordedRequest, _ criteria: [CassetteCriterion]) -> Int {
        exchanges.indices.count { isMatch($0, request, criteria) }
    }

    private func isMatch(_ position: Int, _ request: RecordedRequest, _ criteria: [CassetteCriterion]) -> Bool {
        criteria.allSatisfy { $0.isMatch(exchanges[position].request, request) }
    }

    /// Marks an exchange as played and returns it; nil if it has been played already.
    mutating func take(at position: Int) -> RecordedExchange? {
        if isPlayed[position] { return nil }
        isPlayed[position] = true
        while start < isPlayed.count, isPlayed[start] { start += 1 }
        return exchanges[position]
    }

    /// Adds an exchange and marks it as played, because the request that recorded it has its response.
    mutating func append(_ exchange: RecordedExchange) {
        exchanges.append(exchange)
        isPlayed.append(true)
    }
}

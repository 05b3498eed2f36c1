import SluiceFoundation
import SluiceHTTP
import SluiceLibc
import Synchronization

/// Logs requests in a human-readable form; by default, one line for each failed request.
///
/// ```swift
/// let client = APIClient(baseURL: "https://api.example.com") { $0.observers = [RequestLog(.summary)] }
/// // 10:15:30.123Z ← 200 GET     35 ms  1.2 kB  https://api.example.com/users/42  (2 attempts, 1 redirect)
/// ```
///
/// Its ``Redaction`` removes secrets, and no data from a server can forge a line or control a terminal. It writes on
/// the observer's own queue, so a slow terminal does not delay requests. Before a program ends,
/// ``APIClient/observersCaughtUp()`` waits until the last lines have been written.
public struct RequestLog: RequestObserver, SelectiveObserver {
    /// The amount of information to log.
    public enum Level: Sendable, Hashable {
        /// A line for each failed request.
        case failures
        /// A line for each request.
        case summary
        /// Each step of each request, with the headers sent and received.
        case headers
        /// Each step with headers and bodies.
        case full

        /// True if each step is logged, not only the end of a request.
        var includesSteps: Bool { self == .headers || self == .full }
    }

    /// The amount of information to log; ``Level/failures`` by default.
    public var level: Level
    /// True to add a cURL command that repeats the request below its last line; false by default.
    public var curl: Bool
    /// The secrets to leave out.
    public var redaction: Redaction
    /// The maximum number of bytes of each body to log; 16 KiB by default.
    public var bodyLimit = 16 << 10
    /// True to colour marks and statuses for a terminal; false by default.
    public var isColored = false
    /// True to write the day before the time, as in ISO 8601; false by default.
    public var showsDate = false
    /// True with a custom destination, which is then called with the caller's task-local values.
    public let usesTaskLocals: Bool
    private let destination: @Sendable (String) -> Void
    private let records = Locked<[RequestID: RequestRecord]>([:])

    /// The number of concurrent requests for which details are kept. Further ones are logged without them.
    private static let capacity = 16_384

    /// Creates a log.
    ///
    /// - Parameters:
    ///   - level: The amount of information to log.
    ///   - curl: True to add cURL commands.
    ///   - redaction: The secrets to leave out.
    ///   - destination: Called with one line, or several separated by line breaks. Calls from one client come one at a
    ///     time, with the task-local values of the request's caller. Nil, the default, writes to standard error.
    public init(
        _ level: Level = .failures,
        curl: Bool = false,
        redaction: Redaction = .standard,
        to destination: (@Sendable (String) -> Void)? = nil
    ) {
        self.level = level
        self.curl = curl
        self.redaction = redaction
        usesTaskLocals = destination != nil
        self.destination = destination ?? Self.standardError
    }

    /// All events if steps are logged, otherwise those needed for the last line.
    public var interests: RequestEvent.Kinds {
        if level.includesSteps { return .all }
        var kinds: RequestEvent.Kinds = [.waits, .redirected, .retrying, .finished]
        // A failure names its request itself.
        if level != .failures { kinds.insert(.began) }
        if curl { kinds.insert(.sending) }
        return kinds
    }

    /// Logs an event.
    public func observe(_ event: RequestEvent, of request: ObservedRequest) {
        let (record, wait) = recorded(event, of: request)
        if case .finished(let outcome) = event {
            if level != .failures || outcome.isFailure {
                destination(entry(of: outcome, record, request))
            }
        } else if level.includesSteps, let step = step(event, after: wait, request) {
            destination(step)
        }
    }

    /// Consumes all events but failures if only failures are logged. The details of a request that may fail are
    /// recorded at once.
    func consume(_ event: RequestEvent, of request: ObservedRequest) -> Bool {
        guard level == .failures else { return false }
        switch event {
        case .finished(.failure): return false
        case .finished(.success): records.withLock { _ = $0.isEmpty ? nil : $0.removeValue(forKey: request.id) }
        default: _ = recorded(event, of: request)
        }
        return true
    }

    /// Logs the number of dropped events, and discards the details of open requests, whose end may be among them.
    public func didDrop(_ count: Int) {
        records.withLock { $0 = [:] }
        destination("\(LogUnits.text(count, "event")) dropped: the log could not be written fast enough")
    }

    /// Records an event. Returns the details of its request, and the time waited at a gate that the event leaves.
    private func recorded(_ event: RequestEvent, of request: ObservedRequest) -> (RequestRecord, Duration?) {
        records.withLock { records in
            var record = records.removeValue(forKey: request.id) ?? RequestRecord()
            let wait = record.add(event, of: request)
            if case .finished = event { return (record, wait) }
            if records.count < Self.capacity { records[request.id] = record }
            return (record, wait)
        }
    }

    /// Returns the time of an event as text.
    func time(of request: ObservedRequest) -> String {
        LogUnits.text(request.date, withDay: showsDate)
    }
}

extension TransportOutcome {
    fileprivate var isFailure: Bool {
        if case .failure = self { true } else { false }
    }
}

// MARK: - The last line of a request

extension RequestLog {
    /// Returns the line for the end of a request: columns of fixed width first, then those of variable length.
    func entry(of outcome: TransportOutcome, _ record: RequestRecord, _ observed: ObservedRequest) -> String {
        let request: HTTPRequest?
        let status: HTTPStatus?
        var size: Int?
        var sentence = ""
        switch outcome {
        case .success(let response):
            request = record.request ?? response.request
            status = response.head.status
            let kept = response.body.count + observed.omitted.responseBodies
            // A download or a stream has taken the body.
            size = kept > 0 ? kept : Int(clamping: response.metrics.bytesReceived)
        case .failure(let error):
            request = record.request ?? error.request
            status = error.response?.status
            sentence = "  \(self.sentence(of: error))"
        }
        var line = "\(start(observed))\(mark(outcome, status)) "
        line += Self.padded(LogEscaping.line((request?.method ?? observed.method).rawValue, limit: 32), to: 7)
        line += Self.rightAligned(LogUnits.text(observed.began.duration(to: observed.instant)), to: 6) + "  "
        line += Self.rightAligned(size.map { LogUnits.text(bytes: $0) } ?? "–", to: 6) + "  "
        line += request.map { shown($0) } ?? "no request"
        let notes = record.notes
        if !notes.isEmpty { line += "  (\(notes.joined(separator: ", ")))" }
        line += sentence
        if curl, let command = command(for: record.sent ?? request, observed) { line += "\n    \(command)" }
        return line
    }

    /// Returns the time and, if steps are logged, the ID of the request.
    func start(_ observed: ObservedRequest) -> String {
        level.includesSteps ? "\(time(of: observed)) \(Self.padded("\(observed.id)", to: 5))" : "\(time(of: observed)) "
    }

    /// Returns the redacted URL.
    func shown(_ request: HTTPRequest) -> String {
        LogEscaping.line(redaction.url(request.url))
    }

    /// Returns the reason and the code of an error, on one line.
    func sentence(of error: SluiceError) -> String {
        var sentence = redaction.text(error.reason)
        // The underlying error of user code can be long, so the levels with one line per request leave it out.
        if level.includesSteps, let cause = error.underlyingError {
            // Redacted before it is escaped, because an escaped line break would join the name of a secret with a letter.
            let text = String(decoding: SecretRules.text(of: cause).utf8.prefix(4096), as: UTF8.self)
            sentence += " Cause: \(LogEscaping.line(redaction.text(text), limit: 512))"
        }
        return "\(LogEscaping.line(sentence)) [\(LogEscaping.line(error.code.description, limit: 64))]"
    }

    private func command(for request: HTTPRequest?, _ observed: ObservedRequest) -> String? {
        var redaction = redaction
        redaction.bodyLimit = min(redaction.bodyLimit, bodyLimit)
        return request?.curlCommand(redaction: redaction, secretHeaders: observed.secretHeaders)
    }

    private func mark(_ outcome: TransportOutcome, _ status: HTTPStatus?) -> String {
        let code = status.map { Self.rightAligned("\($0)", to: 3) } ?? "–––"
        switch outcome {
        case .success: return colored("← \(code)", status?.isSuccess == true ? 32 : 33)
        case .failure(let error): return colored("✗ \(code)", error.isCancellation ? 33 : 31)
        }
    }

    func colored(_ text: String, _ color: Int) -> String {
        isColored ? "\u{1B}[\(color)m\(text)\u{1B}[0m" : text
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.unicodeScalars.count))
    }

    private static func rightAligned(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.unicodeScalars.count)) + text
    }
}

// MARK: - The steps before it

extension RequestLog {
    /// Returns the text for a step before the last; nil if the step is not logged.
    func step(_ event: RequestEvent, after wait: Duration?, _ observed: ObservedRequest) -> String? {
        let start = start(observed)
        switch event {
        case .began, .waiting, .finished: return nil
        case .admitted(let gate):
            guard let wait, wait >= .milliseconds(1) else { return nil }
            return "\(start)… waited \(LogUnits.text(wait)) at \(LogEscaping.line(gate, limit: 64))"
        case .refused(let gate, let error):
            return "\(start)\(colored("✗", 31)) refused at \(LogEscaping.line(gate, limit: 64)): \(sentence(of: error))"
        case .sending(let request):
            let attempt = observed.attempt > 1 ? "  (attempt \(observed.attempt))" : ""
            let method = LogEscaping.line(request.method.rawValue, limit: 32)
            let head = fields(redaction.headers(request.headers, secretHeaders: observed.secretHeaders))
            return "\(start)→ \(method) \(shown(request))\(attempt)\(head)\(body(of: request, observed))"
        case .redirected(let response, let next):
            return "\(start)↪ \(response.head.status) redirects to \(shown(next))\(head(of: response, observed))"
        case .informational(let head):
            return "\(start)< \(head.status) \(head.version)"
                + fields(redaction.headers(head.headers, secretHeaders: observed.secretHeaders))
        case .received(.success(let response)):
            let head = "\(start)< \(response.head.status) \(response.head.version)"
            return head + self.head(of: response, observed) + body(of: response, observed)
        case .cached(let response):
            return "\(start)< \(response.head.status) from the cache" + head(of: response, observed)
                + body(of: response, observed)
        case .received(.failure(let error)):
            return "\(start)\(colored("✗", 31)) \(sentence(of: error))"
        case .retrying(let delay, let outcome):
            return "\(start)↻ retrying in \(LogUnits.text(delay)) after \(reason(outcome))"
        case .hedging:
            return "\(start)↻ no response yet, sending another request"
        }
    }

    private func reason(_ outcome: TransportOutcome) -> String {
        switch outcome {
        case .success(let response): "\(response.head.status)"
        case .failure(let error): sentence(of: error)
        }
    }

    private func head(of response: ServerResponse, _ observed: ObservedRequest) -> String {
        fields(redaction.headers(response.head.headers, secretHeaders: observed.secretHeaders))
    }

    /// Returns the header fields, one per line.
    private func fields(_ headers: HTTPHeaders) -> String {
        headers.reduce(into: "") { text, field in
            text += "\n    \(LogEscaping.line(field.name.rawValue, limit: 256)): \(LogEscaping.line(field.value))"
        }
    }
}

// MARK: - Bodies

extension RequestLog {
    /// Returns a request's body after an empty line, or a note about it; empty if bodies are not logged.
    func body(of request: HTTPRequest, _ observed: ObservedRequest) -> String {
        let omitted = observed.omitted.requestBodies
        guard level == .full, !request.body.isNone || omitted > 0 else { return "" }
        let length = request.body.length.map { LogUnits.text(bytes: Int(clamping: $0)) }
        switch request.body.source {
        case .none:
            return remark("a body of \(LogUnits.text(bytes: omitted)), omitted because the log was written too slowly")
        case .data(let data):
            return block(
                data,
                redaction.body(
                    data,
                    contentType: request.headers[.contentType],
                    contentEncoding: request.headers[.contentEncoding]
                )
            )
        case .file(let url, let range):
            return remark("\(range.map { "the bytes \($0) of " } ?? "")the file \(LogEscaping.line(url.path))")
        case .stream:
            let once = request.body.isReplayable ? "" : ", readable only once"
            return remark("a stream\(length.map { " of \($0)" } ?? "")\(once)")
        case .deferred, .encoded: return remark("a body that is created while it is sent")
        }
    }

    /// Returns a response's body, or a note about it.
    func body(of response: ServerResponse, _ observed: ObservedRequest) -> String {
        guard level == .full else { return "" }
        let omitted = observed.omitted.responseBodies
        if omitted > 0 {
            return remark("a body of \(LogUnits.text(bytes: omitted)), omitted because the log was written too slowly")
        }
        if response.body.isEmpty { return "" }
        return block(response.body, redaction.body(response.body, contentType: response.head.headers[.contentType]))
    }

    private func block(_ data: Data, _ body: RedactedBody) -> String {
        let size = LogUnits.text(bytes: data.count)
        switch body {
        case .binary: return remark("\(size), not text")
        case .withheld(let reason): return remark("\(size), left out: \(reason)")
        case .text(let text):
            if text.isEmpty { return "" }
            let shown = JSONLayout.text(text, limit: bodyLimit) ?? text
            let clipped = clipped(shown)
            let lines = LogEscaping.lines(clipped).map { "\n    \($0)" }.joined()
            return "\n" + lines + (clipped.utf8.count < shown.utf8.count ? "\n    … (\(size) in all)" : "")
        }
    }

    /// Returns the beginning of a text up to the limit, cut between characters.
    private func clipped(_ text: String) -> String {
        if text.utf8.count <= max(0, bodyLimit) { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: max(0, bodyLimit))
        while text.utf8[end] & 0xC0 == 0x80 { end = text.utf8.index(before: end) }
        return String(Substring(text.utf8[..<end]))
    }

    private func remark(_ text: String) -> String { "\n\n    (\(text))" }
}

// MARK: - Destination

extension RequestLog {
    /// True if the reader of a non-blocking standard error did not read for a second. Entries are then lost without a wait.
    private static let isStuck = Atomic(false)

    /// Writes to standard error, each entry in one piece, so that entries of several clients and processes do not mix.
    private static let standardError: @Sendable (String) -> Void = { text in
        // The last entry may have been cut.
        var line = (isStuck.load(ordering: .relaxed) ? "\n" : "") + text + "\n"
        line.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = write(STDERR_FILENO, rest.baseAddress, rest.count)
                if count < 0, errno == EAGAIN {
                    // Another process may have made the pipe non-blocking.
                    var writable = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
                    let wait: Int32 = isStuck.load(ordering: .relaxed) ? 0 : 1000
                    isStuck.store(poll(&writable, 1, wait) == 0, ordering: .relaxed)
                    if isStuck.load(ordering: .relaxed) { return }
                    continue
                }
                // A failure to write the log must not affect the request.
                if count < 0, errno != EINTR { return }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(max(0, count)))
            }
        }
    }
}

// MARK: - Request record

/// The details of an open request that a log needs for its last line.
struct RequestRecord: Sendable {
    /// A wait of an attempt at a gate.
    private struct GateWait {
        let gate: String
        let attempt: Int
        let since: ContinuousClock.Instant
    }

    /// The request as it was created.
    private(set) var request: HTTPRequest?
    /// The request as it was last sent.
    private(set) var sent: HTTPRequest?
    private(set) var attempts = 1
    private(set) var redirects = 0
    private(set) var hedges = 0
    /// The total of the pauses between attempts.
    private(set) var pause = Duration.zero
    /// The time spent at each gate, in the order of the first wait.
    private(set) var waits: [(gate: String, duration: Duration)] = []
    private var openWaits: [GateWait] = []

    /// Records an event.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - observed: The attempt and the time of the event.
    /// - Returns: The time that the attempt waited at the gate that it leaves; nil if it leaves none.
    mutating func add(_ event: RequestEvent, of observed: ObservedRequest) -> Duration? {
        attempts = max(attempts, observed.attempt)
        switch event {
        case .began(let request): self.request = request
        case .waiting(let gate):
            openWaits.append(GateWait(gate: gate, attempt: observed.attempt, since: observed.instant))
        case .admitted(let gate): return endWait(at: gate, observed)
        case .refused(let gate, _):
            // The attempt has not been sent.
            attempts = max(1, observed.attempt - 1)
            return endWait(at: gate, observed)
        case .sending(let request): sent = request
        case .redirected: redirects += 1
        case .retrying(let delay, _):
            attempts += 1
            pause += delay
        // The event has the number of the new attempt.
        case .hedging: hedges += 1
        case .informational, .received, .cached, .finished: break
        }
        return nil
    }

    private mutating func endWait(at gate: String, _ observed: ObservedRequest) -> Duration? {
        guard let index = openWaits.firstIndex(where: { $0.gate == gate && $0.attempt == observed.attempt }) else {
            return nil
        }
        let duration = openWaits.remove(at: index).since.duration(to: observed.instant)
        if let total = waits.firstIndex(where: { $0.gate == gate }) {
            waits[total].duration += duration
        } else {
            waits.append((gate, duration))
        }
        return duration
    }

    /// Short notes on retries, hedging, redirects and waits.
    var notes: [String] {
        var notes: [String] = []
        if attempts > 1 {
            let rest = pause > .zero ? " with \(LogUnits.text(pause)) between" : ""
            notes.append(LogUnits.text(attempts, "attempt") + rest)
        }
        if hedges > 0 { notes.append("hedged") }
        if redirects > 0 { notes.append(LogUnits.text(redirects, "redirect")) }
        for wait in waits where wait.duration >= .milliseconds(1) {
            notes.append("\(LogUnits.text(wait.duration)) at \(LogEscaping.line(wait.gate, limit: 64))")
        }
        return notes
    }
}

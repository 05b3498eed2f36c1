import SluiceHTTP

/// Writes what becomes of requests, to be read by people: by default one line for each that fails.
///
/// ```swift
/// let client = APIClient(baseURL: "https://api.example.com") { $0.observers = [RequestLog(.summary)] }
/// // 10:15:30.123Z ← 200 GET     35 ms  1.2 kB  https://api.example.com/users/42  (2 attempts, 1 redirect)
/// ```
///
/// Secrets are taken out by its ``Redaction``, and nothing that a server sends can forge a line or command a terminal. It
/// writes in the observer's own queue, so that a slow terminal holds up no request.
public struct RequestLog: RequestObserver {
    /// How much is written.
    public enum Level: Int, Sendable, Hashable, Comparable {
        /// A line for each request that fails.
        case failures
        /// A line for each request.
        case summary
        /// Each step of each request, with the headers that are sent and received.
        case headers
        /// Each step with headers and bodies.
        case full

        /// Whether the first writes less.
        public static func < (lhs: Level, rhs: Level) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    /// Takes a line, or several with line breaks between them; calls come one at a time from each client.
    public typealias Destination = @Sendable (String) -> Void

    /// How much is written; ``Level/failures`` by default.
    public var level: Level
    /// Whether a cURL command that repeats the request stands below its last line; false by default.
    public var curl: Bool
    /// What is left out as secret.
    public var redaction: Redaction
    /// How much of each body is written, in bytes; 16 KiB by default.
    public var bodyLimit = 16 << 10
    /// Whether marks and statuses have colours, for a terminal; false by default.
    public var isColored = false
    /// Whether lines have the day before the time, as ISO 8601 writes both; false by default.
    public var showsDate = false
    private let destination: Destination
    private let records = Locked<[RequestID: RequestRecord]>([:])

    /// Requests beyond so many at once are logged without what has to be remembered of them.
    private static let capacity = 16_384

    /// Makes a log.
    ///
    /// - Parameters:
    ///   - level: How much is written.
    ///   - curl: Whether cURL commands are.
    ///   - redaction: What is left out as secret.
    ///   - destination: Takes the lines; standard error by default.
    public init(
        _ level: Level = .failures,
        curl: Bool = false,
        redaction: Redaction = .standard,
        to destination: @escaping Destination = RequestLog.standardError
    ) {
        self.level = level
        self.curl = curl
        self.redaction = redaction
        self.destination = destination
    }

    /// All events where steps are written; otherwise those that the one line tells of.
    public var interests: RequestEvent.Kinds {
        if level >= .headers { return .all }
        var kinds: RequestEvent.Kinds = [.gates, .redirected, .retrying, .finished]
        // An error says itself which request failed.
        if level > .failures { kinds.insert(.began) }
        if curl { kinds.insert(.sending) }
        return kinds
    }

    /// Writes what the event has to say.
    public func observe(_ event: RequestEvent, of request: ObservedRequest) {
        let (record, wait) = note(event, of: request)
        if case .finished(let outcome) = event {
            if level > .failures || outcome.isFailure {
                destination(entry(of: outcome, record, request))
            }
        } else if level >= .headers, let step = step(event, after: wait, request) {
            destination(step)
        }
    }

    /// Writes that so many events were dropped, and forgets the requests whose end may have been among them.
    public func missed(_ count: Int) {
        records.withLock { $0 = [:] }
        destination("\(LogUnits.text(count, "event")) left out: requests came faster than their log could be written")
    }

    private func note(_ event: RequestEvent, of request: ObservedRequest) -> (RequestRecord, Duration?) {
        records.withLock { records in
            var record = records.removeValue(forKey: request.id) ?? RequestRecord()
            let wait = record.note(event, of: request)
            if case .finished = event { return (record, wait) }
            if records.count < Self.capacity { records[request.id] = record }
            return (record, wait)
        }
    }

    /// The time of an event.
    func time(of request: ObservedRequest) -> String {
        LogUnits.text(request.date, withDay: showsDate)
    }
}

extension TransportOutcome {
    fileprivate var isFailure: Bool {
        if case .failure = self { true } else { false }
    }
}

import SluiceHTTP

/// Logs requests in a human-readable form; by default, one line for each failed request.
///
/// ```swift
/// let client = APIClient(baseURL: "https://api.example.com") { $0.observers = [RequestLog(.summary)] }
/// // 10:15:30.123Z ← 200 GET     35 ms  1.2 kB  https://api.example.com/users/42  (2 attempts, 1 redirect)
/// ```
///
/// Its ``Redaction`` removes secrets, and no data from a server can forge a line or control a terminal. It writes on
/// the observer's own queue, so a slow terminal does not delay requests.
public struct RequestLog: RequestObserver {
    /// The amount of information to log.
    public enum Level: Int, Sendable, Hashable, Comparable {
        /// A line for each failed request.
        case failures
        /// A line for each request.
        case summary
        /// Each step of each request, with the headers sent and received.
        case headers
        /// Each step with headers and bodies.
        case full

        /// Returns true if the first level logs less than the second.
        public static func < (lhs: Level, rhs: Level) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    /// Called with one line, or several separated by line breaks. Calls from one client come one at a time.
    public typealias Destination = @Sendable (String) -> Void

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
    private let destination: Destination
    private let records = Locked<[RequestID: RequestRecord]>([:])

    /// The number of concurrent requests for which details are kept. Further ones are logged without them.
    private static let capacity = 16_384

    /// Creates a log.
    ///
    /// - Parameters:
    ///   - level: The amount of information to log.
    ///   - curl: True to add cURL commands.
    ///   - redaction: The secrets to leave out.
    ///   - destination: Called with the lines; writes to standard error by default.
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

    /// All events if steps are logged, otherwise those needed for the last line.
    public var interests: RequestEvent.Kinds {
        if level >= .headers { return .all }
        var kinds: RequestEvent.Kinds = [.gates, .redirected, .retrying, .finished]
        // A failure names its request itself.
        if level > .failures { kinds.insert(.began) }
        if curl { kinds.insert(.sending) }
        return kinds
    }

    /// Logs an event.
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

    /// Logs the number of dropped events, and discards the details of open requests, whose end may be among them.
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

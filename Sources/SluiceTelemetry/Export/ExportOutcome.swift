import Sluice
import SluiceFoundation
import SluiceHTTP

enum ExportOutcome: Sendable, Equatable {
    /// The collector accepted the data, except this number of spans or points.
    case accepted(rejected: Int, message: String)
    /// The collector may accept the data later, after the delay if it names one.
    case busy(after: Duration?, reason: String)
    /// The collector will never accept the data.
    case refused(reason: String)
    /// The program ends, or a flush took too long.
    case cancelled

    /// Decides by the rules of OTLP/HTTP.
    ///
    /// - Parameters:
    ///   - outcome: The outcome of the request, whatever its status.
    ///   - format: The format of the body.
    ///   - now: The current date, for a `Retry-After` that is a date.
    init(_ outcome: TransportOutcome, _ format: OTLPFormat, now: Date) {
        switch outcome {
        case .failure(let error) where error.isCancellation: self = .cancelled
        case .failure(let error):
            // A proxy may have answered with a large page of its own.
            if error.code == .bodyTooLarge, let head = error.response {
                self.init(head, Data(), format, now: now)
            } else if Self.permanent.contains(error.code) {
                self = .refused(reason: error.description)
            } else {
                self = .busy(after: nil, reason: error.description)
            }
        case .success(let response): self.init(response.head, response.body, format, now: now)
        }
    }

    private init(_ head: HTTPResponse, _ body: Data, _ format: OTLPFormat, now: Date) {
        let status = head.status.rawValue
        switch status {
        case 200..<300:
            guard let answer = ExportResponse(body, as: format) else {
                // The status is what counts. A proxy may have answered with a page of its own.
                self = .accepted(rejected: 0, message: "The body of the answer \(status) is not a message of OTLP.")
                return
            }
            self = .accepted(rejected: Int(clamping: answer.rejected), message: answer.message)
        case 429, 502, 503, 504:
            let delay = RetryAfter.delay(in: head.headers, now: now)
            self = .busy(after: delay, reason: "The collector answered with the status \(status).")
        default: self = .refused(reason: "The collector answered with the status \(status).")
        }
    }

    /// The failures that another attempt would repeat.
    private static let permanent: Set<SluiceError.Code> = [
        .invalidURL, .unsupportedScheme, .invalidHeader, .invalidMethod, .invalidConfiguration, .hostRefused,
        .addressRefused, .unsupported, .bodyTooLarge, .headersTooLarge,
    ]
}

/// The pauses between exports that fail.
struct ExportBackoff: Sendable {
    /// The longest pause that is not the collector's wish.
    static let longest = Duration.seconds(60)
    /// The longest `Retry-After` that is obeyed.
    static let longestRequested = Duration.seconds(600)

    private var failures = 0

    /// Returns the pause after a failure: at most a second, doubled with each failure in a row, with jitter; or that of the collector.
    ///
    /// - Parameters:
    ///   - requested: The delay that the collector asked for.
    ///   - random: 64 random bits.
    /// - Returns: The pause.
    mutating func pause(_ requested: Duration?, random: UInt64) -> Duration {
        failures = min(failures + 1, 16)
        if let requested { return Self.obeyed(requested) }
        let limit = min(Self.longest, .seconds(1) * (1 << (failures - 1)))
        // From half of the limit to all of it.
        return limit / 2 + limit / 2 * (Double(random >> 11) / 0x1p53)
    }

    /// Returns the pause for a delay that the collector asked for.
    static func obeyed(_ requested: Duration) -> Duration {
        min(max(requested, .milliseconds(100)), longestRequested)
    }

    /// Begins anew after a success.
    mutating func reset() {
        failures = 0
    }
}

// MARK: - OTLP sender

/// Sends messages to a collector by a client of its own, which has no observer and no trace: exports are not exported themselves.
struct OTLPSender: Sendable {
    private let client: APIClient
    private let url: String
    private let format: OTLPFormat

    init(_ collector: OTLPCollector, _ transport: (any Transport)?, _ clock: any SluiceClock) {
        url = collector.url
        format = collector.format
        client = APIClient {
            $0.headers.append(contentsOf: collector.headers)
            $0.secretHeaders = collector.headers.map(\.name)
            $0.timeouts.total = collector.timeout
            // A collector answers with a few bytes. More is nonsense.
            $0.limits.body = 64 << 10
            $0.redirects = .none
            $0.connection.tls = collector.tls
            $0.clock = clock
            if collector.isCompressed { $0.requestInterceptors = [CompressBody(minimumSize: 0)] }
            if let transport { $0.transport = transport }
        }
    }

    /// A transport for the exports of one telemetry alone; nil for that of all clients. Requests that hang use up the transfers of the
    /// latter, and the spans that tell of them would wait. It connects for the first export, and its connections end with its exporters.
    static var ownTransport: (any Transport)? {
        #if os(Linux)
        SocketTransport()
        #else
        nil
        #endif
    }

    /// Sends an encoded message. The deadline of a caller does not apply.
    func send(_ message: [UInt8], now: Date) async -> ExportOutcome {
        let request = client.data.post(url).data(Data(message), contentType: format.contentType).validate(.none)
        let response = await Deadline.$current.withValue(nil) { await request.sender().response }
        do throws(SluiceError) {
            return ExportOutcome(.success(try response.received()), format, now: now)
        } catch {
            return ExportOutcome(.failure(error), format, now: now)
        }
    }
}

// MARK: - Telemetry statistics

/// The numbers of spans and metric points that were exported, dropped or refused.
public struct TelemetryStatistics: Sendable, Hashable {
    /// The number of requests that have begun and not ended.
    public internal(set) var openRequests = 0
    /// The number of spans that wait for their export.
    public internal(set) var waitingSpans = 0
    /// The number of spans that the collector accepted.
    public internal(set) var exportedSpans = 0
    /// The number of spans for which there was no room, whose export has failed too often, or that came after the end.
    public internal(set) var droppedSpans = 0
    /// The number of spans that the collector refused, all of an export or a part of it.
    public internal(set) var refusedSpans = 0
    /// The number of points of metrics that the collector accepted.
    public internal(set) var exportedPoints = 0
    /// The number of points of metrics that the collector refused. Cumulative points are sent again with the next export.
    public internal(set) var refusedPoints = 0
    /// The number of durations that were counted without attributes, because there were too many combinations.
    public internal(set) var overflowedDurations = 0
    /// The number of exports that failed. Those that may succeed later are repeated.
    public internal(set) var failedExports = 0
    /// The reason of the last failure, or the collector's last warning.
    public internal(set) var lastProblem: String?

    /// The number of spans and points that were dropped, or that collectors refused.
    var lost: Int { droppedSpans + refusedSpans + refusedPoints }

    /// Counts the outcome of an export.
    ///
    /// - Parameters:
    ///   - outcome: The outcome.
    ///   - count: The number of spans or points.
    ///   - exported: The count of those that the collector accepted.
    ///   - refused: The count of those that it did not.
    mutating func count(
        _ outcome: ExportOutcome,
        of count: Int,
        _ exported: WritableKeyPath<TelemetryStatistics, Int>,
        _ refused: WritableKeyPath<TelemetryStatistics, Int>
    ) {
        switch outcome {
        case .accepted(let rejected, let message):
            let rejected = min(max(0, rejected), count)
            self[keyPath: exported] += count - rejected
            self[keyPath: refused] += rejected
            if !message.isEmpty { lastProblem = String(message.prefix(1000)) }
        case .refused(let reason):
            self[keyPath: refused] += count
            failedExports += 1
            lastProblem = reason
        case .busy(_, let reason):
            failedExports += 1
            lastProblem = reason
        case .cancelled: failedExports += 1
        }
    }
}

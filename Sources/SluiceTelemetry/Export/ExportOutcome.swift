import Sluice
import SluiceFoundation
import SluiceHTTP

/// The result of an export.
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
        case .failure(let error) where Self.permanent.contains(error.code): self = .refused(reason: error.description)
        case .failure(let error): self = .busy(after: nil, reason: error.description)
        case .success(let response):
            let status = response.status.rawValue
            switch status {
            case 200..<300:
                guard let body = ExportResponse(response.body, as: format) else {
                    // The status is what counts. A proxy may have answered with a page of its own.
                    self = .accepted(rejected: 0, message: "The body of the answer \(status) is not a message of OTLP.")
                    return
                }
                self = .accepted(rejected: Int(clamping: body.rejected), message: body.message)
            case 429, 502, 503, 504:
                let delay = RetryAfter.delay(in: response.head.headers, now: now)
                self = .busy(after: delay, reason: "The collector answered with the status \(status).")
            default: self = .refused(reason: "The collector answered with the status \(status).")
            }
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
        if let requested { return min(max(requested, .milliseconds(100)), Self.longestRequested) }
        let limit = min(Self.longest, .seconds(1) * (1 << (failures - 1)))
        // From half of the limit to all of it.
        return limit / 2 + limit / 2 * (Double(random >> 11) / 0x1p53)
    }

    /// Begins anew after a success.
    mutating func reset() {
        failures = 0
    }
}

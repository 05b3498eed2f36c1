import Logging
import Sluice

/// Logs the end of each request, and each repeated attempt, with metadata and without secrets.
///
/// ```swift
/// let client = APIClient(baseURL: url) { $0.observers = [LogObserver(Logger(label: "shop"))] }
/// ```
///
/// Accepted responses have the level `info`, further attempts `notice`, failures `warning` and cancellations `debug`. The logger's
/// `MetadataProvider` is called with the task-local values of the task that sends the request.
public struct LogObserver: RequestObserver {
    private let logger: Logger
    private let redaction: Redaction

    /// Creates an observer.
    ///
    /// - Parameters:
    ///   - logger: The logger, whose level and handler decide what is written.
    ///   - redaction: The secrets to remove from URLs and from the texts of errors.
    public init(_ logger: Logger = Logger(label: "sluice"), redaction: Redaction = .standard) {
        self.logger = logger
        self.redaction = redaction
    }

    /// The ends of requests, and further attempts.
    public var interests: RequestEvent.Kinds { [.retrying, .finished] }

    /// Logs an event.
    public func observe(_ event: RequestEvent, of request: ObservedRequest) {
        switch event {
        case .retrying(after: let pause, let outcome):
            var metadata = metadata(outcome, request)
            metadata["attempt"] = "\(request.attempt)"
            metadata["pause_ms"] = "\(milliseconds(pause))"
            logger.notice("The request is sent again", metadata: metadata)
        case .finished(let outcome): finish(outcome, request)
        default: break
        }
    }

    /// Logs the number of events that were dropped because the handler was too slow.
    public func didDrop(_ count: Int) {
        logger.warning("Events of requests were dropped", metadata: ["count": "\(count)"])
    }

    private func finish(_ outcome: TransportOutcome, _ request: ObservedRequest) {
        var metadata = metadata(outcome, request)
        metadata["duration_ms"] = "\(milliseconds(request.elapsed))"
        switch outcome {
        case .success(let response):
            if response.source.isCache { metadata["source"] = "cache" }
            logger.info("The request succeeded", metadata: metadata)
        case .failure(let error) where error.isCancellation:
            logger.debug("The request was cancelled", metadata: metadata)
        case .failure: logger.warning("The request failed", metadata: metadata)
        }
    }

    private func metadata(_ outcome: TransportOutcome, _ observed: ObservedRequest) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "request_id": "\(observed.id)", "method": "\(observed.method)", "route": "\(observed.route)",
        ]
        let request: HTTPRequest?
        switch outcome {
        case .success(let response): request = response.request
        case .failure(let error):
            request = error.request
            metadata["error_code"] = "\(error.code)"
            metadata["error"] = "\(redaction.text(error.description))"
        }
        if let request { metadata["url"] = "\(redaction.url(request.url))" }
        if let status = outcome.status { metadata["status"] = "\(status)" }
        return metadata
    }

    private func milliseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}

import Foundation
import SluiceHTTP

@testable import Sluice

/// Records the lines of a log, and sends it events at times that a test chooses.
struct LoggedLines: Sendable {
    private let entries = Locked<[String]>([])
    /// 10:15:30.123
    static let date = Date(timeIntervalSince1970: 1_783_678_530.1235)

    private static let began = ContinuousClock.now

    var all: [String] { entries.withLock { $0 } }
    var text: String { all.joined(separator: "\n") }

    func log(_ level: RequestLog.Level, curl: Bool = false, redaction: Redaction = .standard) -> RequestLog {
        RequestLog(level, curl: curl, redaction: redaction) { entry in entries.withLock { $0.append(entry) } }
    }

    /// Sends a log the events of one request, each with its attempt and the milliseconds since the first.
    func notify(
        _ log: RequestLog,
        id: UInt64 = 17,
        secretHeaders: [HTTPHeaderName] = [],
        _ events: [(Int, Int, RequestEvent)]
    ) {
        for (milliseconds, attempt, event) in events where log.interests.contains(event.kind) {
            let observed = ObservedRequest(
                id: RequestID(rawValue: id),
                attempt: attempt,
                elapsed: .milliseconds(milliseconds),
                began: Self.began,
                beganDate: Self.date - Double(milliseconds) / 1000,
                secretHeaders: secretHeaders
            )
            if !log.consume(event, of: observed) { log.observe(event, of: observed) }
        }
    }

    static func request(
        _ method: HTTPMethod = .get,
        _ path: String = "/users/42",
        _ headers: HTTPHeaders = [:],
        _ body: RequestBody = .none
    )
        -> HTTPRequest
    {
        HTTPRequest(
            method: method,
            scheme: "https",
            authority: "api.example.com",
            path: path,
            headers: headers,
            body: body
        )
    }

    static func response(_ status: HTTPStatus, _ body: String = "", _ headers: HTTPHeaders = [:]) -> ServerResponse {
        ServerResponse(
            request: request(),
            head: HTTPResponse(status: status, headers: headers),
            body: Data(body.utf8)
        )
    }
}

extension RequestEvent {
    /// The kind of the event.
    var kind: Kinds {
        switch self {
        case .began: .began
        case .waiting, .admitted, .refused: .waits
        case .sending: .sending
        case .redirected: .redirected
        case .informational: .informational
        case .received: .received
        case .cached: .cached
        case .retrying, .hedging: .retrying
        case .finished: .finished
        }
    }
}

import Foundation
import SluiceHTTP
import Testing

@testable import Sluice

@Suite struct RequestLogTests {
    private let lines = LoggedLines()
    private let request = LoggedLines.request()

    @Test func logsOnlyFailuresByDefault() {
        let log = RequestLog()
        #expect(log.level == .failures && !log.curl)
        let failures = lines.log(.failures)
        lines.notify(failures, [(0, 0, .began(request)), (35, 0, .finished(.success(LoggedLines.response(200))))])
        #expect(lines.all.isEmpty)
        let error = SluiceError(.timedOut, "No answer came within 5 seconds.", request: request)
        lines.notify(failures, [(0, 0, .began(request)), (5000, 0, .finished(.failure(error)))])
        #expect(
            lines.all == [
                "10:15:30.123Z ✗ ––– GET     5.0 s       –  https://api.example.com/users/42  No answer came within 5 seconds. [timedOut]"
            ]
        )
    }

    @Test func failureNamesAttemptsAndWaitsOfItsRequestOnly() {
        let log = lines.log(.failures)
        let steps: [(Int, Int, RequestEvent)] = [
            (0, 1, .waiting(gate: "oauth")), (120, 1, .admitted(gate: "oauth")),
            (130, 1, .retrying(after: .milliseconds(5), LoggedLines.response(503).outcome)),
        ]
        lines.notify(log, steps + [(200, 0, .finished(LoggedLines.response(200).outcome))])
        let error = SluiceError(.timedOut, "No answer came.", request: request)
        // The same ID shows that nothing is left of a request that succeeded.
        lines.notify(log, [(300, 0, .finished(.failure(error)))])
        lines.notify(log, steps + [(400, 0, .finished(.failure(error)))])
        #expect(
            lines.all == [
                "10:15:30.123Z ✗ ––– GET    300 ms       –  https://api.example.com/users/42  No answer came. [timedOut]",
                "10:15:30.123Z ✗ ––– GET    400 ms       –  https://api.example.com/users/42  (2 attempts with 5.0 ms between, 120 ms at oauth)  No answer came. [timedOut]",
            ]
        )
    }

    @Test(arguments: [RequestLog.Level.failures, .summary, .headers, .full])
    func onlyTheLogOfFailuresPassesOverSuccesses(_ level: RequestLog.Level) {
        let log = lines.log(level)
        let observed = ObservedRequest(id: RequestID(rawValue: 1))
        #expect(log.consume(.finished(LoggedLines.response(200).outcome), of: observed) == (level == .failures))
        #expect(!log.consume(.finished(.failure(SluiceError(.timedOut, "Late."))), of: observed))
    }

    @Test func summaryIsOneAlignedLinePerRequest() {
        let log = lines.log(.summary)
        let list = LoggedLines.request(.delete, "/users?page=2&token=s3")
        let redirect = LoggedLines.response(302, "", ["Location": "/b"])
        lines.notify(
            log,
            [
                (0, 0, .began(request)), (0, 1, .sending(request)),
                (20, 1, .retrying(after: .milliseconds(5), redirect.outcome)),
                (25, 2, .redirected(redirect, to: list)),
                (35, 0, .finished(LoggedLines.response(200, String(repeating: "a", count: 1200)).outcome)),
            ]
        )
        lines.notify(log, [(0, 0, .began(list)), (1260, 0, .finished(LoggedLines.response(404, "no").outcome))])
        let error = SluiceError(
            .unacceptableStatus,
            "The status 503 is not a success.",
            response: HTTPResponse(status: 503)
        )
        lines.notify(
            log,
            [
                (0, 0, .began(request)), (0, 1, .waiting(gate: "oauth")), (1, 1, .waiting(gate: "fast")),
                (1, 1, .admitted(gate: "fast")), (120, 1, .admitted(gate: "oauth")), (130, 2, .hedging),
                (950, 0, .finished(.failure(error))),
            ]
        )
        #expect(
            lines.all == [
                "10:15:30.123Z ← 200 GET     35 ms  1.2 kB  https://api.example.com/users/42  (2 attempts with 5.0 ms between, 1 redirect)",
                "10:15:30.123Z ← 404 DELETE  1.3 s     2 B  https://api.example.com/users?page=2&token=REDACTED",
                "10:15:30.123Z ✗ 503 GET    950 ms       –  https://api.example.com/users/42  (2 attempts, hedged, 120 ms at oauth)  The status 503 is not a success. [unacceptableStatus]",
            ]
        )
    }

    @Test func sizeOfDownloadIsNumberOfBytesReceived() {
        var response = LoggedLines.response(200)
        response.metrics.bytesReceived = 1200
        lines.notify(lines.log(.summary), [(0, 0, .began(request)), (35, 0, .finished(response.outcome))])
        #expect(
            lines.all == ["10:15:30.123Z ← 200 GET     35 ms  1.2 kB  https://api.example.com/users/42"]
        )
    }

    @Test func logsRequestThatCouldNotBeBuilt() {
        lines.notify(
            lines.log(.failures),
            [(0, 0, .finished(.failure(SluiceError(.invalidURL, "The URL has no host."))))]
        )
        #expect(
            lines.all == ["10:15:30.123Z ✗ ––– GET    0.0 ms       –  no request  The URL has no host. [invalidURL]"]
        )
    }

    @Test func logsStepsWithHeaders() {
        let sent = LoggedLines.request(
            .get,
            "/users/42",
            ["Authorization": "Bearer s3", "X-Tenant": "s3", "Accept": "*/*"]
        )
        let answer = LoggedLines.response(503, "no", ["Retry-After": "1", "Set-Cookie": "a=s3"])
        let moved = LoggedLines.response(302, "", ["Location": "https://b.c/?token=s3"])
        let refusal = SluiceError(.gateFailed, "The breaker is open.", underlyingError: Trouble())
        lines.notify(
            lines.log(.headers),
            secretHeaders: ["x-tenant"],
            [
                (0, 0, .began(sent)), (0, 1, .waiting(gate: "rate")), (250, 1, .admitted(gate: "rate")),
                (250, 1, .sending(sent)), (260, 1, .received(answer.outcome)),
                (260, 1, .retrying(after: .seconds(1), answer.outcome)),
                (1260, 2, .sending(sent)), (1270, 2, .redirected(moved, to: LoggedLines.request(.get, "/b?token=s3"))),
                (1280, 2, .hedging), (1290, 2, .received(.failure(SluiceError(.cannotConnect, "Connection refused.")))),
                (1300, 3, .refused(gate: "breaker", refusal)), (1300, 0, .finished(.failure(refusal))),
            ]
        )
        #expect(
            lines.text == """
                10:15:30.123Z #17  … waited 250 ms at rate
                10:15:30.123Z #17  → GET https://api.example.com/users/42
                    Authorization: Bearer REDACTED
                    X-Tenant: REDACTED
                    Accept: */*
                10:15:30.123Z #17  < 503 HTTP/1.1
                    Retry-After: 1
                    Set-Cookie: REDACTED
                10:15:30.123Z #17  ↻ retrying in 1.0 s after 503
                10:15:30.123Z #17  → GET https://api.example.com/users/42  (attempt 2)
                    Authorization: Bearer REDACTED
                    X-Tenant: REDACTED
                    Accept: */*
                10:15:30.123Z #17  ↪ 302 redirects to https://api.example.com/b?token=REDACTED
                    Location: https://b.c/?token=REDACTED
                10:15:30.123Z #17  ↻ no response yet, sending another request
                10:15:30.123Z #17  ✗ Connection refused. [cannotConnect]
                10:15:30.123Z #17  ✗ refused at breaker: The breaker is open. Cause: token=REDACTED in vain [gateFailed]
                10:15:30.123Z #17  ✗ ––– GET     1.3 s       –  https://api.example.com/users/42  (2 attempts with 1.0 s between, hedged, 1 redirect, 250 ms at rate)  The breaker is open. Cause: token=REDACTED in vain [gateFailed]
                """
        )
    }

    @Test func writesColoursAndDatesIfEnabled() {
        var log = lines.log(.summary)
        log.isColored = true
        log.showsDate = true
        lines.notify(log, [(0, 0, .began(request)), (35, 0, .finished(LoggedLines.response(200).outcome))])
        #expect(
            lines.all == [
                "2026-07-10T10:15:30.123Z \u{1B}[32m← 200\u{1B}[0m GET     35 ms     0 B  https://api.example.com/users/42"
            ]
        )
    }

    @Test func writesCURLCommandBelowLine() {
        lines.notify(
            lines.log(.summary, curl: true),
            secretHeaders: ["x-tenant"],
            [
                (0, 0, .began(request)), (1, 1, .sending(LoggedLines.request(.get, "/a?token=s3", ["X-Tenant": "s3"]))),
                (35, 0, .finished(LoggedLines.response(200).outcome)),
            ]
        )
        #expect(
            lines.all == [
                """
                10:15:30.123Z ← 200 GET     35 ms     0 B  https://api.example.com/users/42
                    curl 'https://api.example.com/a?token=REDACTED' --compressed -H 'X-Tenant: REDACTED' -H 'User-Agent:'
                """
            ]
        )
    }

    @Test func reportsMissedEventsAndDropsOpenRequests() {
        let log = lines.log(.summary)
        lines.notify(
            log,
            [(0, 0, .began(request)), (0, 1, .retrying(after: .seconds(1), LoggedLines.response(500).outcome))]
        )
        log.didDrop(1)
        lines.notify(log, [(900, 0, .finished(LoggedLines.response(200).outcome))])
        #expect(
            lines.all == [
                "1 event dropped: the log could not be written fast enough",
                "10:15:30.123Z ← 200 GET    900 ms     0 B  https://api.example.com/users/42",
            ]
        )
    }

    @Test func separatesInterleavedRequests() {
        let log = lines.log(.summary)
        for id in UInt64(1)...3 { lines.notify(log, id: id, [(0, 0, .began(LoggedLines.request(.get, "/\(id)")))]) }
        for id in UInt64(1)...3 {
            lines.notify(log, id: id, [(Int(id) * 10, 0, .finished(LoggedLines.response(200).outcome))])
        }
        let ends = lines.all.map { $0.suffix(2) }
        #expect(ends == ["/1", "/2", "/3"] && lines.all[2].contains("  30 ms"))
    }
}

private struct Trouble: Error, CustomStringConvertible {
    var description: String { "token=s3 in vain" }
}

extension ServerResponse {
    var outcome: TransportOutcome { .success(self) }
}

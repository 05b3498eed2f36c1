import Foundation
import SluiceHTTP
import Testing

@testable import Sluice

@Suite struct HARTimelineTests {
    private func metrics(_ change: (inout TransferMetrics) -> Void) -> TransportOutcome {
        var metrics = TransferMetrics()
        change(&metrics)
        let request = HTTPRequest(scheme: "http", authority: "a", path: "/")
        return .success(
            ServerResponse(request: request, head: HTTPResponse(status: .ok), body: Data(), metrics: metrics)
        )
    }

    private func timings(_ outcome: TransportOutcome) -> HAR.Timings {
        HARTimeline(waiting: .milliseconds(5), exchanging: .milliseconds(100)).timings(of: outcome)
    }

    @Test func splitsTimeOfNewTLSConnection() {
        let outcome = metrics {
            $0.queued = .milliseconds(1)
            $0.nameLookup = .milliseconds(10)
            $0.connect = .milliseconds(30)
            $0.tls = .milliseconds(70)
            $0.firstByte = .milliseconds(90)
            $0.total = .microseconds(99_500)
        }
        let timings = timings(outcome)
        #expect(timings == HAR.Timings(blocked: 6, dns: 10, connect: 60, ssl: 40, send: 0, wait: 20, receive: 9.5))
        #expect(timings.total == 105.5)
    }

    @Test func reusedConnectionHasNoNameLookupAndHandshake() {
        let outcome = metrics {
            $0.firstByte = .milliseconds(90)
            $0.total = .milliseconds(95)
        }
        #expect(timings(outcome) == HAR.Timings(blocked: 5, wait: 90, receive: 5))
    }

    @Test func withoutMetricsAllTimeIsWaiting() {
        #expect(timings(metrics { _ in }) == HAR.Timings(blocked: 5, wait: 100))
    }

    @Test func timesOutOfOrderAreNotNegative() {
        let timings = timings(
            metrics {
                $0.nameLookup = .milliseconds(50)
                $0.connect = .milliseconds(30)
                $0.tls = .milliseconds(20)
                $0.firstByte = .milliseconds(10)
                $0.total = .milliseconds(5)
            }
        )
        let all = [
            timings.blocked, timings.dns, timings.connect, timings.ssl, timings.send, timings.wait, timings.receive,
        ]
        #expect(all.allSatisfy { $0.map { $0 >= 0 } ?? true })
    }

    @Test(
        arguments: [
            (.cannotResolveHost, HAR.Timings(blocked: 5, dns: 100)),
            (.cannotConnect, HAR.Timings(blocked: 5, connect: 100)),
            (.connectTimedOut, HAR.Timings(blocked: 5, connect: 100)),
            (.tlsFailed, HAR.Timings(blocked: 5, connect: 100, ssl: 100)),
            (.timedOut, HAR.Timings(blocked: 5, wait: 100)),
        ] as [(SluiceError.Code, HAR.Timings)]
    )
    func assignsTimeOfFailureToItsPhase(_ code: SluiceError.Code, _ expected: HAR.Timings) {
        #expect(timings(.failure(SluiceError(code, ""))) == expected)
    }
}

import Foundation
import SluiceHTTP
import SluiceTesting
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

    @Test(
        arguments: [
            // The end of sending, and the phases, all in milliseconds. The connection takes 20, the first byte comes at 90.
            (nil, HAR.Timings(blocked: 5, dns: 0, connect: 20, wait: 70, receive: 5)),
            (30, HAR.Timings(blocked: 5, dns: 0, connect: 20, send: 10, wait: 60, receive: 5)),
            (90, HAR.Timings(blocked: 5, dns: 0, connect: 20, send: 70, wait: 0, receive: 5)),
            // The response began before the request was complete.
            (94, HAR.Timings(blocked: 5, dns: 0, connect: 20, send: 70, wait: 0, receive: 5)),
            (10, HAR.Timings(blocked: 5, dns: 0, connect: 20, wait: 70, receive: 5)),
        ] as [(Int?, HAR.Timings)]
    )
    func endOfSendingSeparatesSendAndWait(_ end: Int?, _ expected: HAR.Timings) {
        let outcome = metrics {
            $0.connect = .milliseconds(20)
            $0.firstByte = .milliseconds(90)
            $0.total = .milliseconds(95)
            $0.sentRequest = SentRequest(headers: [:], headLength: nil, end: end.map { .milliseconds($0) })
        }
        #expect(timings(outcome) == expected)
    }

    /// Whatever times a transport reports, the phases are not negative, and together they are the time until the end.
    @Test func phasesOfRandomTimesAddUp() {
        var random = SeededGenerator(seed: 8)
        for _ in 0..<1000 {
            let times = (0..<6).map { _ in Duration.milliseconds(Int.random(in: 0...50, using: &random)) }
            let outcome = metrics {
                $0.nameLookup = min(times[0], times[1])
                $0.connect = times[1]
                $0.tls = times[2]
                $0.firstByte = times[3]
                $0.total = times[4] + .milliseconds(1)
                $0.sentRequest = SentRequest(headers: [:], headLength: nil, end: times[5])
            }
            let timings = timings(outcome)
            let phases = [timings.dns ?? 0, timings.connect ?? 0, timings.send, timings.wait, timings.receive]
            #expect(phases.allSatisfy { $0 >= 0 })
            let end = max(times[1], times[2], times[3], times[4] + .milliseconds(1))
            #expect(abs(phases.reduce(0, +) - end / .milliseconds(1)) < 0.001, "\(times)")
        }
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

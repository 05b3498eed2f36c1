import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@testable import Sluice

@Suite struct RequestMetricsTests {
    private let start = ContinuousClock.now

    private func response(_ status: HTTPStatus = .ok, _ change: (inout TransferMetrics) -> Void = { _ in })
        -> ServerResponse
    {
        var metrics = TransferMetrics()
        metrics.total = .milliseconds(20)
        metrics.firstByte = .milliseconds(15)
        change(&metrics)
        let request = HTTPRequest(scheme: "http", authority: "a", path: "/")
        return ServerResponse(request: request, head: HTTPResponse(status: status), body: Data(), metrics: metrics)
    }

    private func request(
        _ id: UInt64 = 1,
        _ method: HTTPMethod = .get,
        _ route: String = "users/{}",
        after elapsed: Duration = .milliseconds(20)
    ) -> ObservedRequest {
        let id = RequestID(rawValue: id)
        return ObservedRequest(id: id, attempt: 0, method: method, route: route, elapsed: elapsed, began: start)
    }

    @Test func countsRequestsByMethodAndRoute() {
        let metrics = RequestMetrics()
        for (method, route) in [(HTTPMethod.get, "a"), (.get, "b"), (.get, "a"), (.post, "a"), (.get, "a")] {
            metrics.observe(.finished(.success(response())), of: request(1, method, route))
        }
        let snapshot = metrics.snapshot()
        #expect(snapshot.routes.map(\.name) == ["GET a", "GET b", "POST a"])
        #expect(snapshot.routes.map(\.requests) == [3, 1, 1])
        #expect(snapshot.total.requests == 5 && snapshot.total.latency.count == 5)
        #expect(snapshot["GET a"]?.statuses.success == 3)
        #expect(snapshot["GET c"] == nil)
    }

    @Test func observesFewEventsByDefault() {
        #expect(RequestMetrics().interests == [.finished, .retrying, .redirected])
        #expect(RequestMetrics(countsInFlight: true).interests.contains(.began))
        #expect(RequestMetrics(measuresGates: true).interests.contains(.gates))
    }

    @Test func latencyIsElapsedTimeAtEnd() throws {
        let metrics = RequestMetrics()
        for milliseconds in [10, 20, 30, 40] {
            metrics.observe(.finished(.success(response())), of: request(after: .milliseconds(milliseconds)))
        }
        let route = try #require(metrics.snapshot()["GET users/{}"])
        #expect(route.latency.maximum == .milliseconds(40) && route.latency.mean == .milliseconds(25))
    }

    @Test func countsAttemptsRetriesHedgesAndRedirects() throws {
        let metrics = RequestMetrics()
        let response = response()
        metrics.observe(.retrying(after: .zero, .success(response)), of: request())
        metrics.observe(.hedging, of: request())
        metrics.observe(.redirected(response, to: response.request), of: request())
        metrics.observe(.finished(.success(response)), of: request())
        let route = try #require(metrics.snapshot().routes.first)
        #expect(route.requests == 1 && route.attempts == 3)
        #expect(route.retries == 1 && route.hedges == 1 && route.redirects == 1)
    }

    @Test func countsFailuresByCodeAndOmitsLatencyOfCancellations() throws {
        let metrics = RequestMetrics()
        let head = HTTPResponse(status: .notFound)
        for error in [
            SluiceError(.timedOut, ""), SluiceError(.timedOut, ""), SluiceError.cancelled,
            SluiceError(.unacceptableStatus, "", response: head), SluiceError(.invalidURL, "", step: .building),
        ] {
            metrics.observe(.finished(.failure(error)), of: request())
        }
        let route = try #require(metrics.snapshot().routes.first)
        #expect(route.failures == ["timedOut": 2, "cancelled": 1, "unacceptableStatus": 1, "invalidURL": 1])
        #expect(route.failureCount == 4)
        #expect(route.latency.count == 4)
        #expect(route.attempts == 4)
        #expect(route.statuses.clientError == 1)
    }

    @Test func measuresPhasesOfNewAndReusedConnections() throws {
        let metrics = RequestMetrics()
        let new = response {
            $0.queued = .milliseconds(1)
            $0.nameLookup = .milliseconds(2)
            $0.connect = .milliseconds(5)
            $0.tls = .milliseconds(9)
            $0.bytesSent = 100
            $0.bytesReceived = 1000
        }
        metrics.observe(.finished(.success(new)), of: request())
        metrics.observe(.finished(.success(response { $0.isConnectionReused = true })), of: request())
        metrics.observe(.finished(.success(response { $0.total = .zero })), of: request())
        let route = try #require(metrics.snapshot().routes.first)
        let phases = route.phases
        #expect(phases.gates.count == 0 && phases.queue.count == 2)
        #expect([phases.nameLookup, phases.connect, phases.tls].map(\.count) == [1, 1, 1])
        #expect(phases.wait.count == 2 && phases.download.count == 2)
        #expect(phases.nameLookup.maximum == .milliseconds(2))
        #expect(phases.connect.maximum == .milliseconds(3))
        #expect(phases.tls.maximum == .milliseconds(4))
        #expect(phases.wait.minimum == .milliseconds(6) && phases.wait.maximum == .milliseconds(15))
        #expect(phases.download.maximum == .milliseconds(5))
        #expect(route.bytesSent == 100 && route.bytesReceived == 1000)
    }

    @Test func timesOutOfOrderDoNotTrap() throws {
        let metrics = RequestMetrics()
        let odd = response {
            $0.nameLookup = .seconds(9)
            $0.connect = .seconds(3)
            $0.tls = .seconds(1)
            $0.firstByte = .seconds(-1)
            $0.total = .nanoseconds(1)
            $0.queued = .seconds(Int64.max)
        }
        metrics.observe(.finished(.success(odd)), of: request(after: .seconds(-1)))
        #expect(metrics.snapshot().routes.first?.phases.tls.maximum == .zero)
    }

    @Test func gateTimeSpansFirstWaitToLastAdmission() throws {
        let metrics = RequestMetrics(countsInFlight: true, measuresGates: true)
        metrics.observe(.began(response().request), of: request(after: .zero))
        #expect(metrics.snapshot().inFlight == 1)
        metrics.observe(.waiting(gate: "a"), of: request(after: .milliseconds(1)))
        metrics.observe(.waiting(gate: "b"), of: request(after: .milliseconds(2)))
        metrics.observe(.admitted(gate: "b"), of: request(after: .milliseconds(3)))
        metrics.observe(.admitted(gate: "a"), of: request(after: .milliseconds(8)))
        metrics.observe(.retrying(after: .zero, .success(response())), of: request(after: .milliseconds(10)))
        metrics.observe(.waiting(gate: "a"), of: request(after: .milliseconds(11)))
        metrics.observe(.admitted(gate: "a"), of: request(after: .milliseconds(12)))
        metrics.observe(.finished(.success(response())), of: request(after: .milliseconds(13)))
        let snapshot = metrics.snapshot()
        let gates = try #require(snapshot.routes.first?.phases.gates)
        #expect(gates.count == 2 && gates.minimum == .milliseconds(1) && gates.maximum == .milliseconds(7))
        #expect(snapshot.inFlight == 0)
    }

    @Test func requestThatWasNotBuiltIsNotInFlight() {
        let metrics = RequestMetrics(countsInFlight: true)
        metrics.observe(.began(response().request), of: request(1))
        metrics.observe(.finished(.failure(SluiceError(.invalidURL, "", step: .building))), of: request(2))
        #expect(metrics.snapshot().inFlight == 1)
        metrics.observe(.finished(.success(response())), of: request(1))
        #expect(metrics.snapshot().inFlight == 0)
    }

    @Test func countsRoutesBeyondLimitTogether() {
        let metrics = RequestMetrics(maximumRoutes: 3)
        for number in 0..<10 { metrics.observe(.finished(.success(response())), of: request(1, .get, "r\(number)")) }
        for number in 0..<10 { metrics.observe(.finished(.success(response())), of: request(1, .get, "r\(number)")) }
        let snapshot = metrics.snapshot()
        #expect(snapshot.routes.map(\.name) == ["GET r0", "GET r1", "GET r2", "other"])
        #expect(snapshot.routes.map(\.requests) == [2, 2, 2, 14])
        let none = RequestMetrics(maximumRoutes: -1)
        none.observe(.finished(.success(response())), of: request())
        #expect(none.snapshot().routes.map(\.name) == ["other"])
    }

    @Test func countsPathsWithIDsAsOneRoute() {
        let metrics = RequestMetrics()
        for number in 0..<10_000 {
            let subject = ObservedRequest.Subject(
                id: RequestID(rawValue: 1),
                draft: RequestDraft(path: "users/\(number)"),
                began: start,
                beganDate: Date(),
                secretHeaders: []
            )
            metrics.observe(.finished(.success(response())), of: ObservedRequest(subject, attempt: 0, instant: start))
        }
        #expect(metrics.snapshot().routes.map(\.name) == ["GET users/{}"])
        #expect(metrics.snapshot().total.requests == 10_000)
    }

    @Test func resetBeginsAnew() {
        let clock = TestClock()
        let metrics = RequestMetrics(clock: clock)
        metrics.observe(.finished(.success(response())), of: request())
        clock.advance(by: .seconds(60))
        metrics.reset()
        let snapshot = metrics.snapshot()
        #expect(snapshot.routes.isEmpty && snapshot.since == clock.date)
        metrics.observe(.finished(.success(response())), of: request())
        #expect(metrics.snapshot().total.requests == 1)
    }
}

import Foundation
import SluiceHTTP
import Testing

@testable import Sluice

@Suite struct MetricsExportTests {
    private func snapshot(_ name: String = "users/{}") -> RequestMetrics.Snapshot {
        var route = RequestMetrics.Route(method: "GET", route: name)
        route.requests = 3
        route.attempts = 4
        route.retries = 1
        route.failures = ["timedOut": 1]
        route.statuses.count(.ok)
        route.statuses.count(.ok)
        route.bytesReceived = 12_345
        for milliseconds in [10, 20, 2000] { route.latency.record(.milliseconds(milliseconds)) }
        let date = Date(timeIntervalSince1970: 1_767_225_600)
        return RequestMetrics.Snapshot(since: date, date: date, inFlight: 2, routes: [route])
    }

    @Test func snapshotRoundTripsThroughJSON() throws {
        let snapshot = snapshot()
        let data = try JSONEncoder().encode(snapshot)
        #expect(try JSONDecoder().decode(RequestMetrics.Snapshot.self, from: data) == snapshot)
    }

    @Test func tableHasOneLinePerRoute() {
        let table = """
            route         requests  failed  retries      p50     p90     p99   p99.9     max  received
            GET users/{}         3       1        1  20.1 ms  2.00 s  2.00 s  2.00 s  2.00 s   12.3 kB
            """
        #expect(snapshot().description == table)
        var two = snapshot()
        two.routes.append(RequestMetrics.Route(method: "GET", route: "a\nb"))
        let lines = two.description.split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines[2].hasPrefix("GET a?b ") && lines[3].hasPrefix("total"))
    }
}

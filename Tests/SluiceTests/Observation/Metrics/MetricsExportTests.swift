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
        return RequestMetrics.Snapshot(since: date, date: date, inFlight: 2, missedEvents: 0, routes: [route])
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

    @Test func openMetricsContainsEveryFigure() {
        let text = snapshot().openMetrics
        for line in [
            "# TYPE sluice_requests counter", #"sluice_requests_total{method="GET",route="users/{}"} 3"#,
            #"sluice_failures_total{method="GET",route="users/{}",code="timedOut"} 1"#,
            #"sluice_responses_total{method="GET",route="users/{}",class="2xx"} 2"#,
            "# TYPE sluice_request_duration_seconds summary", "# UNIT sluice_request_duration_seconds seconds",
            #"sluice_request_duration_seconds{method="GET",route="users/{}",quantile="0.999"} 2.0"#,
            #"sluice_request_duration_seconds_count{method="GET",route="users/{}"} 3"#,
            #"sluice_request_duration_seconds_sum{method="GET",route="users/{}"} 2.03"#,
            #"sluice_received_bytes_total{method="GET",route="users/{}"} 12345"#, "sluice_requests_in_flight 2",
        ] {
            #expect(text.split(separator: "\n").contains(Substring(line)), "\(line)")
        }
        #expect(text.hasSuffix("# EOF\n"))
        #expect(!text.contains("sluice_phase_duration_seconds{"))
    }

    @Test func escapesLabels() {
        let text = snapshot("a\"} 9\nsluice_requests_total 7\\\u{301}\"").openMetrics
        let line =
            #"sluice_requests_total{method="GET",route="a\"} 9\nsluice_requests_total 7\\"#
            + "\u{301}" + #"\""} 3"#
        #expect(text.split(separator: "\n").contains { $0.unicodeScalars.elementsEqual(line.unicodeScalars) })
    }
}

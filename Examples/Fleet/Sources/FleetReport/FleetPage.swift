/// A page that draws a run: the orders per second of the services and of the upstream, and the pages. It loads nothing and runs no script.
public struct FleetPage {
    private let report: Report

    /// Creates a page.
    public init(_ report: Report) {
        self.report = report
    }

    private var start: Double { report.span.lowerBound }
    private var seconds: Double { report.span.upperBound - start }

    /// The markup of the page.
    public var html: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>A fleet with one limit, one token and one cache</title>
        <style>
        \(Self.style)
        </style>
        </head>
        <body>
        <h1>A fleet with one limit, one token and one cache</h1>
        <p>\(report.rules.services) services send requests to one upstream. Redis holds what they share. \
        The shaded time is the one without Redis, in which each service keeps to its share of the limit.</p>
        <h2>Orders per second</h2>
        \(requests.svg)<h2>Pages per second</h2>
        \(pages.svg)<h2>Results</h2>
        <table>
        <thead><tr><th scope="col"></th><th scope="col">count</th><th scope="col">result</th><th scope="col">expected</th></tr></thead>
        <tbody>
        \(report.rows.map(row).joined())</tbody>
        </table>
        </body>
        </html>

        """
    }

    private func row(_ row: Report.Row) -> String {
        let mark =
            row.condition == nil ? "<td></td>" : row.holds ? "<td class=\"holds\">✓</td>" : "<td class=\"fails\">✗</td>"
        let cells = [row.name, row.value, row.condition ?? ""].map { "<td>\(HTMLText.escaped($0))</td>" }.joined()
        return "<tr>\(mark)\(cells)</tr>\n"
    }

    // MARK: Charts

    /// The orders of each service and of the upstream.
    var requests: Chart {
        var lines = (1...max(1, report.rules.services)).map { number in
            Chart.Line(name: "service \(number)", style: "s\(number)", pieces: rates(of: number))
        }
        let arrivals = report.events.filter { $0.kind == .order }.map(\.time)
        lines.append(Chart.Line(name: "upstream", style: "upstream", pieces: [perSecond(arrivals)]))
        return Chart(
            title: "Orders per second of the services and of the upstream",
            seconds: seconds,
            lines: lines,
            marks: marks,
            outages: outages,
            limit: (Double(report.rules.rate), "limit")
        )
    }

    /// The pages that users got, and those that the upstream sent.
    var pages: Chart {
        var served: [Int: Double] = [:]
        for event in report.events {
            guard event.time < report.span.upperBound, let counts = event.counts else { continue }
            served[Int(event.time - start), default: 0] += Double(counts.pages)
        }
        let points = (0..<Int(seconds)).map { Chart.Point(time: Double($0) + 0.5, value: served[$0] ?? 0) }
        let fetched = report.events.filter { $0.kind == .page }.map(\.time)
        return Chart(
            title: "Pages per second that users got and that the upstream sent",
            seconds: seconds,
            lines: [
                Chart.Line(name: "served", style: "s1", pieces: [points]),
                Chart.Line(name: "fetched", style: "upstream", pieces: [perSecond(fetched)]),
            ],
            marks: marks,
            outages: outages
        )
    }

    /// Counts times in the whole seconds of the run.
    private func perSecond(_ times: [Double]) -> [Chart.Point] {
        var counts: [Int: Int] = [:]
        for time in times where time >= start { counts[Int(time - start), default: 0] += 1 }
        return (0..<Int(seconds)).map { Chart.Point(time: Double($0) + 0.5, value: Double(counts[$0] ?? 0)) }
    }

    /// The orders per second of a service from its reports. A pause between reports begins another piece of the line.
    private func rates(of service: Int) -> [[Chart.Point]] {
        var pieces: [[Chart.Point]] = []
        var last: Double?
        for event in report.events where event.service == service && event.time <= report.span.upperBound {
            if event.kind == .serviceStarted { last = event.time }
            guard let counts = event.counts else { continue }
            let length = event.time - (last ?? event.time - 1)
            let begins =
                pieces.isEmpty
                || report.events.contains { mark in
                    mark.kind == .serviceStarted && mark.service == service && mark.time == last
                }
            last = event.time
            guard length > 0.5 else { continue }
            if begins { pieces.append([]) }
            pieces[pieces.count - 1].append(
                Chart.Point(time: event.time - start - length / 2, value: Double(counts.orders) / length)
            )
        }
        return pieces
    }

    private var outages: [Range<Double>] { report.outages.map { $0.lowerBound - start..<$0.upperBound - start } }

    private var marks: [Chart.Mark] {
        report.events.compactMap { event in
            let label: String
            switch event.kind {
            case .serviceKilled: label = "service \(event.service ?? 0) killed"
            case .serviceStarted: label = "started again"
            case .redisKilled: label = "Redis killed"
            case .redisStarted: label = "started again"
            default: return nil
            }
            return Chart.Mark(time: event.time - start, label: label)
        }
    }

    private static let style = """
        :root {
          color-scheme: light dark;
          --bg: #ffffff; --ink: #1b1f24; --muted: #5b6570; --grid: #e4e7eb; --away: #fdecc8; --limit: #b42318;
          --s1: #0b62c4; --s2: #a3399b; --s3: #0f7b53; --upstream: #1b1f24; --holds: #0f7b53; --fails: #b42318;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --bg: #0f1216; --ink: #e8ecf1; --muted: #9aa5b2; --grid: #262c34; --away: #3a2f14; --limit: #ff8d85;
            --s1: #6ea8ff; --s2: #e58be0; --s3: #62d394; --upstream: #e8ecf1; --holds: #62d394; --fails: #ff8d85;
          }
        }
        body { max-width: 1000px; margin: 0 auto; padding: 24px 20px; background: var(--bg); color: var(--ink);
          font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif; }
        h1 { font-size: 22px; margin: 0 0 4px; }
        h2 { font-size: 16px; margin: 24px 0 4px; }
        p { margin: 0; color: var(--muted); }
        svg { display: block; width: 100%; height: auto; }
        svg text { font-size: 12px; fill: var(--muted); }
        .value { text-anchor: end; font-variant-numeric: tabular-nums; }
        .time, .label { text-anchor: middle; }
        .value.start { text-anchor: start; fill: var(--limit); }
        .grid { stroke: var(--grid); }
        .away { fill: var(--away); }
        .limit { stroke: var(--limit); stroke-dasharray: 5 4; }
        .mark { stroke: var(--muted); stroke-dasharray: 2 3; }
        polyline { fill: none; stroke-width: 2; stroke-linejoin: round; }
        polyline.s1 { stroke: var(--s1); } polyline.s2 { stroke: var(--s2); } polyline.s3 { stroke: var(--s3); }
        polyline.upstream { stroke: var(--upstream); stroke-width: 2.5; }
        svg text.s1 { fill: var(--s1); } svg text.s2 { fill: var(--s2); } svg text.s3 { fill: var(--s3); }
        svg text.upstream { fill: var(--upstream); font-weight: 600; }
        table { border-collapse: collapse; margin-top: 8px; }
        th, td { text-align: left; padding: 3px 24px 3px 0; border-bottom: 1px solid var(--grid); font-variant-numeric: tabular-nums; }
        th { color: var(--muted); font-weight: 600; }
        .holds { color: var(--holds); } .fails { color: var(--fails); font-weight: 700; }
        """
}

import Sluice

/// The top of the page: the title, the totals, and the time by phase.
struct HeaderView {
    let waterfall: Waterfall
    let log: HAR.Log
    let title: String

    var html: HTML {
        """
        <header class="top">
        <div class="names"><h1>\(title)</h1><p class="sub">\(origin)</p></div>
        <dl class="stats">\(tiles)</dl>
        </header>
        \(shares)
        """
    }

    private var origin: String {
        var parts: [String] = []
        if let began = waterfall.began { parts.append(Readable.date(began)) }
        let recorder = log.browser ?? log.creator
        if !recorder.name.isEmpty { parts.append("recorded by \(recorder.name) \(recorder.version)") }
        return parts.joined(separator: " · ")
    }

    private var tiles: [HTML] {
        let rows = waterfall.rows
        let groups = waterfall.groups
        let failures = groups.count { $0.isFailure }
        let durations = groups.map(\.duration).sorted()
        let received = rows.reduce(0) { $0.addingClamped($1.entry.response.bodySize ?? $1.entry.response.content.size) }
        let sent = rows.reduce(0) { $0.addingClamped($1.entry.request.bodySize ?? 0) }
        return [
            tile("Requests", Readable.count(groups.count), Readable.count(rows.count, of: "exchange")),
            tile(
                "Failed",
                Readable.count(failures),
                failures == 0 ? "all answered" : "\(share(failures, of: groups.count)) of all",
                failures == 0 ? "good" : "bad"
            ),
            tile(
                "Repeated",
                Readable.count(rows.count { $0.kind == .retry || $0.kind == .hedge }),
                Readable.count(rows.count { $0.kind == .redirect }, of: "redirect")
            ),
            tile("Received", Readable.bytes(received), "\(Readable.bytes(sent)) sent"),
            tile("Median", Readable.milliseconds(percentile(50, durations)), "a request"),
            tile("Slowest 5 %", Readable.milliseconds(percentile(95, durations)), "and more"),
            tile("Total", Readable.milliseconds(waterfall.end), "from first to last"),
        ]
    }

    private func tile(_ name: String, _ value: String, _ note: String, _ style: String = "") -> HTML {
        """
        <div class="tile \(style)"><dt>\(name)</dt><dd>\(value)<small>\(note)</small></dd></div>

        """
    }

    private func percentile(_ percent: Int, _ sorted: [Double]) -> Double {
        sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * percent / 100)]
    }

    private func share(_ part: Int, of all: Int) -> String {
        let percent = Double(part) / Double(max(1, all)) * 100
        return percent < 1 ? "<1 %" : "\(Int(percent.rounded())) %"
    }

    /// A bar with the total time of each phase, which also serves as the legend.
    private var shares: HTML {
        var times: [Phase: Double] = [:]
        for segment in waterfall.rows.flatMap(\.segments) { times[segment.phase, default: 0] += segment.duration }
        let all = times.values.reduce(0, +)
        var place = 0.0
        var bars: [HTML] = []
        for phase in Phase.allCases {
            guard let time = times[phase], all > 0 else { continue }
            let width = time / all * 100
            bars.append(
                """
                <rect class="p-\(phase.rawValue)" x="\(percent: place)" y="0" width="\(percent: width)" height="10">\
                <title>\(phase.label): \(Readable.milliseconds(time)), \(Int(width.rounded())) % of all exchanges’ time</title></rect>
                """
            )
            place += width
        }
        let keys = Phase.allCases.map { phase -> HTML in
            let time = times[phase] ?? 0
            return """
                <li class="\(time > 0 ? "" : "none")"><svg class="key" aria-hidden="true"><rect class="p-\(phase.rawValue)" \
                width="10" height="10" rx="2.5"/></svg><b>\(phase.label)</b><span>\(phase.meaning)</span>\
                <em>\(time > 0 ? Readable.milliseconds(time) : "–")</em></li>
                """
        }
        return """
            <section class="card shares" aria-labelledby="where">
            <h2 id="where">Where the time went</h2>
            <svg class="sharebar" role="img" aria-label="Time of all exchanges by phase" width="100%" height="10">\(bars)</svg>
            <ul class="legend">\(keys)</ul>
            </section>
            """
    }
}

extension Int {
    /// Adds a number, clamped to the maximum. Negative numbers count as zero.
    func addingClamped(_ other: Int) -> Int {
        let (sum, isOver) = addingReportingOverflow(Swift.max(0, other))
        return isOver ? .max : sum
    }
}

/// Bars with the total time of each phase, which also serve as the legend.
struct SharesView {
    /// The recordings with their labels. The label is not shown if there is only one.
    let recordings: [(label: String, waterfall: Waterfall)]

    var html: HTML {
        let times = recordings.map { Self.times($0.waterfall) }
        let longest = times.map { $0.values.reduce(0, +) }.max() ?? 0
        let bars = recordings.indices.map { bar(recordings[$0].label, times[$0], longest) }
        let keys = Phase.allCases.map { key($0, times) }
        return """
            <section class="card shares" aria-labelledby="where">
            <h2 id="where">Where the time went</h2>
            \(bars)
            <ul class="legend">\(keys)</ul>
            </section>
            """
    }

    private static func times(_ waterfall: Waterfall) -> [Phase: Double] {
        var times: [Phase: Double] = [:]
        for segment in waterfall.rows.flatMap(\.segments) { times[segment.phase, default: 0] += segment.duration }
        return times
    }

    /// A bar, whose whole width is the time of the longest bar.
    private func bar(_ label: String, _ times: [Phase: Double], _ longest: Double) -> HTML {
        var place = 0.0
        var parts: [HTML] = []
        let sum = times.values.reduce(0, +)
        for phase in Phase.allCases {
            guard let time = times[phase], longest > 0 else { continue }
            let width = time / longest * 100
            let share = Int((time / sum * 100).clamped(to: 0...100).rounded())
            parts.append(
                """
                <rect class="p-\(phase.rawValue)" x="\(percent: place)" y="0" width="\(percent: width)" height="10">\
                <title>\(phase.label): \(Readable.milliseconds(time)), \(share) % of all exchanges’ time</title></rect>
                """
            )
            place += width
        }
        let name = label.isEmpty ? "Time of all exchanges by phase" : "\(label): time of all exchanges by phase"
        let caption: HTML =
            label.isEmpty ? .nothing : "<p class=\"caption\">\(label) <em>\(Readable.milliseconds(sum))</em></p>"
        return """
            \(caption)<svg class="sharebar" role="img" aria-label="\(name)" width="100%" height="10">\(parts)</svg>

            """
    }

    private func key(_ phase: Phase, _ times: [[Phase: Double]]) -> HTML {
        let times = times.map { $0[phase] ?? 0 }
        let figures = times.map { $0 > 0 ? Readable.milliseconds($0) : "–" }.joined(separator: " → ")
        return """
            <li class="\(times.contains { $0 > 0 } ? "" : "none")"><i class="key p-\(phase.rawValue)"></i><b>\(phase.label)</b>\
            <span>\(phase.meaning)</span><em>\(figures)</em></li>
            """
    }
}

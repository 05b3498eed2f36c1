import Sluice

/// The whole recording in one strip: the number of exchanges over time, by outcome. Each bar links to the matching part.
struct OverviewView {
    let waterfall: Waterfall

    private static let bins = 160
    private static let height = 64.0

    var html: HTML {
        let axis = TimeAxis(to: waterfall.end)
        return """
            <nav class="overview" aria-label="Parts of the recording" style="--tick: \(percent: axis.spacing)">
            <svg class="strip" width="100%" height="64">\(bars(axis))\(links(axis))</svg>
            \(TicksView(axis: axis).html)
            </nav>
            """
    }

    /// The bars of the strip, with failures at the bottom.
    private func bars(_ axis: TimeAxis) -> [HTML] {
        var counts = Array(repeating: (failed: 0, other: 0), count: Self.bins)
        for row in waterfall.rows {
            let bin = min(Int(axis.place(row.start) / 100 * Double(Self.bins)), Self.bins - 1)
            if row.isFailure { counts[bin].failed += 1 } else { counts[bin].other += 1 }
        }
        let most = Double(counts.map { $0.failed + $0.other }.max() ?? 1)
        let width = 100 / Double(Self.bins)
        return counts.enumerated().flatMap { bin, count -> [HTML] in
            let failed = Double(count.failed) / most * (Self.height - 6)
            let other = Double(count.other) / most * (Self.height - 6)
            let place = Double(bin) * width
            return [("failed", failed, failed), ("other", other, failed + other)].filter { $0.1 > 0 }.map {
                style,
                height,
                top in
                """
                <rect class="\(style)" x="\(percent: place)" width="\(percent: width * 0.82)" \
                y="\(Readable.fixed(Self.height - top, 1))" height="\(Readable.fixed(height, 1))"/>
                """
            }
        }
    }

    private func links(_ axis: TimeAxis) -> [HTML] {
        waterfall.parts.enumerated().map { index, part in
            let next = index + 1 < waterfall.parts.count ? waterfall.parts[index + 1].start : waterfall.end
            let start = axis.place(part.start)
            let failures = part.groups.count { $0.isFailure }
            let words =
                "\(Readable.count(part.groups.count, of: "request")) from \(Readable.milliseconds(part.start)), \(failures) failed"
            return """
                <a href="#part-\(index + 1)" aria-label="\(words)"><rect class="way" x="\(percent: start)" y="0" \
                width="\(percent: max(axis.place(next) - start, 0.5))" height="64"><title>\(words)</title></rect></a>
                """
        }
    }
}

/// The requests of two recordings: axes of durations, each followed by a row for each request.
struct ComparisonChartView {
    let comparison: Comparison
    /// Sentences about the recordings, above their rows.
    let remarks: [String]

    /// The maximum number of rows on one axis, so that a single slow request does not make all others invisible.
    private static let maximumRows = 50

    var html: HTML {
        let pairs = comparison.pairs
        if pairs.isEmpty { return "<p class=\"card empty\">No exchanges were recorded.</p>" }
        let rows = comparison.before.rows + comparison.after.rows
        let origins = Origins(rows)
        let starts = stride(from: 0, to: pairs.count, by: Self.maximumRows)
        return """
            <section class="card chart compared" aria-labelledby="requests">
            \(shows.inputs)
            <div class="bar"><h2 id="requests">Requests</h2>\(shows.labels)</div>
            \(FilterView(rows, origins: origins, times: pairs.map(\.duration)).html)
            \(remarks.map { "<p class=\"remark\">\($0)</p>" as HTML })
            \(starts.map { part(pairs[$0..<min($0 + Self.maximumRows, pairs.count)], origins) })
            </section>
            """
    }

    private func part(_ pairs: ArraySlice<Comparison.Pair>, _ origins: Origins) -> HTML {
        let axis = TimeAxis(to: pairs.map(\.duration).max() ?? 0)
        var style = PartStyle()
        for pair in pairs { style.add(classes: pair.classes, rows: 1) }
        return """
            <div class="\(style.classes)" style="--tick: \(percent: axis.spacing); \(style.lengths)">
            <div class="axis"><span class="cell">Request</span><span class="cell status">Status</span>\
            <span class="cell size">Time</span>\(TicksView(axis: axis).html)</div>
            <ol class="groups">
            \(pairs.map { PairView(pair: $0, axis: axis, origins: origins).html })
            </ol>
            </div>

            """
    }

    private var shows: ShowView {
        let pairs = comparison.pairs
        return ShowView(options: [
            ShowView.Option(id: "all", label: "All", count: pairs.count),
            ShowView.Option(id: "slower", label: "Slower", count: pairs.count { $0.change == .slower }),
            ShowView.Option(id: "faster", label: "Faster", count: pairs.count { $0.change == .faster }),
            ShowView.Option(id: "changed", label: "Other status", count: pairs.count { $0.isStatusChanged }),
            ShowView.Option(id: "added", label: "Added", count: pairs.count { $0.before == nil }),
            ShowView.Option(id: "gone", label: "Gone", count: pairs.count { $0.after == nil }),
        ])
    }
}

/// A request of two recordings, with a bar for each. Both begin at the start of the axis.
struct PairView {
    let pair: Comparison.Pair
    let axis: TimeAxis
    let origins: Origins

    var html: HTML {
        guard let first = pair.group?.rows.first, let last = pair.group?.rows.last else { return .nothing }
        return """
            <li class="\((["group"] + pair.classes).joined(separator: " "))" data-t="\(Readable.fixed(pair.duration, 1))"><details class="row \(last.outcome)" \
            data-o="\(origins.index(of: first))"><summary>\
            \(NameView(tag: tag, method: first.entry.request.method, url: first.entry.request.url).html)\
            <span class="cell status">\(statuses)</span><span class="cell size">\(difference)</span>\(bars)</summary>\
            <noscript><div class="detail sides">\(side("Before", pair.before))\(side("After", pair.after))</div></noscript>\
            </details></li>

            """
    }

    private var tag: HTML {
        if pair.before == nil { return "<span class=\"tag\">added</span>" }
        return pair.after == nil ? "<span class=\"tag\">gone</span>" : .nothing
    }

    private var statuses: HTML {
        guard let last = pair.group?.rows.last else { return .nothing }
        let pill: HTML = "<span class=\"pill\">\(last.statusLabel)</span>"
        guard pair.isStatusChanged, let before = pair.before?.rows.last else { return pill }
        return "<s class=\"\(before.outcome)\"><span class=\"pill\">\(before.statusLabel)</span></s>\(pill)"
    }

    /// The difference of the times, or the time if there is only one.
    private var difference: String {
        guard let before = pair.before, let after = pair.after else { return Readable.milliseconds(pair.duration) }
        let difference = after.duration - before.duration
        if abs(difference) < 0.05 { return "±0 ms" }
        return "\(difference < 0 ? "−" : "+")\(Readable.milliseconds(abs(difference)))"
    }

    private var bars: HTML {
        let times = [("before", pair.before), ("after", pair.after)].compactMap { label, group in
            group.map { "\(label) \(Readable.milliseconds($0.duration))" }
        }
        return """
            <svg class="bars" role="img"><title>\(times.joined(separator: ", "))</title>\
            \(bar("was", pair.before))\(bar("is", pair.after))</svg>
            """
    }

    private func bar(_ style: String, _ group: Waterfall.Group?) -> HTML {
        guard let group else { return .nothing }
        let rects = group.rows.flatMap(\.segments).map { segment -> HTML in
            let start = axis.place(segment.start - group.start)
            let width = max(axis.place(segment.start - group.start + segment.duration) - start, 0.12)
            return "<rect class=\"p-\(segment.phase.rawValue)\" x=\"\(percent: start)\" width=\"\(percent: width)\"/>"
        }
        let end = axis.place(group.duration)
        let time = Readable.milliseconds(group.duration)
        let label: HTML =
            end < 88
            ? "<text x=\"\(percent: end)\" dx=\"7\">\(time)</text>"
            : "<text class=\"before within\" x=\"\(percent: end)\" dx=\"-7\">\(time)</text>"
        return "<g class=\"\(style)\">\(rects)\(label)</g>"
    }

    private func side(_ title: String, _ group: Waterfall.Group?) -> HTML {
        let contents: HTML
        if let group {
            contents = "\(group.rows.map { DetailView(row: $0).html })"
        } else {
            contents = "<p class=\"remark\">The recording does not have this request.</p>"
        }
        return "<section><h2>\(title)</h2>\(contents)</section>"
    }
}

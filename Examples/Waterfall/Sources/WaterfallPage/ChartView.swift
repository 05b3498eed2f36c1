import Sluice

/// The waterfall: axes, each followed by a group of rows for each request.
struct ChartView {
    let waterfall: Waterfall
    /// Sentences about the recording, above its rows.
    let remarks: [String]

    var html: HTML {
        if waterfall.groups.isEmpty { return "<p class=\"card empty\">No exchanges were recorded.</p>" }
        let origins = Origins(waterfall.rows)
        return """
            <section class="card chart" aria-labelledby="exchanges">
            \(shows.inputs)
            <div class="bar"><h2 id="exchanges">Exchanges</h2>\(shows.labels)</div>
            \(FilterView(waterfall.rows, origins: origins, times: waterfall.groups.map(\.duration)).html)
            \(remarks.map { "<p class=\"remark\">\($0)</p>" as HTML })\(overview)
            \(waterfall.parts.enumerated().map { part($1, $0 + 1, origins) })
            </section>
            """
    }

    private func part(_ part: Waterfall.Part, _ number: Int, _ origins: Origins) -> HTML {
        let axis = part.axis
        let name: HTML =
            waterfall.parts.count == 1
            ? "Request"
            : "\(Readable.count(part.groups.count, of: "request")) from \(Readable.milliseconds(part.start))"
        var style = PartStyle()
        for group in part.groups { style.add(classes: group.classes, rows: group.rows.count) }
        return """
            <div class="\(style.classes)" id="part-\(number)" style="--tick: \(percent: axis.spacing); \(style.lengths)">
            <div class="axis"><span class="cell">\(name)</span><span class="cell status">Status</span>\
            <span class="cell size">Size</span>\(TicksView(axis: axis).html)</div>
            <ol class="groups">
            \(part.groups.map { GroupView(group: $0, axis: axis, origins: origins).html })
            </ol>
            </div>

            """
    }

    private var overview: HTML {
        waterfall.parts.count > 1 ? OverviewView(waterfall: waterfall).html : .nothing
    }

    private var shows: ShowView {
        let groups = waterfall.groups
        return ShowView(options: [
            ShowView.Option(id: "all", label: "All", count: groups.count),
            ShowView.Option(id: "failed", label: "Failed", count: groups.count { $0.isFailure }),
            ShowView.Option(id: "repeated", label: "Repeated or redirected", count: groups.count { $0.isRepeated }),
        ])
    }
}

/// The labels of the ticks of an axis.
struct TicksView {
    let axis: TimeAxis

    var html: HTML {
        let ticks = axis.ticks.enumerated().map { number, tick -> HTML in
            let place = axis.place(tick)
            // The last label would extend beyond the edge.
            if place > 96 { return .nothing }
            let style = number % 2 == 1 ? "odd" : "even"
            return "<text class=\"\(style)\" x=\"\(percent: place)\" dx=\"4\" y=\"15\">\(axis.label(tick))</text>"
        }
        return "<svg class=\"ticks\" aria-hidden=\"true\" width=\"100%\" height=\"22\">\(ticks)</svg>"
    }
}

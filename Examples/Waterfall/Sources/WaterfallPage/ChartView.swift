import Sluice

/// The waterfall: axes, each followed by a group of rows for each request.
struct ChartView {
    let waterfall: Waterfall
    let dropped: Int

    var html: HTML {
        if waterfall.groups.isEmpty { return "<p class=\"card empty\">No exchanges were recorded.</p>" }
        return """
            <section class="card chart" aria-labelledby="exchanges">
            <div class="bar"><h2 id="exchanges">Exchanges</h2>\(filters)</div>
            \(remark)\(overview)
            \(waterfall.parts.enumerated().map { part($1, $0 + 1) })
            </section>
            """
    }

    private func part(_ part: Waterfall.Part, _ number: Int) -> HTML {
        let axis = part.axis
        let name: HTML =
            waterfall.parts.count == 1
            ? "Request"
            : "\(Readable.count(part.groups.count, of: "request")) from \(Readable.milliseconds(part.start))"
        return """
            <div class="part" id="part-\(number)" style="--tick: \(percent: axis.spacing)">
            <div class="axis"><span class="cell">\(name)</span><span class="cell status">Status</span>\
            <span class="cell size">Size</span>\(ticks(axis))</div>
            <ol class="groups">
            \(part.groups.map { GroupView(group: $0, axis: axis).html })
            </ol>
            </div>

            """
    }

    private var remark: HTML {
        dropped > 0 ? "<p class=\"remark\">\(Readable.count(dropped, of: "earlier exchange")) not kept.</p>" : .nothing
    }

    private var overview: HTML {
        waterfall.parts.count > 1 ? OverviewView(waterfall: waterfall).html : .nothing
    }

    /// The filters for groups. They are radio buttons, because a style sheet can read them without a script.
    private var filters: HTML {
        let groups = waterfall.groups
        return """
            <fieldset class="filters"><legend>Show</legend>
            \(filter("all", "All", groups.count, isChecked: true))
            \(filter("failed", "Failed", groups.count { $0.isFailure }))
            \(filter("repeated", "Repeated or redirected", groups.count { $0.isRepeated }))
            </fieldset>
            """
    }

    private func filter(_ id: String, _ label: String, _ count: Int, isChecked: Bool = false) -> HTML {
        """
        <input type="radio" name="show" id="show-\(id)"\(isChecked ? " checked" : count == 0 ? " disabled" : "" as HTML)>\
        <label for="show-\(id)">\(label) <span>\(Readable.count(count))</span></label>
        """
    }

    private func ticks(_ axis: TimeAxis) -> HTML {
        let ticks = axis.ticks.enumerated().map { number, tick -> HTML in
            let place = axis.place(tick)
            // The last label would extend beyond the edge.
            if place > 96 { return .nothing }
            let isOdd = number % 2 == 1
            return
                "<text class=\"\(isOdd ? "odd" : "even")\" x=\"\(percent: place)\" dx=\"4\" y=\"15\">\(axis.label(tick))</text>"
        }
        return "<svg class=\"ticks\" aria-hidden=\"true\" width=\"100%\" height=\"22\">\(ticks)</svg>"
    }
}

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

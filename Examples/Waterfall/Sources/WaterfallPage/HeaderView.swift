/// The top of the page: the title, the totals, and the time by phase.
struct HeaderView {
    let waterfall: Waterfall
    /// The program that recorded the exchanges; empty if it is not known.
    let recorder: String
    let title: String

    var html: HTML {
        """
        <header class="top">
        <div class="names"><h1>\(title)</h1><p class="sub">\(origin)</p></div>
        <dl class="stats">\(tiles)</dl>
        </header>
        \(SharesView(recordings: [("", waterfall)]).html)
        """
    }

    private var origin: String {
        var parts: [String] = []
        if let began = waterfall.began { parts.append(Readable.date(began)) }
        if !recorder.isEmpty { parts.append("recorded by \(recorder)") }
        return parts.joined(separator: " · ")
    }

    private var tiles: [HTML] {
        let totals = Totals(waterfall)
        let failures = totals.failures
        return [
            tile("Requests", Readable.count(totals.requests), Readable.count(totals.exchanges, of: "exchange")),
            tile(
                "Failed",
                Readable.count(failures),
                failures == 0 ? "all answered" : "\(share(failures, of: totals.requests)) of all",
                failures == 0 ? "good" : "bad"
            ),
            tile("Repeated", Readable.count(totals.retries), Readable.count(totals.redirects, of: "redirect")),
            tile("Received", Readable.bytes(totals.received), "\(Readable.bytes(totals.sent)) sent"),
            tile("Median", Readable.milliseconds(totals.percentile(50)), "a request"),
            tile("Slowest 5 %", Readable.milliseconds(totals.percentile(95)), "and more"),
            tile("Total", Readable.milliseconds(waterfall.end), "from first to last"),
        ]
    }

    private func tile(_ name: String, _ value: String, _ note: String, _ style: String = "") -> HTML {
        TileView(name: name, value: value, note: note, style: style).html
    }

    private func share(_ part: Int, of all: Int) -> String {
        let percent = Double(part) / Double(max(1, all)) * 100
        return percent < 1 ? "<1 %" : "\(Int(percent.rounded())) %"
    }
}

/// A figure with its name and a note.
struct TileView {
    let name: String
    let value: String
    let note: String
    var style = ""

    var html: HTML {
        """
        <div class="tile \(style)"><dt>\(name)</dt><dd>\(value)<small>\(note)</small></dd></div>

        """
    }
}

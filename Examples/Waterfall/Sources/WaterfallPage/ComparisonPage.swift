import Sluice

/// A page that compares two recordings: the totals, the time by phase, and each request with its two times.
///
/// ```swift
/// let page = ComparisonPage(before: try Archive(parsing: old), after: try Archive(parsing: new))
/// try Data(page.html.utf8).write(to: file)
/// ```
///
/// It is as self-contained as a ``WaterfallPage``, and has the same policy.
public struct ComparisonPage: Sendable {
    /// The HTML of the page.
    public let html: String

    /// Creates a page from two recordings.
    ///
    /// - Parameters:
    ///   - before: The earlier recording.
    ///   - after: The later recording.
    ///   - title: The title.
    public init(before: Archive, after: Archive, title: String = "Two recordings") {
        let comparison = Comparison(before: Waterfall(before.har), after: Waterfall(after.har))
        let remarks = before.remarks.map { "Before. \($0)" } + after.remarks.map { "After. \($0)" }
        let contents: HTML = """
            \(ComparisonHeaderView(comparison: comparison, title: title).html)
            \(ComparisonChartView(comparison: comparison, remarks: remarks).html)
            """
        html = PageDocument(title: title, contents: contents).html.text
    }
}

/// The top of the page: the title, the totals of both recordings, and their time by phase.
struct ComparisonHeaderView {
    let comparison: Comparison
    let title: String

    private var before: Waterfall { comparison.before }
    private var after: Waterfall { comparison.after }

    var html: HTML {
        """
        <header class="top">
        <div class="names"><h1>\(title)</h1><p class="sub">\(dates)</p></div>
        <dl class="stats">\(tiles)</dl>
        </header>
        \(SharesView(recordings: [("Before", before), ("After", after)]).html)
        """
    }

    private var dates: String {
        let dates = [before.began, after.began].map { $0.map(Readable.date) ?? "no exchanges" }
        return dates.joined(separator: " → ")
    }

    private var tiles: [HTML] {
        let pairs = comparison.pairs
        let totals = [Totals(before), Totals(after)]
        let gone = pairs.count { $0.after == nil }
        let added = pairs.count { $0.before == nil }
        return [
            TileView(
                name: "Requests",
                value: Readable.count(totals[1].requests),
                note: was(Readable.count(totals[0].requests))
            ).html,
            TileView(name: "Added", value: Readable.count(added), note: "not in the first").html,
            TileView(name: "Gone", value: Readable.count(gone), note: "not in the second").html,
            tile("Failed", totals.map { Double($0.failures) }) { Readable.count(Int($0)) },
            tile("Received", totals.map { Double($0.received) }) { Readable.bytes(Int($0.clamped(to: 0...1e15))) },
            timeTile("Median", totals.map { $0.percentile(50) }),
            timeTile("Slowest 5 %", totals.map { $0.percentile(95) }),
            timeTile("Total", [before.end, after.end]),
        ]
    }

    private func timeTile(_ name: String, _ values: [Double]) -> HTML {
        tile(name, values, change: Comparison.Change(from: values[0], to: values[1]), text: Readable.milliseconds)
    }

    /// A tile with a figure of both recordings, of which the lower one is better.
    private func tile(_ name: String, _ values: [Double], text: (Double) -> String) -> HTML {
        tile(
            name,
            values,
            change: values[0] == values[1] ? .similar : values[1] > values[0] ? .slower : .faster,
            text: text
        )
    }

    private func tile(_ name: String, _ values: [Double], change: Comparison.Change, text: (Double) -> String) -> HTML {
        let style =
            switch change {
            case .similar: ""
            case .slower: "bad"
            case .faster: "good"
            }
        return TileView(name: name, value: text(values[1]), note: was(text(values[0])), style: style).html
    }

    private func was(_ value: String) -> String { "was \(value)" }
}

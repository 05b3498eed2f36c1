import Sluice

/// The rows of one request, with a line from the end of each exchange to the start of the next.
struct GroupView {
    let group: Waterfall.Group
    let axis: TimeAxis

    var html: HTML {
        let rows = group.rows.indices.map { index in
            RowView(
                row: group.rows[index],
                before: index > 0 ? group.rows[index - 1] : nil,
                after: index + 1 < group.rows.count ? group.rows[index + 1] : nil,
                attempt: group.rows[...index].count { $0.kind != .redirect },
                axis: axis
            ).html
        }
        let style = [group.isFailure ? " failed" : "", group.isRepeated ? " repeated" : ""].joined()
        return "<li class=\"group\(style)\">\(rows)</li>\n"
    }
}

/// One exchange, as a row that opens to show its details.
struct RowView {
    let row: Waterfall.Row
    let before: Waterfall.Row?
    let after: Waterfall.Row?
    /// The number of the attempt that the exchange belongs to.
    let attempt: Int
    let axis: TimeAxis

    var html: HTML {
        let url = PageURL(row.entry.request.url)
        let size = row.entry.response.bodySize ?? row.entry.response.content.size
        return """
            <details class="row \(outcome)"><summary>\
            <span class="cell name" title="\(row.entry.request.url)">\(tag)<b class="method">\(row.entry.request.method)</b>\
            <span class="url"><span class="path">\(url.path)</span><span class="query">\(url.query)</span>\
            <span class="host">\(url.host)</span></span></span>\
            <span class="cell status"><span class="pill">\(status)</span></span>\
            <span class="cell size">\(row.status > 0 ? Readable.bytes(size) : "–")</span>\
            \(bars)</summary>\(DetailView(row: row).html)</details>

            """
    }

    private var tag: HTML {
        switch row.kind {
        case .first: .nothing
        case .retry: "<span class=\"tag\">attempt \(attempt)</span>"
        case .redirect: "<span class=\"tag\">redirect</span>"
        case .hedge: "<span class=\"tag\">hedge</span>"
        }
    }

    private var status: String {
        if row.status > 0 { return "\(row.status)" }
        return row.entry.error?.hasPrefix("cancelled") == true ? "cancel" : "error"
    }

    /// The style class for the status.
    private var outcome: String {
        if row.status <= 0 { return row.entry.error?.hasPrefix("cancelled") == true ? "left" : "error" }
        switch row.status {
        case ..<400 where row.entry.error != nil: return "error"
        case ..<300: return "ok"
        case ..<400: return "moved"
        case ..<500: return "refused"
        default: return "error"
        }
    }

    private var summary: String {
        let parts = row.segments.map { "\($0.phase.label.lowercased()) \(Readable.milliseconds($0.duration))" }
        let outcome = row.entry.error ?? "\(row.status)"
        return "\(row.entry.request.method) \(PageURL(row.entry.request.url).path): \(outcome), "
            + "\(Readable.milliseconds(row.duration)) from \(Readable.milliseconds(row.start))"
            + (parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))")
    }

    private var bars: HTML {
        """
        <svg class="bars" role="img" width="100%" height="30"><title>\(summary)</title>\(links)\(segments)\(label)</svg>
        """
    }

    private var segments: [HTML] {
        if row.segments.isEmpty {
            return [
                "<rect class=\"p-wait\" x=\"\(percent: axis.place(row.start))\" y=\"9\" width=\"2\" height=\"12\"/>"
            ]
        }
        return row.segments.map { segment in
            let start = axis.place(segment.start)
            // A shorter bar would be invisible.
            let width = max(axis.place(segment.start + segment.duration) - start, 0.12)
            let (top, height) = segment.phase == .blocked ? (13, 4) : (9, 12)
            return """
                <rect class="p-\(segment.phase.rawValue)" x="\(percent: start)" y="\(top)" width="\(percent: width)" \
                height="\(height)" rx="1.5"><title>\(segment.phase.label) \(Readable.milliseconds(segment.duration))\
                </title></rect>
                """
        }
    }

    /// The duration and the error, on the side with more room.
    private var label: HTML {
        let start = axis.place(row.start)
        let end = axis.place(row.end)
        let time = Readable.milliseconds(row.duration)
        let code = row.entry.error.map { String($0.prefix { $0 != ":" }.prefix(28)) }
        let text: HTML = code.map { "<tspan class=\"cross\">✕ \($0)</tspan> \(time)" } ?? "\(time)"
        if end < 80 { return "<text x=\"\(percent: end)\" dx=\"7\" y=\"19\">\(text)</text>" }
        if start > 20 { return "<text class=\"before\" x=\"\(percent: start)\" dx=\"-7\" y=\"19\">\(text)</text>" }
        return "<text class=\"before within\" x=\"\(percent: end)\" dx=\"-7\" y=\"19\">\(text)</text>"
    }

    /// The line from the end of the previous exchange to the start of this one.
    private var links: [HTML] {
        var lines: [HTML] = []
        if let before, row.kind != .hedge {
            let end = axis.place(before.end)
            let start = axis.place(row.start)
            lines.append("<line class=\"link\" x1=\"\(percent: end)\" y1=\"0\" x2=\"\(percent: end)\" y2=\"15\"/>")
            lines.append("<line class=\"link\" x1=\"\(percent: end)\" y1=\"15\" x2=\"\(percent: start)\" y2=\"15\"/>")
        }
        if let after, after.kind != .hedge {
            let end = axis.place(row.end)
            lines.append("<line class=\"link\" x1=\"\(percent: end)\" y1=\"15\" x2=\"\(percent: end)\" y2=\"30\"/>")
        }
        return lines
    }
}

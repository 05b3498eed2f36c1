import Sluice

/// The rows of one request, with a line from the end of each exchange to the start of the next.
struct GroupView {
    let group: Waterfall.Group
    let axis: TimeAxis
    let origins: Origins

    var html: HTML {
        let rows = group.rows.indices.map { index in
            RowView(
                row: group.rows[index],
                before: index > 0 ? group.rows[index - 1] : nil,
                after: index + 1 < group.rows.count ? group.rows[index + 1] : nil,
                attempt: group.rows[...index].count { $0.kind != .redirect },
                axis: axis,
                origins: origins
            ).html
        }
        let style = (["group"] + group.classes).joined(separator: " ")
        return "<li class=\"\(style)\" data-t=\"\(Readable.fixed(group.duration, 1))\">\(rows)</li>\n"
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
    let origins: Origins

    /// With scripts, a browser reads the content of `noscript` as text, so that the details of thousands of rows do not
    /// delay the page. The script of the page replaces it by its markup when the row opens.
    var html: HTML {
        """
        <details class="row \(row.outcome)" data-o="\(origins.index(of: row))"><summary>\
        \(NameView(tag: tag, method: row.entry.request.method, url: row.entry.request.url).html)\
        <span class="cell status"><span class="pill">\(row.statusLabel)</span></span>\
        <span class="cell size">\(row.status > 0 ? Readable.bytes(row.size) : "–")</span>\
        \(bars)</summary><noscript>\(DetailView(row: row).html)</noscript></details>

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

    private var summary: String {
        let parts = row.segments.map { "\($0.phase.label.lowercased()) \(Readable.milliseconds($0.duration))" }
        return "\(Readable.milliseconds(row.duration)) from \(Readable.milliseconds(row.start))"
            + (parts.isEmpty ? "" : ": \(parts.joined(separator: ", "))")
    }

    private var bars: HTML {
        """
        <svg class="bars" role="img"><title>\(summary)</title>\(links)\(segments)\(label)</svg>
        """
    }

    private var segments: [HTML] {
        if row.segments.isEmpty {
            return [
                "<rect class=\"p-wait\" x=\"\(percent: axis.place(row.start))\" width=\"2\"/>"
            ]
        }
        return row.segments.map { segment in
            let start = axis.place(segment.start)
            // A shorter bar would be invisible.
            let width = max(axis.place(segment.start + segment.duration) - start, 0.12)
            return "<rect class=\"p-\(segment.phase.rawValue)\" x=\"\(percent: start)\" width=\"\(percent: width)\"/>"
        }
    }

    /// The duration and the error, on the side with more room.
    private var label: HTML {
        let start = axis.place(row.start)
        let end = axis.place(row.end)
        let time = Readable.milliseconds(row.duration)
        let code = row.entry.error.map { String($0.prefix { $0 != ":" }.prefix(28)) }
        let text: HTML = code.map { "<tspan class=\"cross\">✕ \($0)</tspan> \(time)" } ?? "\(time)"
        if end < 80 { return "<text x=\"\(percent: end)\" dx=\"7\">\(text)</text>" }
        if start > 20 { return "<text class=\"before\" x=\"\(percent: start)\" dx=\"-7\">\(text)</text>" }
        return "<text class=\"before within\" x=\"\(percent: end)\" dx=\"-7\">\(text)</text>"
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

/// The method and the URL of a row.
struct NameView {
    let tag: HTML
    let method: String
    let url: String

    /// The maximum number of characters shown of a path or a query: a `data:` URL may be longer than the page.
    private static let maximumLength = 300

    var html: HTML {
        let url = PageURL(url)
        let query: HTML = url.query.isEmpty ? .nothing : "<span class=\"query\">\(shortened(url.query))</span>"
        return """
            <span class="cell name">\(tag)<b class="method">\(method)</b><span class="url">\
            <span class="path">\(shortened(url.path))</span>\(query)<span class="host">\(url.host)</span></span></span>
            """
    }

    private func shortened(_ text: String) -> String {
        text.utf8.count > Self.maximumLength ? String(text.unicodeScalars.prefix(Self.maximumLength)) + "…" : text
    }
}

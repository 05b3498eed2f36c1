/// A chart of values per second over the time of a run, as SVG.
struct Chart {
    /// A line of the chart, in pieces between which nothing is drawn.
    struct Line: Equatable {
        let name: String
        /// The class of the style sheet, which gives the color.
        let style: String
        let pieces: [[Point]]
    }

    /// A value at a time in seconds since the start.
    struct Point: Equatable {
        let time: Double
        let value: Double
    }

    /// A vertical line with a label.
    struct Mark: Equatable {
        let time: Double
        let label: String
    }

    let title: String
    /// The length of the time axis in seconds.
    let seconds: Double
    let lines: [Line]
    var marks: [Mark] = []
    /// The times in which Redis did not run.
    var outages: [Range<Double>] = []
    /// A horizontal line with a label; nil for none.
    var limit: (value: Double, label: String)?

    private static let width = 960.0
    private static let height = 280.0
    private static let left = 48.0
    private static let right = 112.0
    private static let top = 44.0
    private static let bottom = 28.0

    /// The largest value of the vertical axis.
    var maximum: Double {
        var largest = max(1, limit?.value ?? 0)
        for point in lines.flatMap({ $0.pieces.flatMap { $0 } }) { largest = max(largest, point.value) }
        return Self.step(largest) * (largest / Self.step(largest)).rounded(.up)
    }

    /// Returns the distance of the labels of an axis: 1, 2 or 5 times a power of ten, for at most six labels.
    static func step(_ largest: Double) -> Double {
        var step = 1.0
        while true {
            for factor in [1.0, 2, 5] where largest / (step * factor) <= 6 { return step * factor }
            step *= 10
        }
    }

    private func x(_ time: Double) -> String {
        let share = max(0, min(1, time / max(seconds, 1)))
        return Report.text(Self.left + share * (Self.width - Self.left - Self.right))
    }

    private func y(_ value: Double) -> String { Report.text(height(of: value)) }

    private func height(of value: Double) -> Double {
        Self.top + (1 - max(0, min(1, value / maximum))) * (Self.height - Self.top - Self.bottom)
    }

    var svg: String {
        """
        <svg viewBox="0 0 960 280" role="img" aria-label="\(HTMLText.escaped(title))">
        \(outages.map(band).joined())\(grid)\(limitLine)\(marks.enumerated().map(mark).joined())\(lines.map(path).joined())\(names)</svg>

        """
    }

    private func band(_ outage: Range<Double>) -> String {
        let (start, end) = (Double(x(outage.lowerBound)) ?? 0, Double(x(outage.upperBound)) ?? 0)
        let height = Self.height - Self.top - Self.bottom
        return """
            <rect class="away" x="\(Report.text(start))" y="\(Report.text(Self.top))" width="\(Report.text(end - start))" \
            height="\(Report.text(height))"/>

            """
    }

    private var grid: String {
        var text = ""
        let step = Self.step(maximum)
        for value in stride(from: 0, through: maximum, by: step) {
            text += """
                <line class="grid" x1="\(x(0))" x2="\(x(seconds))" y1="\(y(value))" y2="\(y(value))"/>
                <text class="value" x="\(Report.text(Self.left - 8))" y="\(Report.text(height(of: value) + 4))">\(Int(value))</text>

                """
        }
        let timeStep = Self.step(seconds)
        for time in stride(from: 0, through: seconds, by: timeStep) {
            text +=
                "<text class=\"time\" x=\"\(x(time))\" y=\"\(Report.text(Self.height - 8))\">\(Int(time)) s</text>\n"
        }
        return text
    }

    private var limitLine: String {
        guard let limit else { return "" }
        return """
            <line class="limit" x1="\(x(0))" x2="\(x(seconds))" y1="\(y(limit.value))" y2="\(y(limit.value))"/>
            <text class="value start" x="\(Report.text(Self.left + 4))" y="\(Report.text(height(of: limit.value) - 5))">\
            \(HTMLText.escaped(limit.label))</text>

            """
    }

    /// Labels of more marks would overlap.
    private func label(_ mark: Mark, _ y: Double) -> String {
        guard marks.count <= 8 else { return "" }
        return
            "<text class=\"label\" x=\"\(x(mark.time))\" y=\"\(Report.text(y))\">\(HTMLText.escaped(mark.label))</text>\n"
    }

    /// Draws a mark. The labels are in two rows, so that neighbors do not overlap.
    private func mark(_ index: Int, _ mark: Mark) -> String {
        let y = index.isMultiple(of: 2) ? 14.0 : 30.0
        return """
            <line class="mark" x1="\(x(mark.time))" x2="\(x(mark.time))" y1="\(Report.text(y + 3))" y2="\(self.y(0))"/>
            \(label(mark, y))
            """
    }

    private func path(_ line: Line) -> String {
        line.pieces.filter { !$0.isEmpty }.map { piece in
            let points = piece.map { "\(x($0.time)),\(y($0.value))" }.joined(separator: " ")
            return "<polyline class=\"\(line.style)\" points=\"\(points)\"/>\n"
        }
        .joined()
    }

    /// The names of the lines at their ends, moved apart where they would overlap.
    private var names: String {
        let ends = lines.compactMap { line in line.pieces.last?.last.map { (line, height(of: $0.value)) } }.sorted {
            $0.1 < $1.1
        }
        var lowest = -Double.infinity
        return ends.map { line, height in
            lowest = max(height, lowest + 15)
            let x = Report.text(Self.width - Self.right + 8)
            return
                "<text class=\"name \(line.style)\" x=\"\(x)\" y=\"\(Report.text(lowest + 4))\">\(HTMLText.escaped(line.name))</text>\n"
        }
        .joined()
    }
}

/// Text of a page.
enum HTMLText {
    /// Returns a text in which no character is markup.
    static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            default: String(scalar)
            }
        }
        .joined()
    }
}

import Foundation

/// A chart of the samples: memory, descriptors and threads over time.
struct Plot {
    private let samples: [Sample]
    private let width = 860.0
    private let height = 150.0
    private let left = 70.0

    init(_ samples: [Sample]) {
        self.samples = samples
    }

    var svg: String {
        let panels: [(String, String, (Sample) -> Double)] = [
            ("resident memory, MiB", "#2f6fde", { $0.memory }),
            ("descriptors", "#c2571a", { Double($0.descriptors) }),
            ("threads", "#2d8a4e", { Double($0.threads) }),
        ]
        let total = height * Double(panels.count) + 60
        let minutes = Int(((samples.last?.time ?? 0) / 60).rounded())
        let body = panels.enumerated().map { panel($0.element, top: 40 + Double($0.offset) * height) }.joined()
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(width + left + 20)) \(Int(total))" \
            font-family="sans-serif" font-size="12">
            <rect width="100%" height="100%" fill="#ffffff"/>
            <text x="\(left)" y="22" font-size="15" fill="#222">Mixed traffic with faults and cancellations: \
            \(samples.last?.sent ?? 0) requests in \(minutes) minutes</text>
            \(body)
            </svg>

            """
    }

    private func panel(_ panel: (name: String, colour: String, figure: (Sample) -> Double), top: Double) -> String {
        let figures = samples.map(panel.figure)
        let highest = max(1, (figures.max() ?? 1) * 1.2)
        let last = max(1, samples.last?.time ?? 1)
        let bottom = top + height - 40
        let points = zip(samples, figures).map { sample, figure in
            let x = left + sample.time / last * width
            let y = bottom - figure / highest * (height - 50)
            return String(format: "%.1f,%.1f", x, y)
        }
        let ticks = (0...6).map { tick in
            let x = left + Double(tick) / 6 * width
            let label = String(format: "%.0f min", last / 60 * Double(tick) / 6)
            return
                "<text x=\"\(Int(x))\" y=\"\(Int(bottom + 15))\" fill=\"#777\" text-anchor=\"middle\">\(label)</text>"
        }
        return """
            <line x1="\(left)" y1="\(bottom)" x2="\(left + width)" y2="\(bottom)" stroke="#bbb"/>
            <text x="\(left - 8)" y="\(bottom)" fill="#777" text-anchor="end">0</text>
            <text x="\(left - 8)" y="\(top + 14)" fill="#777" text-anchor="end">\(Int(highest))</text>
            <text x="\(left + 6)" y="\(top + 12)" fill="\(panel.colour)">\(panel.name)</text>
            <polyline fill="none" stroke="\(panel.colour)" stroke-width="1.5" points="\(points.joined(separator: " "))"/>
            \(ticks.joined())

            """
    }
}

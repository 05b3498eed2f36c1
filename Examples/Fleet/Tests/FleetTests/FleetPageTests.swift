import Foundation
import Testing

@testable import FleetReport

struct FleetPageTests {
    private let page = FleetPage(Report(SampleRun().events))

    @Test func lines() {
        let lines = page.requests.lines
        #expect(lines.map(\.name) == ["service 1", "service 2", "service 3", "upstream"])
        // The line of the service that was killed has a gap.
        #expect(lines.map(\.pieces.count) == [1, 2, 1, 1])
        #expect(lines[1].pieces[0].last?.time == 3.5)
        #expect(lines[1].pieces[1].first?.time == 7.5)
        #expect(lines[0].pieces[0].allSatisfy { $0.value == 33 })
        #expect(lines[3].pieces[0] == (0..<20).map { Chart.Point(time: Double($0) + 0.5, value: 100) })
        #expect(page.pages.lines.map(\.pieces.first?.first?.value) == [0, 10])
    }

    @Test func marks() {
        #expect(
            page.requests.marks == [
                Chart.Mark(time: 5, label: "service 2 killed"), Chart.Mark(time: 7, label: "started again"),
                Chart.Mark(time: 12, label: "Redis killed"), Chart.Mark(time: 14, label: "started again"),
            ]
        )
        #expect(page.requests.outages == [12..<14])
    }

    @Test func markup() throws {
        let html = page.html
        #expect(html.components(separatedBy: "<svg ").count == 3)
        #expect(html.components(separatedBy: "class=\"mark\"").count == 9)
        #expect(html.contains("prefers-color-scheme: dark"))
        // The page loads nothing and runs nothing.
        for text in ["http", "src=", "url(", "<script", "@import", "<link"] { #expect(!html.contains(text)) }
        // A name of an error is text.
        var run = SampleRun()
        run.change { $0.errors = ["<b>&\"": 1] }
        #expect(FleetPage(Report(run.events)).html.contains("&lt;b&gt;&amp;&quot;: 57"))
    }

    @Test func pageWithoutEvents() {
        #expect(FleetPage(Report([])).html.contains("</html>"))
    }

    @Test(arguments: [(1, 1), (6, 1), (7, 2), (12, 2), (30, 5), (31, 10), (120, 20), (600, 100)])
    func stepsOfAnAxis(_ largest: Double, _ step: Double) {
        #expect(Chart.step(largest) == step)
    }
}

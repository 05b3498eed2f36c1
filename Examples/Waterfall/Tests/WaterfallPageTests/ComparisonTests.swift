import Foundation
import Sluice
import Testing

@testable import WaterfallPage

@Suite struct ComparisonTests {
    /// A recording with a request for each path, one after the other. A path may have a port before it.
    private func waterfall(_ paths: [String]) -> Waterfall {
        Waterfall(
            Samples.har(
                paths.enumerated().map { index, path in
                    Samples.entry(path.hasPrefix("http") ? path : "https://a.example/\(path)", at: Double(index) * 100)
                }
            )
        )
    }

    private func name(_ group: Waterfall.Group?) -> String {
        group.map { PageURL($0.rows[0].entry.request.url).path } ?? "–"
    }

    @Test(arguments: [
        (["a", "b"], ["a", "b"], ["/a /a", "/b /b"]),
        (["a", "b", "c"], ["a", "c"], ["/a /a", "/b –", "/c /c"]),
        (["a", "c"], ["a", "b", "c"], ["/a /a", "– /b", "/c /c"]),
        (["x", "a"], ["a"], ["/x –", "/a /a"]),
        (["a", "b"], ["b", "a"], ["/b /b", "/a /a"]),
        (["a", "a", "a"], ["a", "a"], ["/a /a", "/a /a", "/a –"]),
        ([], ["a"], ["– /a"]), (["a"], [], ["/a –"]), ([], [], []),
        (["https://h:1/p", "https://h:2/q"], ["https://h:3/q", "https://h:3/p"], ["/q /q", "/p /p"]),
        (["https://h:1/p", "https://h:2/p"], ["https://h:2/p"], ["/p –", "/p /p"]),
        (["https://h/p"], ["https://other/p"], ["/p –", "– /p"]),
        (["a?x=1"], ["a?x=2"], ["/a –", "– /a"]),
    ])
    func requestsAreMatchedByMethodAndURLInOrder(_ before: [String], _ after: [String], _ expected: [String]) {
        let comparison = Comparison(before: waterfall(before), after: waterfall(after))
        #expect(comparison.pairs.map { "\(name($0.before)) \(name($0.after))" } == expected)
    }

    @Test func anotherMethodIsAnotherRequest() {
        let get = Waterfall(Samples.har([Samples.entry()]))
        let post = Waterfall(Samples.har([Samples.entry { $0.request.method = "POST" }]))
        #expect(Comparison(before: get, after: post).pairs.map(\.classes) == [["gone"], ["added"]])
    }

    @Test(
        arguments: [
            (100, 100, .similar), (100, 109, .similar), (100, 111, .slower), (100, 89, .faster), (2, 6, .similar),
            (2, 8, .slower), (0, 0, .similar), (0, 5, .slower), (1000, 1050, .similar), (.nan, 5, .similar),
        ] as [(Double, Double, Comparison.Change)]
    )
    func smallChangesAreNoise(_ before: Double, _ after: Double, _ change: Comparison.Change) {
        #expect(Comparison.Change(from: before, to: after) == change)
    }

    @Test func thePageHasBothTimesAndTheirDifference() throws {
        let slow = HAR.Timings(send: 1, wait: 80, receive: 9)
        let before = Samples.har([
            Samples.entry("https://a.example/same"), Samples.entry("https://a.example/slower", at: 50),
            Samples.entry("https://a.example/gone", at: 60), Samples.entry("https://a.example/broken", at: 70),
        ])
        let after = Samples.har([
            Samples.entry("https://a.example/same"), Samples.entry("https://a.example/slower", at: 50, 200, slow),
            Samples.entry("https://a.example/broken", at: 70, 500), Samples.entry("https://a.example/added", at: 90),
        ])
        let html = ComparisonPage(
            before: try Archive(parsing: before.data()),
            after: try Archive(parsing: after.data()),
            title: "Old → new"
        ).html
        #expect(html.components(separatedBy: "<details class=\"row").count - 1 == 5)
        #expect(html.contains("<h1>Old → new</h1>"))
        #expect(html.contains("<dt>Requests</dt><dd>4<small>was 4</small>"))
        #expect(html.contains("<dt>Added</dt><dd>1<") && html.contains("<dt>Gone</dt><dd>1<"))
        #expect(html.contains("<div class=\"tile bad\"><dt>Failed</dt><dd>1<small>was 0</small>"))
        #expect(html.contains("<span class=\"cell size\">+50 ms</span>"))
        #expect(html.contains("<title>before 40 ms, after 90 ms</title>"))
        #expect(html.contains("<s class=\"ok\"><span class=\"pill\">200</span></s><span class=\"pill\">500</span>"))
        for name in ["slower", "added", "gone", "changed"] {
            #expect(html.components(separatedBy: "<li class=\"group \(name)\"").count - 1 == 1, "\(name)")
        }
    }

    @Test func recordingsWithoutExchangesAreAPage() throws {
        let empty = try Archive(parsing: Data(#"{"log":{"entries":[]}}"#.utf8))
        #expect(ComparisonPage(before: empty, after: empty).html.contains("No exchanges were recorded."))
    }
}

import Testing

@testable import WaterfallPage

@Suite struct ReadableTests {
    @Test(
        arguments: [
            (0, "0 ms"), (0.01, "<0.1 ms"), (0.4, "0.4 ms"), (1, "1 ms"), (9.94, "9.9 ms"), (9.96, "10 ms"),
            (35.4, "35 ms"),
            (999.4, "999 ms"), (999.6, "1 s"), (1240, "1.24 s"), (1300, "1.3 s"), (12_340, "12.3 s"),
            (119_400, "119.4 s"),
            (125_000, "2 min 5 s"), (7_260_000, "2 h 1 min"), (1e300, "277777777 h 46 min"), (-1e300, "0 ms"),
            (.nan, "0 ms"),
        ] as [(Double, String)]
    )
    func milliseconds(_ value: Double, _ text: String) {
        #expect(Readable.milliseconds(value) == text)
    }

    @Test(arguments: [
        (0, "0 B"), (-5, "0 B"), (999, "999 B"), (1000, "1 kB"), (4120, "4.1 kB"), (59_900, "60 kB"), (999_999, "1 MB"),
        (28_400_000, "28 MB"), (2_500_000_000, "2.5 GB"), (Int.max, "9223372037 GB"),
    ])
    func bytes(_ count: Int, _ text: String) {
        #expect(Readable.bytes(count) == text)
    }

    @Test(arguments: [(0, "0"), (7, "7"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")])
    func counts(_ count: Int, _ text: String) {
        #expect(Readable.count(count) == text)
    }

    @Test func nouns() {
        #expect(Readable.count(1, of: "request") == "1 request")
        #expect(Readable.count(1200, of: "request") == "1,200 requests")
    }
}

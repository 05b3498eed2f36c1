import Testing

@testable import WaterfallPage

@Suite struct TimeAxisTests {
    @Test(
        arguments: [
            (0, 1, 0.2), (0, 9, 1), (0, 35, 5), (0, 100, 20), (0, 1760, 200), (5000, 5900, 100), (0, 60_000, 10_000),
            (0, 240_000, 30_000), (0, 3_600_000, 600_000), (0, 86_400_000, 10_800_000), (0, 1e13, 2e12),
        ] as [(Double, Double, Double)]
    )
    func ticksAreRoundNumbers(_ start: Double, _ end: Double, _ step: Double) {
        let axis = TimeAxis(from: start, to: end)
        #expect(abs(axis.step - step) < step * 1e-9, "\(axis.step)")
        #expect((4...12).contains(axis.ticks.count), "\(axis.ticks)")
        #expect(axis.origin <= start && axis.origin + axis.length >= end)
        #expect(axis.ticks.allSatisfy { abs($0 / step - ($0 / step).rounded()) < 1e-6 })
    }

    @Test(
        arguments: [
            (0.0, 0.0), (-5, -10), (0, .infinity), (-.infinity, 7), (1e300, 2e300), (5, 1), (.nan, .nan), (0, .nan),
            (1e14, 1e14),
        ] as [(Double, Double)]
    )
    func anyTimesMakeAnAxis(_ start: Double, _ end: Double) {
        let axis = TimeAxis(from: start, to: end)
        #expect(axis.length.isFinite && axis.length > 0 && axis.step > 0)
        #expect(!axis.ticks.isEmpty && axis.ticks.count <= 24)
        for time in [start, end, 0, .nan, .infinity] { #expect((0...100).contains(axis.place(time))) }
        for tick in axis.ticks { #expect(!axis.label(tick).isEmpty) }
    }

    @Test(
        arguments: [
            (0, 100, 0, "0"), (0, 100, 40, "40 ms"), (0, 1, 0.2, "0.2 ms"), (0, 1760, 200, "0.2 s"),
            (0, 60_000, 20_000, "20 s"),
            (5000, 5090, 5020, "5.02 s"), (5000, 5009, 5003, "5.003 s"), (0, 240_000, 150_000, "2:30"),
            (3_725_000, 3_726_000, 3_725_200, "1:02:05.2"), (600_000, 605_000, 601_000, "10:01"),
        ] as [(Double, Double, Double, String)]
    )
    func labelsAreAsExactAsTicksAreApart(_ start: Double, _ end: Double, _ tick: Double, _ label: String) {
        #expect(TimeAxis(from: start, to: end).label(tick) == label)
    }
}

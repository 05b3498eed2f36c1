import Fetching
import Testing

@Suite struct QuantityTests {
    @Test(
        arguments: [
            (0, "0 B"), (1, "1 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (10_189, "10 KiB"),
            (10_240, "10 KiB"), (1_047_552, "1023 KiB"), (1_048_064, "1.0 MiB"), (1_048_575, "1.0 MiB"),
            (1 << 30, "1.0 GiB"),
            (5_368_709_120, "5.0 GiB"), (.max, "8.0 EiB"), (-5, "0 B"), (.min, "0 B"),
        ] as [(Int64, String)]
    )
    func formatsBytesInUnits(count: Int64, text: String) {
        #expect(Quantity.bytes(count) == text)
    }

    @Test(
        arguments: [
            (nil, nil), (0, "0 B/s"), (1536, "1.5 KiB/s"), (0.4, "0 B/s"), (-1, nil), (.nan, nil), (.infinity, nil),
            (1e300, nil),
        ] as [(Double?, String?)]
    )
    func formatsBytesPerSecond(rate: Double?, text: String?) {
        #expect(Quantity.rate(rate) == text)
    }

    @Test(
        arguments: [
            (nil, nil), (.zero, "0:00"), (.milliseconds(999), "0:00"), (.seconds(5), "0:05"), (.seconds(754), "12:34"),
            (.seconds(3723), "1:02:03"), (.seconds(345_599), "95:59:59"), (.seconds(345_600), nil), (.seconds(-1), nil),
            (.seconds(Int64.max), nil),
        ] as [(Duration?, String?)]
    )
    func formatsTimeAsClock(time: Duration?, text: String?) {
        #expect(Quantity.time(time) == text)
    }

    @Test(
        arguments: [
            (0, 100, 0), (1, 3, 33), (999, 1000, 99), (99_999, 100_000, 99), (100, 100, 100), (101, 100, 100),
            (0, 0, 100),
            (5, nil, nil), (-1, 100, 0), (.max - 1, .max, 99), (5, -1, nil),
        ] as [(Int64, Int64?, Int?)]
    )
    func reachesHundredPercentOnlyAtEnd(completed: Int64, total: Int64?, percent: Int?) {
        #expect(Quantity.percent(completed, of: total) == percent)
    }
}

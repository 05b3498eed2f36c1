import Foundation
import Testing

@testable import Sluice

@Suite struct LogUnitsTests {
    @Test(
        arguments: [
            (.zero, "0.0 ms"), (.microseconds(440), "0.4 ms"), (.microseconds(9_940), "9.9 ms"),
            (.microseconds(9_960), "10 ms"),
            (.milliseconds(35), "35 ms"), (.milliseconds(999), "999 ms"), (.microseconds(999_600), "1.0 s"),
            (.milliseconds(1_260), "1.3 s"), (.seconds(10), "10 s"), (.seconds(119), "119 s"), (.seconds(120), "2 min"),
            (.seconds(5_900), "98 min"), (.seconds(7_200), "2 h"), (.seconds(-1), "0.0 ms"),
            (.seconds(Int64.max / 8), "320255973501902 h"),
        ] as [(Duration, String)]
    )
    func formatsDurationInFittingUnit(_ duration: Duration, _ text: String) {
        #expect(LogUnits.text(duration) == text)
    }

    @Test(
        arguments: [
            (0, "0 B"), (-1, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1_250, "1.3 kB"), (9_949, "9.9 kB"),
            (9_950, "10 kB"),
            (999_499, "999 kB"), (999_500, "1.0 MB"), (35_000_000, "35 MB"), (2_000_000_000, "2.0 GB"),
            (Int.max, "9223372 TB"),
        ]
    )
    func formatsSizeInFittingUnit(_ bytes: Int, _ text: String) {
        #expect(LogUnits.text(bytes: bytes) == text)
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1_783_678_530.1239, "2026-07-10T10:15:30.123Z"),
            (-0.5, "1969-12-31T23:59:59.500Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"), (-62_135_596_800, "0001-01-01T00:00:00.000Z"),
        ]
    )
    func formatsDateAsISO8601(_ seconds: Double, _ text: String) {
        let date = Date(timeIntervalSince1970: seconds)
        #expect(LogUnits.text(date, withDay: true) == text)
        #expect(LogUnits.text(date, withDay: false) == String(text.suffix(13)))
    }

    @Test func extremeDatesDoNotTrap() {
        for date in [
            Date.distantPast, .distantFuture, Date(timeIntervalSince1970: 1e300),
            Date(timeIntervalSince1970: -.infinity),
        ] {
            #expect(LogUnits.text(date, withDay: false).hasSuffix("Z"))
        }
        #expect(LogUnits.text(Date(timeIntervalSince1970: .nan), withDay: false).hasSuffix("Z"))
    }
}

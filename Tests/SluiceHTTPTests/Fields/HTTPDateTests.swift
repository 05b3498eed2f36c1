import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@Suite struct HTTPDateTests {
    /// 2026-01-01 00:00:00 UTC
    private static let now = Date(timeIntervalSince1970: 1_767_225_600)

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), (" \tSun, 06 Nov 1994 08:49:37 GMT ", 784_111_777),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000), ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
            ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Sat Dec 31 23:59:60 2016", 1_483_228_800), ("Thu Jan  1 00:00:00 2026", 1_767_225_600),
            // The day of the week is not checked.
            ("Mon, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ]
    )
    func datesAreParsed(_ text: String, _ seconds: Int) {
        #expect(HTTPDate.parse(text, now: Self.now) == Date(timeIntervalSince1970: Double(seconds)))
    }

    @Test(arguments: [
        "", " ", "0", "Sun", "Sun,", "Sun, ", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 06 Nov 1994 08:49:37 GMT+1", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
        "Sun, 06-Nov-1994 08:49:37 GMT",
        "Sunday, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
        "Sun Nov 06 08:49:37 94", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
        "Thu, 29 Feb 2023 12:00:00 GMT",
        "Thu, 29 Feb 1900 12:00:00 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 19944 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37.5 GMT", "Sun, 06 Nov 1994 08:49:37 GMT,",
        "1994-11-06T08:49:37Z",
        "Sun, ٠٦ Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT\0", "Sun\u{301}, 06 Nov 1994 08:49:37 GMT",
    ])
    func rejectsMalformedDates(_ text: String) {
        #expect(HTTPDate.parse(text, now: Self.now) == nil)
    }

    @Test(
        arguments: [
            (2026, "01-Jan-76 00:00:00", 2076), (2026, "01-Jan-76 00:00:01", 1976), (2026, "31-Dec-75 23:59:59", 2075),
            (2026, "01-Jan-26 00:00:00", 2026), (2026, "01-Jan-00 00:00:00", 2000), (2026, "01-Jan-99 00:00:00", 1999),
            (2090, "01-Jan-10 00:00:00", 2110), (2090, "02-Jan-40 00:00:00", 2040), (2090, "01-Jan-40 00:00:00", 2140),
        ]
    )
    func twoDigitYearIsAtMostFiftyYearsAhead(_ now: Int, _ text: String, _ year: Int) {
        let now = Date(timeIntervalSince1970: Double(CivilTime(year: now, month: 1, day: 1).secondsSince1970))
        let date = HTTPDate.parse("Monday, \(text) GMT", now: now)
        #expect(date.map { HTTPDate.string(from: $0).contains(" \(year) ") } == true)
    }

    @Test(
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (784_111_777.999, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (-0.5, "Wed, 31 Dec 1969 23:59:59 GMT"),
            (-62_167_219_200, "Sat, 01 Jan 0000 00:00:00 GMT"), (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (-.infinity, "Sat, 01 Jan 0000 00:00:00 GMT"), (1e300, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (.nan, "Thu, 01 Jan 1970 00:00:00 GMT"),
        ] as [(Double, String)]
    )
    func datesAreWritten(_ seconds: Double, _ text: String) {
        #expect(HTTPDate.string(from: Date(timeIntervalSince1970: seconds)) == text)
    }

    /// RFC 9111 §4.2
    @Test func lettersInAnyCaseMakeTheSameDate() {
        var generator = SeededGenerator(seed: 9111)
        let forms = ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]
        for form in forms + ["Wed, 31 Dec 1969 23:59:59 GMT", "Saturday, 01-Aug-26 00:00:00 GMT"] {
            let date = HTTPDate.parse(form, now: Self.now)
            #expect(date != nil)
            let cases = (0..<200).map { _ in
                form.map { Bool.random(using: &generator) ? $0.uppercased() : $0.lowercased() }.joined()
            }
            for text in cases + [form.uppercased(), form.lowercased()] {
                #expect(HTTPDate.parse(text, now: Self.now) == date, "\(text)")
            }
        }
    }

    @Test(arguments: [
        "\u{17F}un, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 ＧＭＴ", "Sun\u{C} 06 Nov 1994 08:49:37 GMT",
    ])
    func charactersThatOnlyResembleLettersAreRefused(_ text: String) {
        #expect(HTTPDate.parse(text, now: Self.now) == nil)
    }

    @Test func randomDatesRoundTripAndMatchCalendar() throws {
        var generator = SeededGenerator(seed: 5322)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        for _ in 0..<2000 {
            // The system's calendar is Gregorian, too, from 1600 on.
            let seconds = Int64.random(in: -11_676_096_000...253_402_300_799, using: &generator)
            let date = Date(timeIntervalSince1970: Double(seconds))
            #expect(HTTPDate.parse(HTTPDate.string(from: date), now: Self.now) == date)
            let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second, .weekday], from: date)
            let time = CivilTime(secondsSince1970: seconds)
            #expect(time.secondsSince1970 == seconds)
            #expect(time.isValid)
            #expect(parts.weekday == time.weekday + 1)
            #expect([parts.year, parts.month, parts.day] == [time.year, time.month, time.day])
            #expect([parts.hour, parts.minute, parts.second] == [time.hour, time.minute, time.second])
        }
    }

    @Test func randomTextsRoundTripWithoutATrap() {
        var generator = SeededGenerator(seed: 850)
        let pieces = [
            "Sun", "Sunday", ", ", " ", "  ", "06", "6", "-", "Nov", "94", "1994", "08:49:37", ":", " GMT", "ü", "\0",
            "99",
        ]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0..<12, using: &generator)
            let text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            let now = Date(
                timeIntervalSince1970: [.nan, .infinity, -1e300, 0, 1e12].randomElement(using: &generator) ?? 0
            )
            guard let date = HTTPDate.parse(text, now: now) else { continue }
            #expect(HTTPDate.parse(HTTPDate.string(from: date), now: now) == date, "\(text)")
        }
    }
}

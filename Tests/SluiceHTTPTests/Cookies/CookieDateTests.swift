import SluiceHTTP
import Testing

/// Cookie dates in the forms that servers use.
@Suite struct CookieDateTests {
    private static func seconds(_ text: String) -> Int64? { CookieDate.seconds(Array(text.utf8)) }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "6 nov 1994 8:49:37", "1994 08:49:37 Nov 6", "08:49:37 06 November 1994", "06 Nov 94 08:49:37 +0500",
        "6th-NOV-1994 08:49:37", "06 Nov 1994 08:49:37.500", "\"06 Nov 1994 08:49:37\"", "06/Nov/1994@08:49:37",
        "06 Nov 1994x 08:49:37z", "\t06\tNov\t1994\t08:49:37\t", "Mon, 06 Nov 1994 08:49:37 PST",
        "x 6 x Nov x 94 08:49:37",
        "6 Nov 1994 08:49:37 12:00:00", "6 Nov 1994 08:49:37 7 Dec 1995",
    ])
    func differentFormatsGiveTheSameTime(_ text: String) {
        #expect(Self.seconds(text) == 784_111_777)
    }

    @Test(
        arguments: [
            ("01 Jan 69 00:00:00", 3_124_224_000), ("01 Jan 70 00:00:00", 0), ("01 Jan 00 00:00:00", 946_684_800),
            ("01 Jan 1601 00:00:00", -11_644_473_600), ("31 Dec 9999 23:59:59", 253_402_300_799),
            ("29 Feb 1996 00:00:00", 825_552_000), ("Sat, 15-Apr-17 21:01:22 GMT", 1_492_290_082),
            ("Friday, 17-Aug-07 20:49:00 GMT", 1_187_383_740),
        ] as [(String, Int64)]
    )
    func twoAndFourDigitYearsAreParsed(_ text: String, _ seconds: Int64) {
        #expect(Self.seconds(text) == seconds)
    }

    @Test(arguments: [
        "", "Sun", "0", "06 Nov 1994", "08:49:37 Nov 1994", "06 08:49:37 1994", "06 Nov 08:49:37",
        "32 Jan 1994 00:00:00",
        "00 Jan 1994 00:00:00", "29 Feb 1995 00:00:00", "31 Apr 1995 00:00:00", "01 Jan 1994 24:00:00",
        "01 Jan 1994 08:60:00", "01 Jan 1994 08:49:60", "31 Dec 1600 23:59:59", "6 Nov 19941 08:49:37",
        "6 Nov 199 08:49:37", "6 Nov 1994 8:49", "6 Nov 1994 8:49:371", "6 Nov 1994 123:49:37", "6 Nov 1994 08::37",
        "006 Nov 1994 08:49:37", "6 No 1994 08:49:37", "6Nov1994 08:49:37", "784111777",
    ])
    func rejectsMalformedDates(_ text: String) {
        #expect(Self.seconds(text) == nil)
    }

    @Test func longTextsAreParsed() {
        #expect(Self.seconds(String(repeating: "1:", count: 512)) == nil)
        #expect(Self.seconds(String(repeating: "-", count: 900) + "6 Nov 1994 08:49:37") == 784_111_777)
    }
}

import Testing

@testable import Sluice

@Suite struct LogEscapingTests {
    @Test(
        arguments: [
            ("plain", "plain"), ("", ""), ("größe 日本 👩‍👩‍👧", "größe 日本 👩\\u{200D}👩\\u{200D}👧"),
            ("a\r\nb", "a\\r\\nb"), ("a\tb\0", "a\\tb\\0"), ("\u{1B}[31mred", "\\u{1B}[31mred"),
            ("\u{9B}31m", "\\u{9B}31m"),
            ("a\u{2028}b\u{85}", "a\\u{2028}b\\u{85}"), ("\u{202E}evil", "\\u{202E}evil"), ("\u{7F}", "\\u{7F}"),
            ("\n\u{301}", "\\n\u{301}"), ("\u{E0041}", "\\u{E0041}"),
        ]
    )
    func escapesInvisibleCharacters(_ text: String, _ line: String) {
        #expect(LogEscaping.line(text) == line)
    }

    @Test func truncatesLongText() {
        #expect(LogEscaping.line("12345", limit: 4) == "1234…")
        #expect(LogEscaping.line("1234", limit: 4) == "1234")
        #expect(LogEscaping.line("ääää", limit: 4) == "ääää")
        #expect(LogEscaping.line("äääää", limit: 4) == "ääää…")
    }

    @Test func splitsAndEscapesLines() {
        #expect(LogEscaping.lines("a\r\nb\n\n\tc\rd\u{1B}") == ["a", "b", "", "\tc\\rd\\u{1B}"])
        #expect(LogEscaping.lines("") == [""])
    }
}

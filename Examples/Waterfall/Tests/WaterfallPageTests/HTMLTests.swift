import Testing

@testable import WaterfallPage

@Suite struct HTMLTests {
    @Test(arguments: [
        ("plain", "plain"), ("", ""), ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("\" onload='x' & more", "&quot; onload=&#39;x&#39; &amp; more"), ("größe 日本 🇯🇵", "größe 日本 🇯🇵"),
        ("<\u{301}b>", "&lt;\u{301}b&gt;"), ("\"\u{301}", "&quot;\u{301}"),
        ("a\0b\u{1B}[0m\r", "a\u{FFFD}b\u{FFFD}[0m\u{FFFD}"),
        ("\u{202E}gpj.exe\u{202C}", "\u{FFFD}gpj.exe\u{FFFD}"),
        ("\u{2066}x\u{FEFF}\u{85}\u{FFFE}", "\u{FFFD}x\u{FFFD}\u{FFFD}\u{FFFD}"),
        ("a\n\tb", "a\n\tb"), ("&amp;", "&amp;amp;"), ("\u{10FFFF}", "\u{FFFD}"), ("–é€\u{FFFD}", "–é€\u{FFFD}"),
    ])
    func whatIsInterpolatedIsText(_ text: String, _ expected: String) {
        let html: HTML = "<p>\(text)</p>"
        #expect(html.text.unicodeScalars.elementsEqual("<p>\(expected)</p>".unicodeScalars), "\(html.text)")
    }

    @Test func markupIsKept() {
        let cell: HTML = "<b>\("&")</b>"
        let row: HTML = "<p>\([cell, cell])\(cell)\(7)</p>"
        #expect(row.text == "<p><b>&amp;</b><b>&amp;</b><b>&amp;</b>7</p>")
    }

    @Test(
        arguments: [
            (0, "0%"), (100, "100%"), (50, "50%"), (12.5, "12.5"), (12.3456, "12.346%"), (0.0004, "0%"), (0.05, "0.05"),
            (0.007, "0.007%"), (-3, "0%"), (1e300, "100%"), (.infinity, "100%"), (.nan, "0%"), (99.9999, "100%"),
        ] as [(Double, String)]
    )
    func sharesAreBetweenNoneAndAll(_ percent: Double, _ expected: String) {
        let html: HTML = "\(percent: percent)"
        #expect(html.text.hasPrefix(expected), "\(html.text)")
        #expect(html.text.hasSuffix("%"))
    }
}

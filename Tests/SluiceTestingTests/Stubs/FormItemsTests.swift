import Testing

@testable import SluiceTesting

@Suite struct FormItemsTests {
    @Test(arguments: [
        ("a+b%20c", "a b c"), ("%C3%A9%e2%82%ac", "é€"), ("100%", "100%"), ("%4", "%4"), ("%zz", "%zz"),
        // Swift's integer parser accepts a sign.
        ("%+1", "% 1"), ("%-0", "%-0"),
    ])
    func decodesOnlyPercentTriplets(_ text: String, _ decoded: String) {
        #expect(FormItems.decoded(text) == decoded)
    }

    @Test func combiningMarkAfterDelimiterKeepsDelimiter() {
        let items = FormItems.items(of: "a=\u{301}1&\u{301}b=2")
        #expect(items.map(\.name) == ["a", "\u{301}b"])
        #expect(items.map(\.value) == ["\u{301}1", "2"])
    }
}

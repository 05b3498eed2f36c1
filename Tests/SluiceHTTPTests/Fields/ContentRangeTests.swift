import Testing

@testable import SluiceHTTP

@Suite struct ContentRangeTests {
    /// RFC 9110 §14.4.
    private static let valid: [(text: String, range: Range<Int64>?, length: Int64?)] = [
        ("bytes 0-9/100", 0..<10, 100),
        ("bytes 42-1233/1234", 42..<1234, 1234),
        ("bytes 42-1233/*", 42..<1234, nil),
        ("bytes */1234", nil, 1234),
        ("bytes */0", nil, 0),
        ("BYTES 5-5/6", 5..<6, 6),
        ("bytes 00-09/0100", 0..<10, 100),
        ("bytes 0-9223372036854775806/9223372036854775807", 0 ..< .max, .max),
        ("bytes 9223372036854775806-9223372036854775806/*", .max - 1 ..< .max, nil),
    ]

    @Test(arguments: valid)
    func rangeIsParsed(_ text: String, _ range: Range<Int64>?, _ length: Int64?) throws {
        let value = try #require(ContentRange(text))
        #expect(value.range == range)
        #expect(value.length == length)
    }

    @Test(arguments: [
        "", "bytes", "bytes ", "bytes /", "bytes 0-9", "bytes 0-9/", "bytes /100", "bytes -/100", "bytes 0-/100",
        "bytes -9/100", "bytes */*", "bytes 9-0/100", "bytes 0-100/100", "bytes 0-0/0", "bytes=0-9/100",
        "items 0-9/100",
        "bytes  0-9/100", "bytes 0 - 9/100", "bytes 0-9 /100", "bytes 0-9/ 100", "bytes +0-9/100", "bytes 0-9/-1",
        "bytes 0-9/100,10-19/100", "bytes 0x0-9/100", "bytes 0-9223372036854775807/*",
        "bytes 0-9223372036854775808/*", "bytes 0-9/9223372036854775808", "bytes 99999999999999999999-9/*",
        "bytes ٠-٩/١٠", "bytes 0-9/100/100", "\0", "bytes 0-9/100\0",
    ])
    func rejectsMalformedRanges(_ text: String) {
        #expect(ContentRange(text) == nil)
    }
}

import Foundation
import Sluice
import Testing

/// Redaction takes time in proportion to what it reads: twice as much takes about twice as long, whatever it holds.
@Suite(.serialized) struct RedactionTimeTests {
    private static let pieces = [
        "a", "[", "{\"a\":", "{\"token\":", "\"\\", "://", "://a?b=", "?a=://b?c=", "://a:b/", "://a:x", "Bearer ",
        "Bearer a=", "password",
        "password:",
        "password=\"", "password='\\", "token=\\\"", "[].", "a.token[", "%25", "next=%253D&", ";token=", "a   ",
        "\\u00", "\r\n--b",
        "\r\n--b1\r\n", "\r\n\r\n", "--b1\r\nX: y\r\n\r\n", "\n{", "\u{301}", "=\"", "😀",
    ]

    @Test(arguments: pieces)
    func hostileTextIsReadInLinearTime(_ piece: String) {
        // A square of 8 KiB would take most of a minute.
        let text = String(repeating: piece, count: (8 << 10) / piece.utf8.count)
        let clock = ContinuousClock()
        let duration = clock.measure {
            _ = Redaction.standard.url(text)
            _ = Redaction.standard.text(text)
            _ = Redaction.standard.headers(["X-Any": text, "Location": text])
            for type in [
                "application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b1", nil,
            ] {
                _ = Redaction.standard.body(Data(text.utf8), contentType: type)
            }
        }
        #expect(duration < .seconds(10))
    }

    @Test func aBodyOfManyMegabytesIsNotRead() {
        let data = Data(repeating: UInt8(ascii: "["), count: 64 << 20)
        let duration = ContinuousClock().measure { _ = Redaction.standard.body(data, contentType: "application/json") }
        #expect(duration < .milliseconds(100))
    }
}

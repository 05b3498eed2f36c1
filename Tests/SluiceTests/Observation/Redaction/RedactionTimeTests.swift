import Foundation
import Sluice
import Testing

/// Redaction takes linear time for all inputs. With quadratic time, these tests do not end.
@Suite(.serialized) struct RedactionTimeTests {
    private static let pieces = [
        "a", "[", "{\"a\":", "{\"token\":", "\"\\", "://", "://a?b=", "?a=://b?c=", "://a:b/", "://a:x", "Bearer ",
        "Bearer a=", "password",
        "password:",
        "password=\"", "password='\\", "token=\\\"", "[].", "a.token[", "%25", "next=%253D&", ";token=", "a   ",
        "\\u00", "\r\n--b",
        "\r\n--b1\r\n", "\r\n\r\n", "--b1\r\nX: y\r\n\r\n", "\n{", "\u{301}", "=\"", "😀",
        "<a>", "<a b=\"", "<a b='c'>", "<password>", "<password ", "<password></b>", "</a>", "<!--", "<![CDATA[", "&#",
        "&#97;",
        "name=password&value=", "name: password\n", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "password:\n ",
        "password: |\n", "{\"name\":\"password\",", "[[\"password\",", "password: $a ", "\"\"\"", "token=a,", "''",
        "%2525",
        "token:x?", "key=token&", "token=a;b?", "a:[$b,", "<a key=token ",
        "={", "--token ", "{\"query\":\"a: $b\",\"variables\":",
    ]

    @Test(arguments: pieces)
    func redactsHostileTextInLinearTime(_ piece: String) async {
        let text = String(repeating: piece, count: (8 << 10) / piece.utf8.count)
        #expect(!Redaction.standard.url(text).isEmpty)
        #expect(!Redaction.standard.text(text).isEmpty)
        #expect(Redaction.standard.headers(["X-Any": text, "Location": text]).count == 2)
        for type in ["application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b1", nil] {
            // Lets other tests go on, some of which measure time.
            await Task.yield()
            _ = Redaction.standard.body(Data(text.utf8), contentType: type)
        }
    }

    /// Each end tag that matches no element was once compared with all open elements.
    @Test(.timeLimit(.minutes(1))) func redactsUnmatchedEndTagsInLinearTime() {
        let body = "<html>" + String(repeating: "<a>", count: 500) + String(repeating: "</b>", count: 250_000)
        guard case .text = Redaction.standard.body(Data(body.utf8), contentType: "text/html") else {
            Issue.record("The body is a text.")
            return
        }
    }

    /// Combining characters of two classes in alternation. A comparison of characters sorts them in quadratic time.
    private func marks(_ count: Int) -> String { String(repeating: "\u{301}\u{323}", count: count / 2) }

    @Test(arguments: [
        "{\"a\":\"token=*\"}", "user=ada&password=*", "a: 1\npassword=*", "<a>token=*</a>", "<a><!--token=*--></a>",
        "<t*>x</t*>", "<html><t*>x</t*></html>", "<d*><td>password</td></d*>", "<h*><th>password</th></h*>",
        "<a n*='x' t*='y'/>", "--b1\r\nX-A: *\r\n\r\nx\r\n--b1--\r\n",
    ])
    func redactsCombiningCharactersInLinearTime(_ place: String) {
        // As many as the limit of a body allows.
        let count = 480_000 / place.utf8.count { $0 == UInt8(ascii: "*") }
        let body = Data(place.replacing("*", with: marks(count)).utf8)
        let type = place.hasPrefix("--") ? "multipart/form-data; boundary=b1" : nil
        let redacted = Redaction.standard.body(body, contentType: type)
        if case .binary = redacted { Issue.record("The body is a text.") }
    }

    @Test func redactsFieldsOfCombiningCharactersInLinearTime() {
        let marks = marks(480_000)
        let fields: HTTPHeaders = ["X-Any": "token=\(marks)", "Authorization": "e\(marks) x"]
        let redacted = Redaction.standard.headers(fields)
        #expect(redacted["X-Any"] == "token=REDACTED")
        #expect(redacted["Authorization"] == "REDACTED")
        #expect(Redaction.standard.text("a%20b&password=\(marks)") == "a%20b&password=REDACTED")
    }

    /// Names of authentication schemes, each of which a token may follow.
    @Test(arguments: ["ntlm/", "basic+", "hoba=", "bearer~"])
    func redactsSchemesWithoutTokensInLinearTime(_ piece: String) {
        let text = String(repeating: piece, count: (128 << 10) / piece.utf8.count)
        #expect(Redaction.standard.text(text).utf8.count > 0)
        let body = Redaction.standard.body(Data(text.utf8), contentType: "text/plain")
        if case .binary = body { Issue.record("The body is a text.") }
    }

    @Test func doesNotReadBodyOver64Megabytes() {
        let data = Data(repeating: UInt8(ascii: "["), count: 64 << 20)
        #expect(Redaction.standard.body(data, contentType: "application/json") == .tooLong)
    }
}

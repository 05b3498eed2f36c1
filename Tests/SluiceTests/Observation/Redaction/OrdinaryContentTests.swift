import Foundation
import Sluice
import SluiceHTTP
import SluiceTesting
import Testing

/// Redaction leaves content without secrets as it is, in logs and in cassettes, and content that was redacted before.
@Suite struct OrdinaryContentTests {
    static let bodies: [(String, String?)] = [
        (#"{"name":"Ada","tags":["a","b"],"age":36,"ok":true}"#, "application/json"),
        (#"{"grant_type":"password","username":"ada"}"#, "application/json"),
        (#"{"error":"invalid_token","error_description":"The token has expired."}"#, "application/json"),
        (#"{"message":"Your password was changed.","code":404,"key":"title"}"#, "application/json"),
        (#"{"usage":{"prompt_tokens":12,"completion_tokens":34,"total_tokens":46},"max_tokens":100}"#, nil),
        (#"{"author":"ada","compass":"N","passed":3,"pinned":true,"ticketCount":2,"keyboard":"qwerty"}"#, nil),
        (#"{"name":"Reset password","url":"/reset","icon":"lock"}"#, "application/json"),
        (#"{"name":"password","type":"string","required":true}"#, "application/json"),
        (#"[{"name":"Accept","value":"*/*"},{"key":"colour","value":"red"}]"#, "application/json"),
        (#"{"fields":["id","password"]}"#, "application/json"), (#"{"sort":["name","asc"],"x":[["a","b"]]}"#, nil),
        (#"{"html":"<p>Hello <b>Ada</b></p>","text":"a < b","path":"C:\\users"}"#, "application/json"),
        (#"{"next":"https://b.c/?page=2&sort=token","q":"100%25"}"#, "application/json"),
        (#"{"query":"query($id: ID!) { user(id: $id) { name } }","variables":{"id":"7"}}"#, "application/json"),
        (#"{"kty":"EC","crv":"P-256","x":"abc","y":"def","use":"sig"}"#, "application/json"),
        ("user=ada&page=2&sort=token&next=%2Fa%3Fb%3Dc", "application/x-www-form-urlencoded"),
        ("q=forgot+password&fields=id,token", "application/x-www-form-urlencoded"),
        ("<r xmlns:a=\"urn:a\"><user id=\"1\">ada</user><a:b/><!-- note --><![CDATA[x < y]]></r>", "application/xml"),
        ("<?xml version=\"1.0\"?>\n<feed><author>Ada</author><title>Keys &amp; locks</title></feed>", "text/xml"),
        ("<row><name>colour</name><value>red</value></row>", "application/xml"),
        (
            "<!DOCTYPE html><html><head><title>Sign in</title></head><body><p>Forgot your password?<p>"
                + "<input type=\"password\" name=\"password\"><br><a href=\"/a?b=1&amp;c=2\">x</a></body></html>",
            "text/html"
        ),
        ("name: ada\nitems:\n  - a\n  - b\n", "application/yaml"), ("a,b\n1,2\n", "text/csv"),
        ("{ user(id: 7) { name } }", "application/graphql"), ("The server is busy. Try again at 10:15.", "text/plain"),
        ("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n", "application/x-pem-file"),
        ("{\"a\":1}\n{\"b\":2}\n", "application/x-ndjson"),
    ]

    @Test(arguments: bodies)
    func bodyIsShown(_ text: String, _ type: String?) throws {
        #expect(Redaction.standard.body(Data(text.utf8), contentType: type) == .text(text))
        let headers: HTTPHeaders = type.map { [.contentType: $0] } ?? [:]
        let request = RecordedRequest(method: .post, url: "http://a/", headers: headers, body: Data(text.utf8))
        let response = RecordedExchange.Response(
            head: HTTPResponse(status: .ok, headers: headers),
            body: Data(text.utf8)
        )
        let exchange = RecordedExchange(request: request, result: .success(response))
        let redacted = CassetteRedaction.standard.redacted(exchange)
        #expect(redacted.request.body == Data(text.utf8))
        #expect(try redacted.result.get().body == Data(text.utf8))
    }

    @Test(arguments: [
        ("Vary", "Authorization, Cookie"), ("Access-Control-Allow-Headers", "Authorization, X-CSRF-Token, X-Session"),
        ("WWW-Authenticate", "Bearer realm=\"api\", error=\"invalid_token\""), ("ETag", "\"abc\""),
        ("Content-Disposition", "attachment; filename=\"a.txt\""), ("User-Agent", "App/1.0 (Linux; x86_64)"),
        ("Idempotency-Key", "7"), ("X-Request-Id", "5d1f"), ("Accept", "text/html, application/json;q=0.9"),
        ("Link", "</a?page=2>; rel=\"next\""), ("Location", "/a?page=2#top"), ("Cache-Control", "max-age=60"),
        ("Date", "Mon, 23 Nov 2026 14:00:00 GMT"), ("X-Author", "ada"), ("Report-To", "{\"url\":\"https://b.c/r\"}"),
    ])
    func fieldIsShown(_ name: String, _ value: String) {
        let headers = HTTPHeaders([(HTTPHeaderName(name), value)])
        #expect(Redaction.standard.headers(headers) == headers)
    }

    @Test(arguments: [
        "https://b.c/a%20b?page=2&q=forgot+password&sort=token&fields=id,token", "/a?filter={\"a\":1}&b=[1,2]",
        "/a?where=name:ada,age:36&next=%2Fb%3Fc%3D1", "/login?error=invalid_token#top", "/a?x=100%25&y=%22b%22",
        "/tickets/7/session?author=ada", "/a?range=<5&b=1",
    ])
    func urlIsShown(_ url: String) {
        #expect(Redaction.standard.url(url) == url)
    }

    private static let pieces = [
        "a", " ", "\n", "{", "}", "[", "]", "\"", "'", ":", "=", "&", ";", ",", "<", ">", "/", "\\", "%22", "%3D",
        "name",
        "value", "password", "token", "<a>", "</a>", "<password>", "</password>", "Bearer ", "abc1", "://", "@",
        "\"\"\"",
        "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "--", "key", "https://ada:pw@b.c/", "|", "- ",
        "\r\n",
        "{\"password\":\"a\"}", "[{\"name\":\"token\",\"value\":\"a\"}]", "REDACTED", "&amp;", "<![CDATA[", "]]>", "=>",
    ]

    /// Texts of random pieces, of which many are malformed documents, are not changed by a second redaction.
    @Test(arguments: [UInt64](0..<8))
    func redactedTextIsNotRedactedAgain(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<400 {
            let count = Int.random(in: 1...12, using: &generator)
            let text = (0..<count).map { _ in Self.pieces.randomElement(using: &generator) ?? "" }.joined()
            let redaction = Redaction.standard
            let (url, shown) = (redaction.url(text), redaction.text(text))
            #expect(redaction.url(url) == url, "\(text)")
            #expect(redaction.text(shown) == shown, "\(text)")
            for type in ["application/json", "application/x-www-form-urlencoded", "text/html"] {
                guard case .text(let once) = redaction.body(Data(text.utf8), contentType: type) else { continue }
                #expect(redaction.body(Data(once.utf8), contentType: type) == .text(once), "\(type): \(text)")
            }
        }
    }
}

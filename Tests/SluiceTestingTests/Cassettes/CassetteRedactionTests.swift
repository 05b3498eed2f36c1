import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@Suite struct CassetteRedactionTests {
    private static let deep = String(repeating: "[", count: 600) + String(repeating: "]", count: 600)

    private func redacted(
        url: String = "http://a/",
        _ headers: HTTPHeaders = [:],
        _ body: String = "",
        _ redaction: CassetteRedaction = .standard
    ) -> RecordedRequest {
        let request = RecordedRequest(method: .post, url: url, headers: headers, body: Data(body.utf8))
        let response = RecordedExchange.Response(head: HTTPResponse(status: .ok))
        return redaction.redacted(RecordedExchange(request: request, result: .success(response))).request
    }

    @Test(arguments: [
        ("http://a/?api_key=k&q=1", "http://a/?api_key=REDACTED&q=1"),
        ("http://a/#access_token=t&x=1", "http://a/#access_token=REDACTED&x=1"),
        ("http://ada:pw@a/p", "http://REDACTED@a/p"), ("http://a/token/1", "http://a/token/1"),
        ("http://a/?client%5Fsecret=s", "http://a/?client%5Fsecret=REDACTED"), ("http://a/?q", "http://a/?q"),
        ("http://a/?user[access_token]=S&x=1", "http://a/?user[access_token]=REDACTED&x=1"),
        ("http://a/?token%5B%5D=S", "http://a/?token%5B%5D=REDACTED"),
        ("http://a/?login[pin]=1&login.otp=2", "http://a/?login[pin]=REDACTED&login.otp=REDACTED"),
        ("http://a/#/callback?code=c", "http://a/#/callback?code=REDACTED"),
        ("http://a/?a=1&&b=2&", "http://a/?a=1&&b=2&"),
        ("http://a/?next=http%3A%2F%2Fb%2F%3Ftoken%3DS", "http://a/?next=REDACTED"),
        ("http://a/?next=http%3A%2F%2Fb%2F%3Fpage%3D2", "http://a/?next=http%3A%2F%2Fb%2F%3Fpage%3D2"),
        ("http://a/?pageToken=2&next_token=3&syncToken=4", "http://a/?pageToken=2&next_token=3&syncToken=4"),
        ("http://a/?page[next_token]=3&token[page_token]=4", "http://a/?page[next_token]=3&token[page_token]=REDACTED"),
        // A combining mark after a delimiter does not change the delimiter.
        ("http://a/?token=\u{301}S&\u{301}x=1", "http://a/?token=REDACTED&\u{301}x=1"),
        ("http://a/?x=1&\u{301}token=S", "http://a/?x=1&\u{301}token=REDACTED"),
        ("http://a/p?\u{301}token=S#\u{301}token=S", "http://a/p?\u{301}token=REDACTED#\u{301}token=REDACTED"),
        ("http://\u{301}ada:pw@\u{301}a/", "http://REDACTED@\u{301}a/"),
    ])
    func redactsURLs(_ url: String, _ expected: String) {
        #expect(redacted(url: url).url == expected)
    }

    @Test func newRedactionHasTheStandardRules() {
        let url = "http://a/?api_key=k&email=e"
        var redaction = CassetteRedaction()
        #expect(redacted(url: url, [:], "", redaction).url == redacted(url: url).url)
        redaction.members.append("email")
        #expect(redacted(url: url, [:], "", redaction).url == "http://a/?api_key=REDACTED&email=REDACTED")
    }

    private static func form(_ parts: (head: String, content: String)...) -> String {
        parts.map { "--b\r\n\($0.head)\r\n\r\n\($0.content)\r\n" }.joined() + "--b--\r\n"
    }

    private static func field(_ name: String) -> String { "Content-Disposition: form-data; name=\"\(name)\"" }

    @Test(arguments: [
        (form((field("password"), "S"), (field("q"), "1")), form((field("password"), "REDACTED"), (field("q"), "1"))),
        (form((field("password"), "")), form((field("password"), ""))),
        (form((field("q"), "1\r\n2")), form((field("q"), "1\r\n2"))),
        (form((field("user[pin]"), "1")), form((field("user[pin]"), "REDACTED"))),
        (
            form((field("q") + "\r\nContent-Type: application/json", #"{"token":"S"}"#)),
            form((field("q") + "\r\nContent-Type: application/json", #"{"token":"REDACTED"}"#))
        ),
        (
            form(("Content-Disposition: form-data; name*=utf-8''password", "S")),
            form(("Content-Disposition: form-data; name*=utf-8''password", "REDACTED"))
        ),
        ("--b\r\n\(field("password"))\r\n\r\nS", "REDACTED"), ("--c--", "REDACTED"), ("REDACTED", "REDACTED"),
        ("--b\r\nS\r\n--b--", "REDACTED"),
    ])
    func redactsSecretParts(_ form: String, _ expected: String) {
        let headers: HTTPHeaders = ["Content-Type": "multipart/form-data; boundary=b"]
        let once = String(decoding: redacted(headers, form).body, as: UTF8.self)
        #expect(once == expected)
        #expect(String(decoding: redacted(headers, once).body, as: UTF8.self) == expected)
    }

    @Test(arguments: [
        "Authorization", "cookie", "Set-Cookie", "Proxy-Authorization", "X-API-Key", "X-Auth-Token", "DPoP",
        "X-Session-Id",
        "X-Auth-Key", "X-Access-Key", "Ocp-Apim-Subscription-Key", "X-Functions-Key",
    ])
    func redactsSecretHeaders(_ name: String) {
        let headers = redacted(HTTPHeaders([(HTTPHeaderName(name), "s3cret"), ("Accept", "a/b")])).headers
        #expect(headers[HTTPHeaderName(name)] == "REDACTED")
        #expect(headers["Accept"] == "a/b")
    }

    @Test(arguments: [
        (
            "application/json", #"{"user":"ada","password":"p","deep":[{"refreshToken":"r","otp":123}],"key":"k"}"#,
            #"{"user":"ada","password":"REDACTED","deep":[{"refreshToken":"REDACTED","otp":0}],"key":"k"}"#
        ),
        ("text/plain", #"{"client_secret":{"a":["b"]}}"#, #"{"client_secret":{"a":["REDACTED"]}}"#),
        (
            "application/x-www-form-urlencoded", "grant_type=password&password=p&code=c",
            "grant_type=password&password=REDACTED&code=REDACTED"
        ),
        ("application/json", #"{ "a" : 1 }"#, #"{ "a" : 1 }"#), ("text/plain", "password=p", "REDACTED"),
    ])
    func redactsBodies(_ type: String, _ body: String, _ expected: String) {
        #expect(redacted([.contentType: type], body).text == expected)
    }

    @Test(arguments: [
        "tokens", "aws_access_key_id", "pass", "bearer", "user_code", "totp", "ssn", "sid", "hmac", "user[password]",
    ])
    func redactsSecretNamesOfSluice(_ name: String) {
        #expect(redacted([.contentType: "application/x-www-form-urlencoded"], "\(name)=S").text == "\(name)=REDACTED")
    }

    @Test(arguments: [
        (
            "Link", #"<https://a/?page=2&token=S>; rel="next", </p?api_key=S>; rel="last""#,
            #"<https://a/?page=2&token=REDACTED>; rel="next", </p?api_key=REDACTED>; rel="last""#
        ),
        ("Location", "/back?code=S", "/back?code=REDACTED"),
        ("X-Callback", "https://u:p@a/?token=S", "https://REDACTED@a/?token=REDACTED"),
        ("Report-To", #"{"url":"https://a/?key=S","max_age":1}"#, #"{"url":"https://a/?key=REDACTED","max_age":1}"#),
        ("Accept", "a/b; q=0.5", "a/b; q=0.5"), ("X-Next-Page-Token", "p2", "p2"),
    ])
    func redactsURLsInHeaders(_ name: String, _ value: String, _ expected: String) {
        #expect(redacted(HTTPHeaders([(HTTPHeaderName(name), value)])).headers[HTTPHeaderName(name)] == expected)
    }

    @Test(arguments: [
        (
            #"{"next":"https://a/?page=2&sig=S","at":"see https://u:p@b/ there"}"#,
            #"{"next":"https://a/?page=2&sig=REDACTED","at":"see https://REDACTED@b/ there"}"#
        ),
        (
            #"{"nextPageToken":"p2","continuation_token":"c","nextSyncToken":"s","page_access_token":"S"}"#,
            #"{"nextPageToken":"p2","continuation_token":"c","nextSyncToken":"s","page_access_token":"REDACTED"}"#
        ),
        ("\u{FEFF}{\"token\":\"S\"}", #"{"token":"REDACTED"}"#),
        ("{\"token\":\"S\"}\n{ \"a\": 1 }\n\n[]\n", "{\"token\":\"REDACTED\"}\n{ \"a\": 1 }\n\n[]\n"),
        ("\u{1E}{\"token\":\"S\"}\n\u{1E}{}\n", "\u{1E}{\"token\":\"REDACTED\"}\n\u{1E}{}\n"),
        (#"{"token":"S",}"#, "REDACTED"), ("{\"token\":\"S\"}\n{\"token\":\"S", "REDACTED"), (Self.deep, "REDACTED"),
        ("  ", "  "), ("\u{FEFF}", "\u{FEFF}"),
        ("\n\n{,}", "REDACTED"),
    ])
    func redactsJSONOrWithholdsBody(_ body: String, _ expected: String) {
        for type in ["application/json", "application/x-ndjson", "text/plain"] {
            #expect(redacted([.contentType: type], body).text == expected)
        }
    }

    @Test(arguments: [
        ("application/json", "gzip", "REDACTED"), ("text/plain", "identity", "?"),
        ("application/json", nil, "REDACTED"), ("application/x-www-form-urlencoded", nil, "?"),
        ("text/plain", nil, "?"),
    ])
    func withholdsUnreadableBodies(_ type: String, _ coding: String?, _ expected: String) {
        var headers: HTTPHeaders = [.contentType: type]
        if let coding { headers[.contentEncoding] = coding }
        #expect(redacted(headers, "?").text == expected)
    }

    @Test(arguments: ["br", "br, gzip"])
    func recordsDigestOfBodyInOtherCoding(_ coding: String) {
        let once = redacted([.contentEncoding: coding], "?")
        #expect(once.body.isEmpty && once.digest == BodyDigest(of: Data("?".utf8)))
        let twice = CassetteRedaction.standard.redacted(
            RecordedExchange(request: once, result: .failure(SluiceError(.cannotConnect, "No.")))
        )
        #expect(twice.request.body.isEmpty && twice.request.digest == once.digest)
        #expect(redacted([.contentEncoding: coding], "?", .none).text == "?")
    }

    @Test func withholdsFormThatIsNotText() {
        let headers: HTTPHeaders = [.contentType: "application/x-www-form-urlencoded"]
        let request = RecordedRequest(method: .post, url: "http://a/", headers: headers, body: Data([0xFF, 0x3D]))
        let failure = RecordedExchange(request: request, result: .failure(SluiceError(.cannotConnect, "No.")))
        #expect(CassetteRedaction.standard.redacted(failure).request.text == "REDACTED")
    }

    @Test func redactedTextOfOtherCharsetIsUTF8() throws {
        let type = "application/json; charset=iso-8859-1; profile=\"a b\""
        func redacted(_ text: String) throws -> (HTTPHeaders, Data, RecordedExchange.Response) {
            let bytes = try #require(text.data(using: .isoLatin1))
            let head = HTTPResponse(status: .ok, headers: [.contentType: type])
            let request = RecordedRequest(method: .post, url: "http://a/", headers: head.headers, body: bytes)
            let response = RecordedExchange.Response(head: head, body: bytes)
            let exchange = RecordedExchange(request: request, result: .success(response))
            let once = CassetteRedaction.standard.redacted(exchange)
            return (once.request.headers, once.request.body, try once.result.get())
        }
        let (headers, body, response) = try redacted(#"{"größe":1,"password":"s3cret"}"#)
        for (headers, body) in [(headers, body), (response.head.headers, response.body)] {
            #expect(headers[.contentType] == "application/json;charset=utf-8;profile=\"a b\"")
            #expect(String(validating: body, as: UTF8.self) == #"{"größe":1,"password":"REDACTED"}"#)
        }
        let (plain, bytes, _) = try redacted(#"{"größe":1}"#)
        #expect(plain[.contentType] == type && bytes == #"{"größe":1}"#.data(using: .isoLatin1))
    }

    @Test func redactsReasonOfFailure() {
        let error = SluiceError(.connectionLost, "The connection to http://ada:s3cret@a/?token=s3cret was lost.")
        let failure = RecordedExchange(request: RecordedRequest(url: "http://a/"), result: .failure(error))
        guard case .failure(let redacted) = CassetteRedaction.standard.redacted(failure).result else {
            Issue.record("The failure has become a response.")
            return
        }
        #expect(redacted.code == .connectionLost)
        #expect(redacted.reason.hasPrefix("The connection to http://REDACTED@a/"))
        #expect(!redacted.reason.contains("s3cret"))
    }

    @Test func redactsDecodedResponseDespiteContentEncoding() throws {
        let head = HTTPResponse(status: .ok, headers: [.contentType: "application/json", .contentEncoding: "gzip"])
        let response = RecordedExchange.Response(head: head, body: Data(#"{"a":1,"token":"S"}"#.utf8))
        let exchange = RecordedExchange(request: RecordedRequest(url: "http://a/"), result: .success(response))
        let body = try CassetteRedaction.standard.redacted(exchange).result.get().body
        #expect(String(decoding: body, as: UTF8.self) == #"{"a":1,"token":"REDACTED"}"#)
    }

    @Test func redactionIsIdempotentAndNoneChangesNothing() {
        let once = redacted(
            url: "http://u:p@a/?token=t&&x",
            [.contentType: "application/json", "Link": "</?sig=s>"],
            "{,}"
        )
        let twice = redacted(url: once.url, once.headers, once.text ?? "")
        #expect(twice.url == once.url && twice.headers == once.headers && twice.body == once.body)
        let open = redacted(url: "http://u:p@a/?&token=t&&", ["Link": "<http://u:p@a/?sig=s>"], "{,}", .none)
        #expect(open.url == "http://u:p@a/?&token=t&&" && open.text == "{,}")
        #expect(open.headers["Link"] == "<http://u:p@a/?sig=s>")
    }

    @Test func removedExemptionIsRedacted() {
        var redaction = CassetteRedaction.standard
        redaction.exemptions = []
        #expect(redacted(url: "http://a/?pageToken=2", [:], "", redaction).url == "http://a/?pageToken=REDACTED")
    }

    @Test func appliesCustomNamesAndClosure() {
        var redaction = CassetteRedaction.standard
        redaction.members.append("iban")
        redaction.headers.append("X-Tenant")
        redaction.redact = { $0.request.url = $0.request.url.replacing("ada", with: "someone") }
        let request = redacted(url: "http://a/ada?IBAN=DE1", ["x-tenant": "7"], "", redaction)
        #expect(request.url == "http://a/someone?IBAN=REDACTED")
        #expect(request.headers["X-Tenant"] == "REDACTED")
        let open = redacted(url: "http://u:p@a/?token=t", ["Cookie": "c"], "", .none)
        #expect(open.url == "http://u:p@a/?token=t")
        #expect(open.headers["Cookie"] == "c")
    }
}

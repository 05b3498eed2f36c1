import Foundation
import SluiceHTTP
import SluiceTesting
import Testing

@Suite struct CassetteRedactionTests {
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
    ])
    func secretsLeaveTheURL(_ url: String, _ expected: String) {
        #expect(redacted(url: url).url == expected)
    }

    @Test(arguments: ["Authorization", "cookie", "Set-Cookie", "Proxy-Authorization", "X-API-Key", "X-Auth-Token"])
    func secretHeadersAreHidden(_ name: String) {
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
        ("application/json", #"{ "a" : 1 }"#, #"{ "a" : 1 }"#), ("text/plain", "password=p", "password=p"),
    ])
    func secretsLeaveBodies(_ type: String, _ body: String, _ expected: String) {
        #expect(redacted([.contentType: type], body).text == expected)
    }

    @Test func namesAndAClosureOfOnesOwnAreHeeded() {
        var redaction = CassetteRedaction.standard
        redaction.names.append("iban")
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

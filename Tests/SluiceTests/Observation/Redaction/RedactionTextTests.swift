import Sluice
import Testing

@Suite struct RedactionTextTests {
    @Test(
        arguments: [
            ("token=s3 is bad", "token=REDACTED is bad"),
            ("password=<s3>, a", "password=REDACTED, a"), ("password=<b>s3</b>", "password=REDACTED</b>"),
            ("key=secret_4f8abc is bad", "key=REDACTED is bad"), ("key=secret_4f8abc => bad", "key=REDACTED => bad"),
            (#"<entry key="db.password">s3</entry>"#, #"<entry key="db.password">REDACTED</entry>"#),
            ("https://x/a%20b?code=s3&page=2", "https://x/a%20b?code=REDACTED&page=2"),
            (
                "the token 's3' is bad: password='s 3', user='ada'",
                "the token 's3' is bad: password='REDACTED', user='ada'"
            ),
            (#"{"password":"s\"3","a":1}"#, #"{"password":"REDACTED","a":1}"#),
            (#""{\"password\":\"s3\",\"a\":1}""#, #""{\"password\":\"REDACTED\",\"a\":1}""#),
            ("Authorization: Bearer s3\nAccept: */*", "Authorization: REDACTED\nAccept: */*"),
            ("authorization=Bearer s3cret end", "authorization=REDACTED end"),
            ("sent Bearer abC.d-e_f~1 to it", "sent Bearer REDACTED to it"),
            ("Basic YWRhOnB3==, then", "Basic REDACTED, then"),
            (
                "cannot reach https://ada:pw@example.com/x: refused",
                "cannot reach https://REDACTED@example.com/x: refused"
            ),
            ("GET https://a.b/?access_token=s3&q=1 failed", "GET https://a.b/?access_token=REDACTED&q=1 failed"),
            ("Secret: {a: 1, b: 2} rest", "Secret: REDACTED"),
            ("apiKey => s3", "apiKey => REDACTED"),
            ("password = \"unclosed", "password = \"REDACTED"),
            ("?next=%3Faccess%5Ftoken=s3", "?next=REDACTED"),
            ("user[password]=s3&a=1", "user[password]=REDACTED&a=1"),
        ]
    )
    func redactsValuesAfterSecretNames(_ text: String, _ redacted: String) {
        #expect(Redaction.standard.text(text) == redacted)
        #expect(Redaction.standard.text(redacted) == redacted)
        #expect(Redaction.none.text(text) == text)
    }

    @Test(
        arguments: [
            "", "The server did not answer within 5 seconds.", "Bearer token is missing",
            "Basic authentication required",
            #"Bearer realm="api", error="invalid_token""#, "status code: 404", "max-age=60, private", "password",
            "token:",
            "https://example.com:8080/a?b=c", "größe=1 – ä: ö", "a=b; c=d", "password=", "Basic", "://@", "token \"",
        ]
    )
    func keepsTextWithoutSecrets(_ text: String) {
        #expect(Redaction.standard.text(text) == text)
    }

    @Test func redactsSecretHeaders() {
        let headers: HTTPHeaders = [
            "Authorization": "Bearer s3", "AUTHORIZATION": "s3 s3", "Proxy-Authorization": "Basic s3",
            "Cookie": "a=s3; b=s3",
            "Set-Cookie": "sid=s3; Path=/", "X-Api-Key": "s3", "X-Tenant": "s3", "X-Empty-Token": "",
            "Location": "https://b.c/?code=s3&a=1", "Link": "<https://b.c/?token=s3>; rel=next",
            "Referer": "https://ada:s3@b.c/", "X-Debug": "password=s3", "Accept": "*/*",
            "WWW-Authenticate": "Bearer realm=\"api\"", "X-Auth-Token": "Bearer s3",
        ]
        let redacted = Redaction.standard.headers(headers, secretHeaders: ["x-tenant"])
        #expect(redacted.map(\.name) == headers.map(\.name))
        #expect(
            redacted.map(\.value) == [
                "Bearer REDACTED", "REDACTED", "Basic REDACTED", "REDACTED", "REDACTED", "REDACTED", "REDACTED", "",
                "https://b.c/?code=REDACTED&a=1", "<https://b.c/?token=REDACTED>; rel=next", "https://REDACTED@b.c/",
                "password=REDACTED", "*/*", "Bearer realm=\"api\"", "Bearer REDACTED",
            ]
        )
        #expect(Redaction.none.headers(headers, secretHeaders: ["x-tenant"]) == headers)
    }

    @Test func redactsCustomNames() {
        var redaction = Redaction.standard
        redaction.headerNames.insert("X-Tenant")
        redaction.memberNames.insert("iban")
        #expect(redaction.headers(["x-tenant": "1"])["X-Tenant"] == Redaction.mark)
        #expect(redaction.text("IBAN: DE02 1203") == "IBAN: REDACTED")
        #expect(Redaction.standard.text("IBAN: DE02 1203") == "IBAN: DE02 1203")
    }
}

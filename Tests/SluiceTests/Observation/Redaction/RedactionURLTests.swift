import Sluice
import Testing

@Suite struct RedactionURLTests {
    @Test(
        arguments: [
            ("https://ada:pw@example.com/", "https://REDACTED@example.com/"),
            ("https://ada@example.com", "https://REDACTED@example.com"),
            ("https://a:b@c:d@example.com:8080/x", "https://REDACTED@example.com:8080/x"),
            ("https://ada:p/w@example.com/", "https://REDACTED@example.com/"),
            ("https://ada:p#w?@example.com/", "https://REDACTED@example.com/"),
            ("https://ada:p w\u{10}@example.com/", "https://REDACTED@example.com/"),
            ("https:ada:pw@example.com/", "https:REDACTED@example.com/"),
            ("https:\\\\ada:pw@example.com\\x", "https:\\\\REDACTED@example.com\\x"),
            ("https:///ada:pw@example.com/", "https:///REDACTED@example.com/"),
            ("//ada:pw@example.com/", "//REDACTED@example.com/"),
            ("postgres://ada:pw@db/x", "postgres://REDACTED@db/x"),
            ("/proxy/https://ada:pw@example.com/", "/proxy/https://REDACTED@example.com/"),
        ]
    )
    func redactsUserInformation(_ url: String, _ redacted: String) {
        #expect(Redaction.standard.url(url) == redacted)
    }

    @Test(
        arguments: [
            ("https://a.b/?access_token=s3&q=1", "https://a.b/?access_token=REDACTED&q=1"),
            ("?q=1&API-Key=s3", "?q=1&API-Key=REDACTED"),
            ("/x?a=1;token=s3;b=2", "/x?a=1;token=REDACTED;b=2"),
            ("/x?acc%65ss%5Ftoken=s3", "/x?acc%65ss%5Ftoken=REDACTED"),
            ("/x?user%5Bpassword%5D=s3&user[pin]=4", "/x?user%5Bpassword%5D=REDACTED&user[pin]=REDACTED"),
            ("/x?code=s3&state=1&key=s3&sig=s3", "/x?code=REDACTED&state=1&key=REDACTED&sig=REDACTED"),
            ("/x#access_token=s3&expires=1", "/x#access_token=REDACTED&expires=1"),
            ("/x?a=1#token=s3", "/x?a=1#token=REDACTED"),
            ("/x?a?token=s3", "/x?a?token=REDACTED"),
            ("/x;jsessionid=s3/y?b=1", "/x;jsessionid=REDACTED/y?b=1"),
            ("/x?token=a=b=c&d", "/x?token=REDACTED&d"),
            ("/x?X-Amz-Credential=AK/1&X-Amz-Signature=ab", "/x?X-Amz-Credential=REDACTED&X-Amz-Signature=REDACTED"),
            ("/x?token=%zz%", "/x?token=REDACTED"),
            // A delimiter may be a part of the secret.
            ("/x?token=a?s3&b=1", "/x?token=REDACTED&b=1"), ("/x?token=a;s3?s3#b", "/x?token=REDACTED#b"),
            ("/x?token=a;b=2", "/x?token=REDACTED;b=2"), ("/x;token=a;s3/y", "/x;token=REDACTED/y"),
            // The value of a key may look like a name.
            ("/x?key=secret_4f8abc&a=1", "/x?key=REDACTED&a=1"),
            ("/x?key=password&value=s3", "/x?key=password&value=REDACTED"),
            (
                "/x?query=query($t:String!){me(token:$t){id}}&variables={\"t\":\"s3\"}",
                "/x?query=REDACTED&variables=REDACTED"
            ),
            (
                "/x?variables={\"t\":\"s3\"}&query=query($t:String!){me(token:$t){id}}",
                "/x?variables=REDACTED&query=REDACTED"
            ),
        ]
    )
    func redactsSecretParameters(_ url: String, _ redacted: String) {
        #expect(Redaction.standard.url(url) == redacted)
    }

    @Test(
        arguments: [
            ("/x?next=https%3A%2F%2Fb.c%2F%3Ftoken%3Ds3", "/x?next=REDACTED"),
            ("/x?next=https%253A%252F%252Fb.c%252F%253Ftoken%253Ds3&a=1", "/x?next=REDACTED&a=1"),
            ("/x?next=https%3A%2F%2Fada:pw%40b.c", "/x?next=REDACTED"),
            ("/x?json=%7B%22password%22%3A%22s3%22%7D", "/x?json=REDACTED"),
            ("/x?next=https%3A%2F%2Fb.c%2F%3Fq%3D1", "/x?next=https%3A%2F%2Fb.c%2F%3Fq%3D1"),
        ]
    )
    func redactsWholeValueContainingSecret(_ url: String, _ redacted: String) {
        #expect(Redaction.standard.url(url) == redacted)
    }

    @Test(
        arguments: [
            "", "https://example.com/users/1?page=2&q=a%20b#top", "https://[::1]:8080/x?a", "/@ada/posts?mail=a@b.c",
            "https://example.com/@ada:1", "http://", "?", "#", "https://example.com:8080", "/x?token=&token",
            "mailto:ada@example.com", "/größe?ä=ö", "/a;b;c=1/?&&==&=", "https://example.com:80/a@b",
        ]
    )
    func keepsURLWithoutSecrets(_ url: String) {
        #expect(Redaction.standard.url(url) == url)
    }

    @Test func redactsOnlyCustomNamesWithNone() {
        let url = "https://ada:pw@example.com/;sid=1?token=s3#password=x"
        #expect(Redaction.none.url(url) == url)
        var one = Redaction.none
        one.parameterNames.insert("iban")
        #expect(one.url("https://a:b@c/?iban=DE1&token=s3") == "https://a:b@c/?iban=REDACTED&token=s3")
    }

    @Test func redactionIsIdempotent() {
        for url in ["https://ada:pw@example.com/?token=s3", "/x?next=https%3A%2F%2Fb.c%2F%3Ftoken%3Ds3"] {
            let once = Redaction.standard.url(url)
            #expect(Redaction.standard.url(once) == once)
        }
    }
}

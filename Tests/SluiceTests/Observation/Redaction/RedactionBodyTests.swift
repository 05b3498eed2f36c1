import Foundation
import Sluice
import Testing

@Suite struct RedactionBodyTests {
    private func redact(_ text: String, _ type: String?) -> RedactedBody {
        Redaction.standard.body(Data(text.utf8), contentType: type)
    }

    @Test(
        arguments: [
            (#"{"password":"s3","name":"Ada"}"#, #"{"password":"REDACTED","name":"Ada"}"#),
            (
                #"{ "a" : [ { "accessToken" : "s3" } ], "b":1.50 }"#,
                #"{ "a" : [ { "accessToken" : "REDACTED" } ], "b":1.50 }"#
            ),
            (
                #"{"token":{"a":["s3"]},"pin":1234,"secret":["s3"]}"#,
                #"{"token":"REDACTED","pin":"REDACTED","secret":"REDACTED"}"#
            ),
            (#"{"pass\u0077ord":"s3"}"#, #"{"pass\u0077ord":"REDACTED"}"#),
            (#"{"token":null,"secret":true,"password":""}"#, #"{"token":null,"secret":true,"password":""}"#),
            (#"{"next":"https:\/\/a:s3@b.c\/?token=s3"}"#, #"{"next":"https://REDACTED@b.c/?token=REDACTED"}"#),
            (#"{"json":"{\"password\":\"s3\"}"}"#, #"{"json":"{\"password\":\"REDACTED\"}"}"#),
            (#"{"password":"a","password":"b"}"#, #"{"password":"REDACTED","password":"REDACTED"}"#),
            (#"[1,"two",{"a":null}]"#, #"[1,"two",{"a":null}]"#),
            ("{\"token\":\"s3\"}\n\n{\"a\":1}\n", "{\"token\":\"REDACTED\"}\n\n{\"a\":1}\n"),
            ("{\"token\":\"s3\"}\r\n{\"a\":1}\r\n", "{\"token\":\"REDACTED\"}\r\n{\"a\":1}\r\n"),
        ]
    )
    func redactsSecretMembersAtAnyDepth(_ text: String, _ redacted: String) {
        for type in ["application/json", "application/problem+json; charset=utf-8", "text/plain", "garbage", nil] {
            #expect(redact(text, type) == .text(redacted))
        }
        #expect(Redaction.none.body(Data(text.utf8), contentType: nil) == .text(text))
    }

    @Test(arguments: [
        #"mutation($p:String!){login(input:{user:\"ada\",password:$p}){id}}"#, "{a(password:$p)}",
        "{a(tokens:[$q, $p]){id}}", #"{a(tokens:[\"x\", 1, $p])}"#, #"{a(token : $p\n)}"#,
    ])
    func variablesOfSecretArgumentsAreRedacted(_ query: String) {
        let body = #"{"query":"\#(query)","variables":{"p":"s3"}}"#
        guard case .text(let text) = redact(body, "application/json") else {
            Issue.record("There is no text.")
            return
        }
        #expect(!text.contains("s3") && text.contains("variables"), "\(text)")
    }

    @Test func variablesAfterSecretOnesAreShown() {
        let body = #"{"query":"query($token: String, $page: Int){a}","variables":{"page":2}}"#
        guard case .text(let text) = redact(body, "application/json") else {
            Issue.record("There is no text.")
            return
        }
        #expect(text.hasSuffix(#""variables":{"page":2}}"#), "\(text)")
    }

    @Test func delimitersInFormsArePartsOfSecrets() {
        let query = redact(
            #"query=mutation($t:String!){ask(text:"Why?",token:$t){id}}&variables={"t":"s3"}"#,
            "application/x-www-form-urlencoded"
        )
        #expect(query == .text("query=REDACTED&variables=REDACTED"))
        let body = redact("a=1&password=hun;t?er#2&b=2", "application/x-www-form-urlencoded")
        #expect(body == .text("a=1&password=REDACTED&b=2"))
    }

    /// ASCII of even length is also valid UTF-16, without any name.
    @Test(arguments: ["utf-16", "utf-16le", "utf-16be"])
    func bodyWithAWrongLabelIsRedacted(_ label: String) {
        let text = "<r><password>s3cr</password></r>"
        #expect(text.utf8.count % 2 == 0)
        #expect(redact(text, "text/xml; charset=\(label)") == .text("<r><password>REDACTED</password></r>"))
    }

    @Test(
        arguments: [
            ("user=ada&password=s3&a", "user=ada&password=REDACTED&a"),
            (
                "grant_type=authorization_code&code=s3&client_secret=s3",
                "grant_type=authorization_code&code=REDACTED&client_secret=REDACTED"
            ),
            ("user%5Bpassword%5D=s3;b=2", "user%5Bpassword%5D=REDACTED;b=2"),
            ("back=https%3A%2F%2Fb.c%2F%3Ftoken%3Ds3", "back=REDACTED"),
            ("a+b=c+d", "a+b=c+d"), ("", ""), ("&&&=", "&&&="),
        ]
    )
    func redactsSecretFormFields(_ text: String, _ redacted: String) {
        #expect(redact(text, "Application/X-WWW-Form-URLencoded; charset=UTF-8") == .text(redacted))
    }

    @Test(
        arguments: [
            (#"{"password":"s3""#, "application/json"), (#"{"pass\u0077ord":"s3""#, "application/json"),
            ("{'password':'s3'}", "application/json"), ("<password>s3", "application/xml"),
            ("<!DOCTYPE r [<!ENTITY x \"s3\">]><r><password>&x;</password></r>", "application/xml"),
            ("data=%7B%22password%22%3A%22s3%22%7D", "text/plain"),
            ("name,password\nada,s3", "text/csv"), ("data: {\"token\": \"s3\"}\n\n", "text/event-stream"),
            ("a=1&password=s3", nil), ("https://ada:s3@b.c", "text/plain"), ("code=s3", "text/plain"),
            ("{\"a\":1}\n{\"token\":\"s3\"", "application/x-ndjson"), ("Bearer s3cr3t", "text/plain"),
            ("\u{0}\u{1}password\u{2}s3", "application/octet-stream"), ("\u{0}token=s3", nil),
        ] as [(String, String?)]
    )
    func withholdsUnparsableBodyWithSecretName(_ text: String, _ type: String?) {
        #expect(redact(text, type) == .possiblySecret)
    }

    @Test(arguments: [
        "Hello.", "<p>Hello</p>", "{\"a\": 1", "a,b\n1,2", "{", "[", "\"", "", "  ", "größe", "status code: 404",
    ])
    func showsTextWithoutSecrets(_ text: String) {
        for type in ["text/plain", "application/json", nil] { #expect(redact(text, type) == .text(text)) }
    }

    @Test func classifiesNonTextBytes() {
        for type in ["image/png", "application/octet-stream", nil] {
            #expect(Redaction.standard.body(Data([0x89, 0x50, 0, 1, 0xFF]), contentType: type) == .binary)
            // A byte order mark alone does not make the body text.
            #expect(Redaction.standard.body(Data([0xFE, 0xFF, 0, 0x61, 0, 1]), contentType: type) == .binary)
        }
        #expect(
            Redaction.standard.body(Data([0x7B, 0xFF]), contentType: "application/json") == .undecodable
        )
        #expect(Redaction.standard.body(Data([0x7B, 0xFF]), contentType: "text/plain") == .undecodable)
        #expect(Redaction.none.body(Data([0x7B, 0xFF]), contentType: "text/plain") == .binary)
    }

    @Test func doesNotTreatDashesAfterBareLineFeedAsBoundary() {
        // After a bare line feed, `--b` is not a boundary.
        let form = "--b\r\nA: x\n--b: y\r\n\r\ntext\r\n--b--\r\n"
        let type = "multipart/form-data; boundary=b"
        #expect(Redaction.standard.body(Data(form.utf8), contentType: type) == .text(form))
        let secret = form.replacing("text", with: "password")
        #expect(Redaction.standard.body(Data(secret.utf8), contentType: type) == .possiblySecret)
    }

    @Test func redactsBodyInOtherCharset() {
        let text = #"{"größe":1,"password":"s3"}"#
        let redacted = RedactedBody.text(#"{"größe":1,"password":"REDACTED"}"#)
        let latin = text.data(using: .isoLatin1) ?? Data()
        #expect(Redaction.standard.body(latin, contentType: "text/json; charset=iso-8859-1") == redacted)
        let wide = Data([0xFF, 0xFE]) + (text.data(using: .utf16LittleEndian) ?? Data())
        #expect(Redaction.standard.body(wide, contentType: "application/json") == redacted)
    }

    @Test func withholdsEncodedBody() {
        let data = Data("anything".utf8)
        #expect(Redaction.standard.body(data, contentType: nil, contentEncoding: "gzip") == .compressed)
        #expect(Redaction.standard.body(data, contentType: nil, contentEncoding: "Identity") == .text("anything"))
        #expect(Redaction.none.body(data, contentType: nil, contentEncoding: "gzip") == .binary)
        for start: [UInt8] in [[0x1F, 0x8B, 8], [0x28, 0xB5, 0x2F, 0xFD], [0x78, 0x9C]] {
            let body = Redaction.standard.body(Data(start + [0, 0xFF]), contentType: "application/json")
            #expect(body == .compressed)
        }
    }

    @Test func withholdsBodyOverLimit() {
        var redaction = Redaction.standard
        redaction.bodyLimit = 4
        #expect(redaction.body(Data("12345".utf8), contentType: nil) == .tooLong)
        #expect(redaction.body(Data("1234".utf8), contentType: nil) == .text("1234"))
    }

    @Test func readsSliceOfData() {
        let data = Data(#"xxxx{"password":"s3"}"#.utf8).dropFirst(4)
        #expect(Redaction.standard.body(data, contentType: nil) == .text(#"{"password":"REDACTED"}"#))
    }
}

extension RedactedBody {
    static let tooLong = withheld(reason: DocumentRedactor.Reason.tooLong.rawValue)
    static let possiblySecret = withheld(reason: DocumentRedactor.Reason.possiblySecret.rawValue)
    static let compressed = withheld(reason: DocumentRedactor.Reason.compressed.rawValue)
    static let undecodable = withheld(reason: DocumentRedactor.Reason.undecodable.rawValue)
}

import Foundation
import Sluice
import SluiceTesting
import Testing

@Suite struct RedactionMultipartTests {
    private let type = "multipart/form-data; boundary=b1"

    private func redact(_ text: String, _ type: String? = nil) -> RedactedBody {
        Redaction.standard.body(Data(text.utf8), contentType: type ?? self.type)
    }

    private func part(_ disposition: String, _ content: String, _ fields: String = "") -> String {
        "--b1\r\nContent-Disposition: \(disposition)\r\n\(fields)\r\n\(content)\r\n"
    }

    @Test(
        arguments: [
            #"form-data; name="password""#, "form-data; name=password", #"FORM-DATA; Name="user[password]""#,
            #"form-data; filename="a.txt"; name="api_key""#, #"form-data; name*=UTF-8''password"#,
            #"form-data; name="code""#,
        ]
    )
    func redactsSecretPart(_ disposition: String) {
        let form = part(#"form-data; name="a""#, "1") + part(disposition, "s3") + "--b1--\r\n"
        let redacted = part(#"form-data; name="a""#, "1") + part(disposition, "REDACTED") + "--b1--\r\n"
        #expect(redact(form) == .text(redacted))
    }

    @Test func redactsContentOfPart() {
        let json = part(#"form-data; name="a""#, #"{"token":"s3"}"#, "Content-Type: application/json\r\n")
        let redacted = part(#"form-data; name="a""#, #"{"token":"REDACTED"}"#, "Content-Type: application/json\r\n")
        #expect(redact(json + "--b1--") == .text(redacted + "--b1--\r\n"))
        let broken = part(#"form-data; name="a""#, #"{"token":"s3""#)
        #expect(
            redact(broken + "--b1--")
                == .text(part(#"form-data; name="a""#, "(13 bytes: it may contain a secret)") + "--b1--\r\n")
        )
    }

    @Test func replacesBytesWithNote() throws {
        var form = MultipartForm(boundary: "b1")
        form.append(.text("Ada", name: "name"))
        form.append(.data(Data([0, 255, 1]), name: "picture", fileName: "a.png", contentType: "image/png"))
        let request = try APIClient(baseURL: "http://a.b").string.post("").multipart(form).httpRequest()
        #expect(request.headers[.contentType] == "multipart/form-data; boundary=b1")
        let head = #"Content-Disposition: form-data; name="picture"; filename="a.png""#
        var data = Data(part(#"form-data; name="name""#, "Ada").utf8)
        data +=
            Data("--b1\r\n\(head)\r\nContent-Type: image/png\r\n\r\n".utf8) + [0, 255, 1] + Data("\r\n--b1--\r\n".utf8)
        let redacted =
            part(#"form-data; name="name""#, "Ada")
            + "--b1\r\n\(head)\r\nContent-Type: image/png\r\n\r\n(3 bytes)\r\n--b1--\r\n"
        #expect(Redaction.standard.body(data, contentType: type) == .text(redacted))
    }

    @Test func redactsNestedForm() {
        let inner = "--b2\r\nContent-Disposition: form-data; name=token\r\n\r\ns3\r\n--b2--"
        let outer = "--b1\r\nContent-Type: multipart/mixed; boundary=b2\r\n\r\n\(inner)\r\n--b1--"
        #expect(
            redact(outer)
                == .text(outer.replacing("s3", with: "REDACTED").replacing("--b2--", with: "--b2--\r\n") + "\r\n")
        )
    }

    @Test(
        arguments: [
            "password=s3", "--b1\r\npassword: s3", "--b1\r\nX: y\r\n\r\npassword=s3\r\n", "junk password\r\n--b1--",
            "--b1\r\n\r\npassword s3\r\n--b1-", "--b1\r\nno colon\r\n\r\ntoken\r\n--b1--",
            "--b1\r\nA: b\nC: d\r\n\r\ntoken\r\n--b1--", "--b1\r\nA: b\rc\r\n\r\ntoken\r\n--b1--",
            "--b1\r\nA: b\u{1}\r\n\r\ntoken\r\n--b1--", "--b1\r\nA b: c\r\n\r\ntoken\r\n--b1--",
            "--b1\r\n: c\r\n\r\ntoken\r\n--b1--", "--b1\r\nA: b\r\n c: d\r\n\r\ntoken\r\n--b1--",
        ]
    )
    func withholdsMalformedFormWithSecretName(_ text: String) {
        #expect(redact(text) == .possiblySecret)
    }

    @Test(arguments: ["", "--b1--", "--b1", "junk", "--b1\r\n\r\n", "\r\n--b1\r\n--b1--"])
    func showsMalformedFormWithoutSecretName(_ text: String) {
        guard case .text = redact(text) else {
            Issue.record("\(redact(text))")
            return
        }
    }

    @Test func withholdsFormsNestedTooDeeply() {
        var form = "--b0\r\nContent-Disposition: form-data; name=password\r\n\r\ns3\r\n--b0--"
        for level in 1...40 {
            form =
                "--b\(level)\r\nContent-Type: multipart/mixed; boundary=b\(level - 1)\r\n\r\n\(form)\r\n--b\(level)--"
        }
        let shown = redact(form, "multipart/mixed; boundary=b40")
        guard case .text(let text) = shown else {
            Issue.record("\(shown)")
            return
        }
        #expect(!text.contains("s3") && text.contains("it may contain a secret"))
    }
}

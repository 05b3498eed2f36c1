@testable import Sluice
@testable import SluiceCache
@testable import SluiceHTTP
@testable import SluiceJSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension FuzzTarget {
    /// A text that no input contains by chance, and that no output may contain.
    static let secret = "zq7Wx39secret"
    /// Spellings of secret names.
    private static let names = [
        "password", "access_token", "client-secret", "user[password]", "accessToken", "API_KEY",
    ]

    /// Redacts a body after a line with its `Content-Type`. No secret remains, and a second redaction changes nothing.
    static let redactedBody = FuzzTarget("redacted-body") { bytes in
        var input = FuzzInput(bytes)
        let type = input.line()
        let name = names.randomElement(using: &input.random) ?? ""
        let body = input.data
        let redaction = Redaction.standard
        if case .text(let shown) = redaction.body(body, contentType: type), !type.utf8.contains(UInt8(ascii: ";")) {
            let again = redaction.body(Data(shown.utf8), contentType: type)
            try require(again == .text(shown), "Redaction of a body is not idempotent.")
        }
        let text = input.text
        guard !text.containsBytes(of: secret) else { return }
        let written = JSON.string(text).formatted(.compact)
        let value = (try? JSON(parsing: body)) == nil ? written : text
        let member = JSON.string(name).formatted(.compact)
        var places = [
            ("application/json", #"{"a": \#(value), \#(member): "\#(secret)", "b": [\#(value)]}"#),
            ("application/json", #"[{"a": \#(value), \#(member): {"x": ["\#(secret)", \#(value)]}}]"#),
            ("application/x-ndjson", "\(value.replacing("\n", with: " "))\n{\(member): [\"\(secret)\"]}\n"),
            ("application/x-www-form-urlencoded", "\(text)&\(percentEncoded(name))=\(secret)&\(text)"),
            (type, "\(text)\n\(name)=\(secret)\n\(text)"),
        ]
        if !text.containsBytes(of: "--b") {
            let head = "Content-Disposition: form-data; name=\(quoted(name))"
            places.append(("multipart/form-data; boundary=b", "--b\r\n\(head)\r\n\r\n\(secret)\(text)\r\n--b--\r\n"))
            places.append(
                ("multipart/form-data; boundary=b", "--b\r\nA: \(text)\r\n\(head)\r\n\r\n\(secret)\r\n--b--\r\n")
            )
        }
        for (type, body) in places {
            guard case .text(let shown) = redaction.body(Data(body.utf8), contentType: type) else { continue }
            try require(!shown.containsBytes(of: secret), "A redacted body of type \(type) contains a secret.")
        }
    }

    /// Redacts a URL or a text with a URL. No secret remains, and a second redaction changes nothing.
    static let redactedURL = FuzzTarget("redacted-url") { bytes in
        var input = FuzzInput(bytes)
        let name = names.randomElement(using: &input.random) ?? ""
        let text = input.text
        guard !text.containsBytes(of: secret) else { return }
        let redaction = Redaction.standard
        let url = redaction.url(text)
        try require(redaction.url(url).isSame(as: url), "Redaction of a URL is not idempotent.")
        let shown = redaction.text(text)
        try require(redaction.text(shown).isSame(as: shown), "Redaction of a text is not idempotent.")
        try require(Redaction.none.url(text).isSame(as: text), "Redacting nothing changes a URL.")
        let urls = [
            "\(text)?\(percentEncoded(name))=\(secret)&\(text)", "\(text)?a&\(percentEncoded(name))=\(secret)#\(text)",
            "https://ada:\(secret)@example.com/\(text)", "\(text)#\(name)=\(secret)",
        ]
        for url in urls {
            try require(!redaction.url(url).containsBytes(of: secret), "A redacted URL contains a secret: \(url)")
        }
        let texts = [
            "\(text)\nAuthorization: Bearer \(secret)\n\(text)", "\(text) \(name)=\(secret)",
            "\(text)\n\(name): \(secret)\n", "\(text) https://ada:\(secret)@example.com/\(text)",
            "\(text) https://example.com/?\(percentEncoded(name))=\(secret)",
        ]
        for text in texts {
            try require(!redaction.text(text).containsBytes(of: secret), "A redacted text contains a secret: \(text)")
        }
        let headers: HTTPHeaders = ["Location": urls[0], "X": texts[0], "X-Api-Key": "\(text)\(secret)"]
        for field in redaction.headers(headers) {
            try require(!field.value.containsBytes(of: secret), "The redacted field \(field.name) contains a secret.")
        }
    }
}

import Sluice
import SluiceHTTP
import Testing

@testable import Sluice

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite struct MultipartHeadTests {
    private typealias Part = MultipartForm.Part

    private static let picture = URL(filePath: "/no/such/a b.png")
    private static let inner = MultipartForm(.mixed, boundary: "inner")
    private static let none = AsyncStream<Data> { nil }

    @Test(
        arguments: [
            (.text("", name: "user"), [#"Content-Disposition: form-data; name="user""#]),
            (.text("", name: ""), [#"Content-Disposition: form-data; name="""#]),
            (
                .text("{}", name: "meta", contentType: "application/json"),
                [#"Content-Disposition: form-data; name="meta""#, "Content-Type: application/json"]
            ),
            (
                .text("a,b", name: "table", fileName: "a.csv"),
                [#"Content-Disposition: form-data; name="table"; filename="a.csv""#]
            ),
            (
                .data(Data(), name: "d"),
                [#"Content-Disposition: form-data; name="d""#, "Content-Type: application/octet-stream"]
            ),
            (
                .data(Data(), name: "d", fileName: "a.PDF"),
                [#"Content-Disposition: form-data; name="d"; filename="a.PDF""#, "Content-Type: application/pdf"]
            ),
            (
                .data(Data(), name: "d", fileName: "", contentType: "x/y; z=1"),
                [#"Content-Disposition: form-data; name="d"; filename="""#, "Content-Type: x/y; z=1"]
            ),
            (
                .file(picture, name: "f"),
                [#"Content-Disposition: form-data; name="f"; filename="a b.png""#, "Content-Type: image/png"]
            ),
            (
                .file(picture, name: "f", fileName: "ü.txt", contentType: "text/x"),
                [#"Content-Disposition: form-data; name="f"; filename="ü.txt""#, "Content-Type: text/x"]
            ),
            (
                .stream(none, name: "s", fileName: "a.mp3"),
                [#"Content-Disposition: form-data; name="s"; filename="a.mp3""#, "Content-Type: audio/mpeg"]
            ),
            (
                .stream(none, name: "s"),
                [#"Content-Disposition: form-data; name="s""#, "Content-Type: application/octet-stream"]
            ),
            (
                .nested(inner, name: "n"),
                [#"Content-Disposition: form-data; name="n""#, "Content-Type: multipart/mixed; boundary=inner"]
            ),
            (
                .nested(
                    MultipartForm(boundary: "inner"),
                    name: "n",
                    headers: ["content-type": "text/plain", "X": "1"]
                ),
                [#"Content-Disposition: form-data; name="n""#, "Content-Type: multipart/mixed; boundary=inner", "X: 1"]
            ),
            (
                .data(Data(), name: "d", headers: ["X-A": "1", "content-type": "a/b", "X-A": "2"]),
                [#"Content-Disposition: form-data; name="d""#, "X-A: 1", "content-type: a/b", "X-A: 2"]
            ),
            (
                .text("", headers: ["Content-Disposition": "form-data; name=own"]),
                ["Content-Disposition: form-data; name=own"]
            ),
        ] as [(MultipartForm.Part, [String])]
    )
    func formDataPartsHaveDispositionAndType(part: MultipartForm.Part, lines: [String]) throws {
        let head = try part.head(in: .formData, label: "part")
        #expect(String(decoding: head, as: UTF8.self) == lines.map { "\($0)\r\n" }.joined() + "\r\n")
    }

    @Test(
        arguments: [
            (.text("a"), []), (.data(Data()), ["Content-Type: application/octet-stream"]),
            (.text("a", name: "n"), [#"Content-Disposition: attachment; name="n""#]),
            (
                .file(picture),
                [#"Content-Disposition: attachment; filename="a b.png""#, "Content-Type: image/png"]
            ),
            (.nested(inner), ["Content-Type: multipart/mixed; boundary=inner"]),
        ] as [(MultipartForm.Part, [String])],
        [MultipartForm.Subtype.mixed, .related]
    )
    func mixedAndRelatedPartsNeedNoName(
        _ example: (part: MultipartForm.Part, lines: [String]),
        subtype: MultipartForm.Subtype
    ) throws {
        let head = try example.part.head(in: subtype, label: "part")
        #expect(String(decoding: head, as: UTF8.self) == example.lines.map { "\($0)\r\n" }.joined() + "\r\n")
    }

    /// The names that browsers send, as specified by the standard.
    @Test(
        arguments: [
            ("plain", "plain", "plain"), ("größe 😀", "größe 😀", "größe 😀"), (#"a"b"#, "a%22b", "a%22b"),
            (#"a\b%22c'd;e=f"#, #"a\b%22c'd;e=f"#, #"a\b%22c'd;e=f"#), ("a\nb", "a%0D%0Ab", "a%0Ab"),
            ("a\rb", "a%0D%0Ab", "a%0Db"), ("a\r\nb", "a%0D%0Ab", "a%0D%0Ab"),
            ("\n\r", "%0D%0A%0D%0A", "%0A%0D"), ("\r\r\n\n", "%0D%0A%0D%0A%0D%0A", "%0D%0D%0A%0A"), ("", "", ""),
            ("e\u{301}\r\n\u{301}", "e\u{301}%0D%0A\u{301}", "e\u{301}%0D%0A\u{301}"),
        ]
    )
    func namesAreEscapedAsInBrowsers(name: String, escaped: String, asFileName: String) {
        #expect(Array(MultipartEscaping.name(name).utf8) == Array(escaped.utf8))
        #expect(Array(MultipartEscaping.fileName(name).utf8) == Array(asFileName.utf8))
    }

    @Test(
        arguments: [
            (.text("", name: "a\0b"), "Content-Disposition"),
            (.text("", name: "a", fileName: "\0"), "Content-Disposition"),
            (.text("", name: "a", contentType: "text/plain\r\nX: y"), "Content-Type"),
            (.text("", name: "a", contentType: "text\nplain"), "Content-Type"),
            (.text("", name: "a", headers: ["X": "a\rb"]), "X"), (.text("", name: "a", headers: ["X": "\0"]), "X"),
            (.text("", name: "a", headers: ["X Y": "b"]), "X Y"), (.text("", name: "a", headers: ["": "b"]), ""),
            (.text("", name: "a", headers: ["X\r\nY": "b"]), "X??Y"),
        ] as [(MultipartForm.Part, String)]
    )
    func invalidFieldsOfAPartAreRefused(part: MultipartForm.Part, header: String) {
        let error = #expect(throws: SluiceError.self) { try MultipartForm().adding(part).body() }
        #expect(error?.code == .invalidHeader)
        #expect(error?.step == .building)
        #expect(error?.reason.contains("“\(header)” of the part “a") == true)
    }
}

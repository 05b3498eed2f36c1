import SluiceHTTP
import SluiceTesting
import Testing

@Suite struct ContentTypeTests {
    @Test(
        arguments: [
            ("text/html", "text/html"), ("Text/HTML", "text/html"), (" text/html\t", "text/html"),
            ("text/html;charset=utf-8", "text/html;charset=utf-8"),
            ("text/html; Charset=UTF-8", "text/html;charset=UTF-8"),
            (#"text/html;charset="utf-8""#, "text/html;charset=utf-8"),
            ("text/html \t;\t charset=utf-8 ", "text/html;charset=utf-8"),
            (#"a/b;c="d;e=f";g=h"#, #"a/b;c="d;e=f";g=h"#), (#"a/b;c="d\"e\\f""#, #"a/b;c="d\"e\\f""#),
            (#"a/b;c="""#, #"a/b;c="""#),
            ("a/b;;; c=d;", "a/b;c=d"), ("a/b;c=1;C=2", "a/b;c=1"), ("a/b;c=d e", #"a/b;c="d e""#),
            ("a/b;c=d=e", #"a/b;c="d=e""#), ("a/b+json;v=1", "a/b+json;v=1"), ("*/*;q=0.5", "*/*;q=0.5"),
            // Malformed parameters are skipped.
            ("a/b;c", "a/b"), ("a/b;c=", "a/b"), ("a/b;=d", "a/b"), ("a/b;c =d;e=f", "a/b;c=d;e=f"),
            ("a/b;c d=e", "a/b"),
            (#"a/b;c="d"#, "a/b;c=d"), (#"a/b;c="d\"#, #"a/b;c="d\\""#), (#"a/b;c="d"e;f=g"#, "a/b;c=d;f=g"),
            ("a/b;c=\u{1}", "a/b"), ("a/b;ü=d;e=f", "a/b;e=f"), ("a/b;c=\"ü\u{301}\"", "a/b;c=\"ü\u{301}\""),
            ("a/b;c=\"d\u{301}\"", "a/b;c=\"d\u{301}\""),
        ]
    )
    func contentTypesAreParsedAndWritten(_ text: String, _ written: String) throws {
        let type = try #require(ContentType(text))
        #expect(type.description == written)
        #expect(ContentType(written) == type)
    }

    @Test(arguments: [
        "", " ", "/", "text", "text/", "/html", "te xt/html", "text/ht ml", "text/html/x", "text /html x", ";a=b",
        "ü/ö", "text/html, a/b", "text;/html",
    ])
    func rejectsMalformedTypes(_ text: String) {
        #expect(ContentType(text) == nil)
    }

    @Test func charsetIsReadFromTheParameters() throws {
        let type = try #require(ContentType(#"Text/HTML; x="1"; CHARSET="Windows-1251""#))
        #expect(type.type == "text")
        #expect(type.subtype == "html")
        #expect(type.essence == "text/html")
        #expect(type.charset == "Windows-1251")
        #expect(type["X"] == "1")
        #expect(type["y"] == nil)
        #expect(type.parameters.map(\.name) == ["x", "charset"])
    }

    @Test func parametersBeyondTheLimitAreIgnored() throws {
        let text = (0..<5000).reduce(into: "a/b") { $0 += ";p\($1)=\($1)" }
        let type = try #require(ContentType(text))
        #expect(type.parameters.count == 100)
        #expect(type["p99"] == "99" && type["p100"] == nil)
    }

    @Test func randomTextsRoundTripWithoutATrap() {
        var generator = SeededGenerator(seed: 9110)
        let pieces = ["a", "/", ";", "=", "\"", "\\", " ", "\t", "ü", "\u{301}", "\0", ","]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0..<12, using: &generator)
            let tail = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            let text = Bool.random(using: &generator) ? "a/b;\(tail)" : tail
            guard let type = ContentType(text) else { continue }
            #expect(ContentType(type.description) == type, "\(text)")
        }
    }
}

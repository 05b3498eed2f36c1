import Sluice
import SluiceTesting
import Testing

@Suite struct LinkHeaderTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let field: String
        let targets: [String]
        let relations: [[String]]
        var testDescription: String { field }

        init(_ field: String, _ links: (String, [String])...) {
            self.field = field
            targets = links.map(\.0)
            relations = links.map(\.1)
        }
    }

    static let cases = [
        Case(
            #"<https://api.example/u?page=2>; rel="next", <https://api.example/u?page=9>; rel="last""#,
            ("https://api.example/u?page=2", ["next"]),
            ("https://api.example/u?page=9", ["last"])
        ),
        Case(
            #"</a>; title="one, two; three \"four\" \\"; rel=next, </b>;rel=prev"#,
            ("/a", ["next"]),
            ("/b", ["prev"])
        ),
        Case(#"</a,b;c>; rel="next""#, ("/a,b;c", ["next"])),
        Case(#"<>; rel="self""#, ("", ["self"])),
        Case("<?page=2>;rel=\"Next LAST\tprev\"", ("?page=2", ["next", "last", "prev"])),
        Case(#"</a>; rel="next"; rel="prev""#, ("/a", ["next"])),
        Case(#"</a>; REL = "next" ; x"#, ("/a", ["next"])),
        Case(#"</a>; rel*=UTF-8''next"#, ("/a", [])),
        Case(#"</a>; rel=next;; ; a=, </b>; =x; rel=last"#, ("/a", ["next"]), ("/b", ["last"])),
        Case(#"</a>"#, ("/a", [])),
        Case(#", ,</a>; rel=next,, </b>; rel=last ,"#, ("/a", ["next"]), ("/b", ["last"])),
        Case(#"</a>; rel="next"#, ("/a", ["next"])),
        Case(#"</a>; rel="next\"#, ("/a", [#"next\"#])),
        Case(#"</a>; rel="ext https://x.example/Rel""#, ("/a", ["ext", "https://x.example/rel"])),
        Case(#"</a>; rel=next junk, </b>; rel=last"#, ("/a", ["next", "junk"]), ("/b", ["last"])),
        Case(#"</a>; rel="next" junk, </b>; rel=last"#, ("/a", ["next"])),
        Case(#"</a> junk; rel=next"#, ("/a", [])),
        Case(#"junk, </a>; rel=next"#),
        Case(#"</a"#),
        Case("<"),
        Case(""),
        Case(" ,\t, "),
        Case("</ü>; rel=\"nächst\"", ("/ü", ["nächst"])),
    ]

    @Test(arguments: cases) func linksAreParsed(_ test: Case) {
        let links = LinkHeader(test.field).links
        #expect(links.map(\.target) == test.targets)
        #expect(links.map(\.relations) == test.relations)
    }

    @Test func parametersAreKeptInTheirOrder() {
        let link = LinkHeader(
            #"</a>; rel=next; hreflang=de; Title="x\"y"; title*=UTF-8''%e2%82%ac; hreflang=en; flag"#
        )["next"]
        #expect(link?.attributes.map(\.name) == ["rel", "hreflang", "title", "title*", "hreflang", "flag"])
        #expect(link?["HREFLANG"] == "de")
        #expect(link?["title"] == #"x"y"#)
        #expect(link?["title*"] == "UTF-8''%e2%82%ac")
        #expect(link?["flag"] == "")
        #expect(link?["media"] == nil)
    }

    /// Comparing such a text with another takes more than a second, because Swift sorts the combining characters.
    @Test(.timeLimit(.minutes(1))) func combiningCharactersAreNotSorted() {
        let marks = "r" + String(repeating: "\u{301}\u{323}", count: 60_000)
        for field in ["</a>; \(marks)=1", "</a>; rel=\"\(marks)\""] {
            for _ in 0..<3 {
                let links = LinkHeader(field)
                #expect(links["next"] == nil)
                #expect(links.links.first?.target == "/a")
            }
        }
        for _ in 0..<3 { #expect(ContentDisposition("attachment; filename*=\(marks)''x")?.fileName == nil) }
    }

    @Test func lookupIgnoresLinksWithAnAnchor() {
        let links = LinkHeader(##"</a>; rel=next; anchor="#part", </b>; rel=next, </c>; rel=next"##)
        #expect(links["NEXT"]?.target == "/b")
        #expect(links.links.first?.anchor == "#part")
        #expect(links["last"] == nil)
    }

    @Test func linksOfAllFieldLinesAreCombined() {
        var headers = HTTPHeaders()
        headers.append("Link", "</a>; rel=prev")
        headers.append("Server", "x")
        headers.append("link", "</b>; rel=next, </c>; rel=last")
        #expect(HTTPResponse(status: .ok, headers: headers).links.links.map(\.target) == ["/a", "/b", "/c"])
        #expect(HTTPResponse(status: .ok).links.links.isEmpty)
    }

    /// No text causes a read beyond its end or an infinite loop.
    @Test func randomTextsAreParsedWithoutATrap() {
        var random = SeededGenerator(seed: 1)
        let characters = Array("<>;,=\"\\ \taé*/")
        for _ in 0..<2_000 {
            let text = String(
                (0..<Int.random(in: 0...24, using: &random))
                    .compactMap { _ in characters.randomElement(using: &random) }
            )
            #expect(LinkHeader(text).links.count <= text.utf8.count / 2, "\(text)")
        }
    }
}

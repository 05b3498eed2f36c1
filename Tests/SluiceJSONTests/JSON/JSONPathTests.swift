import Sluice
import Testing

@Suite struct JSONPathTests {
    @Test(
        arguments: [
            ("", []),
            ("a", [.key("a")]),
            ("data.items[0]", [.key("data"), .key("items"), .index(0)]),
            ("data>items>0", [.key("data"), .key("items"), .key("0")]),
            ("items.0", [.key("items"), .key("0")]),
            (#"["a.b"].c"#, [.key("a.b"), .key("c")]),
            (#"['a>b']["c"]"#, [.key("a>b"), .key("c")]),
            ("[-1]", [.index(-1)]),
            ("[0][1]", [.index(0), .index(1)]),
            ("a[0]b", [.key("a"), .index(0), .key("b")]),
            (#"[""]"#, [.key("")]),
            (#"["a\"b\\c"]"#, [.key(#"a"b\c"#)]),
            (#"["it's"]"#, [.key("it's")]),
            ("ключ.名前.é", [.key("ключ"), .key("名前"), .key("é")]),
            ("a.\u{301}b", [.key("a"), .key("\u{301}b")]),
            (" a . b ", [.key(" a "), .key(" b ")]),
        ] as [(String, [JSONPath.Component])]
    )
    func parsesKeysAndIndexes(text: String, components: [JSONPath.Component]) {
        #expect(JSONPath(text).components == components)
    }

    @Test(
        arguments: [
            (".", []), ("..a..b..", [.key("a"), .key("b")]), (">a", [.key("a")]),
            ("[", [.key("[")]), ("]", [.key("]")]), ("[]", [.key("[]")]), ("a[b]", [.key("a[b]")]),
            ("[1", [.key("[1")]),
            ("[+1]", [.key("[+1]")]), ("[ 1]", [.key("[ 1]")]), ("[1.5]", [.key("[1"), .key("5]")]),
            ("[--1]", [.key("[--1]")]),
            ("[99999999999999999999]", [.key("[99999999999999999999]")]),
            (#"["a]"#, [.key(#"["a]"#)]), (#"["a"b]"#, [.key(#"["a"b]"#)]), (#"["a'] "#, [.key(#"["a'] "#)]),
            (#"["\"#, [.key(#"["\"#)]),
            ("[[0]]", [.key("["), .index(0), .key("]")]),
        ] as [(String, [JSONPath.Component])]
    )
    func treatsInvalidBracketsAsKey(text: String, components: [JSONPath.Component]) {
        #expect(JSONPath(text).components == components)
    }

    @Test(
        arguments: [
            [], [.key("a"), .key("b")], [.index(0), .key("a"), .index(-3)], [.key("")], [.key(""), .key("")],
            [.key("a.b"), .key("c>d"), .key("[0]"), .key("0")],
            [.key(#"""#), .key(#"\"#), .key(#"a."\b"#), .key("it's.")],
            [.key("]"), .key("é\u{301}.")],
        ] as [[JSONPath.Component]]
    )
    func descriptionRoundTrips(components: [JSONPath.Component]) {
        let path = JSONPath(components)
        #expect(JSONPath(path.description) == path)
    }

    @Test func descriptionUsesShortForm() {
        #expect(JSONPath(#"data>items>["0"][1]['a.b']"#).description == #"data.items.0[1]["a.b"]"#)
        #expect(JSONPath("a").appending("[0].b").description == "a[0].b")
        #expect(JSONPath().appending("a") == "a")
        #expect(JSONPath().isEmpty)
    }
}

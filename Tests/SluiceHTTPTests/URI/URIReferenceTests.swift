import Testing

@testable import SluiceHTTP

@Suite struct URIReferenceTests {
    /// RFC 3986 §5.4.1, with the base URL `http://a/b/c/d;p?q`.
    static let normal = [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"),
    ]

    /// RFC 3986 §5.4.2, with strict parsing.
    static let abnormal = [
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("g#s/./x", "http://a/b/c/g#s/./x"), ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
    ]

    static let others = [
        ("/a/%2E%2e/b", "http://a/b"), ("//", "http://"), ("///g", "http:///g"), ("/..//g", "http://a//g"),
        ("//g/../h", "http://g/h"), ("http://g/./h?y", "http://g/h?y"), ("?", "http://a/b/c/d;p?"),
        ("#", "http://a/b/c/d;p?q#"), ("?y#s#t?z", "http://a/b/c/d;p?y#s#t?z"), ("//g?y", "http://g?y"),
        ("//g#s", "http://g#s"), ("./g:h", "http://a/b/c/g:h"), ("1g:h", "http://a/b/c/1g:h"),
        (":h", "http://a/b/c/:h"), ("ü:h", "http://a/b/c/ü:h"), ("g+.-1:h", "g+.-1:h"), ("g/h:i", "http://a/b/c/g/h:i"),
        ("/\u{301}g", "http://a/\u{301}g"),
    ]

    @Test(arguments: normal + abnormal + others)
    func referencesAreResolvedAgainstTheBase(_ reference: String, _ url: String) {
        let resolved = URIReference(reference).resolved(against: URIReference("http://a/b/c/d;p?q"))
        #expect(resolved.description == url)
        #expect(URIReference(url) == resolved, "The description must parse to the same reference")
    }

    @Test(
        arguments: [
            ("http://a", "g", "http://a/g"), ("http://a", "../g", "http://a/g"), ("http://a?q", "", "http://a?q"),
            ("http://a?q", "#s", "http://a?q#s"), ("http://a/b#s", "", "http://a/b"), ("b/c", "g", "b/g"),
            ("b", "g", "g"),
            ("", "g", "g"), ("http://a/b/./c", "?y", "http://a/b/./c?y"), ("http://a/b/../c/d", "g", "http://a/c/g"),
        ]
    )
    func baseMayLackItsPathOrQuery(_ base: String, _ reference: String, _ url: String) {
        #expect(URIReference(reference).resolved(against: URIReference(base)).description == url)
    }

    @Test func pathWithTwoLeadingSlashesDoesNotBecomeAHost() {
        let resolved = URIReference("http:/..//g").resolved(against: URIReference("http://a/b"))
        #expect(resolved.authority == nil)
        #expect(resolved.description == "http:/.//g")
    }

    @Test func referenceIsSplitIntoItsComponents() {
        let url = URIReference("https://u@[::1]:80/a/b:c?d/e?f#g?h#i")
        #expect(url.scheme == "https")
        #expect(url.authority == "u@[::1]:80")
        #expect(url.path == "/a/b:c")
        #expect(url.query == "d/e?f")
        #expect(url.fragment == "g?h#i")
        let empty = URIReference("")
        #expect(empty.scheme == nil && empty.authority == nil && empty.query == nil && empty.fragment == nil)
        #expect(empty.path == "")
    }

    @Test(arguments: [
        ("https://a.b:/c", "a.b"), ("//[::1]:", "[::1]"), ("//a.b:80", "a.b:80"), ("//a.b", "a.b"), ("//:", ":"),
        ("//::", "::"), ("//", ""), ("/c:", nil),
    ])
    func emptyPortIsRemoved(_ text: String, _ authority: String?) {
        #expect(URIReference(text).withoutEmptyPort.authority == authority)
    }

    /// The comparison of such characters takes quadratic time.
    @Test(.timeLimit(.minutes(1)), arguments: ["//a", "x:a", "http://a"])
    func combiningCharactersAreRefusedAtOnce(_ start: String) {
        let marks = String(repeating: "\u{301}\u{323}", count: 200_000)
        for end in ["", ":", "@", "@a:"] {
            let url = URIReference(start + marks + end).withoutEmptyPort
            let error = #expect(throws: SluiceError.self) {
                try RequestLocation(url, as: "URL “\(RequestLocation.redacted(start + marks + end))”")
            }
            #expect((error?.reason.utf8.count ?? 0) < 1000)
        }
    }
}

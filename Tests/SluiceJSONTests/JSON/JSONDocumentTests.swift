import Foundation
import Testing

@testable import SluiceJSON

@Suite struct JSONDocumentTests {
    private let document: JSONDocument
    private let text = """
        {"n":null,"t":true,"f":false,"i":-12,"d":1.10e2,"s":"a\\n\\u00e9\\ud834\\udd1e","p":"é",
         "list":[1,[],{"x":[2]},"z"],"none":{},"i":3}
        """

    init() throws {
        document = try JSONDocument(Data(text.utf8))
    }

    private func member(_ name: String) throws -> JSONDocument.Node {
        try #require(document.member(name, of: document.root))
    }

    @Test func returnsKindOfEachValue() throws {
        #expect(document.kind(of: document.root) == .object)
        let kinds: [(String, JSONDocument.Kind)] = [
            ("n", .null), ("t", .true), ("f", .false), ("i", .number), ("d", .number), ("s", .string), ("list", .array),
            ("none", .object),
        ]
        for (name, kind) in kinds { #expect(try document.kind(of: member(name)) == kind) }
        #expect(document.member("nothing", of: document.root) == nil)
    }

    @Test func resolvesEscapesInStrings() throws {
        #expect(try document.string(of: member("s")) == "a\né𝄞")
        #expect(try document.string(of: member("p")) == "é")
        let all = try JSONDocument(#"["\"\\\/\b\f\n\r\t\u0000\uABCD\uabcd"]"#)
        let string = try #require(all.element(0, of: all.root))
        #expect(all.string(of: string) == "\"\\/\u{8}\u{C}\n\r\t\u{0}\u{ABCD}\u{ABCD}")
    }

    @Test func returnsSourceTextOfValue() throws {
        #expect(try document.text(of: member("d")) == "1.10e2")
        #expect(try document.text(of: member("list")) == #"[1,[],{"x":[2]},"z"]"#)
        #expect(try document.text(of: member("p")) == "\"é\"")
        #expect(document.bytes(of: document.root) == Data(text.utf8))
        let padded = try JSONDocument("\u{FEFF} \n[1] ")
        #expect(padded.text(of: padded.root) == "[1]")
    }

    @Test func iteratesElementsAndMembersInOrder() throws {
        let list = try member("list")
        #expect(document.elements(of: list).map { document.text(of: $0) } == ["1", "[]", "{\"x\":[2]}", "\"z\""])
        #expect(document.count(of: list) == 4)
        let names = document.members(of: document.root).map { document.string(of: $0.key) }
        #expect(names == ["n", "t", "f", "i", "d", "s", "p", "list", "none", "i"])
        #expect(document.count(of: document.root) == 10)
        #expect(try document.count(of: member("none")) == 0)
        #expect(try document.count(of: member("i")) == 0)
        #expect(Array(document.elements(of: document.root)).isEmpty)
        #expect(Array(document.members(of: list)).isEmpty)
    }

    @Test func findsElementByIndex() throws {
        let list = try member("list")
        #expect(document.element(3, of: list).map { document.string(of: $0) } == "z")
        for index in [4, -1, Int.max, Int.min] { #expect(document.element(index, of: list) == nil) }
        #expect(document.element(0, of: document.root) == nil)
    }

    @Test func findsFirstOfEqualNames() throws {
        #expect(try document.text(of: member("i")) == "-12")
        let decoded = try JSONDecoder().decode([String: Int].self, from: Data(#"{"a":1,"a":2}"#.utf8))
        #expect(decoded == ["a": 1])
    }

    @Test(arguments: [
        (#"{"a\u0062":1}"#, "ab", true), (#"{"ab":1}"#, "ab", true), (#"{"ab":1}"#, "abc", false),
        (#"{"abc":1}"#, "ab", false), (#"{"":1}"#, "", true), ("{\"e\u{301}\":1}", "é", true),
        ("{\"\u{212A}\":1}", "K", true), ("{\"K\":1}", "\u{212A}", true), (#"{"\u006b":1}"#, "K", false),
    ])
    func comparesNamesLikeSwiftStrings(text: String, name: String, isFound: Bool) throws {
        let document = try JSONDocument(text)
        #expect((document.member(name, of: document.root) != nil) == isFound)
    }

    @Test func readsSliceOfData() throws {
        let data = Data("xx[1,\"a\"]yy".utf8)
        let document = try JSONDocument(data[2..<9])
        #expect(document.bytes(of: document.root) == Data("[1,\"a\"]".utf8))
        #expect(throws: JSONSyntaxError.self) { try JSONDocument(data[4..<4]) }
    }
}

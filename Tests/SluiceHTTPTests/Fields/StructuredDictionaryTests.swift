import SluiceHTTP
import SluiceTesting
import Testing

/// Dictionaries of structured fields (RFC 8941 §3.2, §4.2).
@Suite struct StructuredDictionaryTests {
    private static func parse(_ lines: [String]) -> [String: StructuredDictionary.Value]? {
        StructuredDictionary(lines.map { FieldValue(bytes: Array($0.utf8)) })?.members
    }

    @Test(
        arguments: [
            ([], [:]),
            ([""], [:]),
            (["   "], [:]),
            (["a"], ["a": .boolean(true)]),
            (["max-age=60, no-store"], ["max-age": .integer(60), "no-store": .boolean(true)]),
            (["  a=1\t ,\t b=2  "], ["a": .integer(1), "b": .integer(2)]),
            (["a=1", "b=2"], ["a": .integer(1), "b": .integer(2)]),
            (["a=1, b, a=2"], ["a": .integer(2), "b": .boolean(true)]),
            (["a=1, a"], ["a": .boolean(true)]),
            (["*x_y-z.1*=a"], ["*x_y-z.1*": .token("a")]),
            // §4.2.4
            (["a=-1, b=0, c=-0, d=007"], ["a": .integer(-1), "b": .integer(0), "c": .integer(0), "d": .integer(7)]),
            (["a=999999999999999"], ["a": .integer(999_999_999_999_999)]),
            (["a=1.0, b=-123456789012.123"], ["a": .other, "b": .other]),
            // §4.2.5
            (["a=\"\", b=\"x, y\""], ["a": .string(""), "b": .string("x, y")]),
            ([#"a="\"\\""#], ["a": .string(#""\"#)]),
            // §4.2.6
            (["a=*, b=A/b:c!#$%&'*+-.^_`|~9"], ["a": .token("*"), "b": .token("A/b:c!#$%&'*+-.^_`|~9")]),
            // §4.2.7, §4.2.8
            (["a=::, b=:aGk=:, c=:+/9:"], ["a": .other, "b": .other, "c": .other]),
            (["a=?1, b=?0"], ["a": .boolean(true), "b": .boolean(false)]),
            // §4.2.1.2
            (["a=()"], ["a": .other]),
            (["a=(  1 \"b\" c;d=1  );e, f"], ["a": .other, "f": .boolean(true)]),
            // §4.2.3.2
            (["a;b;c=1;  d=\"x\", e=5;f=?0"], ["a": .boolean(true), "e": .integer(5)]),
        ] as [([String], [String: StructuredDictionary.Value])]
    )
    func validFieldHasItsMembers(lines: [String], members: [String: StructuredDictionary.Value]) {
        #expect(Self.parse(lines) == members)
    }

    @Test(arguments: [
        ",", "a,", "a=1, ", "a=1,,b=2", ", a", "a b", "a=1 b=2", "a = 1", "a =1", "a= 1", "a=", "=1", "A=1",
        "max-Age=1",
        "1a=1", "-a=1", "_a=1", "a=&", "a, &&&&&", "é", "a=é", "a;", "a;=1", "a;b=", "a ;b", "a;\tb", "a;B",
        "a=1;b=é", "a=-", "a=--1", "a=+1", "a=1000000000000000", "a=1.", "a=1.1234", "a=.5", "a=1234567890123.1",
        "a=1e3",
        "a=0x1", "a=1.1.1", "a=\"", "a=\"x", "a=\"x\\\"", #"a="\x""#, "a=\"é\"", "a=\"\t\"", "a=\"x\"y", "a='x'",
        "a=\"\u{7f}\"",
        "a=:", "a=:a", "a=:a b:", "a=:é:", "a=?", "a=?2", "a=?true", "a=?1x", "a=(", "a=(1", "a=(1,2)", "a=(1\t2)",
        "a=(1\"b\")", "a=((1))", "a=1)", "a=@1659578233", "a=%\"x\"", "a\0",
    ])
    func fieldWithAnErrorHasNoMembers(line: String) {
        #expect(Self.parse([line]) == nil)
        #expect(Self.parse(["b=1", line]) == nil)
    }

    @Test func onlySpacesMayPrecedeTheFirstMember() {
        #expect(Self.parse(["  a"]) != nil)
        #expect(Self.parse(["\ta"]) == nil)
    }

    @Test func linesAreJoinedByCommas() {
        // §4.2: lines between which a string or a list is split are as if they were one.
        #expect(Self.parse(["a=\"x", "y\""]) == ["a": .string("x, y")])
        #expect(Self.parse(["a=(1", "2)"]) == nil)
        #expect(Self.parse(["a", ""]) == nil)
        #expect(Self.parse(["", "a"]) == nil)
    }

    @Test func randomBytesDoNotTrap() {
        var random = SeededGenerator(seed: 8941)
        let alphabet = Array("a=1, \"\\;?:*()-.\té\0".utf8)
        for _ in 0..<5000 {
            let bytes = (0..<Int.random(in: 0...30, using: &random)).map { _ in
                Int.random(in: 0..<20, using: &random) == 0
                    ? UInt8.random(in: 0...255, using: &random) : alphabet.randomElement(using: &random) ?? 0
            }
            let field = StructuredDictionary([FieldValue(bytes: bytes)])
            #expect(field?.members.keys.allSatisfy { !$0.isEmpty && $0 == $0.lowercased() } != false)
        }
    }
}

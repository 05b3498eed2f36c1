import Testing

@testable import Sluice

@Suite struct ShellWordTests {
    @Test(
        arguments: [
            ("POST", "POST"), ("", "''"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#), ("'\u{301}", "''\\''\u{301}'"),
            ("$HOME`!\\\"", "'$HOME`!\\\"'"),
            ("größe", "'größe'"), ("a\nb", #""$(printf 'a\012b')""#),
            ("-\u{1B}'%\\", #""$(printf '\055\033'\''%%\\')""#),
        ]
    )
    func quotesWords(_ text: String, _ word: String) {
        #expect(ShellWord.quoted(text) == word)
    }

    @Test func printsArbitraryBytes() {
        #expect(ShellWord.printing([]) == "printf ''")
        #expect(ShellWord.printing([0, 49, 255, 195, 164, 195]) == #"printf '\0001\377ä\303'"#)
        #expect(ShellWord.printing(Array("-n\u{202E}".utf8)) == #"printf '\055n\342\200\256'"#)
    }
}

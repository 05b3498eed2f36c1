import SluiceTesting
import Testing

@testable import Sluice

@Suite struct SafeFileNameTests {
    private static let names: [(text: String, name: String)] = [
        ("report.pdf", "report.pdf"),
        ("Überraschung für 田中 👨‍👩‍👧‍👦.txt", "Überraschung für 田中 👨‍👩‍👧‍👦.txt"),
        ("", "download"),
        (" ", "download"),
        (".", "download"),
        ("..", "download"),
        ("...", "download"),
        (". .", "download"),
        ("/", "download"),
        ("\\", "download"),
        ("\0", "download"),
        ("../../etc/passwd", "passwd"),
        ("/etc/passwd", "passwd"),
        ("..\\..\\windows\\system32\\evil.exe", "evil.exe"),
        ("C:\\evil.exe", "evil.exe"),
        ("C:evil.exe", "C_evil.exe"),
        ("\\\\server\\share\\a.txt", "a.txt"),
        ("a/", "a"),
        ("a/..", "download"),
        ("a\0b.txt", "ab.txt"),
        ("a\u{E0041}\u{E007F}b.txt", "ab.txt"),
        ("a\nb\r\t\u{7F}\u{85}c", "abc"),
        (".bashrc", "bashrc"),
        ("..hidden.txt", "hidden.txt"),
        (" . .hidden", "hidden"),
        ("a.txt.", "a.txt"),
        ("a.txt. . ", "a.txt"),
        ("a.txt\u{A0}", "a.txt"),
        ("CON", "_CON"),
        ("con.txt", "_con.txt"),
        ("nul.tar.gz", "_nul.tar.gz"),
        ("NUL .txt", "_NUL .txt"),
        ("com1", "_com1"),
        ("COM¹.log", "_COM¹.log"),
        ("lpt9.x", "_lpt9.x"),
        ("CONIN$", "_CONIN$"),
        ("console.txt", "console.txt"),
        ("com10.txt", "com10.txt"),
        ("comb", "comb"),
        (#"a<b>c:d"e|f?g*h.txt"#, "a_b_c_d_e_f_g_h.txt"),
        // U+202E would display “txt.exe” as “exe.txt”.
        ("annex\u{202E}txt.exe", "annextxt.exe"),
        ("\u{2066}a\u{2069}\u{200F}.txt", "a.txt"),
        ("a\u{FEFF}\u{200B}.txt", "a.txt"),
        ("a\u{2028}b", "ab"),
        ("\u{202E}..", "download"),
        ("..\u{202E}/", "download"),
        (".\u{200B}.", "download"),
    ]

    @Test(arguments: names)
    func unsafeNamesAreReplaced(_ text: String, _ name: String) {
        #expect(SafeFileName(text).value == name)
    }

    @Test func longNamesKeepExtensionAndWholeCharacters() {
        let plain = SafeFileName(String(repeating: "a", count: 400) + ".pdf").value
        #expect(plain == String(repeating: "a", count: 236) + ".pdf")
        let accents = SafeFileName(String(repeating: "é", count: 400) + ".tar.gz").value
        #expect(accents == String(repeating: "é", count: 116) + ".tar.gz")
        let families = SafeFileName(String(repeating: "👨‍👩‍👧‍👦", count: 40) + ".txt").value
        #expect(families == String(repeating: "👨‍👩‍👧‍👦", count: 9) + ".txt")
        let ending = SafeFileName("a." + String(repeating: "b", count: 400)).value
        #expect(ending == "a." + String(repeating: "b", count: 238))
        let spaces = SafeFileName("a" + String(repeating: " ", count: 400) + "b.txt").value
        #expect(spaces == "a.txt")
    }

    @Test func overlongCharacterIsTruncated() {
        let name = SafeFileName("e" + String(repeating: "\u{301}", count: 1000) + ".txt").value
        #expect((200...240).contains(name.utf8.count))
        #expect(name.hasSuffix(".txt"))
        let device = SafeFileName("CON" + String(repeating: "\u{301}", count: 1000) + ".txt").value
        #expect(device == "_CO.txt" || !FileNameParts(device[...]).isDevice)
    }

    /// The comparison of such characters takes quadratic time.
    @Test(.timeLimit(.minutes(1)), arguments: ["a", "CON", "a.tar"])
    func combiningCharactersAreExaminedAtOnce(_ start: String) {
        let name = SafeFileName(start + String(repeating: "\u{301}\u{323}", count: 200_000) + ".gz").value
        #expect((3...240).contains(name.utf8.count))
    }

    private static let numbered: [(name: String, number: Int, result: String)] = [
        ("report.pdf", 2, "report 2.pdf"),
        ("backup.tar.gz", 10, "backup 10.tar.gz"),
        ("README", 3, "README 3"),
        ("a.b.c", 2, "a.b 2.c"),
        (".profile", 2, ".profile 2"),
        ("v1. notes", 2, "v1. notes 2"),
        (".tar.gz", 2, ".tar 2.gz"),
    ]

    @Test(arguments: numbered)
    func numberIsInsertedBeforeTheExtension(_ name: String, _ number: Int, _ result: String) {
        #expect(FileNameParts.numbered(name, number) == result)
    }

    @Test func numberedNamesHaveAtMost255Bytes() {
        let chosen = FileNameParts.numbered(String(repeating: "é", count: 125) + ".txt", 12_345)
        #expect(chosen == String(repeating: "é", count: 122) + " 12345.txt")
        let safe = SafeFileName(String(repeating: "a", count: 400) + ".pdf")
        let numbered = FileNameParts.numbered(safe.value, 99_999)
        #expect(numbered.utf8.count <= 255)
        #expect(numbered.hasPrefix(safe.value.dropLast(4)))
    }

    /// Parts of malicious names.
    private static let pieces = [
        "/", "\\", ".", "..", " ", "\0", "\n", ":", "a", "é", "e\u{301}\u{301}\u{301}", "👨‍👩‍👧‍👦", "CON", "nul", "COM1",
        ".txt", ".tar",
        "\u{202E}", "\u{2066}", "\u{FEFF}", "\u{200D}", "|", "~", "-", "%2F", "\u{10FFFD}",
        String(repeating: "x", count: 120), String(repeating: "田", count: 60), String(repeating: "\u{301}", count: 100),
    ]

    @Test(arguments: UInt64(1)...8)
    func randomNamesAreASafePathComponent(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<400 {
            let count = Int.random(in: 0..<9, using: &random)
            let text = (0..<count).map { _ in Self.pieces.randomElement(using: &random) ?? "" }.joined()
            let name = SafeFileName(text).value
            let scalars = name.unicodeScalars
            #expect(!name.isEmpty && name.utf8.count <= 241)
            #expect(
                !scalars.contains {
                    "/\\<>:\"|?*\u{202E}\u{2066}\u{FEFF}".unicodeScalars.contains($0) || $0.value < 0x20
                }
            )
            #expect(scalars.first != "." && scalars.last != "." && scalars.last != " ")
            #expect(!FileNameParts(name[...]).isDevice)
            #expect(SafeFileName(name).value == name, "of \(text.debugDescription)")
            #expect(FileNameParts.numbered(name, 99_999).utf8.count <= 255)
        }
    }
}

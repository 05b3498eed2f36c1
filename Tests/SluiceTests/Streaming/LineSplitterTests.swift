import Foundation
import Sluice
import SluiceTesting
import Testing

@Suite struct LineSplitterTests {
    static let texts: [(String, [String])] = [
        ("", []),
        ("\n", [""]),
        ("\r\n", [""]),
        ("\r", ["\r"]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\nb", ["a", "b"]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\n\n\nb", ["a", "", "", "b"]),
        ("a\rb\n", ["a\rb"]),
        ("a\r\r\nb\r", ["a\r", "b\r"]),
        ("\r\r\n\n\r", ["\r", "", "\r"]),
        ("ü€😀\nñ\n", ["ü€😀", "ñ"]),
        ("\u{FEFF}a\n", ["\u{FEFF}a"]),
        ("a\0b\u{2028}c\n", ["a\0b\u{2028}c"]),
    ]

    @Test(arguments: texts) func splitsLinesAcrossAnyChunks(_ text: String, _ lines: [String]) {
        for split in Splits.all(of: Array(text.utf8)) {
            let (elements, error) = Splits.elements(split, LineSplitter())
            #expect(elements.map { Array($0.utf8) } == lines.map { Array($0.utf8) }, "\(split)")
            #expect(error == nil)
        }
    }

    static let limits: [(String, Int, [String], Bool)] = [
        ("abc\n", 3, ["abc"], false),
        ("abc\r\n", 3, ["abc"], false),
        ("abc", 3, ["abc"], false),
        ("ab\nabcd\nab\n", 3, ["ab"], true),
        ("abc\r", 3, [], true),
        ("abcd", 3, [], true),
        ("abc\rd\n", 3, [], true),
        ("\n\n", 0, ["", ""], false),
        ("\r\n", 0, [""], false),
        ("a\n", 0, [], true),
        ("abc\n", .max, ["abc"], false),
        ("abc\n", -1, [], true),
    ]

    @Test(arguments: limits) func enforcesLimitAcrossAnyChunks(
        _ text: String,
        _ limit: Int,
        _ lines: [String],
        _ isOver: Bool
    ) {
        for split in Splits.all(of: Array(text.utf8)) {
            let (elements, error) = Splits.elements(split, LineSplitter(limit: limit))
            #expect(elements == lines, "\(split)")
            #expect((error == .elementTooLarge) == isOver, "\(split)")
        }
    }

    @Test func errorNamesLimitAndIsFinal() throws {
        var splitter = LineSplitter(limit: 4)
        splitter.append(Data("12345\nab\n".utf8))
        let error = #expect(throws: SluiceError.self) { try splitter.next() }
        #expect(error?.description == "A line of the response exceeds the limit of 4 bytes.")
        splitter.append(Data("ab\n".utf8))
        #expect(throws: SluiceError.self) { try splitter.next() }
    }

    @Test func acceptsChunkBeforePreviousIsRead() throws {
        var splitter = LineSplitter()
        splitter.append(Data("a\nb".utf8))
        #expect(try splitter.next() == "a")
        splitter.append(Data("c\nd\n".utf8))
        splitter.append(Data("e\n".utf8))
        #expect(try [splitter.next(), splitter.next(), splitter.next(), splitter.next()] == ["bc", "d", "e", nil])
    }

    @Test func replacesInvalidUTF8() {
        let (lines, _) = Splits.elements([Data([0xC3, 0x0A, 0x61, 0xFF, 0x0A])], LineSplitter())
        #expect(lines == ["\u{FFFD}", "a\u{FFFD}"])
    }

    @Test func splitsRandomTextAcrossAnyChunks() {
        var random = SeededGenerator(seed: 26)
        for _ in 0..<200 {
            let bytes = (0..<Int.random(in: 0...20, using: &random)).map { _ -> UInt8 in
                [10, 13, 97, 0xC3, 0xBC].randomElement(using: &random) ?? 10
            }
            let (whole, _) = Splits.elements([Data(bytes)], LineSplitter(limit: 6))
            for split in Splits.all(of: bytes) {
                #expect(Splits.elements(split, LineSplitter(limit: 6)).0 == whole, "\(bytes)")
            }
        }
    }
}

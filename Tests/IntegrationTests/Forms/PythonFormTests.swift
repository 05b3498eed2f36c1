import Foundation
import Sluice
import Testing

/// Encoded forms, parsed by Python.
@Suite(.enabled(if: RealServer.canRun("python3"), "python3 is not installed"))
struct PythonFormTests {
    private struct Case: Sendable {
        let text: String
        let pairs: [[String]]
    }

    /// Returns the names and values that Python reads in each text.
    private func read(_ texts: [String]) throws -> [[[String]]] {
        let script = """
            import json, sys
            from urllib.parse import parse_qsl
            print(json.dumps([
                parse_qsl(text, keep_blank_values=True, strict_parsing=True, errors="strict")
                for text in json.loads(sys.argv[1])
            ]))
            """
        let argument = String(decoding: try JSONEncoder().encode(texts), as: UTF8.self)
        let output = try RealServer.run("python3", "-I", "-c", script, argument)
        return try JSONDecoder().decode([[[String]]].self, from: Data(output.utf8))
    }

    private func encoders(_ arrays: URLEncodedFormEncoder.ArrayEncoding = .brackets) -> [URLEncodedFormEncoder] {
        [URLEncodedFormEncoder.SpaceEncoding.percentEscaped, .plusReplaced].flatMap { spaces in
            let everything = String(String.UnicodeScalarView((0x21..<0x7F).map { Unicode.Scalar($0) }))
            return [URLEncodedFormEncoder.AllowedCharacters.unreserved, .htmlForm, .init(everything)].map {
                URLEncodedFormEncoder(arrayEncoding: arrays, spaceEncoding: spaces, allowedCharacters: $0)
            }
        }
    }

    @Test func roundTripsNamesAndValues() throws {
        var cases: [Case] = []
        for encoder in encoders() {
            for text in [
                "", " ", "  a  b ", "a+b", "a&b=c", "100%", "%41%zz%", "#?/;:@", "a=b=c", "&&==++%%", "größe",
                "e\u{301}", "日本語", "🇯🇵👩‍👩‍👧", "\u{FEFF}\u{2028}\u{10FFFF}", "\0\u{1}\t\r\n\u{1B}\u{7F}\u{80}\u{9F}",
                "[a][]", "\"'<>\\^`{|}~*()!,$", "\r\n\r\n", String(repeating: "ä ", count: 100),
            ] {
                cases.append(Case(text: try encoder.encode([text: text]), pairs: [[text, text]]))
                cases.append(Case(text: try encoder.encode(["a": [text: [text]]]), pairs: [["a[\(text)][]", text]]))
            }
        }
        let read = try read(cases.map(\.text))
        #expect(read.count == cases.count)
        for (read, expected) in zip(read, cases) {
            #expect(read == expected.pairs, "\(expected.text)")
            #expect(read.joined().map { Array($0.utf8) } == expected.pairs.joined().map { Array($0.utf8) })
        }
    }

    @Test func roundTripsCharactersOfEveryBlock() throws {
        // Every 199th of the characters with more than two bytes, because the system limits an argument to 128 KiB.
        let numbers = Array(0..<0x800) + Array(stride(from: 0x800, through: 0x10FFFF, by: 199))
        let text = String(String.UnicodeScalarView(numbers.compactMap { Unicode.Scalar($0) }))
        let encoded: String = try URLEncodedFormEncoder(spaceEncoding: .plusReplaced).encode(["text": text])
        let read = try read([encoded])
        #expect(read.first?.first?.map { Array($0.utf8) } == [Array("text".utf8), Array(text.utf8)])
    }

    @Test func roundTripsStructure() throws {
        struct Search: Encodable {
            var text = "a & b + c"
            var tags = ["ä ö", "=", ""]
            var page = 2
            var isExact = true
            var none: String?
            var ranges = [Range(from: -1, to: 1.5), Range(from: 0, to: 1e21)]

            struct Range: Encodable {
                var from: Int
                var to: Double
            }
        }
        let texts: [String] = try encoders(.indexInBrackets).map { try $0.encode(Search()) }
        for read in try read(texts) {
            #expect(
                read == [
                    ["isExact", "1"], ["page", "2"], ["ranges[0][from]", "-1"], ["ranges[0][to]", "1.5"],
                    ["ranges[1][from]", "0"], ["ranges[1][to]", "1e+21"], ["tags[0]", "ä ö"], ["tags[1]", "="],
                    ["tags[2]", ""], ["text", "a & b + c"],
                ]
            )
        }
    }
}

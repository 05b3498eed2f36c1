import Foundation
import Sluice
import SluiceTesting
import Testing

@Suite struct FormEscapingTests {
    private typealias Allowed = URLEncodedFormEncoder.AllowedCharacters

    private static let everyASCII = String(String.UnicodeScalarView((0..<0x80).map { Unicode.Scalar($0) }))

    private func text(_ value: some Encodable, _ encoder: URLEncodedFormEncoder) throws -> String {
        try encoder.encode(value)
    }

    @Test func spacesArePercentEncodedOrPlus() throws {
        let value = ["a b": "c  d+e"]
        #expect(try text(value, .init(spaceEncoding: .percentEscaped)) == "a%20b=c%20%20d%2Be")
        #expect(try text(value, .init(spaceEncoding: .plusReplaced)) == "a+b=c++d%2Be")
    }

    @Test func onlyAllowedCharactersAreNotEscaped() throws {
        let value = ["a[/]": "[x:y@z]~*!'(),;?\"<>\\^`{|}"]
        #expect(
            try text(value, .init())
                == "a%5B%2F%5D=%5Bx%3Ay%40z%5D~%2A%21%27%28%29%2C%3B%3F%22%3C%3E%5C%5E%60%7B%7C%7D"
        )
        let visible = Allowed(value.keys.joined() + value.values.joined())
        #expect(try text(value, .init(allowedCharacters: visible)) == "a[/]=[x:y@z]~*!'(),;?\"<>\\^`{|}")
        #expect(try text(["a": ["b": "~*"]], .init(allowedCharacters: .htmlForm)) == "a%5Bb%5D=%7E*")
        #expect(try text(["a": ["b": "~*"]], .init(allowedCharacters: .unreserved.adding("[]"))) == "a[b]=~%2A")
    }

    @Test func delimitersAndControlsAreAlwaysEscaped() throws {
        let encoder = URLEncodedFormEncoder(allowedCharacters: Allowed(Self.everyASCII + "é日"))
        let escaped = try text(["a": "\0\n &=+%#\u{7F}é"], encoder)
        #expect(escaped == "a=%00%0A%20%26%3D%2B%25%23%7F%C3%A9")
        #expect(Allowed("&=+%# é\n\u{7F}") == Allowed(""))
        #expect(Allowed("abc09") == Allowed(""))
        #expect(try text(["aZ09": "-"], .init(allowedCharacters: Allowed(""))) == "aZ09=%2D")
    }

    /// Foundation's parser decodes only `%20` as a space, and drops a byte order mark at the start of a value.
    @Test func foundationParsesTheSameNamesAndValues() throws {
        var random = SeededGenerator(seed: 7)
        let alphabet =
            Array(Self.everyASCII) + ["é", "ß", "日", "🇯🇵", "\u{301}", "\u{2028}", "\r\n", "\u{10FFFF}"]
        for _ in 0..<500 {
            let parameters = (0..<Int.random(in: 1...5, using: &random)).map { index in
                let count = Int.random(in: 0...8, using: &random)
                let texts = (0..<2).map { _ in
                    String((0..<count).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &random)] })
                }
                return (key: "\(index)" + texts[0], value: Optional<any Encodable & Sendable>.some(texts[1]))
            }
            let allowed = String((0..<10).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &random)] })
            let encoder = URLEncodedFormEncoder(sortsKeys: false, allowedCharacters: Allowed(allowed))
            var components = URLComponents()
            let encoded = try text(Parameters(contentsOf: parameters), encoder)
            #expect(encoded.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
            // Foundation rejects characters that RFC 3986 §3.4 does not allow, even if the encoder's options do.
            let query = encoded.utf8.reduce(into: "") { text, byte in
                let character = Character(Unicode.Scalar(byte))
                text += "\"<>\\^`{|}[]".contains(character) ? "%" + String(byte, radix: 16) : String(character)
            }
            components.percentEncodedQuery = query
            let read = (components.queryItems ?? []).map { [$0.name, $0.value ?? "nil"] }
            #expect(read == parameters.map { [$0.key, $0.value as? String ?? ""] })
        }
    }
}

import Foundation
import SluiceTesting
import Testing

@testable import SluiceJSON

@Suite struct JSONParserDifferentialTests {
    @Test(arguments: 0..<300)
    func parsesRandomTextLikeJSONDecoder(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let text = Data(RandomJSON.text(depth: 5, using: &generator).utf8)
        let expected = try JSONDecoder().decode(AnyJSON.self, from: text)
        let document = try JSONDocument(text)
        #expect(AnyJSON(document, document.root) == expected)
    }

    @Test(arguments: 0..<40)
    func rejectsEveryTruncationWithoutTrap(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let text = Data("[\(RandomJSON.text(depth: 3, using: &generator))]".utf8)
        for length in 0..<text.count {
            let error = #expect(throws: JSONSyntaxError.self) { try JSONDocument(text.prefix(length)) }
            #expect((error?.offset ?? .max) <= length)
        }
    }

    @Test(arguments: 0..<60)
    func acceptsMutatedTextLikeJSONDecoder(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let original = Array(RandomJSON.text(depth: 3, using: &generator).utf8)
        for _ in 0..<40 {
            var bytes = original
            for _ in 0...Int.random(in: 0...2, using: &generator) {
                guard let index = bytes.indices.randomElement(using: &generator) else { break }
                bytes[index] = Bool.random(using: &generator) ? UInt8.random(in: 0...255, using: &generator) : 0x22
            }
            let text = Data(bytes)
            // JSONDecoder detects UTF-16 and UTF-32, which Sluice does not support.
            guard !text.prefix(4).contains(0) else { continue }
            let isAccepted = (try? JSONDocument(text)) != nil
            let isAcceptedByFoundation = (try? JSONDecoder().decode(AnyJSON.self, from: text)) != nil
            #expect(isAccepted == isAcceptedByFoundation, "\(String(decoding: bytes, as: UTF8.self))")
        }
    }
}

/// A JSON text generated from a seed.
enum RandomJSON {
    static func text(depth: Int, using generator: inout SeededGenerator) -> String {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 5), using: &generator) {
        case 0: ["null", "true", "false"].randomElement(using: &generator) ?? ""
        case 1: "\(Int.random(in: -1000...1000, using: &generator))"
        case 2: "\(Double.random(in: -1e6...1e6, using: &generator))"
        case 3, 4: string(using: &generator)
        case 5, 6:
            "[" + space(&generator)
                + (0..<Int.random(in: 0...5, using: &generator))
                .map { _ in text(depth: depth - 1, using: &generator) }
                .joined(separator: space(&generator) + "," + space(&generator)) + "]" + space(&generator)
        default:
            "{"
                + (0..<Int.random(in: 0...5, using: &generator))
                .map { _ in
                    string(using: &generator) + space(&generator) + ":" + space(&generator)
                        + text(depth: depth - 1, using: &generator)
                }
                .joined(separator: ",") + space(&generator) + "}"
        }
    }

    static func string(using generator: inout SeededGenerator) -> String {
        let pieces = [
            "a", "Z", " ", "é", "€", "𝄞", #"\n"#, #"\""#, #"\\"#, #"\u00e9"#, #"\uD834\uDD1E"#, "{", "]", ",",
            "long enough",
        ]
        let count = Int.random(in: 0...12, using: &generator)
        return "\"" + (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined() + "\""
    }

    private static func space(_ generator: inout SeededGenerator) -> String {
        ["", "", " ", "\n\t", "\r\n  "].randomElement(using: &generator) ?? ""
    }
}

/// Any JSON value, to compare the results of two parsers.
indirect enum AnyJSON: Decodable, Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([AnyJSON])
    case object([String: AnyJSON])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([AnyJSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: AnyJSON].self))
        }
    }

    init(_ document: JSONDocument, _ node: JSONDocument.Node) {
        switch document.kind(of: node) {
        case .null: self = .null
        case .true: self = .bool(true)
        case .false: self = .bool(false)
        case .number: self = .number(Double(document.text(of: node)) ?? .nan)
        case .string: self = .string(document.string(of: node))
        case .array: self = .array(document.elements(of: node).map { AnyJSON(document, $0) })
        case .object:
            self = .object(
                Dictionary(
                    document.members(of: node).map { (document.string(of: $0.key), AnyJSON(document, $0.value)) },
                    uniquingKeysWith: { first, _ in first }
                )
            )
        }
    }
}

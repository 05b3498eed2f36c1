@testable import Sluice
@testable import SluiceCache
@testable import SluiceHTTP
@testable import SluiceJSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension FuzzTarget {
    /// Parses an event stream. The events equal those of the standard's algorithm, wherever the stream is cut.
    static let events = FuzzTarget("events") { bytes in
        let (whole, _) = try elements(of: bytes) { ServerSentEventParser() }
        var reference = ReferenceEvents()
        reference.read(Array(bytes))
        try require(whole == reference.events, "\(whole.count) events differ from those of the standard.")
        let limit = 24
        let (limited, isOver) = try elements(of: bytes) { ServerSentEventParser(limit: limit) }
        try require(whole.starts(with: limited), "A limit changes the events.")
        try require(isOver || limited.count == whole.count, "With a limit, events are missing without an error.")
        try require(limited.allSatisfy { $0.data.utf8.count <= 3 * limit }, "An event exceeds the limit.")
    }

    /// Splits a text into lines. They equal those of a plain split, wherever the text is cut.
    static let lines = FuzzTarget("lines") { bytes in
        let (whole, _) = try elements(of: bytes) { LineSplitter() }
        var expected = Array(bytes).split(separator: 10, omittingEmptySubsequences: false)
            .map { Array($0) }
        let last = expected.removeLast()
        var texts = expected.map { String(decoding: $0.last == 13 ? $0.dropLast() : $0[...], as: UTF8.self) }
        if !last.isEmpty { texts.append(String(decoding: last, as: UTF8.self)) }
        try require(whole.elementsEqual(texts) { $0.isSame(as: $1) }, "Lines differ from those of a plain split.")
        let limit = 8
        let (limited, isOver) = try elements(of: bytes) { LineSplitter(limit: limit) }
        let lengths = (expected.map { $0.last == 13 ? $0.count - 1 : $0.count } + (last.isEmpty ? [] : [last.count]))
        let count = lengths.firstIndex { $0 > limit } ?? lengths.count
        try require(
            limited.count == count && isOver == (count < lengths.count),
            "The limit is not enforced at the first line that exceeds it."
        )
    }

    /// Decodes JSON Lines. Each line decodes as it does alone, wherever the text is cut.
    static let jsonLines = FuzzTarget("json-lines") { bytes in
        let decoder = SharedDecoder(LenientJSONDecoder())
        let (whole, isOver) = try elements(of: bytes) { JSONLineParser<JSON>(decoder, limit: 1 << 20) }
        var expected: [JSON] = []
        var isBroken = false
        for line in Array(bytes).split(separator: 10) where !line.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }) {
            guard let value = try? LenientJSONDecoder().decode(JSON.self, from: Data(line)) else {
                isBroken = true
                break
            }
            expected.append(value)
        }
        try require(whole == expected && isOver == isBroken, "Lines decode differently from each line alone.")
    }

    /// Parses an input as a whole and in pieces, which must give the same elements. Returns them, and true if the input ends with
    /// an error.
    private static func elements<Parser: StreamParser>(
        of bytes: UnsafeRawBufferPointer,
        _ parser: () -> Parser
    ) throws -> (elements: [Parser.Element], isBroken: Bool) where Parser.Element: Equatable {
        let whole = elements(of: [Data(bytes)], parser(), skipsParsing: false)
        var input = FuzzInput(bytes)
        let skipsParsing = Bool.random(using: &input.random)
        let cut = elements(of: input.pieces(), parser(), skipsParsing: skipsParsing)
        try require(cut.elements == whole.elements, "The elements in pieces differ.")
        try require(cut.isBroken == whole.isBroken, "Only one of the whole and the pieces fails.")
        let single = elements(of: bytes.map { Data([$0]) }, parser(), skipsParsing: false)
        try require(single.elements == whole.elements, "The elements byte by byte differ.")
        try require(single.isBroken == whole.isBroken, "Only one of the whole and the single bytes fails.")
        return whole
    }

    /// Parses pieces. With `skipsParsing`, it adds some pieces before the parser has consumed the ones before.
    private static func elements<Parser: StreamParser>(
        of pieces: [Data],
        _ parser: Parser,
        skipsParsing: Bool
    ) -> (elements: [Parser.Element], isBroken: Bool) {
        var parser = parser
        var elements: [Parser.Element] = []
        do {
            for piece in pieces {
                parser.append(piece)
                if skipsParsing, piece.count.isMultiple(of: 2) { continue }
                while let element = try parser.next() { elements.append(element) }
            }
            parser.finish()
            while let element = try parser.next() { elements.append(element) }
        } catch {
            return (elements, true)
        }
        return (elements, false)
    }
}

/// Interprets an event stream step by step as in WHATWG HTML §9.2.6.
private struct ReferenceEvents {
    var events: [ServerSentEvent] = []
    private var data = ""
    private var type = ""
    private var lastID = ""
    private var retry: Duration?

    mutating func read(_ bytes: [UInt8]) {
        var text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        while let end = text.firstIndex(where: { $0 == 10 || $0 == 13 }) {
            line(Array(text[..<end]))
            let isPair = text[end] == 13 && text[end...].dropFirst().first == 10
            text = text[end...].dropFirst(isPair ? 2 : 1)
        }
    }

    private mutating func line(_ line: [UInt8]) {
        if line.isEmpty {
            if !data.isEmpty {
                let type = type.isEmpty ? "message" : type
                let text = String(decoding: data.utf8.dropLast(), as: UTF8.self)
                events.append(ServerSentEvent(type: type, data: text, lastEventID: lastID, retry: retry))
            }
            (data, type, retry) = ("", "", nil)
            return
        }
        let name = line.prefix { $0 != UInt8(ascii: ":") }
        var value = line[name.endIndex...].dropFirst()
        if value.first == 0x20 { value = value.dropFirst() }
        let text = String(decoding: value, as: UTF8.self)
        switch String(decoding: name, as: UTF8.self) {
        case "data": data += text + "\n"
        case "event": type = text
        case "id" where value.count <= 4096 && value.allSatisfy({ $0 == 9 || $0 >= 32 && $0 != 127 }): lastID = text
        case "retry" where !value.isEmpty && value.allSatisfy({ (48...57).contains($0) }):
            retry = .milliseconds(Int64(text) ?? .max)
        default: break
        }
    }
}

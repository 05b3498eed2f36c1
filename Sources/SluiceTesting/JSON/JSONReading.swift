#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Reads JSON (RFC 8259), strictly.
struct JSONReading {
    /// What is wrong with a text, and where.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// How deep arrays and objects may stand within each other.
    static let maximumDepth = 256

    private let bytes: [UInt8]
    private let limit: Int
    private let isExact: Bool
    private var position = 0
    private var depth = 0

    private init(_ data: Data, _ limit: Int, isExact: Bool) {
        bytes = Array(data)
        self.limit = limit
        self.isExact = isExact
    }

    /// Reads a text.
    ///
    /// - Parameters:
    ///   - data: The text.
    ///   - depth: How deep arrays and objects may stand within each other.
    ///   - isExact: Whether half a character, `\ud83d` alone, fails; else another stands in its place.
    /// - Returns: The value.
    /// - Throws: What is wrong, and in which line.
    static func node(
        of data: Data,
        within depth: Int = maximumDepth,
        isExact: Bool = false
    ) throws(Failure) -> JSONNode {
        guard String(validating: data, as: UTF8.self) != nil else {
            throw Failure(description: "it is no text in UTF-8")
        }
        var reading = JSONReading(data, depth, isExact: isExact)
        reading.skipSpace()
        let node = try reading.value()
        reading.skipSpace()
        if reading.position < reading.bytes.count { throw reading.failure("there is more behind its end") }
        return node
    }

    private func failure(_ what: String) -> Failure {
        let line = bytes.prefix(position).count { $0 == 10 } + 1
        return Failure(
            description: position >= bytes.count ? "it ends too early, in line \(line)" : "\(what), in line \(line)"
        )
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func take(_ character: Character) -> Bool {
        guard let byte = next, byte == character.asciiValue else { return false }
        position += 1
        return true
    }

    private mutating func value() throws(Failure) -> JSONNode {
        switch next.map({ Character(UnicodeScalar($0)) }) {
        case "{": return try nested { reading throws(Failure) in try reading.object() }
        case "[": return try nested { reading throws(Failure) in try reading.array() }
        case "\"": return .string(try string())
        case "t": return try word("true", .bool(true))
        case "f": return try word("false", .bool(false))
        case "n": return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func nested(_ read: (inout JSONReading) throws(Failure) -> JSONNode) throws(Failure) -> JSONNode {
        depth += 1
        if depth > limit { throw failure("it is nested too deeply") }
        position += 1
        let node = try read(&self)
        depth -= 1
        return node
    }

    private mutating func object() throws(Failure) -> JSONNode {
        var members: [JSONNode.Member] = []
        skipSpace()
        if take("}") { return .object([]) }
        repeat {
            skipSpace()
            let name = try string()
            skipSpace()
            if !take(":") { throw failure("a colon is missing") }
            skipSpace()
            members.append(JSONNode.Member(name: name, value: try value()))
            skipSpace()
        } while take(",")
        if !take("}") { throw failure("a comma or brace is missing") }
        return .object(members)
    }

    private mutating func array() throws(Failure) -> JSONNode {
        var elements: [JSONNode] = []
        skipSpace()
        if take("]") { return .array([]) }
        repeat {
            skipSpace()
            elements.append(try value())
            skipSpace()
        } while take(",")
        if !take("]") { throw failure("a comma or bracket is missing") }
        return .array(elements)
    }

    private mutating func word(_ word: String, _ node: JSONNode) throws(Failure) -> JSONNode {
        guard bytes[position...].starts(with: word.utf8) else {
            position = min(bytes.count, position + (bytes.count - position < word.utf8.count ? word.utf8.count : 0))
            throw failure("there is an unknown word")
        }
        position += word.utf8.count
        return node
    }

    private mutating func number() throws(Failure) -> String {
        let start = position
        _ = take("-")
        let whole = digits()
        if whole.isEmpty || whole.count > 1 && whole.first == UInt8(ascii: "0") { throw failure("there is no value") }
        if take("."), digits().isEmpty { throw failure("there is a number without its fraction") }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            if digits().isEmpty { throw failure("there is a number without its exponent") }
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() -> ArraySlice<UInt8> {
        let digits = bytes[position...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        position = digits.endIndex
        return digits
    }

    private mutating func string() throws(Failure) -> String {
        if !take("\"") { throw failure("a name or text has no quotation mark") }
        var units: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: units, as: UTF8.self)
            case UInt8(ascii: "\\"): units += try escape()
            case 0..<0x20: throw failure("a text holds a control character")
            default: units.append(byte)
            }
        }
        throw failure("a text does not end")
    }

    private mutating func escape() throws(Failure) -> [UInt8] {
        guard let byte = next else { throw failure("a text does not end") }
        position += 1
        switch Character(UnicodeScalar(byte)) {
        case "\"", "\\", "/": return [byte]
        case "b": return [8]
        case "f": return [12]
        case "n": return [10]
        case "r": return [13]
        case "t": return [9]
        case "u":
            var units = [try hexadecimal()]
            if UTF16.isLeadSurrogate(units[0]), bytes[position...].starts(with: "\\u".utf8) {
                position += 2
                units.append(try hexadecimal())
            }
            if isExact, String(validating: units, as: UTF16.self) == nil {
                throw failure("a text holds half a character")
            }
            return Array(String(decoding: units, as: UTF16.self).utf8)
        default: throw failure("a text has an unknown escape")
        }
    }

    private mutating func hexadecimal() throws(Failure) -> UInt16 {
        let digits = bytes[position...].prefix(4)
        position = digits.endIndex
        guard digits.count == 4, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw failure("a text has an unknown escape") }
        return unit
    }
}

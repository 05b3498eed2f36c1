import SluiceFoundation

/// Validates a JSON text (RFC 8259) and writes its values to a tape.
///
/// The text is followed by zero bytes. JSON never contains a zero byte, so every scan stops at the end without a bounds
/// check, and eight bytes can be read at once from any offset.
package struct JSONParser {
    /// The number of zero bytes after the text.
    package static let padding = 8
    /// The maximum nesting depth of arrays and objects in a standalone text.
    package static let maximumDepth = 512

    /// A syntax error and its offset in bytes.
    struct Failure: Error {
        let offset: Int
        let reason: String

        init(_ reason: String, at offset: Int) {
            self.reason = reason
            self.offset = offset
        }
    }

    private typealias Entry = JSONDocument.Entry

    private let bytes: UnsafePointer<UInt8>
    private let length: Int
    private let maximumDepth: Int
    private var position = 0
    private var tape = ContiguousArray<Entry>()
    /// The index of the open container. While it is open, the `next` of its entry holds the index of the enclosing
    /// container.
    private var container = JSONParser.none
    private var isObject = false
    /// The number of values in the open container.
    private var count: UInt32 = 0
    private var depth = 0

    private static let none = UInt32.max

    /// Parses a text.
    ///
    /// - Parameters:
    ///   - buffer: The text, followed by the zero bytes.
    ///   - length: The length of the text in bytes.
    ///   - maximumDepth: The maximum nesting depth of arrays and objects.
    /// - Returns: The tape, with at least one entry.
    /// - Throws: A ``JSONSyntaxError`` for an invalid text.
    static func parse(
        _ buffer: UnsafeBufferPointer<UInt8>,
        length: Int,
        maximumDepth: Int
    ) throws(JSONSyntaxError) -> ContiguousArray<JSONDocument.Entry> {
        let text = UnsafeBufferPointer(rebasing: buffer.prefix(length))
        guard let bytes = buffer.baseAddress, length < Int(Int32.max) else {
            throw JSONSyntaxError("it is longer than 2 GiB", offset: 0, in: text)
        }
        var parser = JSONParser(bytes: bytes, length: length, maximumDepth: maximumDepth)
        do throws(Failure) {
            try parser.parse()
            return parser.tape
        } catch {
            throw JSONSyntaxError(error.reason, offset: min(error.offset, length), in: text)
        }
    }

    private init(bytes: UnsafePointer<UInt8>, length: Int, maximumDepth: Int) {
        self.bytes = bytes
        self.length = length
        self.maximumDepth = maximumDepth
        // An estimate that avoids most reallocations: a value and its separator have about ten bytes.
        tape.reserveCapacity(length / 10 + 4)
    }

    private mutating func parse() throws(Failure) {
        if length >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { position = 3 }
        repeat {
            while try !parseValue() {}
        } while try advance()
    }

    /// Parses a value, or only the start of a container that is not empty.
    ///
    /// - Returns: True if the value is complete; false if its first element or member value follows.
    private mutating func parseValue() throws(Failure) -> Bool {
        skipWhiteSpace()
        switch bytes[position] {
        case UInt8(ascii: "\""):
            try parseString()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            try parseNumber()
        case UInt8(ascii: "{"):
            try open(.object)
            if bytes[position] != UInt8(ascii: "}") {
                try parseName()
                return false
            }
            close()
        case UInt8(ascii: "["):
            try open(.array)
            guard bytes[position] == UInt8(ascii: "]") else { return false }
            close()
        case UInt8(ascii: "t"):
            try parse("true", as: .true)
        case UInt8(ascii: "f"):
            try parse("false", as: .false)
        case UInt8(ascii: "n"):
            try parse("null", as: .null)
        default:
            throw unexpected("a value is expected")
        }
        return true
    }

    /// Moves from the end of a value to the start of the next one. Closes the containers that end in between.
    ///
    /// - Returns: True if another value follows.
    private mutating func advance() throws(Failure) -> Bool {
        while container != Self.none {
            count += 1
            skipWhiteSpace()
            switch bytes[position] {
            case UInt8(ascii: ","):
                position += 1
                if isObject {
                    skipWhiteSpace()
                    try parseName()
                }
                return true
            case UInt8(ascii: "}") where isObject, UInt8(ascii: "]") where !isObject:
                close()
            default:
                throw unexpected(isObject ? "a comma or “}” is expected" : "a comma or “]” is expected")
            }
        }
        skipWhiteSpace()
        guard position == length else { throw Failure("there is text after its value", at: position) }
        return false
    }

    private mutating func open(_ kind: JSONDocument.Kind) throws(Failure) {
        depth += 1
        guard depth <= maximumDepth else {
            throw Failure("it is nested more than \(Self.maximumDepth) levels deep in total", at: position)
        }
        if container != Self.none { tape[Int(container)].count = count }
        let index = UInt32(truncatingIfNeeded: tape.count)
        append(kind, to: position + 1)
        tape[Int(index)].next = container
        container = index
        isObject = kind == .object
        count = 0
        skipWhiteSpace()
    }

    private mutating func close() {
        depth -= 1
        position += 1
        let closed = Int(container)
        container = tape[closed].next
        tape[closed].end = UInt32(truncatingIfNeeded: position)
        tape[closed].next = UInt32(truncatingIfNeeded: tape.count)
        tape[closed].count = count
        if container != Self.none {
            isObject = tape[Int(container)].kind == .object
            count = tape[Int(container)].count
        }
    }

    /// Appends the value at the current position to the tape and moves to its end.
    @inline(__always)
    private mutating func append(_ kind: JSONDocument.Kind, to end: Int, isPlain: Bool = true, isASCII: Bool = true) {
        tape.append(
            Entry(
                start: UInt32(truncatingIfNeeded: position),
                end: UInt32(truncatingIfNeeded: end),
                next: UInt32(truncatingIfNeeded: tape.count &+ 1),
                count: 0,
                kind: kind,
                isPlain: isPlain,
                isASCII: isASCII
            )
        )
        position = end
    }

    /// Parses the name of a member and the colon.
    private mutating func parseName() throws(Failure) {
        guard bytes[position] == UInt8(ascii: "\"") else { throw unexpected("a member name is expected") }
        let start = position
        try parseString()
        let name = tape[tape.count - 1]
        if !name.isASCII || !name.isPlain, position - start > JSONMarks.limit {
            let text = UnsafeBufferPointer(start: bytes + start, count: position - start)
            if JSONMarks.offsetOfExcess(in: text) != nil {
                throw Failure("a member name has \(JSONMarks.excess)", at: start)
            }
        }
        skipWhiteSpace()
        guard bytes[position] == UInt8(ascii: ":") else { throw unexpected("a colon is expected") }
        position += 1
    }

    private mutating func parse(_ literal: StaticString, as kind: JSONDocument.Kind) throws(Failure) {
        for offset in 0..<literal.utf8CodeUnitCount where bytes[position + offset] != literal.utf8Start[offset] {
            throw Failure("a value is expected", at: position)
        }
        append(kind, to: position + literal.utf8CodeUnitCount)
    }

    private mutating func parseNumber() throws(Failure) {
        let (end, isInteger) = try JSONScanner.number(in: bytes, from: position)
        append(.number, to: end, isPlain: isInteger)
    }

    private mutating func parseString() throws(Failure) {
        let (end, isPlain, isASCII) = try JSONScanner.string(in: bytes, from: position, length: length)
        append(.string, to: end, isPlain: isPlain, isASCII: isASCII)
    }

    @inline(__always)
    private mutating func skipWhiteSpace() {
        // Most texts contain no whitespace.
        while bytes[position] <= UInt8(ascii: " "), Self.isWhiteSpace(bytes[position]) { position &+= 1 }
    }

    static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
            || byte == UInt8(ascii: "\t")
    }

    private func unexpected(_ reason: String) -> Failure {
        Failure(position < length ? reason : "it ends too early", at: position)
    }
}

/// The reason a text is not valid JSON (RFC 8259), with its location.
///
/// ```
/// The text is not valid JSON: a value is expected (line 3, column 14).
/// ```
public struct JSONSyntaxError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The offset in the text, in bytes.
    public let offset: Int
    /// The line, counted from 1.
    public let line: Int
    /// The column in Unicode scalars, counted from 1.
    public let column: Int
    /// The problem, as a sentence without its period.
    public let reason: String

    /// A one-sentence description without any of the text.
    public var description: String {
        "The text is not valid JSON: \(reason) (line \(line), column \(column))."
    }

    /// The ``description``, as `localizedDescription`.
    public var errorDescription: String? { description }

    /// Creates an error with the line and column of an offset.
    init(_ reason: String, offset: Int, in text: UnsafeBufferPointer<UInt8>) {
        self.reason = reason
        self.offset = offset
        var line = 1
        var column = 1
        for byte in text.prefix(offset) {
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        self.line = line
        self.column = column
    }
}

import SluiceFoundation

/// A parser of the bytes that a server sends in RESP2 or RESP3, wherever they are cut.
///
///     append ──▶ next ──┬─ a message
///                       ├─ nil: more bytes are needed
///                       └─ an error, which all later calls repeat
///
/// It is strict: streamed strings and aggregates, which no server sends, and numbers with another syntax are errors.
package struct RESPParser: Sendable {
    /// A value at the top level.
    package enum Message: Sendable, Hashable {
        /// The reply to the oldest command without one.
        case reply(RedisValue)
        /// A message that answers no command. Its first element names its kind.
        case push([RedisValue])
        /// Attributes of the next message. Those of elements are checked and dropped.
        case attributes([RedisValue.Entry])
    }

    private enum Kind {
        case array, set, map, push, attributes
    }

    private struct Aggregate {
        let kind: Kind
        var missing: Int
        var elements: [RedisValue] = []
    }

    private enum BulkKind {
        case string, error, verbatim
    }

    private let limits: RESPLimits
    private var buffer: [UInt8] = []
    /// The index of the first byte that is not parsed.
    private var position = 0
    /// The index up to which the current line is known to have no end.
    private var scanned = 0
    /// The bulk string whose bytes are awaited.
    private var bulk: (kind: BulkKind, count: Int)?
    private var open: [Aggregate] = []
    /// The number of elements and of bytes of the current message.
    private var elements = 0
    private var size = 0
    private var failure: RESPSyntaxError?

    package init(limits: RESPLimits = RESPLimits()) {
        self.limits = limits
    }

    /// The number of bytes that are kept for the current message.
    package var retained: Int { buffer.count }

    /// Appends received bytes.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard failure == nil else { return }
        if position == buffer.count {
            // A large message leaves no large buffer behind.
            buffer.removeAll(keepingCapacity: buffer.capacity <= 64 << 10)
            (position, scanned) = (0, 0)
        } else if position > buffer.count / 2 {
            buffer.removeFirst(position)
            (position, scanned) = (0, max(0, scanned - position))
        }
        buffer.append(contentsOf: bytes)
    }

    /// Removes and returns the next message, or nil if it is not complete yet.
    package mutating func next() throws(RESPSyntaxError) -> Message? {
        if let failure { throw failure }
        do throws(RESPSyntaxError) {
            return try parse()
        } catch {
            failure = error
            buffer = []
            open = []
            throw error
        }
    }

    private mutating func parse() throws(RESPSyntaxError) -> Message? {
        while true {
            var message: Message?
            if let (kind, count) = bulk {
                guard let value = try takeBulk(kind, count) else { return nil }
                bulk = nil
                message = add(value)
            } else {
                guard let line = try takeLine() else { return nil }
                message = try begin(line)
            }
            if let message {
                (elements, size) = (0, 0)
                return message
            }
        }
    }

    // MARK: Bytes

    /// Takes the next line, without its end.
    private mutating func takeLine() throws(RESPSyntaxError) -> Range<Int>? {
        var end = max(scanned, position)
        while end < buffer.count, buffer[end] != 13, buffer[end] != 10 { end += 1 }
        scanned = end
        guard end - position <= limits.line else { throw .lineTooLong }
        guard end < buffer.count else { return nil }
        guard buffer[end] == 13 else { throw .invalidLineEnd }
        guard end + 1 < buffer.count else { return nil }
        guard buffer[end + 1] == 10 else { throw .invalidLineEnd }
        let line = position..<end
        position = end + 2
        try count(bytes: line.count)
        return line
    }

    private mutating func takeBulk(_ kind: BulkKind, _ count: Int) throws(RESPSyntaxError) -> RedisValue? {
        guard buffer.count - position >= count + 2 else { return nil }
        let bytes = position..<position + count
        guard buffer[bytes.upperBound] == 13, buffer[bytes.upperBound + 1] == 10 else { throw .invalidLineEnd }
        position = bytes.upperBound + 2
        switch kind {
        case .string: return .bytes(Data(buffer[bytes]))
        case .error: return .error(RedisReplyError(text(bytes)))
        case .verbatim:
            guard count >= 4, buffer[bytes.lowerBound + 3] == UInt8(ascii: ":") else { throw .invalidVerbatim }
            return .bytes(Data(buffer[bytes.dropFirst(4)]))
        }
    }

    private mutating func count(bytes: Int) throws(RESPSyntaxError) {
        size += bytes
        guard size <= limits.total else { throw .messageTooLarge }
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: buffer[range], as: UTF8.self) }

    // MARK: Values

    /// Handles a line that begins a value. Returns the message that it completes.
    private mutating func begin(_ line: Range<Int>) throws(RESPSyntaxError) -> Message? {
        guard let type = line.first else { throw .unknownType(13) }
        let rest = line.dropFirst()
        switch buffer[type] {
        case UInt8(ascii: "+"): return add(.bytes(Data(buffer[rest])))
        case UInt8(ascii: "-"): return add(.error(RedisReplyError(text(rest))))
        case UInt8(ascii: ":"):
            guard isInteger(rest), let value = Int64(text(rest)) else { throw .invalidScalar }
            return add(.integer(value))
        case UInt8(ascii: "_"):
            guard rest.isEmpty else { throw .invalidScalar }
            return add(.null)
        case UInt8(ascii: "#"):
            guard rest.count == 1 else { throw .invalidScalar }
            switch buffer[rest.lowerBound] {
            case UInt8(ascii: "t"): return add(.boolean(true))
            case UInt8(ascii: "f"): return add(.boolean(false))
            default: throw .invalidScalar
            }
        case UInt8(ascii: ","):
            guard let value = double(rest) else { throw .invalidScalar }
            return add(.double(value))
        case UInt8(ascii: "("):
            guard isInteger(rest) else { throw .invalidScalar }
            return add(.bigNumber(text(rest)))
        case UInt8(ascii: "$"): return try isNull(rest) ? add(.null) : beginBulk(.string, rest)
        case UInt8(ascii: "!"): return try beginBulk(.error, rest)
        case UInt8(ascii: "="): return try beginBulk(.verbatim, rest)
        case UInt8(ascii: "*"): return try isNull(rest) ? add(.null) : beginAggregate(.array, rest)
        case UInt8(ascii: "~"): return try beginAggregate(.set, rest)
        case UInt8(ascii: "%"): return try beginAggregate(.map, rest)
        case UInt8(ascii: ">"):
            guard open.isEmpty else { throw .nestedPush }
            return try beginAggregate(.push, rest)
        case UInt8(ascii: "|"): return try beginAggregate(.attributes, rest)
        case let byte: throw .unknownType(byte)
        }
    }

    private mutating func beginBulk(_ kind: BulkKind, _ digits: Range<Int>) throws(RESPSyntaxError) -> Message? {
        let count = try length(digits, limit: limits.bulk, else: .bulkTooLarge)
        try self.count(bytes: count)
        bulk = (kind, count)
        return nil
    }

    private mutating func beginAggregate(_ kind: Kind, _ digits: Range<Int>) throws(RESPSyntaxError) -> Message? {
        let announced = try length(digits, limit: limits.elements, else: .tooManyElements)
        let count = kind == .map || kind == .attributes ? announced * 2 : announced
        guard count <= limits.elements - elements else { throw .tooManyElements }
        guard open.count < limits.depth else { throw .tooDeep }
        elements += count
        // The elements are not reserved, because the server may never send them.
        open.append(Aggregate(kind: kind, missing: count))
        return count == 0 ? closeComplete() : nil
    }

    /// Adds a value to the innermost aggregate. Returns the message that it completes.
    private mutating func add(_ value: RedisValue) -> Message? {
        guard let last = open.indices.last else { return .reply(value) }
        open[last].elements.append(value)
        open[last].missing -= 1
        return closeComplete()
    }

    /// Closes the aggregates that have all elements. Returns the message, if the outermost one is closed.
    private mutating func closeComplete() -> Message? {
        while let last = open.last, last.missing == 0 {
            open.removeLast()
            let value: RedisValue
            switch last.kind {
            case .array: value = .array(last.elements)
            case .set: value = .set(last.elements)
            case .map: value = .map(RESPParser.entries(last.elements))
            case .push: return .push(last.elements)
            case .attributes:
                // The aggregate around the attributes still misses the value that they describe.
                return open.isEmpty ? .attributes(RESPParser.entries(last.elements)) : nil
            }
            guard let outer = open.indices.last else { return .reply(value) }
            open[outer].elements.append(value)
            open[outer].missing -= 1
        }
        return nil
    }

    private static func entries(_ elements: [RedisValue]) -> [RedisValue.Entry] {
        stride(from: 0, to: elements.count - 1, by: 2).map { .init(key: elements[$0], value: elements[$0 + 1]) }
    }

    // MARK: Numbers

    /// Parses a length without a sign and without leading zeros.
    private func length(_ digits: Range<Int>, limit: Int, else excess: RESPSyntaxError) throws(RESPSyntaxError) -> Int {
        guard let first = digits.first, digits.count == 1 || buffer[first] != UInt8(ascii: "0") else {
            throw .invalidLength
        }
        var value = 0
        for index in digits {
            guard isDigit(buffer[index]) else { throw .invalidLength }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            guard !overflow, product <= Int.max - 9 else { throw excess }
            value = product + Int(buffer[index] - UInt8(ascii: "0"))
        }
        guard value <= limit else { throw excess }
        return value
    }

    private func isNull(_ digits: Range<Int>) -> Bool { buffer[digits].elementsEqual("-1".utf8) }

    private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private func isSign(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") }

    private func isInteger(_ range: Range<Int>) -> Bool {
        let digits = buffer[range].drop(while: isSign)
        return range.count - digits.count <= 1 && !digits.isEmpty && digits.allSatisfy(isDigit)
    }

    private func double(_ range: Range<Int>) -> Double? {
        switch range.count <= 4 ? text(range) : "" {
        case "inf", "+inf": return .infinity
        case "-inf": return -.infinity
        case "nan", "-nan": return .nan
        default: break
        }
        var rest = buffer[range]
        func takeDigits() -> Bool {
            let digits = rest.prefix(while: isDigit)
            rest = rest[digits.endIndex...]
            return !digits.isEmpty
        }
        if let sign = rest.first, isSign(sign) { rest.removeFirst() }
        guard takeDigits() else { return nil }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            guard takeDigits() else { return nil }
        }
        if let exponent = rest.first, exponent | 0x20 == UInt8(ascii: "e") {
            rest.removeFirst()
            if let sign = rest.first, isSign(sign) { rest.removeFirst() }
            guard takeDigits() else { return nil }
        }
        return rest.isEmpty ? Double(text(range)) : nil
    }
}

// MARK: - RESP limits

/// The limits of one message. They are checked before memory for the announced elements or bytes is allocated.
package struct RESPLimits: Sendable, Hashable {
    /// The number of aggregates within each other.
    package var depth = 16
    /// The number of elements of all aggregates together. An entry of a map counts as two.
    package var elements = 1 << 20
    /// The size of one bulk string in bytes.
    package var bulk = 16 << 20
    /// The size of all lines and bulk strings together in bytes.
    package var total = 32 << 20
    /// The size of one line in bytes, without its end.
    package var line = 64 << 10

    package init() {}
}

/// A violation of the protocol, or of a limit. The connection cannot be used any longer.
package enum RESPSyntaxError: Error, Sendable, Hashable {
    /// A byte that begins no value.
    case unknownType(UInt8)
    /// A CR or LF that does not end a line, or a bulk string without its end.
    case invalidLineEnd
    /// A length or count that is not in digits.
    case invalidLength
    /// A number, boolean or null with another syntax.
    case invalidScalar
    /// A verbatim string without its format.
    case invalidVerbatim
    /// A push within another value.
    case nestedPush
    case tooDeep
    case tooManyElements
    case bulkTooLarge
    case messageTooLarge
    case lineTooLong
}

extension RESPSyntaxError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknownType(let byte): "a value begins with the byte \(byte)"
        case .invalidLineEnd: "a line or a bulk string has no valid end"
        case .invalidLength: "a length is not a number"
        case .invalidScalar: "a number, boolean or null is not valid"
        case .invalidVerbatim: "a verbatim string has no format"
        case .nestedPush: "a push is part of another value"
        case .tooDeep: "a value is nested too deeply"
        case .tooManyElements: "a value has too many elements"
        case .bulkTooLarge: "a bulk string is too large"
        case .messageTooLarge: "a value is too large"
        case .lineTooLong: "a line is too long"
        }
    }
}

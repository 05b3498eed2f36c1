import SluiceRedis

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension FuzzTarget {
    /// Parses the bytes of a Redis server, with small limits. The messages do not depend on where the bytes are cut, no message exceeds
    /// a limit, and a message that is written again is parsed as the same one.
    static let resp = FuzzTarget("resp") { bytes in
        var input = FuzzInput(bytes)
        let whole = Array(input.rest)
        let pieces = input.pieces().map { Array($0) }
        let limits = RESPLimits.small
        let expected = try RESPReading([whole], limits)
        for cut in [pieces, whole.map { [$0] }] {
            let reading = try RESPReading(cut, limits)
            try require(
                reading.written == expected.written && reading.failure == expected.failure,
                "In \(cut.count) pieces the bytes are \(reading), and else \(expected)."
            )
        }
        for message in expected.messages {
            // Invalid UTF-8 in an error becomes U+FFFD, which is longer.
            let again = try RESPReading([message.written], RESPLimits())
            try require(
                again.failure == nil && again.written == [message.written],
                "\(message) is read again as \(again)."
            )
        }
    }
}

extension RESPLimits {
    fileprivate static var small: RESPLimits {
        var limits = RESPLimits()
        limits.depth = 4
        limits.elements = 64
        limits.bulk = 256
        limits.total = 1024
        limits.line = 64
        return limits
    }
}

/// The messages of some bytes.
private struct RESPReading: CustomStringConvertible {
    private(set) var messages: [RESPParser.Message] = []
    private(set) var failure: RESPSyntaxError?

    init(_ pieces: [[UInt8]], _ limits: RESPLimits) throws {
        var parser = RESPParser(limits: limits)
        for piece in pieces {
            piece.withUnsafeBytes { parser.append($0) }
            do throws(RESPSyntaxError) {
                while let message = try parser.next() { messages.append(message) }
            } catch {
                failure = error
            }
            let retained = limits.total + 4 * limits.line + piece.count
            try require(parser.retained <= 2 * retained, "\(parser.retained) bytes are kept.")
        }
        for message in messages {
            let size = message.size
            try require(size.depth <= limits.depth, "\(message) is nested too deeply.")
            try require(size.elements <= limits.elements, "\(message) has too many elements.")
        }
    }

    /// The messages as bytes, to compare them: a double that is no number does not equal itself.
    var written: [[UInt8]] { messages.map(\.written) }

    var description: String { "\(messages)\(failure.map { ", then \($0)" } ?? "")" }
}

extension RESPParser.Message {
    fileprivate var written: [UInt8] {
        switch self {
        case .reply(let value): value.written
        case .push(let elements): Array(">\(elements.count)\r\n".utf8) + elements.flatMap(\.written)
        case .attributes(let entries): Array("|\(entries.count)\r\n".utf8) + entries.written
        }
    }

    fileprivate var size: (depth: Int, elements: Int) {
        switch self {
        case .reply(let value): value.size
        case .push(let elements): RedisValue.array(elements).size
        case .attributes(let entries): RedisValue.map(entries).size
        }
    }
}

extension [RedisValue.Entry] {
    fileprivate var written: [UInt8] { flatMap { $0.key.written + $0.value.written } }
}

extension RedisValue {
    /// The value in RESP3.
    fileprivate var written: [UInt8] {
        switch self {
        case .null: Array("_\r\n".utf8)
        case .bytes(let data): Array("$\(data.count)\r\n".utf8) + data + [13, 10]
        case .integer(let value): Array(":\(value)\r\n".utf8)
        case .double(let value): Array(",\(value)\r\n".utf8)
        case .boolean(let value): Array("#\(value ? "t" : "f")\r\n".utf8)
        case .bigNumber(let digits): Array("(\(digits)\r\n".utf8)
        case .error(let error): error.written
        case .array(let elements): Array("*\(elements.count)\r\n".utf8) + elements.flatMap(\.written)
        case .set(let elements): Array("~\(elements.count)\r\n".utf8) + elements.flatMap(\.written)
        case .map(let entries): Array("%\(entries.count)\r\n".utf8) + entries.written
        }
    }

    fileprivate var size: (depth: Int, elements: Int) {
        let parts: [RedisValue]
        switch self {
        case .array(let elements), .set(let elements): parts = elements
        case .map(let entries): parts = entries.flatMap { [$0.key, $0.value] }
        default: return (0, 0)
        }
        let sizes = parts.map(\.size)
        return (1 + (sizes.map(\.depth).max() ?? 0), parts.count + sizes.reduce(0) { $0 + $1.elements })
    }
}

extension RedisReplyError {
    fileprivate var written: [UInt8] {
        let text = "\(prefix) \(message)"
        return Array("!\(text.utf8.count)\r\n\(text)\r\n".utf8)
    }
}

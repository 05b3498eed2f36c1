import SluiceFoundation
import SluiceHTTP
import SluiceLibc

/// Splits bytes that arrive in chunks into lines. A line that lies in one chunk is not copied.
struct LineReader: Sendable {
    /// The line endings that are recognized.
    enum LineEnd: Sendable {
        /// LF or CRLF.
        case lineFeed
        /// LF, CRLF or CR.
        case any
    }

    /// The offsets of the next line feed and carriage return. A value below the current offset is out of date.
    private struct LineEndOffsets: Sendable {
        var lineFeed = -1
        var carriageReturn = -1
    }

    /// The maximum size of a line in bytes, without its line ending.
    let limit: Int
    private let lineEnd: LineEnd
    private var chunk = Data()
    private var offset = 0
    private var nextEnds = LineEndOffsets()
    /// The part of the current line that arrived in earlier chunks.
    private var beginning: [UInt8] = []
    /// True after a carriage return: a line feed that follows belongs to the same line ending.
    private var skipsLineFeed = false
    private var isFinished = false
    private var isOverLimit = false

    init(endingAt lineEnd: LineEnd, limit: Int) {
        self.lineEnd = lineEnd
        self.limit = limit
    }

    mutating func append(_ chunk: Data) {
        if offset == self.chunk.count {
            self.chunk = chunk
            offset = 0
        } else {
            self.chunk.append(chunk)
        }
        nextEnds = LineEndOffsets()
    }

    mutating func finish() {
        isFinished = true
    }

    /// The bytes of which no line has been passed on.
    var unread: Data {
        var rest = chunk.dropFirst(offset)
        if skipsLineFeed, rest.first == .lineFeed { rest = rest.dropFirst() }
        return Data(beginning) + rest
    }

    /// True if a line feed at the beginning of the next chunk belongs to the last line ending.
    var expectsLineFeed: Bool { skipsLineFeed && offset == chunk.count }

    /// Passes the next line, without its line ending, to a closure.
    ///
    /// - Parameters:
    ///   - state: The state the closure may change.
    ///   - take: Called with the state and the line.
    /// - Returns: The result of the closure, or nil if there is no complete line.
    /// - Throws: ``SluiceError/Code/elementTooLarge``.
    mutating func next<State, Value>(
        _ state: inout State,
        _ take: (inout State, UnsafeRawBufferPointer) -> Value
    ) throws(SluiceError) -> Value? {
        // A local copy, because the closure mutates this reader.
        let chunk = chunk
        let value = chunk.withUnsafeBytes { bytes -> Value? in
            guard let line = line(in: bytes) else { return nil }
            if line.isWhole { return take(&state, line.bytes) }
            defer { beginning.removeAll(keepingCapacity: true) }
            return beginning.withUnsafeBytes { bytes in
                take(&state, UnsafeRawBufferPointer(rebasing: bytes.dropLast(line.surplus)))
            }
        }
        if isOverLimit { throw .elementTooLarge("A line", limit) }
        return value
    }
}

extension LineReader {
    /// A line that lies in the current chunk, or one collected in `beginning` from several chunks.
    private struct Line {
        var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        var isWhole = false
        /// The number of bytes of the line ending at the end of `beginning`.
        var surplus = 0
    }

    /// Finds the end of the next line. Collects the bytes of an incomplete line in `beginning`.
    private mutating func line(in bytes: UnsafeRawBufferPointer) -> Line? {
        if isOverLimit { return nil }
        if skipsLineFeed, offset < bytes.count {
            if bytes[offset] == .lineFeed { offset += 1 }
            skipsLineFeed = false
        }
        guard let end = end(in: bytes) else {
            collect(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
            offset = bytes.count
            guard isFinished, !isOverLimit, !beginning.isEmpty else { return nil }
            // At the end of the body a trailing carriage return is part of the line.
            if beginning.count > limit { isOverLimit = true }
            return isOverLimit ? nil : Line()
        }
        let part = UnsafeRawBufferPointer(rebasing: bytes[offset..<end])
        if lineEnd == .any, bytes[end] == .carriageReturn { skipsLineFeed = true }
        offset = end + 1
        if beginning.isEmpty {
            let line = part.dropLast(surplus(of: part.last))
            isOverLimit = line.count > limit
            return isOverLimit ? nil : Line(bytes: UnsafeRawBufferPointer(rebasing: line), isWhole: true)
        }
        collect(part)
        return isOverLimit ? nil : Line(surplus: surplus(of: beginning.last))
    }

    private mutating func collect(_ part: UnsafeRawBufferPointer) {
        let count = beginning.count + part.count
        isOverLimit = count - surplus(of: part.last ?? beginning.last) > limit
        if !isOverLimit { beginning.append(contentsOf: part) }
    }

    /// Returns the number of bytes before a line feed that belong to the line ending.
    private func surplus(of last: UInt8?) -> Int {
        lineEnd == .lineFeed && last == .carriageReturn ? 1 : 0
    }

    /// Returns the offset of the next line ending; nil if there is none in the chunk.
    private mutating func end(in bytes: UnsafeRawBufferPointer) -> Int? {
        if nextEnds.lineFeed < offset { nextEnds.lineFeed = bytes.firstIndex(of: .lineFeed, from: offset) }
        var end = nextEnds.lineFeed
        if lineEnd == .any {
            // Cache both offsets. Otherwise a text that contains only carriage returns would be searched to its end for
            // a line feed once per line.
            if nextEnds.carriageReturn < offset {
                nextEnds.carriageReturn = bytes.firstIndex(of: .carriageReturn, from: offset)
            }
            end = min(end, nextEnds.carriageReturn)
        }
        return end < bytes.count ? end : nil
    }
}

extension UInt8 {
    fileprivate static let lineFeed: UInt8 = 10
    fileprivate static let carriageReturn: UInt8 = 13
}

extension UnsafeRawBufferPointer {
    /// Returns the offset of the first occurrence of a byte at or after an offset, or `count` if there is none.
    func firstIndex(of byte: UInt8, from offset: Int) -> Int {
        guard let start = baseAddress, offset < count else { return count }
        guard let found = memchr(start + offset, Int32(byte), count - offset) else { return count }
        return UnsafeRawPointer(found) - start
    }
}

extension SluiceError {
    static func elementTooLarge(_ element: String, _ limit: Int) -> SluiceError {
        SluiceError(
            .elementTooLarge,
            "\(element) of the response exceeds the limit of \(limit) bytes.",
            step: .serialization
        )
    }
}

/// Splits a UTF-8 body that arrives in chunks into lines of text: see ``StreamReadable/lines(limit:)``.
package struct LineSplitter: StreamParser {
    private var reader: LineReader

    /// Creates a splitter.
    ///
    /// - Parameter limit: The maximum size of a line in bytes, without its line ending; 1 MiB by default.
    package init(limit: Int = 1 << 20) {
        reader = LineReader(endingAt: .lineFeed, limit: limit)
    }

    /// Appends the next bytes.
    package mutating func append(_ chunk: Data) {
        reader.append(chunk)
    }

    /// Signals the end of the body, which also ends the last line.
    package mutating func finish() {
        reader.finish()
    }

    /// The bytes after the last line.
    package var unread: Data { reader.unread }

    /// Returns the next line without its line ending, or nil if it is incomplete or there is none.
    ///
    /// - Returns: The next line.
    /// - Throws: ``SluiceError/Code/elementTooLarge``; every later call throws it again.
    package mutating func next() throws(SluiceError) -> String? {
        var nothing: Void = ()
        return try reader.next(&nothing) { _, line in String(decoding: line, as: UTF8.self) }
    }
}

// MARK: - JSON line parser

/// Parses a body with one JSON text per line, such as NDJSON or JSON Lines.
struct JSONLineParser<Value: Decodable & Sendable>: StreamParser, JSONLineCounting {
    private var reader: LineReader
    private let serializer: CodableSerializer<Value>
    fileprivate(set) var number = 0

    init(_ decoder: SharedDecoder, limit: Int) {
        serializer = CodableSerializer(decoder)
        reader = LineReader(endingAt: .lineFeed, limit: limit)
    }

    mutating func append(_ chunk: Data) {
        reader.append(chunk)
    }

    mutating func finish() {
        reader.finish()
    }

    var unread: Data { reader.unread }

    mutating func next() throws(SluiceError) -> Value? {
        while true {
            let line = try reader.next(&number) { number, line -> Data? in
                number += 1
                return line.allSatisfy(\.isWhiteSpace) ? nil : Data(line)
            }
            guard let line else { return nil }
            guard let line else { continue }
            do {
                return try serializer.model(of: line)
            } catch {
                guard let failure = error.underlyingError as? DecodingFailure else { throw error }
                throw .undecodable(failure, "Line \(number) of the response")
            }
        }
    }
}

/// A parser of JSON lines, whatever its values.
private protocol JSONLineCounting {
    var number: Int { get }
}

extension JSONLineParser: ContinuingParser {
    /// Continues the numbers of the lines.
    mutating func resume(after other: any StreamParser) {
        if let other = other as? any JSONLineCounting { number = other.number }
    }
}

extension UInt8 {
    /// True for the whitespace of JSON (RFC 8259 §2) except the line feed.
    fileprivate var isWhiteSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0D }
}

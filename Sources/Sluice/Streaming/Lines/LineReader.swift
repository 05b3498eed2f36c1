import SluiceHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Finds lines in bytes that arrive in chunks, without copying those that lie in one chunk.
struct LineReader: Sendable {
    /// What ends a line.
    enum LineEnd: Sendable {
        /// LF, or CR and LF.
        case lineFeed
        /// LF, CR and LF, or CR.
        case any
    }

    /// Where the next line feed and carriage return are; a place before the offset has not been looked for.
    private struct Places: Sendable {
        var lineFeed = -1
        var carriageReturn = -1
    }

    /// The most bytes of a line, without its end.
    let limit: Int
    private let lineEnd: LineEnd
    private var chunk = Data()
    private var offset = 0
    private var places = Places()
    /// What a line began with in the chunks before.
    private var beginning: [UInt8] = []
    /// Whether a line feed belongs to the carriage return before it.
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
        places = Places()
    }

    mutating func finish() {
        isFinished = true
    }

    /// Lends the next line without its end.
    ///
    /// - Parameters:
    ///   - state: What the line changes.
    ///   - take: Makes something of the line.
    /// - Returns: What was made; nil if there is no whole line.
    /// - Throws: ``SluiceError/Code/elementTooLarge``.
    mutating func next<State, Value>(
        _ state: inout State,
        _ take: (inout State, UnsafeRawBufferPointer) -> Value
    ) throws(SluiceError) -> Value? {
        // Held here, since the closure changes the rest of this reader.
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
    /// A line that lies in the chunk, or one that has been put together of several.
    private struct Line {
        var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        var isWhole = false
        /// How many bytes of its end were put together with it.
        var surplus = 0
    }

    /// Finds the end of the next line; keeps what there is of one that has none.
    private mutating func line(in bytes: UnsafeRawBufferPointer) -> Line? {
        if isOverLimit { return nil }
        if skipsLineFeed, offset < bytes.count {
            if bytes[offset] == .lineFeed { offset += 1 }
            skipsLineFeed = false
        }
        guard let end = end(in: bytes) else {
            keep(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
            offset = bytes.count
            guard isFinished, !isOverLimit, !beginning.isEmpty else { return nil }
            // Here a last carriage return is no end.
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
        keep(part)
        return isOverLimit ? nil : Line(surplus: surplus(of: beginning.last))
    }

    private mutating func keep(_ part: UnsafeRawBufferPointer) {
        let count = beginning.count + part.count
        isOverLimit = count - surplus(of: part.last ?? beginning.last) > limit
        if !isOverLimit { beginning.append(contentsOf: part) }
    }

    /// How many bytes at the end of what stands before a line feed belong to the end of the line.
    private func surplus(of last: UInt8?) -> Int {
        lineEnd == .lineFeed && last == .carriageReturn ? 1 : 0
    }

    private mutating func end(in bytes: UnsafeRawBufferPointer) -> Int? {
        if places.lineFeed < offset { places.lineFeed = bytes.firstIndex(of: .lineFeed, from: offset) }
        var end = places.lineFeed
        if lineEnd == .any {
            // Each place is looked for once: else a text of carriage returns alone would be searched to its end for every line.
            if places.carriageReturn < offset {
                places.carriageReturn = bytes.firstIndex(of: .carriageReturn, from: offset)
            }
            end = min(end, places.carriageReturn)
        }
        return end < bytes.count ? end : nil
    }
}

extension UInt8 {
    fileprivate static let lineFeed: UInt8 = 10
    fileprivate static let carriageReturn: UInt8 = 13
}

extension UnsafeRawBufferPointer {
    /// The first place of a byte from an offset on; the end if there is none.
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
            "\(element) of the response is over the limit of \(limit) bytes.",
            step: .serialization
        )
    }
}

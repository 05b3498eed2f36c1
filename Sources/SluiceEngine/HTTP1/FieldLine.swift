#if os(Linux)
import SluiceHTTP
import SluiceLibc

/// A field line, parsed in place: a token, a colon, and a value without surrounding white space (RFC 9112 §5).
struct FieldLine {
    let name: UnsafeRawBufferPointer
    let value: UnsafeRawBufferPointer
    /// The bytes of the line if it has the form `name: value` with a single space, or nil otherwise.
    let canonicalForm: UnsafeRawBufferPointer?

    /// Parses a line without its CRLF. Returns nil if the name is not a token followed directly by the colon, or if the value
    /// contains a control character other than HTAB.
    ///
    /// A line that starts with white space, including obs-fold (RFC 9112 §5.2), is not a field line.
    @inline(__always)
    init?(_ line: UnsafeRawBufferPointer) {
        guard let base = line.baseAddress else { return nil }
        let tokens = UInt8.tokens.utf8Start
        var colon = 0
        while colon < line.count, tokens[Int(line[colon])] == UInt8(ascii: "t") { colon += 1 }
        guard colon > 0, colon < line.count, line[colon] == UInt8(ascii: ":") else { return nil }
        var start = colon + 1
        var end = line.count
        while start < end, line[start].isBlank { start += 1 }
        while end > start, line[end - 1].isBlank { end -= 1 }
        name = UnsafeRawBufferPointer(start: base, count: colon)
        value = UnsafeRawBufferPointer(start: base + start, count: end - start)
        let isCanonical = start == colon + 2 && line[colon + 1] == 32
        canonicalForm = isCanonical ? UnsafeRawBufferPointer(start: base, count: end) : nil
        guard value.isFieldText else { return nil }
    }
}

/// A reader for the lines of a head or a trailer section, across inputs and within a limit on bytes.
struct LineReader {
    enum Step {
        /// A line without its CRLF.
        case line(UnsafeRawBufferPointer)
        /// The line does not end in this input.
        case incomplete
        /// The line ends without CR, or contains a NUL or a CR elsewhere.
        case malformed
        /// The line does not end within the limit.
        case overBudget
    }

    /// The number of bytes that further lines may have, including line ends.
    private(set) var budget: Int
    /// The number of bytes of the incomplete line that have been searched for a line feed.
    private var searched = 0
    /// The total number of bytes searched in vain, for tests.
    private(set) var examined = 0

    init(budget: Int) {
        self.budget = budget
    }

    /// Returns the next line and advances `position` past it.
    ///
    /// After `.incomplete`, the next input must start with the input from `position`. A NUL or a CR in an incomplete line is
    /// reported at once, so the result does not depend on how the input is split.
    @inline(__always)
    mutating func next(in input: UnsafeRawBufferPointer, from position: inout Int) -> Step {
        let available = input.count - position
        let window = min(available, budget)
        guard let base = input.baseAddress, available > 0 else { return .incomplete }
        let line = base + position
        guard window > searched, let length = lineFeed(in: line, from: searched, to: window) else {
            return search(UnsafeRawBufferPointer(start: line, count: max(window, 0)), isAll: available <= budget)
        }
        searched = 0
        guard length > 0, input[position + length - 1] == 13 else { return .malformed }
        budget -= length + 1
        position += length + 1
        return .line(UnsafeRawBufferPointer(start: line, count: length - 1))
    }

    /// Returns the offset of the first line feed between two offsets. Counts the bytes if there is none.
    @inline(__always)
    private mutating func lineFeed(in line: UnsafeRawPointer, from start: Int, to end: Int) -> Int? {
        guard let found = memchr(line + start, 10, end - start) else {
            examined += end - start
            return nil
        }
        return UnsafeRawPointer(found) - line
    }

    private mutating func search(_ line: UnsafeRawBufferPointer, isAll: Bool) -> Step {
        var index = max(searched - 1, 0)
        while index < line.count {
            // A CR at the end may be followed by its LF.
            if line[index] == 0 || (line[index] == 13 && index + 1 < line.count) { return .malformed }
            index += 1
        }
        searched = line.count
        return isAll ? .incomplete : .overBudget
    }
}

extension UInt8 {
    /// A table with a `t` at the offset of each token character (RFC 9110 §5.6.2). As a constant it needs no initialization.
    @inline(__always)
    fileprivate static var tokens: StaticString {
        """
        .................................t.ttttt..tt.tt.tttttttttt......\
        .tttttttttttttttttttttttttt...ttttttttttttttttttttttttttttt.t.t.\
        ................................................................\
        ................................................................
        """
    }

    /// True for the bytes of a field value and of a reason phrase: HTAB, SP, visible ASCII and obs-text (RFC 9110 §5.5, RFC 9112 §4).
    @inline(__always)
    var isFieldByte: Bool { self >= 0x20 ? self != 0x7F : self == 9 }
}

extension UnsafeRawBufferPointer {
    /// True if the bytes are valid in a field value.
    @inline(__always)
    var isFieldText: Bool {
        var index = 0
        while index + 8 <= count {
            let word = loadUnaligned(fromByteOffset: index, as: UInt64.self)
            // A high bit remains if a byte is below 0x20 or is DEL. The position of that byte is not needed.
            let controls = (word &- 0x2020_2020_2020_2020) & ~word
            let others = word ^ 0x7F7F_7F7F_7F7F_7F7F
            let deletes = (others &- 0x0101_0101_0101_0101) & ~others
            if (controls | deletes) & 0x8080_8080_8080_8080 != 0 {
                for offset in index..<index + 8 where !self[offset].isFieldByte { return false }
            }
            index += 8
        }
        while index < count {
            guard self[index].isFieldByte else { return false }
            index += 1
        }
        return true
    }

    /// Returns true if the bytes equal `name`, ignoring the case of the bytes. `name` is in lower case.
    @inline(__always)
    func isName(_ name: StaticString) -> Bool {
        guard count == name.utf8CodeUnitCount else { return false }
        var index = 0
        while index < count {
            let byte = self[index]
            let folded = byte &- 65 < 26 ? byte | 0x20 : byte
            guard folded == name.utf8Start[index] else { return false }
            index += 1
        }
        return true
    }
}
#endif

/// A parser for the parts that the grammars of header fields share (RFC 9110 §5.6).
///
/// It works on the bytes of a value and copies the contents of quoted strings only. The parser of a field determines
/// the order of the parts, and continues after malformed ones.
package struct FieldParser<Bytes: BidirectionalCollection<UInt8>> where Bytes.SubSequence == Bytes {
    /// A parameter of a value (RFC 9110 §5.6.6).
    package struct Parameter {
        /// The name, a token in any case.
        package let name: Bytes
        /// The value, unquoted and unescaped.
        package let value: String
        /// True if the value was a quoted string.
        package let isQuoted: Bool

        @inlinable
        package init(name: Bytes, value: String, isQuoted: Bool) {
            self.name = name
            self.value = value
            self.isQuoted = isQuoted
        }
    }

    /// The bytes that have not been read.
    package var rest: Bytes

    @inlinable
    package init(_ bytes: Bytes) {
        rest = bytes
    }

    /// Skips an ASCII character. Returns false if another one is next.
    @inlinable
    package mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    /// Skips spaces and tabs (RFC 9110 §5.6.3).
    @inlinable
    package mutating func skipSpace() {
        rest = rest.drop { $0.isBlank }
    }

    /// Reads the bytes up to a delimiter, which is not read, or up to the end.
    @inlinable
    package mutating func take(until isEnd: (UInt8) -> Bool) -> Bytes {
        let taken = rest.prefix { !isEnd($0) }
        rest = rest[taken.endIndex...]
        return taken
    }

    /// Reads a token, which is empty if another character is next (RFC 9110 §5.6.2).
    @inlinable
    package mutating func token() -> Bytes {
        take { !$0.isTokenCharacter }
    }

    /// Reads a quoted string, unescaped (RFC 9110 §5.6.4); nil if there is no opening quote. A string without a closing
    /// quote ends with the value.
    @inlinable
    package mutating func quotedString() -> (text: String, isClosed: Bool)? {
        guard skip("\"") else { return nil }
        var bytes: [UInt8] = []
        var isClosed = false
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") {
                isClosed = true
                break
            }
            bytes.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
        }
        return (String(decoding: bytes, as: UTF8.self), isClosed)
    }

    /// Reads a quoted string, or otherwise the trimmed text up to a delimiter, which may contain any other character.
    @inlinable
    package mutating func value(until isEnd: (UInt8) -> Bool) -> (text: String, isQuoted: Bool) {
        if let quoted = quotedString() { return (quoted.text, true) }
        return (String(decoding: take(until: isEnd).trimmed, as: UTF8.self), false)
    }

    /// Reads the next parameter after its semicolon. Skips parameters whose name is not a token or whose value is
    /// missing, and text after a quoted string.
    ///
    /// - Parameter allowsSpace: True to accept spaces before a quoted string, which the grammar forbids.
    /// - Returns: The parameter; nil if no semicolon is next.
    @inlinable
    package mutating func nextParameter(allowsSpace: Bool = false) -> Parameter? {
        while skip(";") {
            let name = take { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ";") }.trimmed
            guard skip("=") else { continue }
            if allowsSpace { skipSpace() }
            let value = value { $0 == UInt8(ascii: ";") }
            if value.isQuoted { _ = take { $0 == UInt8(ascii: ";") } }
            guard name.isToken, value.isQuoted || !value.text.isEmpty else { continue }
            return Parameter(name: name, value: value.text, isQuoted: value.isQuoted)
        }
        return nil
    }
}

/// The trimmed elements of a list (RFC 9110 §5.6.1), read one after the other.
package struct FieldElements<Bytes: BidirectionalCollection<UInt8>>: Sequence, IteratorProtocol
where Bytes.SubSequence == Bytes {
    /// The treatment of separators between quotes.
    package enum Quotes {
        /// Quotes have no meaning.
        case ignored
        /// Separators between quotes do not separate, and a backslash escapes nothing, as in entity tags (RFC 9110
        /// §8.8.3).
        case literal
        /// Separators in quoted strings do not separate.
        case escaped
    }

    @usableFromInline var rest: Bytes?
    @usableFromInline let separator: UInt8
    @usableFromInline let quotes: Quotes
    @usableFromInline let omitsEmpty: Bool

    /// Creates the elements of a value.
    ///
    /// - Parameters:
    ///   - bytes: The value.
    ///   - separator: The ASCII character between elements.
    ///   - quotes: The treatment of separators between quotes.
    ///   - omitsEmpty: True to skip empty elements, as in lists separated by commas.
    @inlinable
    package init(_ bytes: Bytes, separator: Unicode.Scalar = ",", quotes: Quotes = .ignored, omitsEmpty: Bool = true) {
        rest = bytes
        self.separator = UInt8(ascii: separator)
        self.quotes = quotes
        self.omitsEmpty = omitsEmpty
    }

    /// Returns the next element; nil at the end.
    @inlinable
    package mutating func next() -> Bytes? {
        while let bytes = rest {
            var isQuoted = false
            var isEscaped = false
            let element = bytes.prefix { byte in
                if quotes != .ignored, byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
                isEscaped = quotes == .escaped && isQuoted && !isEscaped && byte == UInt8(ascii: "\\")
                return isQuoted || byte != separator
            }
            rest = element.endIndex == bytes.endIndex ? nil : bytes[element.endIndex...].dropFirst()
            let trimmed = element.trimmed
            if !omitsEmpty || !trimmed.isEmpty { return trimmed }
        }
        return nil
    }
}

// MARK: - White space, tokens and numbers

extension UInt8 {
    /// True for a space and a tab (RFC 9110 §5.6.3).
    @inlinable
    @inline(__always)
    package var isBlank: Bool { self == 0x20 || self == 0x09 }
}

extension BidirectionalCollection<UInt8> where SubSequence == Self {
    /// The bytes without leading and trailing spaces and tabs.
    @inlinable
    package var trimmed: Self {
        var text = drop { $0.isBlank }
        while text.last?.isBlank == true { text.removeLast() }
        return text
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes without leading and trailing spaces and tabs.
    @inlinable
    @inline(__always)
    package var trimmed: UnsafeRawBufferPointer {
        var (start, end) = (0, count)
        while start < end, self[start].isBlank { start += 1 }
        while end > start, self[end - 1].isBlank { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: self[start..<end])
    }
}

extension String {
    /// Returns true if a byte of the text in UTF-8 satisfies a condition. Faster than the view `utf8`, which checks the text's storage for
    /// each byte.
    @inlinable
    @inline(__always)
    package func containsByte(where condition: (UInt8) -> Bool) -> Bool {
        var text = self
        return text.withUTF8 { $0.contains(where: condition) }
    }
}

extension Collection<UInt8> {
    /// True if the bytes are a token (RFC 9110 §5.6.2).
    @inlinable
    package var isToken: Bool { !isEmpty && allSatisfy { $0.isTokenCharacter } }

    /// Parses a number that consists of decimal digits only.
    ///
    /// - Parameter overflow: The result for a number that does not fit an `Int64`.
    /// - Returns: The number; nil if there are no digits, or other characters.
    @inlinable
    package func decimalNumber(overflow: Int64? = nil) -> Int64? {
        if isEmpty { return nil }
        var number: Int64 = 0
        var hasOverflow = false
        for byte in self {
            guard byte.isDigit else { return nil }
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isSumTooLarge) = product.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            number = sum
            hasOverflow = hasOverflow || isTooLarge || isSumTooLarge
        }
        return hasOverflow ? overflow : number
    }
}

extension [UInt8] {
    package mutating func append(decimal number: UInt) {
        if number > 9 { append(decimal: number / 10) }
        append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
    }

    /// Appends a text as UTF-8. Takes less time than appending its UTF-8 view.
    package mutating func append(text: consuming String) {
        text.withUTF8 { append(contentsOf: $0) }
    }
}

// MARK: - Quoted strings

extension String {
    /// The text as a quoted string (RFC 9110 §5.6.4).
    package var asQuotedString: String {
        var bytes = [UInt8(ascii: "\"")]
        for byte in utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
        return String(decoding: bytes, as: UTF8.self)
    }
}

// MARK: - Lists

extension HTTPHeaders {
    /// The options of all `Connection` fields in lowercase: `close`, `keep-alive`, and the names of connection-specific
    /// fields (RFC 9110 §7.6.1).
    package var connectionOptions: [String] { lowercasedElements(of: .connection) }

    /// The content codings other than `identity`, in lowercase and in the order in which they were applied (RFC 9110
    /// §8.4). All `Content-Encoding` fields form one list.
    package var contentCodings: [String] {
        lowercasedElements(of: .contentEncoding).filter { $0 != "identity" }
    }

    /// True if the content has a content coding other than `identity`.
    package var hasContentCoding: Bool { !contentCodings.isEmpty }

    private func lowercasedElements(of name: HTTPHeaderName) -> [String] {
        // Most messages have none, and the check allocates nothing.
        guard contains(name) else { return [] }
        return values(for: name).flatMap { value in
            FieldElements(value.utf8[...]).map { element in
                // An option and a coding are tokens (RFC 9110 §5.6.2). Comparing other text can take long, because Swift normalizes it.
                element.allSatisfy { $0 < 0x80 } ? Substring(element).lowercased() : "?"
            }
        }
    }
}

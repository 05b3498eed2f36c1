#if os(Linux)
import SluiceHTTP

/// The fields of one head that determine the end of its body and the reuse of the connection (RFC 9112 §6 and §9.3).
struct ResponseFraming {
    private enum Coding: UInt8 {
        case none, chunked, other
    }

    private var contentLength: Int64?
    private var isLengthMalformed = false
    private var coding = Coding.none
    private var hasClose = false
    private var hasKeepAlive = false
    /// The seconds after which the server closes an idle connection, from `Keep-Alive`; nil if it does not say so.
    private var keepAlive: Int64?

    /// Records a field if it is `Connection`, `Content-Length`, `Keep-Alive` or `Transfer-Encoding`.
    @inline(__always)
    mutating func record(_ field: FieldLine) {
        switch field.name.count {
        case 10 where field.name.isName("connection"): recordConnection(field.value)
        case 10 where field.name.isName("keep-alive"): recordKeepAlive(field.value)
        case 14 where field.name.isName("content-length"): recordLength(field.value)
        case 17 where field.name.isName("transfer-encoding"):
            coding = coding == .none && field.value.isName("chunked") ? .chunked : .other
        default: break
        }
    }

    /// The time for which the connection may be idle: a second less than the server allows, since a request takes time to reach it, but at
    /// least half of that. Nil if the server does not name a time.
    var idleTime: Duration? {
        guard let keepAlive else { return nil }
        let time = Duration.seconds(min(keepAlive, 86_400))
        return time - min(.seconds(1), time / 2)
    }

    /// Checks the length fields of a response that never has a body: informational, 204, 304, or a response to HEAD.
    func checkContentLength() throws(ResponseSyntaxError) {
        if isLengthMalformed { throw .malformedLength }
    }

    /// Returns the body length of a response that can have a body (RFC 9112 §6.3).
    func length(isHTTP10: Bool) throws(ResponseSyntaxError) -> ResponseParser.Length {
        if isLengthMalformed { throw .malformedLength }
        switch coding {
        case .other:
            throw .unsupportedTransferCoding
        case .chunked:
            if isHTTP10 || contentLength != nil { throw .ambiguousLength }
            return .chunked
        case .none:
            return contentLength.map { .exactly($0) } ?? .untilClose
        }
    }

    /// Returns true if the server keeps the connection open (RFC 9112 §9.3) and the end of the response is unambiguous.
    func keepsOpen(isHTTP10: Bool, status: Int) -> Bool {
        if hasClose || (isHTTP10 && !hasKeepAlive) { return false }
        if coding != .none, isHTTP10 || contentLength != nil { return false }
        // RFC 9110 §8.6 and RFC 9112 §6.1 forbid both fields in a 204 response. A server that sends one may also send a body.
        return status != 204 || (coding == .none && contentLength ?? 0 == 0)
    }

    /// Parses a Content-Length value, or a list of values. All values of all lines must be the same number (RFC 9110 §8.6).
    private mutating func recordLength(_ value: UnsafeRawBufferPointer) {
        value.forEachListElement { element in
            guard let number = element.decimalNumber(), contentLength ?? number == number else {
                isLengthMalformed = true
                return
            }
            contentLength = number
        }
    }

    /// Parses the parameter `timeout` of a field such as `timeout=5, max=100` (RFC 2068 §19.7.1.1).
    private mutating func recordKeepAlive(_ value: UnsafeRawBufferPointer) {
        value.forEachListElement { element in
            guard let equals = element.firstIndex(of: UInt8(ascii: "=")),
                UnsafeRawBufferPointer(rebasing: element[..<equals]).trimmed.isName("timeout")
            else { return }
            let number = UnsafeRawBufferPointer(rebasing: element[(equals + 1)...]).trimmed.decimalNumber()
            keepAlive = number ?? keepAlive
        }
    }

    private mutating func recordConnection(_ value: UnsafeRawBufferPointer) {
        value.forEachListElement { element in
            if element.isName("close") {
                hasClose = true
            } else if element.isName("keep-alive") {
                hasKeepAlive = true
            }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Calls `body` with each element between commas, without surrounding white space. Empty elements are included.
    fileprivate func forEachListElement(_ body: (UnsafeRawBufferPointer) -> Void) {
        var start = 0
        while true {
            var comma = start
            while comma < count, self[comma] != UInt8(ascii: ",") { comma += 1 }
            body(UnsafeRawBufferPointer(rebasing: self[start..<comma]).trimmed)
            guard comma < count else { return }
            start = comma + 1
        }
    }
}

// MARK: - Chunked body

/// A parser of the chunked framing (RFC 9112 §7.1) up to the trailer section, which is not part of it.
///
/// Every byte is consumed at once. An incomplete size line does not have to be kept for the next input.
package struct ChunkedBody: Sendable {
    package enum Step: Sendable, Equatable {
        /// All of the input is consumed.
        case needsMore
        /// Data of the body, as offsets into the input.
        case data(Range<Int>)
        /// The size line of the last chunk is consumed. The trailer section follows.
        case lastChunk
    }

    /// The maximum number of hexadecimal digits of a size, which then fits into 60 bits.
    package static let digitLimit = 15
    /// The maximum number of bytes of one chunk's extensions.
    package static let extensionLimit = 4 << 10
    /// The maximum total number of bytes of the extensions of all chunks. Each byte of data allows another one.
    package static let extensionSumLimit = 64 << 10

    private enum State: UInt8 {
        case size, sizeSpace, extensions, sizeEnd, data, dataReturn, dataEnd, complete
    }

    private var state = State.size
    private var digits: UInt8 = 0
    /// The partially read size, then the remaining bytes of the chunk.
    private var left: Int64 = 0
    private var extensionCount = 0
    private var extensionAllowance = extensionSumLimit

    package init() {}

    /// Consumes input from `position`, which is advanced past the consumed bytes.
    package mutating func next(
        in input: UnsafeRawBufferPointer,
        from position: inout Int
    ) throws(ResponseSyntaxError) -> Step {
        while position < input.count {
            if state == .data {
                let count = Int(min(left, Int64(input.count - position)))
                let start = position
                position += count
                left -= Int64(count)
                extensionAllowance += count
                if left == 0 { state = .dataReturn }
                return .data(start..<position)
            }
            guard state != .complete else { return .lastChunk }
            let byte = input[position]
            position += 1
            try take(byte)
            if state == .complete { return .lastChunk }
        }
        return .needsMore
    }

    @inline(__always)
    private mutating func take(_ byte: UInt8) throws(ResponseSyntaxError) {
        switch state {
        case .size:
            if let digit = byte.hexDigit {
                guard digits < Self.digitLimit else { throw .malformedChunk }
                left = left << 4 | Int64(digit)
                digits += 1
            } else if digits > 0, byte == 13 {
                state = .sizeEnd
            } else if digits > 0, byte == UInt8(ascii: ";") || byte.isBlank {
                state = byte.isBlank ? .sizeSpace : .extensions
                try countExtension()
            } else {
                throw .malformedChunk
            }
        case .sizeSpace:
            // Blanks may precede an extension, but not the end of the line.
            guard byte == UInt8(ascii: ";") || byte.isBlank else { throw .malformedChunk }
            if !byte.isBlank { state = .extensions }
            try countExtension()
        case .extensions:
            if byte == 13 {
                state = .sizeEnd
            } else {
                guard byte.isFieldByte else { throw .malformedChunk }
                try countExtension()
            }
        case .sizeEnd:
            guard byte == 10 else { throw .malformedChunk }
            state = left == 0 ? .complete : .data
            digits = 0
            extensionCount = 0
        case .dataReturn:
            guard byte == 13 else { throw .malformedChunk }
            state = .dataEnd
        case .dataEnd:
            guard byte == 10 else { throw .malformedChunk }
            state = .size
        case .data, .complete:
            break
        }
    }

    private mutating func countExtension() throws(ResponseSyntaxError) {
        extensionCount += 1
        extensionAllowance -= 1
        if extensionCount > Self.extensionLimit || extensionAllowance < 0 { throw .chunkExtensionsTooLong }
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit, or nil for other bytes.
    @inline(__always)
    fileprivate var hexDigit: UInt8? {
        if self &- 48 < 10 { return self &- 48 }
        let letter = (self | 0x20) &- 97
        return letter < 6 ? letter + 10 : nil
    }
}
#endif

import SluiceHTTP

/// Makes a response's head of the lines libcurl hands out one by one, passing over informational ones.
struct ResponseHeadParser {
    private var response = HTTPResponse(status: 0)
    private var bytes = 0
    /// What the fields so far say of the body's length.
    private var length: Int64?
    private(set) var isComplete = false

    enum Step: Equatable {
        case incomplete
        /// The final response's head is whole; more lines are trailers and are passed over.
        case complete
        case tooLarge
        /// A line is no HTTP, or the body's length is said in a way that is none: what follows cannot be told apart.
        case malformed
    }

    /// Whether any line has come.
    var hasBegun: Bool { bytes > 0 }

    /// The head once it is complete.
    var head: HTTPResponse? { isComplete ? response : nil }

    /// Whether a line begins a head: a slash is no token character, so no field's name begins so.
    static func isStatusLine(_ line: UnsafeRawBufferPointer) -> Bool {
        line.starts(with: "HTTP/".utf8)
    }

    /// Takes the next line, its line break included.
    mutating func parse(_ line: UnsafeRawBufferPointer, limit: Int) -> Step {
        bytes += line.count
        guard bytes <= limit else { return .tooLarge }
        guard !isComplete else { return .complete }
        let content = line.trimmingLineBreak
        // RFC 9112 §2.2 and RFC 9110 §5.5: a part that holds one of these is to be taken for invalid.
        guard !content.contains(where: { $0 == 13 || $0 == 0 }) else { return .malformed }
        if content.isEmpty {
            if response.status.class == .informational && response.status != 101 { return .incomplete }
            isComplete = response.status != 0
            return isComplete ? .complete : .malformed
        }
        if ResponseHeadParser.isStatusLine(content) {
            guard let status = content.status else { return .malformed }
            response = HTTPResponse(status: status, version: content.version)
            length = nil
        } else if content[0] == 32 || content[0] == 9 {
            response.headers.appendFolded(value: content.trimmingWhiteSpace)
        } else {
            return add(content) ? .incomplete : .malformed
        }
        return .incomplete
    }

    /// Takes a field; false if it is none.
    private mutating func add(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let name = UnsafeRawBufferPointer(rebasing: line[..<colon]).trimmingWhiteSpace
        let value = UnsafeRawBufferPointer(rebasing: line[(colon + 1)...]).trimmingWhiteSpace
        guard !name.isEmpty, name.allSatisfy(\.isTokenCharacter) else { return false }
        response.headers.append(name: name, value: value)
        // libcurl takes more for white space than there is, and so the rest for a coding that it knows.
        if name.isCoding, value.contains(where: { $0 < 32 && $0 != 9 }) { return false }
        guard name.equals("content-length") else { return true }
        // libcurl reads as many digits as there are and believes the last field; a body that is not of that length would
        // be cut off, or the next response be taken for its end (RFC 9112 §6.3).
        for text in value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let digits = UnsafeRawBufferPointer(rebasing: text).trimmingWhiteSpace
            guard !digits.isEmpty, digits.allSatisfy({ (48...57).contains($0) }),
                let count = Int64(String(decoding: digits, as: UTF8.self)), length ?? count == count
            else { return false }
            length = count
        }
        return true
    }
}

extension UnsafeRawBufferPointer {
    fileprivate var trimmingLineBreak: UnsafeRawBufferPointer {
        var end = endIndex
        if end > startIndex, self[end - 1] == 10 { end -= 1 }
        if end > startIndex, self[end - 1] == 13 { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: self[..<end])
    }

    fileprivate var trimmingWhiteSpace: UnsafeRawBufferPointer {
        var start = startIndex
        var end = endIndex
        while start < end, self[start] == 32 || self[start] == 9 { start += 1 }
        while end > start, self[end - 1] == 32 || self[end - 1] == 9 { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: self[start..<end])
    }

    fileprivate var isCoding: Bool { equals("transfer-encoding") || equals("content-encoding") }

    /// Whether these are the letters, whatever their case.
    fileprivate func equals(_ name: StaticString) -> Bool {
        count == name.utf8CodeUnitCount
            && name.withUTF8Buffer { elementsEqual($0) { $0.asciiLowercased == $1 } }
    }

    /// The three digits behind a version and spaces, with a space or nothing behind them; nil if the line is no other.
    fileprivate var status: HTTPStatus? {
        guard count > 5, (49...51).contains(self[5]), let space = firstIndex(of: 32), space == 6 || space == 8 else {
            return nil
        }
        if space == 8 { guard self[6] == UInt8(ascii: "."), (48...57).contains(self[7]) else { return nil } }
        let rest = self[space...].drop { $0 == 32 }
        guard rest.count >= 3, rest.count == 3 || rest[rest.startIndex + 3] == 32 else { return nil }
        var code = 0
        for byte in rest.prefix(3) {
            guard (48...57).contains(byte) else { return nil }
            code = code * 10 + Int(byte - 48)
        }
        return code < 100 ? nil : HTTPStatus(rawValue: code)
    }

    /// The version behind `HTTP/`.
    fileprivate var version: HTTPVersion {
        switch self.dropFirst(5).first {
        case UInt8(ascii: "3"): .http3
        case UInt8(ascii: "2"): .http2
        default: self.dropFirst(7).first == UInt8(ascii: "0") ? .http1_0 : .http1_1
        }
    }
}

import SluiceHTTP

/// Makes a response's head of the lines libcurl hands out one by one, passing over informational ones.
struct ResponseHeadParser {
    private var response = HTTPResponse(status: 0)
    private var bytes = 0
    private(set) var isComplete = false

    enum Step: Equatable {
        case incomplete
        /// The final response's head is whole; more lines are trailers and are passed over.
        case complete
        case tooLarge
    }

    /// The head once it is complete.
    var head: HTTPResponse? { isComplete ? response : nil }

    /// Whether a line begins a head: a slash is no token character, so no field's name begins so.
    static func isStatusLine(_ line: UnsafeRawBufferPointer) -> Bool {
        line.starts(with: "HTTP/".utf8)
    }

    /// Takes the next line, its line break included.
    mutating func parse(_ line: UnsafeRawBufferPointer, limit: Int) -> Step {
        guard !isComplete else { return .complete }
        bytes += line.count
        guard bytes <= limit else { return .tooLarge }
        let content = line.trimmingLineBreak
        if content.isEmpty {
            if response.status.class == .informational && response.status != 101 { return .incomplete }
            isComplete = response.status != 0
            return isComplete ? .complete : .incomplete
        }
        if ResponseHeadParser.isStatusLine(content) {
            response = HTTPResponse(status: content.status, version: content.version)
        } else if content[0] == 32 || content[0] == 9 {
            response.headers.appendFolded(value: content.trimmingWhiteSpace)
        } else if let colon = content.firstIndex(of: UInt8(ascii: ":")), colon > 0 {
            response.headers.append(
                name: UnsafeRawBufferPointer(rebasing: content[..<colon]).trimmingWhiteSpace,
                value: UnsafeRawBufferPointer(rebasing: content[(colon + 1)...]).trimmingWhiteSpace
            )
        }
        return .incomplete
    }
}

extension UnsafeRawBufferPointer {
    fileprivate var trimmingLineBreak: UnsafeRawBufferPointer {
        var end = endIndex
        while end > startIndex, self[end - 1] == 10 || self[end - 1] == 13 { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: self[..<end])
    }

    fileprivate var trimmingWhiteSpace: UnsafeRawBufferPointer {
        var start = startIndex
        var end = endIndex
        while start < end, self[start] == 32 || self[start] == 9 { start += 1 }
        while end > start, self[end - 1] == 32 || self[end - 1] == 9 { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: self[start..<end])
    }

    /// The three digits behind the first spaces; 0 if there are none.
    fileprivate var status: HTTPStatus {
        guard let space = firstIndex(of: 32) else { return 0 }
        let digits = self[space...].drop { $0 == 32 }.prefix(3)
        guard digits.count == 3 else { return 0 }
        var code = 0
        for byte in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return 0 }
            code = code * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return HTTPStatus(rawValue: code)
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

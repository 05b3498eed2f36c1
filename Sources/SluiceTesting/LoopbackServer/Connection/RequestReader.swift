import SluiceFoundation
import SluiceHTTP

/// Reads requests from a connection, with bodies that have a length or are chunked.
struct RequestReader {
    enum Outcome {
        case request(LoopbackRequest, wantsClose: Bool)
        /// A request whose expectation was refused, so its body is not read, and the response to it.
        case refused(LoopbackRequest, LoopbackResponse, wantsClose: Bool)
        case malformed(String)
        case end
    }

    /// The reason why reading stops. Each of them ends the connection.
    enum Stop: Error {
        case end
        case malformed(String)
    }

    private var input: InputBuffer
    private let log: TrafficLog
    private let expectation: (LoopbackRequest) -> LoopbackExpectation
    private static let headLimit = 1 << 20

    init(socket: StreamSocket, log: TrafficLog, routes: RouteTable) {
        input = InputBuffer(socket: socket, interruption: routes.interruption(afterReading:), received: log.received)
        self.log = log
        expectation = routes.expectation
    }

    mutating func next(connection: Int) -> Outcome {
        do throws(Stop) {
            input.beginRequest()
            let head = try input.takeHead(limit: RequestReader.headLimit)
            guard let parsed = RequestHead(head) else { throw .malformed("The head of the request is malformed.") }
            log.headArrived()
            if parsed.expectsContinue {
                switch expectation(parsed.request(body: Data(), connection)) {
                case .continue:
                    guard input.sendContinue() else { throw .end }
                case .continueAfter(let signal):
                    guard input.wait(for: signal), input.sendContinue() else { throw .end }
                case .ignored:
                    break
                case .refused(let response):
                    let request = parsed.request(body: Data(), connection)
                    return .refused(request, response, wantsClose: parsed.wantsClose)
                }
            }
            let body = try readBody(of: parsed)
            return .request(parsed.request(body: body, connection), wantsClose: parsed.wantsClose)
        } catch {
            switch error {
            case .end: return .end
            case .malformed(let reason): return .malformed(reason)
            }
        }
    }

    private mutating func readBody(of head: RequestHead) throws(Stop) -> Data {
        let coding = head.headers[.transferEncoding]?.lowercased()
        let length = head.headers[.contentLength]
        guard coding != nil || length != nil else { return Data() }
        if coding == "chunked" { return try readChunks() }
        guard coding == nil else { throw .malformed("The transfer coding is unknown.") }
        guard let length = length.flatMap({ Self.number($0.utf8, radix: 10) }) else {
            throw .malformed("The Content-Length is not a number.")
        }
        var body = Data()
        try input.take(length, into: &body)
        return body
    }

    private mutating func readChunks() throws(Stop) -> Data {
        var body = Data()
        while true {
            let line = try input.takeLine()
            let digits = line.utf8.prefix { $0 != UInt8(ascii: ";") }.drop { $0 == UInt8(ascii: " ") }
            guard let size = Self.number(digits.prefix { $0 != UInt8(ascii: " ") }, radix: 16) else {
                throw .malformed("A chunk size is not a number.")
            }
            guard size > 0 else { break }
            try input.take(size, into: &body)
            guard try input.takeLine().isEmpty else { throw .malformed("A chunk is longer than its chunk size.") }
        }
        while try !input.takeLine().isEmpty {}
        return body
    }

    /// Parses a number without a sign, which Swift's initializer would accept (RFC 9112 §6.2, §7.1).
    private static func number(_ digits: some Collection<UInt8>, radix: Int) -> Int? {
        guard let first = digits.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "-") else { return nil }
        return Int(String(decoding: digits, as: UTF8.self), radix: radix)
    }
}

/// The parsed request line and header fields (RFC 9112 §3 and §5).
struct RequestHead {
    let method: HTTPMethod
    let target: String
    let headers: HTTPHeaders
    /// True if the client will not reuse the connection.
    let wantsClose: Bool

    /// Parses the bytes of a head, including the empty line. Returns nil if it is malformed.
    init?(_ bytes: ArraySlice<UInt8>) {
        var lines = bytes.split(separator: 10).makeIterator()
        guard let first = lines.next() else { return nil }
        let words = RequestHead.withoutReturn(first).split(separator: 32, omittingEmptySubsequences: false)
        guard words.count == 3, words[0].isToken, !words[1].isEmpty else {
            return nil
        }
        let version = String(decoding: words[2], as: UTF8.self)
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else { return nil }
        var headers = HTTPHeaders()
        while let line = lines.next().map(RequestHead.withoutReturn), !line.isEmpty {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            let name = line[..<colon]
            guard name.isToken else { return nil }
            let value = line[(colon + 1)...].trimmed
            name.withUnsafeBytes { name in value.withUnsafeBytes { headers.append(name: name, value: $0) } }
        }
        method = HTTPMethod(rawValue: String(decoding: words[0], as: UTF8.self))
        target = String(decoding: words[1], as: UTF8.self)
        let options = headers.connectionOptions
        wantsClose = version == "HTTP/1.1" ? options.contains("close") : !options.contains("keep-alive")
        self.headers = headers
    }

    private static func withoutReturn(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        line.last == 13 ? line.dropLast() : line
    }
}

extension RequestHead {
    /// True if the client waits for a 100 (Continue) response before it sends the body (RFC 9110 §10.1.1).
    fileprivate var expectsContinue: Bool {
        headers[.expect]?.lowercased() == "100-continue"
            && (headers.contains(.transferEncoding) || headers.contains(.contentLength))
    }

    fileprivate func request(body: Data, _ connection: Int) -> LoopbackRequest {
        LoopbackRequest(method: method, target: target, headers: headers, body: body, connection: connection)
    }
}

// MARK: - Input buffer

/// The bytes received on a connection that have not been parsed.
struct InputBuffer {
    private let socket: StreamSocket
    /// Returns the way to end the connection after the given number of request bytes, or nil to continue.
    private let interruption: (Int) -> LoopbackResponse.Interruption?
    private let received: (Int) -> Void
    private var bytes = [UInt8](repeating: 0, count: 16 << 10)
    private var start = 0
    private var end = 0
    /// The number of bytes received of the current request.
    private var count = 0

    init(
        socket: StreamSocket,
        interruption: @escaping (Int) -> LoopbackResponse.Interruption?,
        received: @escaping (Int) -> Void
    ) {
        self.socket = socket
        self.interruption = interruption
        self.received = received
    }

    /// Begins the next request. The buffer may already contain a part of it.
    mutating func beginRequest() {
        count = end - start
    }

    /// Reads through the first empty line. Empty lines before the request line are skipped (RFC 9112 §2.2).
    mutating func takeHead(limit: Int) throws(RequestReader.Stop) -> ArraySlice<UInt8> {
        var searched = 0
        while true {
            while start < end, searched == 0, bytes[start] == 13 || bytes[start] == 10 { start += 1 }
            if let length = lengthOfHead(from: start + max(0, searched - 3)) {
                defer { start += length }
                return bytes[start..<start + length]
            }
            searched = end - start
            guard searched < limit else { throw .malformed("The head of the request is too large.") }
            try receive()
        }
    }

    /// Reads a line and returns it without its line ending.
    mutating func takeLine() throws(RequestReader.Stop) -> String {
        while true {
            if let newline = bytes[start..<end].firstIndex(of: 10) {
                let lineEnd = newline > start && bytes[newline - 1] == 13 ? newline - 1 : newline
                defer { start = newline + 1 }
                return String(decoding: bytes[start..<lineEnd], as: UTF8.self)
            }
            guard end - start < 64 << 10 else { throw .malformed("A line of the body is too long.") }
            try receive()
        }
    }

    /// Reads `count` bytes. Memory grows with the received bytes, not with the announced length.
    mutating func take(_ count: Int, into data: inout Data) throws(RequestReader.Stop) {
        var left = count
        while left > 0 {
            if start == end { try receive() }
            let taken = min(left, end - start)
            data.append(contentsOf: bytes[start..<start + taken])
            start += taken
            left -= taken
        }
    }

    /// Sends a 100 (Continue) response. Returns false if the connection is closed.
    func sendContinue() -> Bool {
        var text = "HTTP/1.1 100 Continue\r\n\r\n"
        return text.withUTF8 { socket.sendNow(UnsafeRawBufferPointer($0)) != nil }
    }

    /// Blocks until a signal fires. Returns false if the client disconnects first.
    func wait(for signal: LoopbackSignal) -> Bool {
        signal.block(socket)
    }

    private func lengthOfHead(from position: Int) -> Int? {
        var index = position
        while index + 3 < end {
            if bytes[index] == 13, bytes[index + 1] == 10, bytes[index + 2] == 13, bytes[index + 3] == 10 {
                return index + 4 - start
            }
            index += 1
        }
        return nil
    }

    private mutating func receive() throws(RequestReader.Stop) {
        if start == end {
            start = 0
            end = 0
        } else if end == bytes.count {
            bytes.removeSubrange(..<start)
            end -= start
            start = 0
            bytes.append(contentsOf: repeatElement(0, count: max(16 << 10, 2 * end) - end))
        }
        // An idle connection is never interrupted, because no request has begun.
        if count > 0 { try interrupt(after: count) }
        let received = bytes.withUnsafeMutableBytes { [end, socket] in
            socket.receive(into: UnsafeMutableRawBufferPointer(rebasing: $0[end...]))
        }
        guard received > 0 else { throw .end }
        // Discard a read that goes beyond the interruption.
        try interrupt(after: count + received - 1)
        self.received(received)
        end += received
        count += received
    }

    private mutating func interrupt(after count: Int) throws(RequestReader.Stop) {
        switch interruption(count) {
        case nil:
            return
        case .close?:
            // Closing a socket with unread bytes would send a reset.
            socket.finishSending()
            bytes.withUnsafeMutableBytes { while socket.receive(into: $0) > 0 {} }
        case .reset?:
            socket.resetOnClose()
        case .hang?:
            _ = socket.wait(until: nil)
        }
        throw .end
    }
}

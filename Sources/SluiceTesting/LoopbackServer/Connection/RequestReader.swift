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

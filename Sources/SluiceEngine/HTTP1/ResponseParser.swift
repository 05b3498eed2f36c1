#if os(Linux)
import SluiceHTTP
import SluiceLibc

/// A strict parser of one response of HTTP/1.1 (RFC 9112), including informational responses before it.
///
/// The parser is a value without side effects and parses the input in place:
///
///     statusLine → fields ─┬─ 1xx ──────────────→ statusLine
///                          ├─ no body ──────────────────────────────→ complete
///                          ├─ exactly ───────────→ body ────────────→ complete
///                          ├─ chunked ──→ chunks → trailers ────────→ complete
///                          └─ untilClose ────────→ open ── finish ──→ complete
///
/// Lines must end with CRLF. Violations are refused if another recipient could interpret the message differently. The status may be any
/// number from 100 to 999. RFC 9110 §15 requires clients to treat a status from 600 as 5xx, which the parser leaves to its caller.
package struct ResponseParser: Sendable {
    /// A parsed part of the input, or the reason why there is none.
    package enum Event: Sendable {
        /// All complete parts of the input are consumed. The next input must start with the input from `position`.
        case needsMore
        /// A 1xx head other than 101.
        case informational(HTTPResponse)
        /// The final head. Its framing is known.
        case head(HTTPResponse)
        /// A piece of the body, as offsets into the input.
        case body(Range<Int>)
        /// The message is complete. Trailers and `isReusable` are known.
        case end
        /// The response cannot be parsed further. Every later call returns the same error.
        case failed(SluiceError)
    }

    /// The framing of a body (RFC 9112 §6.3).
    package enum Length: Sendable, Equatable {
        case none
        case exactly(Int64)
        case chunked
        case untilClose
    }

    /// The maximum number of fields of a head or a trailer section.
    package static let fieldLimit = 1000
    /// The maximum number of informational responses before the final one.
    package static let informationalLimit = 100

    private enum State: UInt8 {
        case statusLine, fields, body, chunks, trailers, open, complete, failed
    }

    private var state = State.statusLine
    private let isHead: Bool
    private let isConnect: Bool
    private var isHTTP10 = false
    private var keepsOpen = false
    private var status = 0
    private var informationalCount = 0
    private let headLimit: Int
    private var lines: LineReader
    private var framing = ResponseFraming()
    private var fields = HTTPHeaders()
    private var left: Int64 = 0
    private var chunks = ChunkedBody()
    private var failure: SluiceError?

    /// The framing of the body. Valid after the final head.
    package private(set) var length = Length.none
    /// The trailer fields of a chunked body, without fields that are only valid in a head. They are not merged into the head.
    package private(set) var trailers = HTTPHeaders()
    /// True once the first byte of a response has been received.
    package private(set) var hasBegun = false

    /// Creates a parser for the response to a request.
    ///
    /// - Parameters:
    ///   - method: The method of the request. A response to HEAD and a 2xx response to CONNECT have no body.
    ///   - headLimit: The maximum total number of bytes of all heads and the trailer section.
    package init(for method: HTTPMethod, headLimit: Int) {
        isHead = method.rawValue == "HEAD"
        isConnect = method.rawValue == "CONNECT"
        // Positions in `HTTPHeaders` have 32 bits.
        self.headLimit = min(max(headLimit, 0), Int(Int32.max))
        lines = LineReader(budget: self.headLimit)
    }

    /// The remaining bytes of a body with a length in the head, or nil for other bodies.
    package var bytesLeft: Int64? {
        if case .exactly = length { left } else { nil }
    }

    /// True once every byte of the message is consumed, which may be before `.end` is returned.
    package var isComplete: Bool { state == .complete }

    /// True if the message is complete and another request may follow on the connection (RFC 9112 §9.3).
    package var isReusable: Bool { state == .complete && keepsOpen }

    /// The time for which the connection may be idle; nil if the server does not limit it. Valid after the final head.
    package var idleTime: Duration? { framing.idleTime }

    /// The number of bytes that were searched in vain for line ends.
    var examinedBytes: Int { lines.examined }

    /// Returns the next event of the input.
    ///
    /// - Parameters:
    ///   - input: The received bytes. The parser does not keep them.
    ///   - position: An offset into `input`, which is advanced past the consumed bytes.
    /// - Returns: The next event. Call again until it is `.needsMore`, `.end` or `.failed`.
    package mutating func next(in input: UnsafeRawBufferPointer, from position: inout Int) -> Event {
        do throws(ResponseSyntaxError) {
            switch state {
            case .statusLine, .fields:
                if position < input.count { hasBegun = true }
                return try nextOfHead(in: input, from: &position)
            case .body, .open:
                return nextOfBody(in: input, from: &position)
            case .chunks:
                switch try chunks.next(in: input, from: &position) {
                case .data(let piece): return .body(piece)
                case .needsMore: return .needsMore
                case .lastChunk: state = .trailers
                }
                return try nextOfTrailers(in: input, from: &position)
            case .trailers:
                return try nextOfTrailers(in: input, from: &position)
            case .complete:
                return .end
            case .failed:
                return .failed(failure ?? ResponseSyntaxError.malformedField.error)
            }
        } catch {
            return fail(error)
        }
    }

    /// Ends the input because the peer has closed the connection.
    ///
    /// - Returns: `.end` for a complete message or a body that ends with the connection, or `.failed` otherwise.
    package mutating func finish() -> Event {
        switch state {
        case .statusLine, .fields:
            return fail(hasBegun ? .closedInHead : .closedBeforeResponse)
        case .body, .chunks, .trailers:
            return fail(.closedInBody)
        case .open, .complete:
            state = .complete
            return .end
        case .failed:
            return .failed(failure ?? ResponseSyntaxError.malformedField.error)
        }
    }

    private mutating func fail(_ syntaxError: ResponseSyntaxError) -> Event {
        let error = syntaxError.error
        failure = error
        state = .failed
        return .failed(error)
    }

    // MARK: Head

    private mutating func nextOfHead(
        in input: UnsafeRawBufferPointer,
        from position: inout Int
    ) throws(ResponseSyntaxError) -> Event {
        while true {
            let isFirst = state == .statusLine
            switch lines.next(in: input, from: &position) {
            case .line(let line):
                if isFirst {
                    try parse(statusLine: line)
                } else if line.isEmpty {
                    return try endHead()
                } else {
                    guard let field = FieldLine(line) else { throw .malformedField }
                    guard fields.count < Self.fieldLimit else { throw .tooManyFields }
                    fields.append(field)
                    framing.record(field)
                }
            case .incomplete:
                if isFirst { try checkStart(of: input, from: position) }
                return .needsMore
            case .malformed:
                throw isFirst ? .malformedStatusLine : .malformedField
            case .overBudget:
                if isFirst { try checkStart(of: input, from: position) }
                throw .headTooLarge(limit: headLimit)
            }
        }
    }

    /// Refuses an incomplete line whose first bytes do not start a status line, because its end might never arrive.
    private func checkStart(of input: UnsafeRawBufferPointer, from position: Int) throws(ResponseSyntaxError) {
        let count = min(input.count - position, lines.budget, 7)
        guard count > 0, let base = input.baseAddress else { return }
        if memcmp(base + position, "HTTP/1.", count) != 0 { throw .malformedStatusLine }
    }

    /// Parses `HTTP/1.x SP 3DIGIT [SP reason]` (RFC 9112 §4).
    private mutating func parse(statusLine line: UnsafeRawBufferPointer) throws(ResponseSyntaxError) {
        guard line.count >= 12, let base = line.baseAddress, memcmp(base, "HTTP/1.", 7) == 0 else {
            throw .malformedStatusLine
        }
        let minor = line[7] &- 48
        let (hundreds, tens, ones) = (line[9] &- 48, line[10] &- 48, line[11] &- 48)
        guard minor < 10, line[8] == 32, hundreds > 0, hundreds < 10, tens < 10, ones < 10 else {
            throw .malformedStatusLine
        }
        if line.count > 12 {
            let reason = UnsafeRawBufferPointer(start: base + 13, count: line.count - 13)
            guard line[12] == 32, reason.isFieldText else { throw .malformedStatusLine }
        }
        status = Int(hundreds) * 100 + Int(tens) * 10 + Int(ones)
        // RFC 9110 §2.5: a higher minor version is processed as the highest known one.
        isHTTP10 = minor == 0
        if status == 101 { throw .unexpectedUpgrade }
        state = .fields
    }

    private mutating func endHead() throws(ResponseSyntaxError) -> Event {
        var response = HTTPResponse(
            status: HTTPStatus(rawValue: status),
            version: isHTTP10 ? .http1_0 : .http1_1
        )
        swap(&response.headers, &fields)
        if status < 200 {
            try framing.checkContentLength()
            informationalCount += 1
            guard informationalCount <= Self.informationalLimit else { throw .tooManyInformational }
            framing = ResponseFraming()
            state = .statusLine
            return .informational(response)
        }
        try determineLength()
        return .head(response)
    }

    private mutating func determineLength() throws(ResponseSyntaxError) {
        keepsOpen = framing.keepsOpen(isHTTP10: isHTTP10, status: status)
        if isConnect, status < 300 {
            // RFC 9112 §6.3: the connection becomes a tunnel, and both fields are ignored.
            keepsOpen = false
            state = .complete
            return
        }
        if isHead || status == 204 || status == 304 {
            try framing.checkContentLength()
            state = .complete
            return
        }
        length = try framing.length(isHTTP10: isHTTP10)
        switch length {
        case .none:
            state = .complete
        case .exactly(let count):
            left = count
            state = count == 0 ? .complete : .body
        case .chunked:
            state = .chunks
        case .untilClose:
            keepsOpen = false
            state = .open
        }
    }

    // MARK: Body

    private mutating func nextOfBody(in input: UnsafeRawBufferPointer, from position: inout Int) -> Event {
        var count = input.count - position
        guard count > 0 else { return .needsMore }
        if state == .body {
            count = Int(min(left, Int64(count)))
            left -= Int64(count)
            if left == 0 { state = .complete }
        }
        let start = position
        position += count
        return .body(start..<position)
    }

    private mutating func nextOfTrailers(
        in input: UnsafeRawBufferPointer,
        from position: inout Int
    ) throws(ResponseSyntaxError) -> Event {
        while true {
            switch lines.next(in: input, from: &position) {
            case .line(let line):
                if line.isEmpty {
                    state = .complete
                    return .end
                }
                guard let field = FieldLine(line) else { throw .malformedTrailer }
                guard trailers.count < Self.fieldLimit else { throw .tooManyFields }
                if !field.isForbiddenInTrailers { trailers.append(field) }
            case .incomplete:
                return .needsMore
            case .malformed:
                throw .malformedTrailer
            case .overBudget:
                throw .trailersTooLarge(limit: headLimit)
            }
        }
    }
}

extension HTTPHeaders {
    @inline(__always)
    fileprivate mutating func append(_ field: FieldLine) {
        if let line = field.canonicalForm {
            append(line: line, nameLength: field.name.count)
        } else {
            append(name: field.name, value: field.value)
        }
    }
}

extension FieldLine {
    /// True for framing and routing fields, which are not allowed in a trailer section (RFC 9110 §6.5.1).
    fileprivate var isForbiddenInTrailers: Bool {
        name.isName("content-length") || name.isName("transfer-encoding") || name.isName("host")
            || name.isName("trailer")
    }
}

// MARK: - Response syntax error

/// The ways in which a response violates HTTP/1.1 or the limits set for it.
///
/// No case contains bytes from the peer, so none can appear in an error message.
package enum ResponseSyntaxError: Error, Sendable, Equatable {
    /// The first line is not a status line of HTTP/1.0 or HTTP/1.1 (RFC 9112 §4).
    case malformedStatusLine
    /// A line of the head is not a field line, does not end with CRLF, or contains a control character.
    case malformedField
    /// The head, including informational ones before it, is longer than the limit.
    case headTooLarge(limit: Int)
    /// A head or a trailer section has more fields than `ResponseParser.fieldLimit`.
    case tooManyFields
    /// There are more informational responses than `ResponseParser.informationalLimit`.
    case tooManyInformational
    /// A 101 response to a request without an upgrade.
    case unexpectedUpgrade
    /// The Content-Length is not a number, too large, or has several different values (RFC 9112 §6.3).
    case malformedLength
    /// The Transfer-Encoding is not exactly `chunked`.
    case unsupportedTransferCoding
    /// A Transfer-Encoding in HTTP/1.0, or together with a Content-Length (RFC 9112 §6.1).
    case ambiguousLength
    /// The size line of a chunk is malformed, or its data does not end with CRLF (RFC 9112 §7.1).
    case malformedChunk
    /// The extensions of a chunk, or of all chunks together, exceed the limits of `ChunkedBody`.
    case chunkExtensionsTooLong
    /// A line of the trailer section is malformed.
    case malformedTrailer
    /// The trailer section exceeds the rest of the limit that the head has left.
    case trailersTooLarge(limit: Int)
    /// The connection closed before the first byte of a response.
    case closedBeforeResponse
    /// The connection closed before the head was complete.
    case closedInHead
    /// The connection closed before the end of a body with known framing.
    case closedInBody
    /// The TLS connection closed without close_notify at the end of a body of unknown length.
    case closedWithoutNotice

    /// The error that is reported to the caller.
    package var error: SluiceError {
        let (code, reason) = codeAndReason
        return SluiceError(code, reason)
    }

    private var codeAndReason: (SluiceError.Code, String) {
        switch self {
        case .malformedStatusLine:
            (.invalidResponse, "The response is not valid HTTP: its status line is missing or malformed.")
        case .malformedField:
            (.invalidResponse, "The response is not valid HTTP: a line of its head is malformed.")
        case .headTooLarge(let limit):
            (.headersTooLarge, "The response's head exceeds the limit of \(limit) bytes.")
        case .tooManyFields:
            (.headersTooLarge, "The response has more than \(ResponseParser.fieldLimit) header fields.")
        case .tooManyInformational:
            (
                .invalidResponse,
                "The server sent more than \(ResponseParser.informationalLimit) informational responses."
            )
        case .unexpectedUpgrade:
            (.invalidResponse, "The server switched protocols (101), but the request did not ask it to.")
        case .malformedLength:
            (.invalidResponse, "The response is not valid HTTP: its Content-Length is malformed.")
        case .unsupportedTransferCoding:
            (
                .invalidResponse,
                "The response has a transfer coding that was not requested. Only “chunked” is allowed."
            )
        case .ambiguousLength:
            (
                .invalidResponse,
                "The response is not valid HTTP: its Transfer-Encoding makes the body's length ambiguous."
            )
        case .malformedChunk:
            (.invalidResponse, "The response's chunked encoding is not valid.")
        case .chunkExtensionsTooLong:
            (.invalidResponse, "The response's chunked encoding is not valid: its chunk extensions are too long.")
        case .malformedTrailer:
            (.invalidResponse, "A field in the response's trailer section is malformed.")
        case .trailersTooLarge(let limit):
            (.headersTooLarge, "The response's head and trailer section exceed the limit of \(limit) bytes.")
        case .closedBeforeResponse:
            (.connectionLost, "The server closed the connection without sending a response.")
        case .closedInHead:
            (.connectionLost, "The connection closed in the middle of the response's head.")
        case .closedInBody:
            (.truncatedBody, "The connection closed before the complete body was received.")
        case .closedWithoutNotice:
            (
                .truncatedBody,
                "The connection closed without the TLS message that confirms the end, so the body may be incomplete."
            )
        }
    }
}
#endif
